"""Drawings of parse trees as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from skdp.data._brackets import Item
from skdp.data._tree_layout import lay_out, text_width

_FONT_SIZE = 14.0
_GAP = 10.0
_ROW = 42.0
_LINE_GAP = 5.0
"""Gap between a line and the texts that it joins."""


def draw_svg(items: Sequence[Item]) -> str:
    """Return the SVG of a tree in flat form: words in italics, lines in the color of the text."""
    texts = [item if isinstance(item, str) else item[0] for item in items]
    widths = [_FONT_SIZE * text_width(text) + _GAP for text in texts]
    layout = lay_out(items, widths)
    y = [_FONT_SIZE + _ROW * depth for depth in layout.depth.tolist()]
    x = layout.x.tolist()
    height = max(y) + 0.5 * _FONT_SIZE
    lines = "".join(
        f"M{x[p]:.1f} {y[p] + _LINE_GAP:.1f}L{x[i]:.1f} {y[i] - _FONT_SIZE:.1f}"
        for i, p in enumerate(layout.parent.tolist())
        if p >= 0
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {layout.width:.1f} {height:.1f}" '
        f'font-family="sans-serif" font-size="{_FONT_SIZE:g}" text-anchor="middle" '
        'fill="currentColor">',
        f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.5" fill="none"/>',
    ]
    for text, is_word, column, row in zip(layout.texts, layout.is_word.tolist(), x, y, strict=True):
        style = ' font-style="italic"' if is_word else ""
        parts.append(f'<text x="{column:.1f}" y="{row:.1f}"{style}>{_escape(text)}</text>')
    return "".join([*parts, "</svg>"])


def _escape(text: str) -> str:
    """Return text escaped for XML, with unprintable characters replaced."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
