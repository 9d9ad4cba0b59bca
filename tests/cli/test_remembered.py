"""Types that were found once are not looked for again."""

from numba import njit
from numba.core.types import Function

from tear3d.cli.remembered import types_remembered


def test_a_kernel_is_the_same_and_numba_is_as_it_was(monkeypatch):
    asked = []
    find = Function.get_call_type

    def count(self, context, args, kws):
        asked.append((self, args))
        return find(self, context, args, kws)

    def polynomial(x, n):
        return (x * x + x * x) * (x + x) + n * n + n

    monkeypatch.setattr(Function, "get_call_type", count)
    expected = njit(polynomial)(0.3, 7)
    often = len(asked)
    with types_remembered():
        asked.clear()
        assert njit(polynomial)(0.3, 7) == expected
    assert len(asked) == len(set(asked)) < often
    assert Function.get_call_type is count
