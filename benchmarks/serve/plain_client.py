"""An HTTP client that takes little CPU time, so that a load test measures the server.

httpx takes several milliseconds of CPU time per request, as long as the server needs for a small
text. With 50 clients in one process, requests then wait for the clients and not for the server.
"""

import asyncio
from urllib.parse import urlsplit

_HEAD_END = b"\r\n\r\n"


class PlainClient:
    """One connection that sends requests one after the other.

    >>> client = await PlainClient.connect("http://127.0.0.1:8000")
    >>> status = await client.post("/find", b'{"text": "Marie Curie moved to Paris."}')
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str
    ) -> None:
        self._reader, self._writer, self._host = reader, writer, host

    @classmethod
    async def connect(cls, address: str) -> "PlainClient":
        """Open a connection to a server at `http://host:port`."""
        parts = urlsplit(address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        return cls(reader, writer, parts.netloc)

    async def post(self, path: str, body: bytes) -> int:
        """Send JSON, read the whole response, and return its status."""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        lines = (await self._reader.readuntil(_HEAD_END)).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        await self._reader.readexactly(int(headers["content-length"]))
        return int(lines[0].split()[1])

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._writer.wait_closed()
