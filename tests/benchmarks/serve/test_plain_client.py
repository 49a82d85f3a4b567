"""The client of the load test against a server that echoes requests."""

import asyncio

from benchmarks.serve.plain_client import PlainClient


def test_requests_of_one_connection_are_answered_one_after_the_other():
    received = []

    async def answer(reader, writer):
        for status, content in ((b"200 OK", b'{"found": []}'), (b"503 Busy", b"\r\n\r\n" * 9)):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            received.append((head.split(b"\r\n")[0], await reader.readexactly(length)))
            size = str(len(content)).encode()
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: " + size + b"\r\n\r\n")
            writer.write(content)
        await writer.drain()
        writer.close()

    async def send():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            client = await PlainClient.connect(f"http://127.0.0.1:{port}")
            statuses = [await client.post("/find", body) for body in (b'{"text": "a"}', b"{}")]
            await client.close()
            return statuses

    assert asyncio.run(send()) == [200, 503]
    line = b"POST /find HTTP/1.1"
    assert received == [(line, b'{"text": "a"}'), (line, b"{}")]
