"""Finders as ONNX files: export them with torch, run them with ONNX Runtime and without torch."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.entities.onnx.export import export_onnx
    from thresher.entities.onnx.finder import OnnxFinder

__all__ = ["OnnxFinder", "export_onnx"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.entities.onnx.export": ["export_onnx"],
        "thresher.entities.onnx.finder": ["OnnxFinder"],
    },
)
