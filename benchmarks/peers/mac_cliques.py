"""Maximal cliques of a graph (Bron and Kerbosch with Tomita's pivot on bits, in degeneracy order) and the best of every
node."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.peers.hypotheses import popcount

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def degeneracy_rank(starts, indices):
    """Places of the nodes when the one of the fewest remaining neighbours is always taken next."""
    n = len(starts) - 1
    degree = starts[1:] - starts[:-1]
    ends = np.zeros(degree.max() + 2, np.int64)
    for v in range(n):
        ends[degree[v] + 1] += 1
    first = np.cumsum(ends)
    order, place, fill = np.empty(n, np.int64), np.empty(n, np.int64), first.copy()
    for v in range(n):
        place[v] = fill[degree[v]]
        order[place[v]] = v
        fill[degree[v]] += 1
    for at in range(n):
        v = order[at]
        for e in range(starts[v], starts[v + 1]):
            u = indices[e]
            if degree[u] > degree[v]:
                # u moves to the front of its bucket, which then starts one later.
                front = first[degree[u]]
                w = order[front]
                order[place[u]], place[w] = w, place[u]
                order[front], place[u] = u, front
                first[degree[u]] = front + 1
                degree[u] -= 1
    return place


@njit(cache=True, nogil=True)
def _lowest(word):
    return np.int64(popcount((word & (~word + ONE)) - ONE))


@njit(cache=True, nogil=True)
def _candidates(inside, outside, near, candidates):
    """What to branch on: nodes inside that are no neighbours of the pivot, which has most neighbours inside."""
    words = len(inside)
    size = np.int64(0)
    for k in range(words):
        size += np.int64(popcount(inside[k]))
    best, pivot = np.int64(-1), np.int64(-1)
    for own in (0, 1):
        # A node outside can have all of them as neighbours, one inside all others.
        side, most = inside if own else outside, size - own
        for word in range(words):
            rest = side[word]
            while rest and best < most:
                u = 64 * word + _lowest(rest)
                rest &= rest - ONE
                common = np.int64(0)
                for k in range(words):
                    common += np.int64(popcount(inside[k] & near[u, k]))
                if common > best:
                    best, pivot = common, u
    for k in range(words):
        candidates[k] = inside[k] & ~near[pivot, k]


@njit(cache=True, nogil=True)
def cliques_from(graph, rank, v, slot, least, most_steps):
    """The maximal cliques whose first node in degeneracy order is v: members one after another, where each ends, sums
    of the weights of their edges, and whether all were listed. `slot` is scratch, -1 everywhere."""
    starts, indices, weights = graph
    members, ends, sums = np.empty(256, np.int32), np.empty(32, np.int64), np.empty(32)
    found, filled = 0, 0
    begin, n = starts[v], starts[v + 1] - starts[v]
    words = (n + 63) // 64
    later = 0
    for a in range(n):
        later += rank[indices[begin + a]] > rank[v]
    if later + 1 < least:
        return members[:0], ends[:0], sums[:0], True
    near, weight = np.zeros((n, words), np.uint64), np.empty((n, n), np.float32)
    inside, outside = np.zeros((later + 1, words), np.uint64), np.zeros((later + 1, words), np.uint64)
    branch, path = np.zeros((later + 1, words), np.uint64), np.zeros(later + 1, np.int64)
    total = np.zeros(later + 2)
    for a in range(n):
        slot[indices[begin + a]] = a
    for a in range(n):
        u = indices[begin + a]
        if rank[u] < rank[v]:
            outside[0, a >> 6] |= ONE << np.uint64(a & 63)
            continue
        inside[0, a >> 6] |= ONE << np.uint64(a & 63)
        for e in range(starts[u], starts[u + 1]):
            b = slot[indices[e]]
            if b >= 0:
                near[a, b >> 6] |= ONE << np.uint64(b & 63)
                near[b, a >> 6] |= ONE << np.uint64(a & 63)
                weight[a, b] = weights[e]
    for a in range(n):
        slot[indices[begin + a]] = -1
    _candidates(inside[0], outside[0], near, branch[0])
    depth, steps = 0, 0
    while depth >= 0 and steps < most_steps:
        a = np.int64(-1)
        for word in range(words):
            if branch[depth, word]:
                a = 64 * word + _lowest(branch[depth, word])
                branch[depth, word] &= branch[depth, word] - ONE
                break
        if a < 0:
            depth -= 1
            continue
        steps += 1
        path[depth] = a
        total[depth + 1] = total[depth] + weights[begin + a]
        for k in range(depth):
            total[depth + 1] += weight[a, path[k]]
        left, met = np.int64(0), np.int64(0)
        for word in range(words):
            p, x = inside[depth, word] & near[a, word], outside[depth, word] & near[a, word]
            inside[depth + 1, word], outside[depth + 1, word] = p, x
            left += np.int64(popcount(p))
            met += np.int64(popcount(x))
        bit = ONE << np.uint64(a & 63)
        inside[depth, a >> 6] &= ~bit
        outside[depth, a >> 6] |= bit
        if left == 0 and met == 0 and depth + 2 >= least:
            if found == len(ends):
                ends, sums = np.append(ends, np.empty_like(ends)), np.append(sums, np.empty_like(sums))
            while filled + depth + 2 > len(members):
                members = np.append(members, np.empty_like(members))
            members[filled] = v
            for k in range(depth + 1):
                members[filled + 1 + k] = indices[begin + path[k]]
            filled += depth + 2
            ends[found], sums[found] = filled, total[depth + 1]
            found += 1
        elif left > 0 and depth + 2 + left >= least:
            depth += 1
            _candidates(inside[depth], outside[depth], near, branch[depth])
    return members[:filled], ends[:found], sums[:found], depth < 0


@njit(cache=True, nogil=True)
def best_cliques(graph, least, most_steps):
    """Node-guided selection (Sec. 3.3): of every node the clique of the greatest weight it is in (-1: none).

    Gives the cliques kept (members, ends), which of them each node has, how many were listed in all, and from how
    many nodes the listing was cut short.
    """
    starts, indices, _ = graph
    n = len(starts) - 1
    rank = degeneracy_rank(starts, indices)
    slot = np.full(n, -1, np.int64)
    best, choice = np.zeros(n), np.full(n, -1, np.int64)
    pool, pool_ends = np.empty(1024, np.int32), np.empty(128, np.int64)
    filled, kept, listed, cut = 0, 0, 0, 0
    for v in range(n):
        members, ends, sums, complete = cliques_from(graph, rank, v, slot, least, most_steps)
        listed += len(ends)
        cut += not complete
        begin = 0
        for c in range(len(ends)):
            for m in members[begin : ends[c]]:
                if sums[c] > best[m]:
                    best[m], choice[m] = sums[c], -2 - c
            begin = ends[c]
        begin = 0
        for c in range(len(ends)):
            wanted = False
            for m in members[begin : ends[c]]:
                if choice[m] == -2 - c:
                    wanted = True
                    choice[m] = kept
            if wanted:
                size = ends[c] - begin
                while filled + size > len(pool):
                    pool = np.append(pool, np.empty_like(pool))
                if kept == len(pool_ends):
                    pool_ends = np.append(pool_ends, np.empty_like(pool_ends))
                pool[filled : filled + size] = members[begin : ends[c]]
                filled += size
                pool_ends[kept] = filled
                kept += 1
            begin = ends[c]
    return pool[:filled], pool_ends[:kept], choice, listed, cut
