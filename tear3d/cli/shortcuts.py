"""Steps of Numba's compiler that come to the same in less time: half of what a kernel takes is spent in Python.

Other versions of Numba than those they were tested with are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numba
from numba.core import analysis, inline_closurecall, ir, postproc, ssa, transforms

from tear3d.cli.loading import TESTED

_NO_VARIABLES = frozenset({str, int, float, bool, type(None), ir.Loc})


@contextmanager
def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """While the block runs, an attribute is what `make` makes of it; one that is not there stays away."""
    own = getattr(owner, name, None)
    if own is None:
        yield
        return
    setattr(owner, name, make(own))
    try:
        yield
    finally:
        setattr(owner, name, own)


@contextmanager
def shortcuts() -> Iterator[None]:
    """While the block runs, kernels are compiled with all of these, if the version of Numba is known to have them."""
    with ExitStack() as stack:
        if not numba.__version__.startswith(TESTED):
            yield
            return
        for owner, name, make in (
            (postproc.PostProcessor, "run", _without_entry_variables),
            (analysis, "compute_live_map", lambda own: live_map),
            (ir.Inst, "_rec_list_vars", _listing),
            (inline_closurecall.InlineWorker, "inline_function", lambda own: _inline_function),
            (inline_closurecall, "copy", _Copy),
            (ssa, "_run_block_rewrite", lambda own: _rewrite),
            (ssa, "_run_ssa", _with_names),
        ):
            stack.enter_context(replaced(owner, name, make))
        yield


def _without_entry_variables(own: Any) -> Any:
    """After each pass, the variables at the entry of each block are found; only generators and interpreted code ask."""

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if code.is_generator:
            own(self, emit_dels, extend_lifetimes)
            return
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime = postproc.VariableLifetime(code.blocks)
        code.generator_info = None
        if emit_dels:
            self._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return run


def live_map(cfg: Any, blocks: Any, used: Any, defined: Any) -> dict[int, set[str]]:
    """The variables that are alive at the entry of each block, with a bit for each instead of sets of names."""
    bits: dict[str, int] = {}

    def mask(names: Any) -> int:
        total = 0
        for name in names:
            total |= bits.setdefault(name, 1 << len(bits))
        return total

    order = cfg.topo_order()
    own = {label: mask(defined[label]) for label in blocks}
    alive = {label: mask(used[label]) for label in blocks}
    reach = {label: own[label] | alive[label] for label in blocks}
    _spread(reach, {label: [to for to, _ in cfg.successors(label)] for label in order}, lambda bits, to: bits)
    before = {label: [at for at, _ in cfg.predecessors(label)] for label in reversed(order)}
    _spread(alive, before, lambda bits, to: bits & reach[to] & ~own[to])
    names = list(bits)
    return {label: {names[k] for k in _places(alive[label])} for label in blocks}


def _spread(masks: dict[int, int], ways: dict[int, list[int]], passed: Callable[[int, int], int]) -> None:
    """Add to each block what is passed to it, until nothing changes."""
    changes = True
    while changes:
        changes = False
        for label, targets in ways.items():
            for to in targets:
                more = masks[to] | passed(masks[label], to)
                changes |= more != masks[to]
                masks[to] = more


def _places(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _listing(own: Any) -> Any:
    """The variables in a statement, with the usual cases first."""

    def _rec_list_vars(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is ir.Var:
            return [value]
        if kind in _NO_VARIABLES:
            return []
        if kind not in (list, tuple, dict):
            return own(self, value)  # type: ignore[no-any-return]
        found: list[Any] = []
        for part in value.values() if kind is dict else value:
            if type(part) is ir.Var:
                found.append(part)
            elif type(part) not in _NO_VARIABLES:
                found += _rec_list_vars(self, part)
        return found

    return _rec_list_vars


class _Copy:
    """In place of the module `copy`, for code that was made to be inlined once: its blocks need no copies."""

    def __init__(self, own: Any) -> None:
        self._own = own
        self.once = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def deepcopy(self, value: Any) -> Any:
        return value if self.once and isinstance(value, ir.Block) else self._own.deepcopy(value)


def _inline_function(self: Any, caller: Any, block: Any, i: int, function: Any, arg_typs: Any = None) -> Any:
    made, free = self.run_untyped_passes(function), function.__code__.co_freevars
    copies: Any = inline_closurecall.copy
    copies.once = True
    try:
        return self.inline_ir(caller, block, i, made, free, arg_typs=arg_typs)
    finally:
        copies.once = False


def _with_names(own: Any) -> Any:
    """While variables are given names, each block knows those that it has."""

    def _run_ssa(blocks: Any) -> Any:
        for block in blocks.values():
            block.names = {var.name for stmt in block.body for var in stmt.list_vars()}
        blocks = own(blocks)
        for block in blocks.values():
            del block.names
        return blocks

    return _run_ssa


def _rewrite(blocks: Any, states: Any, handler: Any) -> Any:
    """Each variable with several values gets a name for each: only blocks that know it can change."""
    changed: dict[int, Any] = {}
    for label, block in blocks.items():
        changed[label] = block
        if states["varname"] not in block.names:
            continue
        states["label"], states["block"] = label, block
        new: Any = ir.Block(scope=block.scope, loc=block.loc)
        new.body = list(ssa._run_ssa_block_pass(states, block, handler))
        new.names = block.names  # for the new ones nobody asks
        changed[label] = new
    return changed
