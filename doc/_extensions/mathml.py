"""Formulas as MathML, which browsers show by themselves: no script, no fonts, nothing to fetch."""

from docutils import nodes
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import SphinxError

WORDS = {r"\dots": r"\ldots ", r"\Big": ""}
"""Commands that docutils does not know, and what stands for them."""


def to_mathml(code, *, as_block=False):
    r"""Return TeX code as a MathML element; rows end in ``\\``, and & aligns them."""
    for word, known in WORDS.items():
        code = code.replace(word, known)
    if as_block and pick_math_environment(code) == "align*":
        code = rf"\begin{{aligned}}{code}\end{{aligned}}"
    try:
        return tex2mathml(code, as_block=as_block)
    except (MathError, AttributeError, IndexError) as error:
        raise SphinxError(f"no MathML of {code!r}: {error}") from error


def visit_inline(self, node):
    self.body.append(f'<span class="math">{to_mathml(node.astext())}</span>')
    raise nodes.SkipNode


def visit_block(self, node):
    blocks = [block for block in node.astext().split("\n\n") if block.strip()]
    for block in blocks:
        self.body.append(f'<div class="math">{to_mathml(block, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
