"""The asynchronous client gets from a server what the finder finds."""

import asyncio

import httpx
import pytest

from thresher.errors import InputError, WorkerError
from thresher.web.app import create_app
from thresher.web.client import AsyncClient

TEXTS = ["Magda went to Oslo.", "", "Rosa left."]


def run(models, use, *, token=None, server_token=None):
    async def main():
        transport = httpx.ASGITransport(app=create_app(models, token=server_token))
        async with AsyncClient("http://127.0.0.1", token=token, transport=transport) as client:
            return await use(client)

    return asyncio.run(main())


def run_with_token(models, token):
    return run(models, lambda client: client.find("Magda"), token=token, server_token="right")


def test_it_finds_what_the_finder_finds(models, finder):
    found = run(models, lambda client: client.find_all(TEXTS, threshold=0.1))
    for text, spans in zip(TEXTS, found, strict=True):
        expected = finder.find(text, threshold=0.1)
        assert spans.text == text
        assert [(s.start, s.text) for s in spans] == [(s.start, s.text) for s in expected]
        assert [s.score for s in spans] == pytest.approx([s.score for s in expected], abs=1e-5)
    assert run(models, lambda client: client.find(TEXTS[0], threshold=0.1)) == found[0]
    assert run(models, lambda client: client.models()) == ["english", "again"]


def test_texts_that_the_model_cannot_read_are_logged(models, caplog):
    run(models, lambda client: client.find_all(["Magda went to Oslo.", "東京は日本の首都です。"]))
    [message] = [each for each in caplog.messages if "script" in each]
    assert message.startswith("text 1: the text is in the script")


def test_errors_have_the_reason_of_the_server(models):
    with pytest.raises(InputError, match=r"the server answered 4\d\d: .*"):
        run(models, lambda client: client.find("Magda", model="none"))
    with pytest.raises(InputError, match="the server answered 401"):
        run_with_token(models, "wrong")
    with pytest.raises(WorkerError, match=r"cannot reach http://127.0.0.1:9"):
        asyncio.run(AsyncClient("http://127.0.0.1:9").find("Magda"))


def test_the_token_is_sent(models, finder):
    assert len(run_with_token(models, "right")) == len(finder.find("Magda"))
