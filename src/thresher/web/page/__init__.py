"""The web page: routes for the files of this folder, which are read once at start."""

from functools import cache
from importlib.resources import files
from pathlib import PurePath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return a route for each file; index.html is at the root."""
    return [_route(name) for name in _file_names()]


def page_response(name: str, *, status: int = 200) -> Response:
    """Return a file of the page."""
    return Response(_content(name), status, _HEADERS, _MEDIA_TYPES[PurePath(name).suffix])


def _file_names() -> list[str]:
    names = (each.name for each in files(__name__).iterdir())
    return sorted(name for name in names if PurePath(name).suffix in _MEDIA_TYPES)


@cache
def _content(name: str) -> bytes:
    return (files(__name__) / name).read_bytes()


def _route(name: str) -> Route:
    _content(name)

    async def respond(request: Request) -> Response:
        return page_response(name)

    return Route("/" if name == "index.html" else f"/{name}", respond)


PUBLIC_PATHS = frozenset(f"/{name}" for name in _file_names() if name != "index.html")
"""Files that index.html needs; they contain nothing but program text and can be read by anyone."""
