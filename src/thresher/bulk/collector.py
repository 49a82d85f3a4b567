"""How often Python looks for objects that only refer to each other."""

import gc

_NEW_OBJECTS = 100_000  # instead of 700


def collect_seldom() -> None:
    """For a process that does nothing but find: its words come by the million, none in a cycle.

    To look for cycles at every 700th of them takes a sixth of the time.
    """
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
