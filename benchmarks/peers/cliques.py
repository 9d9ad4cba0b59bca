"""The largest clique of a graph held as rows of bits: cores, a greedy clique, then branch and bound by colours.

The plan is that of PMC (Rossi, Gleich, Gebremedhin: Parallel maximum clique algorithms with applications to network
analysis, SIAM J. Sci. Comput. 2015); the colouring of bit rows is that of BBMC (San Segundo et al., Comput. Oper. Res.
2011). N vertices take N²/8 bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.peers import FloatArray

Bits = NDArray[np.uint64]
IntArray = NDArray[np.int64]
ONE = np.uint64(1)
WORD = 64
SIX, LOW = np.uint64(6), np.uint64(63)
M1, M2, M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
H01, TWO, FOUR, TOP = np.uint64(0x0101010101010101), np.uint64(2), np.uint64(4), np.uint64(56)


@njit(cache=True, nogil=True)
def ones(word):
    """How many bits of a word are set."""
    word = word - ((word >> ONE) & M1)
    word = (word & M2) + ((word >> TWO) & M2)
    return np.int64((((word + (word >> FOUR)) & M4) * H01) >> TOP)


@njit(cache=True, nogil=True)
def lowest(word):
    """The place of the lowest set bit."""
    return ones((word & (~word + ONE)) - ONE)


@njit(cache=True, nogil=True)
def size(row):
    total = 0
    for w in range(len(row)):
        total += ones(row[w])
    return total


@njit(cache=True, nogil=True)
def members(row):
    """The places of the set bits."""
    found = np.empty(size(row), np.int64)
    n = 0
    for w in range(len(row)):
        word = row[w]
        while word:
            found[n] = w * WORD + lowest(word)
            n += 1
            word &= word - ONE
    return found


@njit(cache=True, nogil=True)
def pack(flags, row):
    """Bits from flags, one byte each; whole words."""
    for w in range(len(row)):
        word = np.uint64(0)
        for b in range(WORD):
            word |= np.uint64(flags[w * WORD + b]) << np.uint64(b)
        row[w] = word


@njit(cache=True, nogil=True)
def same_lengths(x: FloatArray, y: FloatArray, tolerance: float) -> Bits:
    """An edge wherever the lengths between two points of x and of y differ by no more than the tolerance."""
    n = len(x)
    words = (n + WORD - 1) // WORD
    rows = np.zeros((n, words), np.uint64)
    flags = np.zeros(words * WORD, np.uint8)
    x0, x1, x2 = x[:, 0].copy(), x[:, 1].copy(), x[:, 2].copy()
    y0, y1, y2 = y[:, 0].copy(), y[:, 1].copy(), y[:, 2].copy()
    for i in range(n):
        for j in range(n):
            a = np.sqrt((x0[j] - x0[i]) ** 2 + (x1[j] - x1[i]) ** 2 + (x2[j] - x2[i]) ** 2)
            b = np.sqrt((y0[j] - y0[i]) ** 2 + (y1[j] - y1[i]) ** 2 + (y2[j] - y2[i]) ** 2)
            flags[j] = abs(a - b) <= tolerance
        flags[i] = 0
        pack(flags, rows[i])
    return rows


@njit(cache=True, nogil=True)
def induced(rows: Bits, vertices: IntArray) -> Bits:
    """The graph of some vertices, in the order given."""
    n = len(vertices)
    words = (n + WORD - 1) // WORD
    part = np.zeros((n, words), np.uint64)
    flags = np.zeros(words * WORD, np.uint8)
    for i in range(n):
        row = rows[vertices[i]]
        for j in range(n):
            v = np.uint64(vertices[j])
            flags[j] = (row[v >> SIX] >> (v & LOW)) & ONE
        pack(flags, part[i])
    return part


@njit(cache=True, nogil=True)
def cores(rows: Bits) -> tuple[IntArray, IntArray]:
    """Vertices in the order in which the one with fewest neighbours left is taken away, and their core numbers.

    Batagelj and Zaversnik's buckets: linear in the number of edges.
    """
    n = len(rows)
    degree = np.empty(n, np.int64)
    for i in range(n):
        degree[i] = size(rows[i])
    start = np.zeros(n + 1, np.int64)
    for i in range(n):
        start[degree[i] + 1 if degree[i] < n else n] += 1
    start = np.cumsum(start)
    order, place, filled = np.empty(n, np.int64), np.empty(n, np.int64), start.copy()
    for i in range(n):
        place[i] = filled[degree[i]]
        order[place[i]] = i
        filled[degree[i]] += 1
    for at in range(n):
        v = order[at]
        for w in range(rows.shape[1]):
            word = rows[v, w]
            while word:
                u = w * WORD + lowest(word)
                word &= word - ONE
                if degree[u] > degree[v]:
                    # The first of u's bucket changes places with it, and the bucket begins one later.
                    first = max(start[degree[u]], at + 1)
                    other = order[first]
                    order[first], order[place[u]] = u, other
                    place[other], place[u] = place[u], first
                    start[degree[u]] = first + 1
                    degree[u] -= 1
    return order, degree


@njit(cache=True, nogil=True)
def colour(rows, left, limit, free, vertices, colours, top):
    """Colour the vertices `left` greedily, lowest first, and push those above the limit: a clique takes one a colour.

    Empties `left`; returns the top of the stack and the number of words that were read.
    """
    words = len(left)
    c, read = 0, 0
    first = 0
    while first < words:
        if not left[first]:
            first += 1
            continue
        c += 1
        free[first:] = left[first:]
        for w in range(first, words):
            while free[w]:
                v = w * WORD + lowest(free[w])
                bit = free[w] & (~free[w] + ONE)
                free[w] ^= bit
                left[w] ^= bit
                for z in range(w, words):
                    free[z] &= ~rows[v, z]
                read += words - w
                if c > limit:
                    vertices[top], colours[top] = v, c
                    top += 1
    return top, read


@njit(cache=True, nogil=True)
def branch(rows, known, budget):
    """A largest clique with more than `known` vertices, or none; False if the budget of words ended the search."""
    n, words = rows.shape
    depth = min(n, 64)
    left = np.zeros((depth + 1, words), np.uint64)
    for v in range(n):
        left[0, v // WORD] |= ONE << np.uint64(v % WORD)
    free, coloured = np.empty(words, np.uint64), left[0].copy()
    vertices, colours = np.empty(4 * n, np.int64), np.empty(4 * n, np.int64)
    base, chosen = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    best = np.empty(0, np.int64)
    top, read = colour(rows, coloured, known, free, vertices, colours, 0)
    budget -= read
    level = 0
    while level >= 0:
        if top == base[level] or level + colours[top - 1] <= known:
            top = base[level]
            level -= 1
            continue
        if budget < 0:
            return best, budget
        top -= 1
        v = vertices[top]
        chosen[level] = v
        if level + 1 > depth:
            more = np.zeros((min(n, 2 * depth) + 1, words), np.uint64)
            more[: depth + 1] = left
            left, depth = more, len(more) - 1
        left[level, v // WORD] ^= ONE << np.uint64(v % WORD)
        some = False
        for w in range(words):
            left[level + 1, w] = left[level, w] & rows[v, w]
            some |= left[level + 1, w] != 0
        if not some:
            if level + 1 > known:
                known = level + 1
                best = chosen[:known].copy()
            continue
        level += 1
        base[level] = top
        if top + n > len(vertices):
            vertices, colours = np.append(vertices, vertices), np.append(colours, colours)
        coloured[:] = left[level]
        top, read = colour(rows, coloured, known - level, free, vertices, colours, top)
        budget -= read
    return best, budget


@njit(cache=True, nogil=True)
def greedy(rows, core):
    """PMC's heuristic: from every vertex, always the neighbour of highest core number, which comes first."""
    n, words = rows.shape
    best, chosen = np.empty(0, np.int64), np.empty(n, np.int64)
    for v in range(n):
        if core[v] < len(best):
            break
        left = rows[v].copy()
        chosen[0], k, w = v, 1, 0
        while w < words:
            if not left[w]:
                w += 1
                continue
            u = w * WORD + lowest(left[w])
            chosen[k] = u
            k += 1
            for z in range(w, words):
                left[z] &= rows[u, z]
        if k > len(best):
            best = chosen[:k].copy()
    return best


@njit(cache=True, nogil=True)
def largest(rows: Bits, budget: int) -> tuple[IntArray, bool]:
    """The largest clique, and whether it is proven; a budget of words read is a time limit that repeats itself."""
    order, core = cores(rows)
    order = order[::-1].copy()
    rows, core = induced(rows, order), core[order]
    best = greedy(rows, core)
    words = rows.shape[1]
    left, free = np.empty(words, np.uint64), np.empty(words, np.uint64)
    vertices, colours = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for v in range(len(rows) - 1, -1, -1):
        if core[v] < len(best):
            continue
        left[:] = 0
        w = v // WORD
        left[: w + 1] = rows[v, : w + 1]
        left[w] &= (ONE << np.uint64(v % WORD)) - ONE
        around = members(left)
        top, read = colour(rows, left, len(best) - 1, free, vertices, colours, 0)
        budget -= read
        if top == 0:
            continue
        part = induced(rows, around)
        while True:
            near, number = cores(part)
            kept = near[::-1][number[near[::-1]] >= len(best) - 1]
            around = around[kept]
            part = induced(part, kept)
            if len(kept) == len(near):
                break
        if len(around) < len(best):
            continue
        found, budget = branch(part, len(best) - 1, budget)
        if len(found) >= len(best):
            best = np.append(around[found], v)
        if budget < 0:
            return np.sort(order[best]), False
    return np.sort(order[best]), True
