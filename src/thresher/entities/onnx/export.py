"""Export a finder as an ONNX file."""

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from thresher.atomic_files import check_can_write, open_atomic
from thresher.encoders.word_graph import ExportableEncoder, WordGraph
from thresher.entities.model import FinderModel
from thresher.entities.onnx.metadata import (
    GATES,
    IDS,
    KIND_SCORES,
    LINKS,
    MASK,
    SENTENCE,
    VECTORS,
    WORD,
    to_metadata,
)
from thresher.errors import InputError, requires_extra
from thresher.gates.features import Features

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

_OPSET = 18  # the first in which sums by index are complete
_MAX_BYTES = 2 << 30  # of a protocol buffer
_TOKENS = {0: "windows", 1: "tokens"}
_EXAMPLE = [["marie", "curie", "moved", "to", "paris", "."], ["she", "liked", "warsaw", "."]]


def export_onnx(finder: "EntityFinder", path: str | Path) -> None:
    """Write a finder as one ONNX file, atomically, in float32.

    The file has the graph, and in its metadata the tokenizer and everything that decoding needs;
    `OnnxFinder.load` reads it. Names and patterns of the user (`with_rules`) are not saved.
    """
    path = Path(path)
    check_can_write(path)
    with requires_extra("onnx", "exporting needs onnx and onnxscript"):
        import onnx  # noqa: PLC0415 (an extra)
        import onnxscript  # noqa: F401, PLC0415 (torch's exporter needs it)
    graph = _word_graph(finder)
    program = _traced(FinderGraph(graph, finder.model), finder)
    proto = program.model_proto
    onnx.helper.set_model_props(proto, to_metadata(finder.model, graph))
    if proto.ByteSize() >= _MAX_BYTES:
        raise InputError(
            f"the graph has {proto.ByteSize():,} bytes, and an ONNX file at most {_MAX_BYTES:,}"
        )
    with open_atomic(path) as file:
        file.write(proto.SerializeToString())


class FinderGraph(nn.Module):
    """Word vectors, gates, links between neighbouring words, and gates of kinds.

    The outputs are those of `names`, for the words of all sentences.
    """

    def __init__(self, graph: WordGraph, model: FinderModel) -> None:
        super().__init__()
        self.vectors = graph.module
        self.selector, self.link_gate = model.selector, model.link_gate
        gates = model.kinds.gates if model.kinds else None
        self.kind_gates = nn.ModuleList(gates.selectors if gates else ())
        self.names = [
            GATES,
            VECTORS,
            *([LINKS] if self.link_gate else []),
            *([KIND_SCORES] if self.kind_gates else []),
        ]

    def forward(
        self, ids: Tensor, mask: Tensor, word: Tensor, sentence_of_word: Tensor
    ) -> tuple[Tensor, ...]:
        """Return (words,) or (words, any) each; the inputs are fields of a `TokenBatch`."""
        vectors = self.vectors(ids, mask, word, sentence_of_word)
        outputs = [self.selector(vectors).prob_open(), vectors]
        if self.link_gate is not None:
            outputs.append(self.link_gate.of_neighbours(vectors))
        if self.kind_gates:
            of_kinds = [each(vectors).prob_open() for each in self.kind_gates]
            outputs.append(torch.stack(of_kinds, dim=1))
        return tuple(outputs)


def _word_graph(finder: "EntityFinder") -> WordGraph:
    if finder.model.features != Features():
        raise InputError(
            "models with a gate for each subword or with attention features cannot be exported"
        )
    if finder.encoder.device.type != "cpu":
        raise InputError("only a finder on the CPU can be exported; load it with `device` cpu")
    if not isinstance(finder.encoder, ExportableEncoder):
        raise InputError(f"the encoder {finder.encoder.name} cannot be exported")
    return finder.encoder.word_graph()


def _traced(module: FinderGraph, finder: "EntityFinder") -> Any:
    """Return the ONNX program of a module, for any number of windows, tokens and words."""
    batch = finder.encoder.batch(_EXAMPLE)
    inputs = (batch.ids, batch.mask, batch.word, batch.sentence_of_word)
    # With gradients enabled, all rows are computed at once (`maths.row_blocks`).
    with _silent_exporter(), torch.enable_grad():
        program = torch.onnx.export(
            module.eval(),
            inputs,
            dynamo=True,
            opset_version=_OPSET,
            input_names=[IDS, MASK, WORD, SENTENCE],
            output_names=module.names,
            dynamic_shapes=(_TOKENS, _TOKENS, _TOKENS, {0: "words"}),
            verbose=False,
        )
    assert program is not None
    return program


@contextmanager
def _silent_exporter() -> Iterator[None]:
    """Hide notes about torchvision and the progress of the exporter; errors are still raised."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"), redirect_stdout(io.StringIO()):
            yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)
