"""The compiler's shorter ways come to the same as its own, which are back afterwards."""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.core import analysis, bytecode, inline_closurecall, interpreter, ir, postproc, ssa
from numba.core.compiler import run_frontend

from tear3d.cli.shortcuts import live_map, replaced, shortcuts


def _busy(values, most):
    total, last, place = 0.0, -1.0, (0, 0)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            if value < 0.0:
                continue
            if total > most:
                break
            total, last = total + value, value if value > last else last
            place = (i, j) if value == last else place
    return total, last, place


@njit(inline="always")
def _clipped(value, low, high):
    if value < low:
        value = low
    return min(value, high)


def _twice(x, y):
    return _clipped(x, y, 2.0 * y) + _clipped(y, x, 3.0)


def _dump(function):
    """Its code, as it is before types are looked for."""
    identity = bytecode.FunctionIdentity.from_function(function)
    code = interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))
    postproc.PostProcessor(code).run()
    code = ssa.reconstruct_ssa(code)
    postproc.PostProcessor(code).run(emit_dels=True)
    return [f"{label}: {statement}" for label, block in code.blocks.items() for statement in block.body]


def test_the_code_is_the_same():
    expected = _dump(_busy)
    with shortcuts():
        assert _dump(_busy) == expected
    assert len(expected) > 100


def test_what_lives_is_the_same():
    code = run_frontend(_busy)
    cfg = analysis.compute_cfg_from_blocks(code.blocks)
    used, defined = analysis.compute_use_defs(code.blocks)
    expected = analysis.compute_live_map(cfg, code.blocks, used, defined)
    assert live_map(cfg, code.blocks, used, defined) == expected
    assert any(expected.values())


def test_kernels_give_the_same_and_numba_is_as_it_was():
    owners = (postproc.PostProcessor, analysis, ir.Inst, inline_closurecall.InlineWorker, inline_closurecall, ssa)
    before = [dict(vars(owner)) for owner in owners]
    values = np.random.default_rng(0).normal(size=(7, 5))
    with shortcuts():
        assert njit(_busy)(values, 4.0) == _busy(values, 4.0)
        for x, y in ((1.0, 2.0), (5.0, 2.0), (3.0, 0.5)):
            assert njit(_twice)(x, y) == _twice(x, y)
    assert [dict(vars(owner)) for owner in owners] == before


def test_a_step_that_is_not_there_stays_away():
    class Compiler:
        pass

    with replaced(Compiler, "step", lambda own: print):
        assert not hasattr(Compiler, "step")


def test_other_versions_are_left_as_they_are(monkeypatch):
    own = ssa._run_ssa, analysis.compute_live_map
    with shortcuts():
        assert (ssa._run_ssa, analysis.compute_live_map) != own
    monkeypatch.setattr("numba.__version__", "0.69.0")
    with shortcuts():
        assert (ssa._run_ssa, analysis.compute_live_map) == own
