"""The FastAPI application of `thresher serve`."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic_core import to_json
from starlette.middleware import Middleware

from thresher import __version__
from thresher.encoders.instruction_set import instruction_set
from thresher.entities.finding.kind_filter import checked_kinds
from thresher.entities.finding.scored_text import ScoredText
from thresher.web.access import AllowedHosts, NoSniff, RequiredToken, check_token
from thresher.web.body_limit import BodyLimit, UnambiguousLength
from thresher.web.error_handlers import ERROR_RESPONSES, add_error_handlers
from thresher.web.exports import FORMATS
from thresher.web.kinds import KindFinders
from thresher.web.metrics import CONTENT_TYPE, Metrics, MetricsMiddleware
from thresher.web.models import ServedModels
from thresher.web.page import page_routes
from thresher.web.queue import ScoringQueue
from thresher.web.responses import (
    STREAM_TYPE,
    ResponseBuilder,
    progress_response,
    text_result,
    unless_disconnected,
)
from thresher.web.schedule import client_of_address
from thresher.web.schema import (
    DownloadRequest,
    FindRequest,
    FindResponse,
    HealthResponse,
    ModelInfo,
    ModelsResponse,
    OneText,
    SeveralTexts,
)

MAX_BYTES = 500_000
MAX_WAITING = 64

_COUNTED_PATHS = frozenset(
    {"/", "/find", "/find/stream", "/download", "/models", "/healthz", "/metrics"}
)


def create_app(
    models: ServedModels,
    *,
    max_bytes: int = MAX_BYTES,
    max_waiting: int = MAX_WAITING,
    token: str | None = None,
    allowed_hosts: Collection[str] | None = None,
) -> FastAPI:
    """Return an application that finds entities with the given models.

    max_bytes: the maximum size of a request body
    max_waiting: the maximum number of requests that wait or are processed at the same time
    token: what `Authorization: Bearer …` must contain, except for health checks; by default nothing
    allowed_hosts: the names that the header `Host` may contain, `*.example.org` for all names below
        one; by default any
    """
    check_token(token)
    queue = ScoringQueue(max_requests=max_waiting)
    metrics = Metrics(waiting=queue.__len__)
    app = FastAPI(
        title="Thresher",
        version=__version__,
        summary="Finds the entities of texts; trained without labels.",
        docs_url=None,  # FastAPI's documentation pages load scripts from other servers
        redoc_url=None,
        middleware=[
            Middleware(MetricsMiddleware, metrics=metrics, paths=_COUNTED_PATHS),
            Middleware(NoSniff),
            Middleware(UnambiguousLength),
            Middleware(AllowedHosts, hosts=allowed_hosts),
            Middleware(RequiredToken, token=token),
            Middleware(BodyLimit, max_bytes=max_bytes),
        ],
        routes=[*page_routes()],
    )
    add_error_handlers(app)
    _add_find_routes(app, _FindService(models, queue, metrics))
    _add_status_routes(app, models, metrics, max_bytes)
    _add_choices_to_schema(app, models)
    return app


class _ScoredRequest(NamedTuple):
    """The scored texts of a request, and the model, selector and filter that apply to them.

    kinds: those that the finder knows   only: the kinds to return; None for all
    unreadable: returns why the model cannot read a text, or None
    """

    model: str
    selector: int
    threshold: float
    kinds: tuple[str, ...]
    only: frozenset[str | None] | None
    texts: list[ScoredText]
    unreadable: Callable[[str], str | None]


class _FindService:
    """Scores the texts of requests in the queue, and builds the responses."""

    def __init__(self, models: ServedModels, queue: ScoringQueue, metrics: Metrics) -> None:
        self._models, self._queue, self._metrics = models, queue, metrics
        self._kind_finders = KindFinders(queue)
        self._builder = ResponseBuilder()

    async def find(
        self,
        request: Request,
        body: OneText | SeveralTexts,
        on_progress: Callable[[float], None] | None = None,
    ) -> bytes:
        """Return the entities of the texts as a `FindResponse` in JSON."""
        scored = await self._score(request, body, body.all_texts, on_progress)
        return await self._builder.build(
            lambda: _find_response(scored, body.offsets, body.words), texts=body.all_texts
        )

    async def download(self, request: Request, body: DownloadRequest) -> str:
        """Return the content of a file with the entities of a text."""
        scored = await self._score(request, body, [body.text])
        write = FORMATS[body.format].write
        return await self._builder.build(
            lambda: write(scored.texts[0], scored.threshold, scored.only), texts=[body.text]
        )

    async def _score(
        self,
        request: Request,
        body: OneText | SeveralTexts | DownloadRequest,
        texts: list[str],
        on_progress: Callable[[float], None] | None = None,
    ) -> _ScoredRequest:
        client = client_of_address(request.client.host) if request.client else ""
        work = self._score_for(client, body, texts, on_progress)
        scored = await unless_disconnected(request, work)
        self._metrics.count_texts(texts)
        return scored

    async def _score_for(
        self,
        client: str,
        body: OneText | SeveralTexts | DownloadRequest,
        texts: list[str],
        on_progress: Callable[[float], None] | None,
    ) -> _ScoredRequest:
        model = self._models.get(body.model)
        selector = body.selector or model.selector
        own = model.finder(body.selector)
        finder = await self._kind_finders.get(own, body.kinds, client=client)
        only = checked_kinds(body.only, finder.kinds)
        scored = await self._queue.score(finder, texts, client=client, on_progress=on_progress)
        threshold = finder.threshold if body.threshold is None else body.threshold
        return _ScoredRequest(
            model.name, selector, threshold, finder.kinds, only, scored, finder.unreadable
        )


def _add_find_routes(app: FastAPI, service: _FindService) -> None:
    @app.post("/find", responses=ERROR_RESPONSES, response_model=FindResponse)
    async def find(body: FindRequest, request: Request) -> Response:
        """Return the entities of one text or of several."""
        return Response(await service.find(request, body), media_type="application/json")

    @app.post("/find/stream", responses=ERROR_RESPONSES | _STREAM, response_class=Response)
    async def find_with_progress(body: FindRequest, request: Request) -> Response:
        """Return lines of JSON: the progress of a long request, and the response of /find last."""
        return await progress_response(lambda report: service.find(request, body, report))

    @app.post("/download", responses=ERROR_RESPONSES | _file_response(), response_class=Response)
    async def download(body: DownloadRequest, request: Request) -> Response:
        """Return the entities of a text as a file."""
        content = await service.download(request, body)
        form = FORMATS[body.format]
        headers = {"Content-Disposition": f'attachment; filename="{form.file_name}"'}
        return Response(content, media_type=f"{form.media_type}; charset=utf-8", headers=headers)


def _find_response(scored: _ScoredRequest, offset_unit: str, with_words: bool) -> bytes:
    """Return a `FindResponse` as JSON."""
    results = [
        text_result(
            text,
            threshold=scored.threshold,
            only=scored.only,
            offset_unit=offset_unit,
            with_words=with_words,
            unreadable=scored.unreadable(text.text),
        )
        for text in scored.texts
    ]
    response = {
        "model": scored.model,
        "selector": scored.selector,
        "threshold": scored.threshold,
        **({"kinds": scored.kinds} if scored.kinds else {}),
        "results": results,
    }
    return to_json(response)


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Lines of JSON", "content": {STREAM_TYPE: {}}}
}


def _file_response() -> dict[int | str, dict[str, Any]]:
    media_types = sorted({form.media_type for form in FORMATS.values()})
    return {200: {"description": "The file", "content": {each: {} for each in media_types}}}


def _add_status_routes(
    app: FastAPI, models: ServedModels, metrics: Metrics, max_bytes: int
) -> None:
    @app.get("/models")
    async def list_models() -> ModelsResponse:
        """Return the models that requests can select."""
        infos = [
            ModelInfo(
                name=model.name,
                selector=model.selector,
                thresholds=[finder.threshold for finder in model.finders],
                kinds=list(model.finder().kinds),
            )
            for model in models.models
        ]
        return ModelsResponse(models=infos, most_bytes=max_bytes)

    finder = models.get(None).finder()
    health_response = HealthResponse(
        version=__version__,
        precision=finder.precision,
        instruction_set=instruction_set(),
        device=finder.encoder.device.type,
    )

    @app.get("/healthz")
    async def health() -> HealthResponse:
        """Return a status and how models compute, without waiting for the queue."""
        return health_response

    @app.get("/metrics", response_class=PlainTextResponse)
    async def prometheus_metrics() -> PlainTextResponse:
        """Return metrics for Prometheus."""
        return PlainTextResponse(metrics.exposition(), media_type=CONTENT_TYPE)


def _add_choices_to_schema(app: FastAPI, models: ServedModels) -> None:
    """List the names of the models and the numbers of the selectors in the OpenAPI schema."""
    schema = app.openapi()
    max_selectors = max(len(model.finders) for model in models.models)
    for request in (OneText, SeveralTexts, DownloadRequest):
        fields = schema["components"]["schemas"][request.__name__]["properties"]
        fields["model"]["enum"] = [*models.names, None]
        fields["selector"]["enum"] = [*range(1, max_selectors + 1), None]
