"""What a figure shows."""

from itertools import combinations

import matplotlib.pyplot as plt
from matplotlib.text import Text


def drawn_texts(figure):
    """Return the texts that a figure draws; those of ticks out of view are not among them."""
    drawn, draw = [], Text.draw
    try:
        Text.draw = lambda text, renderer: drawn.append(text) or draw(text, renderer)
        figure.draw_without_rendering()
    finally:
        Text.draw = draw
    return [text for text in drawn if text.get_visible() and text.get_text().strip()]


def check_texts(display, touch=0.0):
    """Check that all texts are in the figure, and that none overlaps another. `touch` is the number
    of pixels that ends of texts may share, or None for any number."""
    boxes = [(text, text.get_window_extent()) for text in drawn_texts(display.figure_)]
    assert boxes
    figure = display.figure_.bbox.padded(1)
    for text, box in boxes:
        assert figure.contains(*box.min), text
        assert figure.contains(*box.max), text
    for (text, box), (other, box_of_other) in combinations(boxes, 2):
        assert touch is None or not box.padded(-touch).overlaps(box_of_other), (text, other)


def labels_of(display):
    """Return the texts of the legend."""
    return [text.get_text() for text in display.legend_.get_texts()]


def ticks_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def axes_of(*size):
    """Return axes that fill a new figure of the given size in inches."""
    return plt.figure(figsize=size).add_axes((0, 0, 1, 1))
