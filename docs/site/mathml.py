"""Write formulas as MathML, which browsers show without a script from another server."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def write_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    translator.body.append(f"<div class='math'>{tex2mathml(node.astext(), as_block=True)}</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Add the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
