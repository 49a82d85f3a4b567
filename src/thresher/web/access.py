"""Middleware that decides who may use the server: allowed host names and an access token."""

import hmac
import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.errors import InputError
from thresher.web.page import PUBLIC_PATHS, page_response

HEALTH_PATH = "/healthz"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]/@]+)(?::\d{1,5})?")  # a name or address, a port
NO_SNIFF = {"X-Content-Type-Options": "nosniff"}


class NoSniff:
    """Middleware that forbids browsers to guess the type of a response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application and add the header to its response."""

        async def send_with_header(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(NO_SNIFF)
            await send(message)

        await self.app(scope, receive, send_with_header)


class AllowedHosts:
    """Middleware that answers 400 to requests for other host names.

    This protects against DNS rebinding: a page of another site can let its own name point to this
    machine, and the browser then lets it read the responses. It cannot change the header `Host`.

    hosts: names and addresses without port, `*.example.org` for all names below one; None for any
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] | None) -> None:
        self.app = app
        self.hosts = None if hosts is None else {_bracketed(host.lower()) for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application if the host is allowed."""
        if scope["type"] != "http" or self._allows(Headers(scope=scope).getlist("host")):
            await self.app(scope, receive, send)
            return
        detail = "this server has another host name; add this one with --allowed-host"
        await JSONResponse({"detail": detail}, 400)(scope, receive, send)

    def _allows(self, given: list[str]) -> bool:
        if self.hosts is None or "*" in self.hosts:
            return True
        host = _HOST.fullmatch(given[0].lower()) if len(given) == 1 else None
        if host is None:
            return False
        _, *labels = host[1].split(".")
        above = {".".join(["*", *labels[number:]]) for number in range(len(labels))}
        return host[1] in self.hosts or not above.isdisjoint(self.hosts)


def _bracketed(host: str) -> str:
    """Return an IPv6 address as it is written in the header `Host`."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


class RequiredToken:
    """Middleware that answers 401 to requests without the token, except for health checks.

    The page at `/` is sent with the status 401: it asks for the token and sends it with its
    requests. The other files of the page can be read without it.

    token: None for a server that needs none
    """

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application if the token is right or not necessary."""
        if scope["type"] != "http" or self._allows(scope):
            await self.app(scope, receive, send)
            return
        if scope["path"] == "/" and scope["method"] in {"GET", "HEAD"}:
            response = page_response("index.html", status=401)
        else:
            detail = "the access token is missing or wrong; send Authorization: Bearer TOKEN"
            response = JSONResponse({"detail": detail}, 401)
        response.headers["WWW-Authenticate"] = "Bearer"
        await response(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        if self.token is None or scope["path"] in PUBLIC_PATHS | {HEALTH_PATH}:
            return True
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self.token.encode())
        return right and scheme.lower() == "bearer"


def check_token(token: str | None) -> None:
    """Raise InputError if a token cannot be sent in a header."""
    if token is not None and not re.fullmatch(r"[!-~]+", token):
        raise InputError("`token` must consist of ASCII letters, digits and signs, without spaces")
