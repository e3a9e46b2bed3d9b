import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.kernels.search import heap as heaps


@pytest.mark.usefixtures("plain_class")
class TestHeap:
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
    def test_entries_come_out_in_decreasing_order(self, values: list[float]) -> None:
        bound, heap, size = np.array(values), np.empty(len(values), np.int64), 0
        for entry in range(len(values)):
            size = heaps.put(heap, size, bound, entry)
        out = []
        while size:
            top, size = heaps.take(heap, size, bound)
            out.append(top)
        assert sorted(out) == list(range(len(values)))
        assert (np.diff(bound[out]) <= 0).all()
