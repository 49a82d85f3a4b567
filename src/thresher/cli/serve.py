"""thresher serve: a web page and an API that find entities."""

import contextlib
import ipaddress
import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.find_options import Always, Exact, Never, read_user_rules
from thresher.cli.errors import print_error
from thresher.cli.models import load_entity_finder, set_thread_defaults
from thresher.cli.option_groups import number_option, option
from thresher.cli.option_parsers import NamedModel, parse_named_model
from thresher.cli.options import Device, Quiet
from thresher.cli.output import print_line
from thresher.errors import InputError, requires_extra

if TYPE_CHECKING:
    from thresher import EntityFinder

BUILT_IN = "english"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_PANEL = "Protection"

NamedModels = Annotated[
    list[NamedModel] | None,
    option(
        "A name and the folder of a model trained by fit; may be repeated. The built-in models "
        "english (the default), small-english, fast-english and multilingual need no folder.",
        "--model",
        parser=parse_named_model,
        metavar="NAME=FOLDER",
    ),
]
Host = Annotated[
    str, option("Address to listen on; with 0.0.0.0 other machines can connect.", metavar="ADDRESS")
]
Port = Annotated[
    int, option("Port to listen on; 0 for any free one.", metavar="N", min=0, max=65_535)
]
MaxBytes = Annotated[
    int | None,
    number_option("Maximum size of a request in bytes; by default 500,000.", "--most-bytes"),
]
MaxWaiting = Annotated[
    int | None,
    number_option(
        "Maximum number of waiting requests; further ones are refused. By default 64.",
        "--most-waiting",
    ),
]
Token = Annotated[
    str | None,
    option(
        "Require this token in requests, as Authorization: Bearer TEXT; the page asks for it. "
        "Other users of this machine can see command lines, so prefer the environment variable.",
        metavar="TEXT",
        envvar="THRESHER_TOKEN",
        show_envvar=True,
        rich_help_panel=_PANEL,
    ),
]
AllowedHost = Annotated[
    list[str] | None,
    option(
        "A host name by which clients may address the server; may be repeated. By default "
        "localhost and its addresses if only this machine can reach the server, else any.",
        metavar="NAME",
        rich_help_panel=_PANEL,
    ),
]
MaxConnections = Annotated[
    int | None,
    number_option(
        "Maximum number of open connections; a further one replaces the oldest idle one. By "
        "default 1,000.",
        "--most-connections",
        rich_help_panel=_PANEL,
    ),
]
HeaderTimeout = Annotated[
    float | None,
    option(
        "Seconds in which a client must have sent the headers of a request; by default 10.",
        metavar="SECONDS",
        min=0.1,
        rich_help_panel=_PANEL,
    ),
]
BodyTimeout = Annotated[
    float | None,
    option(
        "Seconds in which a client must have sent the body of a request; by default 30.",
        metavar="SECONDS",
        min=0.1,
        rich_help_panel=_PANEL,
    ),
]


def serve(
    model: NamedModels = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    most_bytes: MaxBytes = None,
    most_waiting: MaxWaiting = None,
    token: Token = None,
    allowed_host: AllowedHost = None,
    most_connections: MaxConnections = None,
    header_timeout: HeaderTimeout = None,
    body_timeout: BodyTimeout = None,
    device: Device = None,
    exact: Exact = False,
    always: Always = None,
    never: Never = None,
    quiet: Quiet = False,
) -> None:
    """Start a web page that marks entities in pasted text, and an API for programs.

    thresher serve
    thresher serve --model news=my-model --model notes=other-model
    curl http://127.0.0.1:8000/find --json '{"text": "Marie Curie left."}'

    The page is at /, the description of the API at /openapi.json. Requests choose
    one of the models given here by its name. Stop the server with Ctrl-C.
    """
    set_thread_defaults()
    with requires_extra("serve", "the server needs FastAPI"):
        from thresher.web import app as web  # noqa: PLC0415 (an extra)
        from thresher.web import connections  # noqa: PLC0415
        from thresher.web.models import ServedModels  # noqa: PLC0415
        from thresher.web.server import make_server  # noqa: PLC0415

    with _listen(host, port) as listener:
        rules = read_user_rules(always, never)
        choice = FinderChoice(device=device, exact=exact, rules=rules)
        finders = _load(model or [parse_named_model(BUILT_IN)], choice, quiet=quiet)
        app = web.create_app(
            ServedModels(finders),
            max_bytes=most_bytes or web.MAX_BYTES,
            max_waiting=most_waiting or web.MAX_WAITING,
            token=token,
            allowed_hosts=allowed_host or ((host, *_LOCAL_NAMES) if _is_local(host) else None),
        )
        limits = connections.ConnectionLimits(
            max_connections=most_connections or connections.MAX_CONNECTIONS,
            header_seconds=header_timeout or connections.HEADER_SECONDS,
            body_seconds=body_timeout or connections.BODY_SECONDS,
        )
        if token is None and not _is_local(host):
            print_error(f"warning: everyone who can reach {host} can use this server; see --token")
        if not quiet:
            print_line(f"{_address(listener)}  (stop with Ctrl-C)")
        with contextlib.suppress(KeyboardInterrupt):  # arrives after all connections are closed
            make_server(app, limits).run(sockets=[listener])


def _load(
    models: list[NamedModel], choice: FinderChoice, *, quiet: bool
) -> "dict[str, EntityFinder]":
    names = [model.name for model in models]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(
            f"two models have the name {min(twice)}; give each its own name, as name=folder"
        )
    return {
        name: load_entity_finder(replace(choice, folder=folder), quiet=quiet)
        for name, folder in models
    }


def _listen(host: str, port: int) -> socket.socket:
    """Open the port before models are loaded, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
        # Connections inherit this option. Without it the body of a response waits 40 ms for the
        # acknowledgement of its header; asyncio sets it only on sockets it opens itself.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]  # Python adds the address
        raise InputError(f"cannot listen on {host} port {port}: {reason}") from error


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
