"""The heap of a best-first search: entries by their bounds, the largest on top."""

from passerby.kernels.jit import inlined

#: The cost of a node besides arithmetic, in elementary operations.
NODE = 1500.0


@inlined
def put(heap, size, bound, entry):
    """Add an entry to a heap with the largest bound on top."""
    i = size
    while i > 0:
        p = (i - 1) // 2
        if bound[heap[p]] >= bound[entry]:
            break
        heap[i] = heap[p]
        i = p
    heap[i] = entry
    return size + 1


@inlined
def take(heap, size, bound):
    """Remove the top entry; returns it and the new size."""
    top = heap[0]
    size -= 1
    if size > 0:
        last = heap[size]
        i = 0
        while True:
            c = 2 * i + 1
            if c >= size:
                break
            if c + 1 < size and bound[heap[c + 1]] > bound[heap[c]]:
                c += 1
            if bound[heap[c]] <= bound[last]:
                break
            heap[i] = heap[c]
            i = c
        heap[i] = last
    return top, size
