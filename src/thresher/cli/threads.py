"""How the numerical libraries use threads while entities are found."""

import os


def set_thread_defaults() -> None:
    """Set the variables that torch and numpy read when they are imported, unless the user did.

    Waiting threads of torch would keep a core busy; if a server and its clients share two cores,
    short texts take twenty times as long. The products that numpy computes for models
    without a transformer are too small for several threads, which would only take more CPU time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
