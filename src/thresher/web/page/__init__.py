"""The web page: routes for the files of this folder, which are read once at start."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_MEDIA_TYPES = {
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
    """Return a route for each file; index.html is at the root."""
    return [_route(name, media_type) for name, media_type in _MEDIA_TYPES.items()]


def _route(name: str, media_type: str) -> Route:
    content = (files(__name__) / name).read_bytes()

    async def respond(request: Request) -> Response:
        return Response(content, media_type=media_type, headers=_HEADERS)

    return Route("/" if name == "index.html" else f"/{name}", respond)
