"""thresher serve: a page to paste text into, and an API beside it."""

import contextlib
import ipaddress
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from thresher.bulk.finder_choice import ModelChoice
from thresher.cli.errors import complain
from thresher.cli.models import load_finder
from thresher.cli.option_values import whole_number
from thresher.cli.options import Device, Exact, Quiet
from thresher.cli.output import print_line
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher import EntityFinder

HOST, PORT = "127.0.0.1", 8000
BUILT_IN = "english"
_IDLE = 75  # seconds; many clients drop a connection after 5, and must be the first to do so


class NamedModel(NamedTuple):
    """A model and what requests call it."""

    name: str
    folder: Path


def _named_model(value: str) -> NamedModel:
    name, equals, folder = value.partition("=")
    if not equals:
        name, folder = Path(value).resolve().name, value
    if not name or not folder:
        raise typer.BadParameter(f"{value!r} is not of the form name=folder")
    return NamedModel(name, Path(folder))


NamedModels = Annotated[
    list[NamedModel] | None,
    typer.Option(
        "--model",
        parser=_named_model,
        metavar="NAME=FOLDER",
        help="A model made by fit and a name for it; may be repeated. The words english (the "
        "default) and fast-english alone are the built-in models.",
    ),
]
Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 for other machines too.")
]
Port = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=0, high=65_535),
        metavar="N",
        help="By default 8000; 0 for any that is free.",
    ),
]
MostBytes = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        help="The largest request that is read; by default 500,000 bytes.",
    ),
]
MostWaiting = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        help="How many requests may wait before the next is refused; by default 64.",
    ),
]


def serve(
    model: NamedModels = None,
    host: Host = HOST,
    port: Port = None,
    most_bytes: MostBytes = None,
    most_waiting: MostWaiting = None,
    device: Device = None,
    exact: Exact = False,
    quiet: Quiet = False,
) -> None:
    """Show a page to paste text into, and answer programs.

    thresher serve
    thresher serve --model news=my-model --model notes=other-model
    curl http://127.0.0.1:8000/find --json '{"text": "Marie Curie left."}'

    The page is at /, its API is described at /openapi.json. Requests choose
    among the models given here by name; they never name a file. Ctrl-C ends it.
    """
    # Threads of torch that wait would otherwise keep a core busy, and the clients of a server often
    # run beside it: on two cores that made short texts twenty times slower. Read when torch loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import uvicorn  # noqa: PLC0415 (an extra)

        from thresher.web.app import MAX_BYTES, MAX_WAITING, create_app  # noqa: PLC0415
        from thresher.web.models import ServedModels  # noqa: PLC0415
    except ImportError as error:
        raise InputError("the server needs FastAPI: pip install 'thresher[serve]'") from error

    with _listening(host, PORT if port is None else port) as listener:
        finders = _load(model or [_named_model(BUILT_IN)], device=device, exact=exact, quiet=quiet)
        app = create_app(
            ServedModels(finders),
            max_bytes=most_bytes or MAX_BYTES,
            max_waiting=most_waiting or MAX_WAITING,
        )
        if not _is_local(host):
            complain(f"warning: whoever can reach {host} can use this server")
        if not quiet:
            print_line(f"{_address(listener)}  (Ctrl-C ends it)")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_keep_alive=_IDLE,
        )
        with contextlib.suppress(KeyboardInterrupt):  # comes once all is closed
            uvicorn.Server(config).run(sockets=[listener])


def _load(
    models: list[NamedModel], *, device: str | None, exact: bool, quiet: bool
) -> "dict[str, EntityFinder]":
    names = [model.name for model in models]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(f"two models are called {min(twice)}; give each a name, as name=folder")
    return {
        name: load_finder(ModelChoice(folder, device, exact=exact), quiet=quiet)
        for name, folder in models
    }


def _listening(host: str, port: int) -> socket.socket:
    """Taken before models are loaded, so that a port in use is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
        # Connections inherit it. Without it an answer's body waits 40 ms for its head to be
        # acknowledged; asyncio sets it only for sockets that are told to be TCP's.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]  # Python adds the address
        raise InputError(f"cannot listen at {host} port {port}: {reason}") from error


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
