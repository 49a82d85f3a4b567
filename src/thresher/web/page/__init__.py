"""The page: files of this folder, read once; no request names a file."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_KINDS = {
    "index.html": "text/html",
    "page.css": "text/css",
    "page.js": "text/javascript",
    "view.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """A route for each file; the page itself is at the root."""
    return [_route(name, kind) for name, kind in _KINDS.items()]


def _route(name: str, kind: str) -> Route:
    content = (files(__name__) / name).read_bytes()

    async def answer(request: Request) -> Response:
        return Response(content, media_type=kind, headers=_HEADERS)

    return Route("/" if name == "index.html" else f"/{name}", answer)
