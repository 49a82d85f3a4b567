"""What requests and answers look like; FastAPI makes the OpenAPI schema from it."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from thresher.web.exports import FormatName

MOST_TEXTS = 1000


def _whole_characters(text: str) -> str:
    """JSON can hold half a surrogate pair, which no answer could hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair at {error.start}") from error
    return text


Text = Annotated[str, AfterValidator(_whole_characters)]
ModelName = Annotated[
    str | None, Field(description="One of the server's models; by default the first.")
]
SelectorNumber = Annotated[
    int | None,
    Field(ge=1, description="Which of the model's selectors finds, counted from 1."),
]
Threshold = Annotated[
    float | None,
    Field(
        ge=0,
        le=1,
        description="The least score of an entity; by default the model's own. With 0 every "
        "candidate comes, and a threshold can be chosen later.",
    ),
]
Offsets = Annotated[
    Literal["characters", "utf-16"],
    Field(
        description="What start and end count: Unicode characters, as Python does, or UTF-16 "
        "code units, as JavaScript does."
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: ModelName = None
    selector: SelectorNumber = None
    threshold: Threshold = None


class _Find(_Request):
    offsets: Offsets = "characters"
    words: Annotated[
        bool, Field(description="Whether to give every word with its own score, too.")
    ] = False


class OneText(_Find):
    """A text."""

    text: Text

    @property
    def all(self) -> list[str]:
        """The texts to read."""
        return [self.text]


class SeveralTexts(_Find):
    """Several texts, each read by itself."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)]

    @property
    def all(self) -> list[str]:
        """The texts to read."""
        return self.texts


def _one_or_several(body: Any) -> str:
    return "several" if isinstance(body, dict) and "texts" in body else "one"


FindRequest = Annotated[
    Annotated[OneText, Tag("one")] | Annotated[SeveralTexts, Tag("several")],
    Discriminator(_one_or_several),
]


class DownloadRequest(_Request):
    """A text and the form in which its entities are wanted."""

    text: Text
    format: FormatName = "jsonl"


class Entity(BaseModel):
    """A stretch of the text: `text[start:end]`, and how likely it is just an entity."""

    start: int
    end: int
    text: str
    score: float


class ScoredWord(BaseModel):
    """A word, and the probability that it belongs to an entity."""

    start: int
    end: int
    score: float


class ScoredSentence(BaseModel):
    """A sentence and its words."""

    start: int
    end: int
    words: list[ScoredWord]


class Found(BaseModel):
    """The entities of a text, from left to right; its sentences if words were asked for."""

    spans: list[Entity]
    sentences: list[ScoredSentence] | None = None


class Answer(BaseModel):
    """What was found in each text, in the order they were given."""

    model: str
    selector: int
    threshold: float
    results: list[Found]


class ModelInfo(BaseModel):
    """A model that requests can name.

    thresholds: of each of its selectors   selector: which finds by default, counted from 1
    """

    name: str
    selector: int
    thresholds: list[float]


class Models(BaseModel):
    """The models of the server; the first is the default. And how many bytes a request may have."""

    models: list[ModelInfo]
    most_bytes: int


class Health(BaseModel):
    """That the server is there."""

    status: Literal["ok"] = "ok"
    version: str


class Problem(BaseModel):
    """Why a request was not answered."""

    detail: str
