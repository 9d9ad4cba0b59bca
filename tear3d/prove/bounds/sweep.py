"""The best shift t for points b_i known only to lie in [lo_i, hi_i]: sort the breakpoints and sweep.

Maximises Σ w_i·s_i(d_i(t)), d_i(t) being the distance from t to [lo_i, hi_i]. With lo = hi this is the
paper's Algorithm 2 (TEAR), 4 (CM) or 5 (TLS); with intervals it is Algorithm 3, 4 or 6, TLS in O(N log N).

Savings returned for intervals are upper bounds in floating point too (margins: mathematics.md, section 3.4). Where no
point is within reach the sum is 0 again, which cuts the axis into clusters; each is swept afresh and has its margin, so
that a far outlier costs the others little.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.losses import CM, TEAR, TLS, row_saving

_U = 2.0**-53
_SIGN = np.int64(-(2**63))


@njit(cache=True, nogil=True)
def _sorted_with_order(keys):
    """Stable radix sort of finite float64: sorted keys and the indices they came from."""
    n = keys.size
    copy = np.empty(n)
    bits = copy.view(np.int64)
    order = np.empty(n, np.int32)
    counts = np.zeros((6, 2048), np.int32)
    for i in range(n):
        order[i] = i
        copy[i] = keys[i] + 0.0  # turns -0.0 into 0.0: they must tie
        b = bits[i]
        b ^= _SIGN if b >= 0 else np.int64(-1)  # now ordered like the float, as an unsigned number
        bits[i] = b
        for d in range(6):
            counts[d, (b >> (11 * d)) & 2047] += 1
    bits_next, order_next = np.empty(n, np.int64), np.empty(n, np.int32)
    for d in range(6):
        place, shift = counts[d], 11 * d
        if n == 0 or place[(bits[0] >> shift) & 2047] == n:
            continue
        start = 0
        for c in range(2048):
            count = place[c]
            place[c] = start
            start += count
        for i in range(n):
            b = bits[i]
            c = (b >> shift) & 2047
            k = place[c]
            place[c] = k + 1
            bits_next[k] = b
            order_next[k] = order[i]
        bits, bits_next = bits_next, bits
        order, order_next = order_next, order
    for i in range(n):
        bits[i] ^= _SIGN if bits[i] < 0 else np.int64(-1)
    return bits.view(np.float64), order


@njit(cache=True, nogil=True)
def _breakpoints(lo, hi, xi):
    """The corners lo − ξ, lo, hi, hi + ξ (in this order) around a common centre, and that centre."""
    n = lo.size
    centre = 0.0
    for i in range(n):
        centre += (0.5 * lo[i] + 0.5 * hi[i]) / n
    keys = np.empty(4 * n)
    for i in range(n):
        a, b = lo[i] - centre, hi[i] - centre
        keys[i], keys[n + i], keys[2 * n + i], keys[3 * n + i] = a - xi[i], a, b, b + xi[i]
    return keys, centre


@njit(cache=True, nogil=True)
def tear_sweep(lo, hi, xi, w, pad):
    """Sum of trapezoids: piecewise linear, so the maximum is at a breakpoint (`pad` is unused)."""
    n = lo.size
    if n == 0:
        return 0.0, 0.0
    corners, centre = _breakpoints(lo, hi, xi)
    keys, order = _sorted_with_order(corners)
    best, best_t, bound = 0.0, corners[n], 0.0
    value, slope, carry, peak, weight, c1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    active, first = 0, 0
    for k in range(4 * n):
        if active > 0:
            value += (slope + carry) * (keys[k] - keys[k - 1])
            if value > peak:
                peak = value
                if value > best:
                    best, best_t = value, keys[k]
        e = order[k]
        if e < n:
            step = w[e]
            active += 1
            weight += step
            c1 += step * xi[e]
        elif e < 3 * n:
            step = -w[e - n] if e < 2 * n else -w[e - 2 * n]
        else:
            step = w[e - 3 * n]
            active -= 1
        total = slope + step
        back = total - slope
        carry += (slope - (total - back)) + (step - back)
        slope = total
        if active == 0:
            radius = max(-keys[first], keys[k])
            rounding = (k + 1 - first) * peak + 6.0 * c1 + 8.0 * radius * weight
            bound = max(bound, peak + 2.0 * _U * rounding)
            value, slope, carry, peak, weight, c1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            first = k + 1
    return bound, centre + best_t


@njit(cache=True, nogil=True)
def cm_sweep(lo, hi, xi, w, pad):
    """Heaviest overlap of the closed intervals [lo − ξ, hi + ξ], each widened by the relative `pad`."""
    n = lo.size
    if n == 0:
        return 0.0, 0.0
    ends = np.empty(2 * n)
    for i in range(n):
        ends[i] = lo[i] - xi[i] - pad * (abs(lo[i]) + xi[i])
        ends[n + i] = hi[i] + xi[i] + pad * (abs(hi[i]) + xi[i])
    keys, order = _sorted_with_order(ends)  # stable: of equal keys the openings come first
    value, slack, best, best_t = 0.0, 0.0, 0.0, lo[0]
    for k in range(2 * n):
        e = order[k]
        step = w[e] if e < n else -w[e - n]
        total = value + step
        back = total - value
        slack += abs((value - (total - back)) + (step - back))
        value = total
        if value > best:
            best, best_t = value, 0.5 * keys[k] + 0.5 * keys[k + 1]
    if slack > 0.0:  # the last factor, so that this sum cannot round down
        best = (best + 2.0 * slack) * (1.0 + 4.0 * _U)
    return best, best_t


@njit(cache=True, nogil=True)
def tls_sweep(lo, hi, xi, w, pad):
    """Sum of flat-topped parabolas (`pad` is unused).

    Between breakpoints the sum is value + slope·τ − curve·τ² with τ counted from the last breakpoint, so no
    large coordinate is ever squared.
    """
    n = lo.size
    if n == 0:
        return 0.0, 0.0
    corners, centre = _breakpoints(lo, hi, xi)
    keys, order = _sorted_with_order(corners)
    best, best_t, bound = 0.0, corners[n], 0.0
    value, slope, carry, peak = 0.0, 0.0, 0.0, 0.0
    curve, curve_carry, weight, c1, c2 = 0.0, 0.0, 0.0, 0.0, 0.0
    active, parabolas, first = 0, 0, 0
    for k in range(4 * n):
        if active > 0:
            width = keys[k] - keys[k - 1]
            s, c = slope + carry, curve + curve_carry
            if s > 0.0:
                tau = s / (2.0 * c) if s < 2.0 * c * width else width
                top = value + tau * (s - c * tau)
                if top > peak:
                    peak = top
                    if top > best:
                        best, best_t = top, keys[k - 1] + tau
            value += width * (s - c * width)
            step = -2.0 * c * width
            total = slope + step
            back = total - slope
            carry += (slope - (total - back)) + (step - back)
            slope = total
        i = order[k]
        kind = 0
        while i >= n:
            i -= n
            kind += 1
        rises = kind == 0 or kind == 2
        parabolas += 1 if rises else -1
        step = w[i] if rises else -w[i]
        total = curve + step
        back = total - curve
        curve_carry += (curve - (total - back)) + (step - back)
        curve = total
        if parabolas == 0:
            curve, curve_carry = 0.0, 0.0
        if kind == 0 or kind == 3:
            step = 2.0 * w[i] * xi[i]
            total = slope + step
            back = total - slope
            carry += (slope - (total - back)) + (step - back)
            slope = total
        if kind == 0:
            active += 1
            weight += w[i]
            c1 += w[i] * xi[i]
            c2 += w[i] * xi[i] * xi[i]
        elif kind == 3:
            active -= 1
        if active == 0:
            radius, width = max(-keys[first], keys[k]), keys[k] - keys[first]
            rounding = (k + 1 - first) * peak + 36.0 * c2
            rounding += c1 * (16.0 * width + 8.0 * radius) + 16.0 * radius * width * weight
            bound = max(bound, peak + 2.0 * _U * rounding)
            value, slope, carry, peak, weight, c1, c2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            first = k + 1
    return bound, centre + best_t


_SMALLEST = 4.0 * 5e-324
"""Products that underflow lose less than this a point."""
_SWEEPS = {TEAR: tear_sweep, CM: cm_sweep, TLS: tls_sweep}


def max_saving(lo, hi, xi, w, loss: int) -> tuple[float, float]:
    """The most that any t can save when every point may choose its b in [lo, hi], and such a t.

    Parameters
    ----------
    lo, hi, xi, w
        Float64 arrays of one length: ends of the intervals, thresholds ≥ 0, weights ≥ 0.
    loss
        `TEAR`, `CM` or `TLS` of `tear3d.problem.losses`.

    Returns
    -------
    (saving, t)
        `saving` is an upper bound, rounding included.
    """
    saving, t = _SWEEPS[loss](lo, hi, xi, w, 4.0 * _U)
    return saving + len(xi) * _SMALLEST, t


def best_shift(b, xi, w, loss: int) -> tuple[float, float]:
    """The t that saves most for known b, and what it saves when evaluated there (no bound)."""
    _, t = _SWEEPS[loss](b, b, xi, w, 0.0)
    return row_saving(b, t, xi, w, loss), t
