"""thresher --version: the version, and with --verbose how models compute on this machine."""

import platform

from thresher import __version__


def version_text(*, verbose: bool) -> str:
    """Return the version; with `verbose` further lines on precision and instruction set."""
    lines = [f"thresher {__version__}", *(_computation() if verbose else ())]
    return "\n".join(lines)


def _computation() -> list[str]:
    import torch  # noqa: PLC0415 (slow to import)

    from thresher.encoders.instruction_set import Computation  # noqa: PLC0415 (torch)

    cpu = Computation.on_this_cpu()
    weights = f" (weights from -{cpu.max_weight} to {cpu.max_weight})" if cpu.max_weight else ""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return [
        f"python: {platform.python_version()}",
        f"torch: {torch.__version__}, {torch.get_num_threads()} threads",
        f"precision: {cpu.precision}{weights}",
        f"instruction set: {cpu.instruction_set}",
        f"GPU: {gpu}",
    ]
