"""What is slow twice over, a further sampler on a further problem, the gate leaves out."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE) and len(list(item.iter_markers("slow"))) > 1:
            item.add_marker(pytest.mark.exhaustive)
