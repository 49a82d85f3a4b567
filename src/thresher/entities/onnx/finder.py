"""A finder that runs an exported graph with ONNX Runtime, without torch."""

from pathlib import Path
from typing import Any, Self

import numpy as np

from thresher.entities.encoding_finder import EncodingFinder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.onnx.metadata import (
    GATES,
    KIND_SCORES,
    LINKS,
    VECTORS,
    FinderParts,
    Inputs,
    from_metadata,
)
from thresher.errors import InputError, requires_extra
from thresher.gates.batching import batches_by_length, sentence_starts
from thresher.untrusted_files import memory_bytes, open_regular

_WORDS_PER_BATCH = 1024


class OnnxFinder(EncodingFinder):
    """Finds the entities of texts with a file that `export_onnx` wrote.

    It finds what the exported `EntityFinder` finds in float32, up to rounding.

    >>> finder = OnnxFinder.load("model.onnx")
    >>> finder.find("Marie Curie moved to Paris.")
    """

    def __init__(self, session: Any, parts: FinderParts) -> None:
        super().__init__(parts.sentence_scorer, threshold=parts.threshold, scripts=parts.scripts)
        self._session, self._inputs = session, parts.inputs
        self._outputs = [each.name for each in session.get_outputs()]
        if not {GATES, VECTORS} <= set(self._outputs):
            raise InputError(f"the graph must have the outputs {GATES} and {VECTORS}")

    @classmethod
    def load(cls, path: str | Path, *, threads: int | None = None) -> Self:
        """Load a finder from an ONNX file.

        threads: their number for a matrix product; by default one for each core of the CPU
        """
        with requires_extra("onnx", "ONNX files need onnxruntime"):
            import onnxruntime  # noqa: PLC0415 (an extra)

        open_regular(Path(path), max_bytes=memory_bytes()).close()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0
        try:
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime has an exception for each status
            reason = str(error).splitlines()[0]
            raise InputError(f"cannot load the ONNX file {path}: {reason}") from error
        metadata = session.get_modelmeta().custom_metadata_map
        return cls(session, from_metadata(metadata, str(path)))

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return vectors and gate scores of words; those of a sentence depend on no other one."""
        starts = sentence_starts(sentences)
        results: dict[str, Any] = {}
        for indices in batches_by_length(sentences, words_per_batch=_WORDS_PER_BATCH):
            rows = np.concatenate([np.arange(starts[each], starts[each + 1]) for each in indices])
            if not len(rows):
                continue
            outputs = self._run(self._inputs.of_sentences([sentences[i] for i in indices]))
            for name, value in zip(self._outputs, outputs, strict=True):
                if len(value) != len(rows):
                    raise InputError(f"the graph gave {len(value)} {name} for {len(rows)} words")
                if name not in results:
                    results[name] = np.zeros((int(starts[-1]), *value.shape[1:]), np.float32)
                results[name][rows] = value
        return EncodedWords(
            results.get(GATES, np.zeros(0, np.float32)),
            results.get(VECTORS, np.zeros((0, 0), np.float32)),
            results.get(KIND_SCORES),
            results.get(LINKS),
        )

    def _run(self, inputs: Inputs) -> list[Any]:
        """Return the outputs of the graph, which uses only some of the inputs."""
        used = {each.name for each in self._session.get_inputs()}
        given = {name: value for name, value in inputs.items() if name in used}
        try:
            outputs: list[Any] = self._session.run(None, given)
        except Exception as error:  # ONNX Runtime has an exception for each status
            raise InputError(
                f"the ONNX graph cannot be run: {str(error).splitlines()[0]}"
            ) from error
        return outputs
