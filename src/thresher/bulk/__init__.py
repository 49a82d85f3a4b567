"""Many texts: in chunks, in several processes, in blocks that many machines share."""
