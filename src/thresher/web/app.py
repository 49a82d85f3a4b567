"""The server: what it answers, and what it refuses."""

from typing import Any, NamedTuple

from anyio.to_thread import run_sync
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from starlette.middleware import Middleware

from thresher import __version__
from thresher.web.body_limit import BodyLimit
from thresher.web.error_handlers import REFUSALS, add_refusals
from thresher.web.exports import FORMATS
from thresher.web.metrics import Measured, Metrics
from thresher.web.models import Shelf
from thresher.web.page import page_routes
from thresher.web.queue import ReadingQueue
from thresher.web.responses import found_in
from thresher.web.schema import (
    Answer,
    DownloadRequest,
    FindRequest,
    Health,
    ModelInfo,
    Models,
    OneText,
    SeveralTexts,
)
from thresher.web.scored_text import ReadText

MOST_BYTES = 500_000
MOST_WAITING = 64

_MEASURED = frozenset({"/", "/find", "/download", "/models", "/healthz", "/metrics"})


def create_app(
    shelf: Shelf, *, most_bytes: int = MOST_BYTES, most_waiting: int = MOST_WAITING
) -> FastAPI:
    """An application that finds entities with the models of a shelf.

    most_bytes: of a request's body   most_waiting: requests that may be read or wait at once
    """
    queue = ReadingQueue(most=most_waiting)
    metrics = Metrics(waiting=queue.__len__)
    app = FastAPI(
        title="Thresher",
        version=__version__,
        summary="Finds the entities of texts, learned with no labels.",
        docs_url=None,  # FastAPI's pages load their parts from elsewhere
        redoc_url=None,
        middleware=[
            Middleware(Measured, metrics=metrics, paths=_MEASURED),
            Middleware(BodyLimit, most=most_bytes),
        ],
        routes=[*page_routes()],
    )
    add_refusals(app)
    _add_finding(app, shelf, queue, metrics)
    _add_status(app, shelf, metrics, most_bytes)
    _name_models(app, shelf)
    return app


class _Asked(NamedTuple):
    """What a request means."""

    model: str
    selector: int
    threshold: float
    read: list[ReadText]


def _add_finding(app: FastAPI, shelf: Shelf, queue: ReadingQueue, metrics: Metrics) -> None:
    async def asked(body: OneText | SeveralTexts | DownloadRequest, texts: list[str]) -> _Asked:
        model = shelf.chosen(body.model)
        finder = model.finder(body.selector)
        read = await queue.read(finder, texts)
        metrics.texts += len(texts)
        metrics.characters += sum(map(len, texts))
        threshold = finder.threshold if body.threshold is None else body.threshold
        return _Asked(model.name, body.selector or model.selector, threshold, read)

    # Answers are put together in threads: one of a long text must not hold up the others.

    @app.post("/find", responses=REFUSALS, response_model=Answer)
    async def find(body: FindRequest) -> Response:
        """The entities of a text, or of several."""
        meant = await asked(body, body.all)
        content = await run_sync(_found, meant, body.offsets, body.words)
        return Response(content, media_type="application/json")

    @app.post("/download", responses=REFUSALS | _files(), response_class=Response)
    async def download(body: DownloadRequest) -> Response:
        """The entities of a text as a file."""
        meant = await asked(body, [body.text])
        form = FORMATS[body.format]
        content = await run_sync(form.write, meant.read[0], meant.threshold)
        name = {"Content-Disposition": f'attachment; filename="{form.name}"'}
        return Response(content, media_type=f"{form.kind}; charset=utf-8", headers=name)


def _found(meant: _Asked, offsets: str, words: bool) -> str:
    results = [
        found_in(each, threshold=meant.threshold, offsets=offsets, words=words)
        for each in meant.read
    ]
    answer = Answer(
        model=meant.model, selector=meant.selector, threshold=meant.threshold, results=results
    )
    return answer.model_dump_json(exclude_none=True)


def _files() -> dict[int | str, dict[str, Any]]:
    kinds = sorted({form.kind for form in FORMATS.values()})
    return {200: {"description": "The file", "content": {kind: {} for kind in kinds}}}


def _add_status(app: FastAPI, shelf: Shelf, metrics: Metrics, most_bytes: int) -> None:
    @app.get("/models")
    async def models() -> Models:
        """The models that a request can name."""
        return Models(
            models=[
                ModelInfo(
                    name=model.name,
                    selector=model.selector,
                    thresholds=[finder.threshold for finder in model.finders],
                )
                for model in shelf.models
            ],
            most_bytes=most_bytes,
        )

    @app.get("/healthz")
    async def health() -> Health:
        """That the server answers, however busy."""
        return Health(version=__version__)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def figures() -> PlainTextResponse:
        """Figures for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return PlainTextResponse("\n".join([*metrics.lines(), ""]), media_type=kind)


def _name_models(app: FastAPI, shelf: Shelf) -> None:
    """Let the server's description of itself list the models and the numbers of selectors."""
    schema = app.openapi()
    most = max(len(model.finders) for model in shelf.models)
    for request in (OneText, SeveralTexts, DownloadRequest):
        fields = schema["components"]["schemas"][request.__name__]["properties"]
        fields["model"]["enum"] = [*shelf.names, None]
        fields["selector"]["enum"] = [*range(1, most + 1), None]
