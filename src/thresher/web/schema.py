"""The requests and responses of the API; FastAPI derives its OpenAPI schema from them."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from thresher.web.exports import FormatName

MAX_TEXTS = 1000
MAX_KINDS = 30
MAX_EXAMPLES = 100  # names of a kind
MAX_NAME = 100  # characters of a name or of a kind


def _without_lone_surrogates(text: str) -> str:
    """Reject half of a surrogate pair: JSON can contain it, but UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair at {error.start}") from error
    return text


Text = Annotated[str, AfterValidator(_without_lone_surrogates)]
ModelName = Annotated[
    str | None, Field(description="One of the server's models; by default the first.")
]
SelectorNumber = Annotated[
    int | None, Field(ge=1, description="The selector of the model to use, counted from 1.")
]
Threshold = Annotated[
    float | None,
    Field(
        ge=0,
        le=1,
        description="The minimum score of an entity; by default the model's own threshold. With 0 "
        "all candidates are returned, so that a client can apply a threshold later.",
    ),
]
Offsets = Annotated[
    Literal["characters", "utf-16"],
    Field(
        description="The unit of start and end: Unicode characters, as in Python, or UTF-16 "
        "code units, as in JavaScript."
    ),
]


Name = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_without_lone_surrogates)
]
Kinds = Annotated[
    dict[Name, Annotated[list[Name], Field(min_length=1, max_length=MAX_EXAMPLES)]] | None,
    Field(
        max_length=MAX_KINDS,
        description="For each kind of entities some names that are examples of it; by default the "
        "kinds of the model, and none with {}.",
        examples=[{"person": ["Marie Curie", "Obama"], "place": ["Oslo", "New York"]}],
    ),
]
Only = Annotated[
    list[Name | None] | None,
    Field(
        min_length=1,
        max_length=MAX_KINDS + 1,
        description="Kinds of entities to return, null for entities without a kind; by default "
        "all.",
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: ModelName = None
    selector: SelectorNumber = None
    threshold: Threshold = None
    kinds: Kinds = None
    only: Only = None


class _FindRequest(_Request):
    offsets: Offsets = "characters"
    words: Annotated[bool, Field(description="Whether to return the score of every word.")] = False

    @model_validator(mode="before")
    @classmethod
    def _refuse_text_and_texts(cls, body: Any) -> Any:
        if isinstance(body, dict) and "text" in body and "texts" in body:
            raise ValueError("it has both text and texts; give one of them")
        return body


class OneText(_FindRequest):
    """A request to find the entities of one text."""

    text: Text

    @property
    def all_texts(self) -> list[str]:
        """The text as a list."""
        return [self.text]


class SeveralTexts(_FindRequest):
    """A request to find the entities of several texts, each independent of the others."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS)]

    @property
    def all_texts(self) -> list[str]:
        """All texts of the request."""
        return self.texts


def _one_or_several(body: Any) -> str:
    return "several" if isinstance(body, dict) and "texts" in body else "one"


FindRequest = Annotated[
    Annotated[OneText, Tag("one")] | Annotated[SeveralTexts, Tag("several")],
    Discriminator(_one_or_several),
]


class DownloadRequest(_Request):
    """A request for the entities of a text as a file."""

    text: Text
    format: FormatName = "jsonl"


class Entity(BaseModel):
    """An entity, `text[start:end]`, and the probability that exactly this span is one.

    kind: is missing if the model knows no kinds, or if none fits
    """

    start: int
    end: int
    text: str
    score: float
    kind: str | None = None
    kind_score: float | None = None


class WordResult(BaseModel):
    """A word and the probability that it belongs to an entity."""

    start: int
    end: int
    score: float


class SentenceResult(BaseModel):
    """A sentence and its words."""

    start: int
    end: int
    words: list[WordResult]


class TextResult(BaseModel):
    """The entities of a text in order, and its sentences if word scores were requested.

    note: is only present if the model cannot read the script of the text, and says so
    """

    spans: list[Entity]
    sentences: list[SentenceResult] | None = None
    note: str | None = None


class FindResponse(BaseModel):
    """The results of the texts, in the order of the request.

    kinds: those that entities can have; missing if there are none
    """

    model: str
    selector: int
    threshold: float
    kinds: list[str] | None = None
    results: list[TextResult]


class ModelInfo(BaseModel):
    """A model that requests can select.

    selector: the number of the default selector, counted from 1
    thresholds: the default threshold of each selector
    kinds: the kinds of entities that the model knows
    """

    name: str
    selector: int
    thresholds: list[float]
    kinds: list[str] = []


class ModelsResponse(BaseModel):
    """The models of the server, the default one first, and the maximum size of a request body."""

    models: list[ModelInfo]
    most_bytes: int


class HealthResponse(BaseModel):
    """The server is running.

    precision: the dtype of the default model's matrix products: int8, float16 or float32
    instruction_set: what the CPU supports, for example AVX2 or AVX-512 VNNI
    device: where the default model runs, cpu or cuda
    """

    status: Literal["ok"] = "ok"
    version: str
    precision: str
    instruction_set: str
    device: str


class ErrorResponse(BaseModel):
    """The reason why a request failed."""

    detail: str
