"""Find entities in many texts: in several processes, or on several machines."""
