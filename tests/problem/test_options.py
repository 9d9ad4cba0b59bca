"""Every option is checked: what is wrong is named, what is right gets its type."""

import math
import re
import time

import numpy as np
import pytest

from tear3d.errors import InputError, TearError
from tear3d.problem.losses import LOSSES
from tear3d.problem.options import MOST_THREADS, Options

DEFAULTS = {
    "loss": "tear",
    "time_limit": "auto",
    "node_limit": None,
    "rel_gap": 1e-2,
    "seed": 0,
    "certify": "pose",
    "progress": None,
    "bounds": "sharp",
    "method": "tear3d",
    "prior": None,
    "scale": None,
    "max_instances": 1,
}
TOO_LARGE = "is too large: expected a number that float64 can hold"
BAD = {
    "loss": [
        ("huber", "loss is 'huber': expected one of 'tear', 'cm', 'tls'"),
        (None, "loss is None: expected one of"),
        ([], "loss is []: expected one of"),
        (0, "loss is 0: expected one of"),
    ],
    "bounds": [
        ("exact", "bounds is 'exact': expected one of 'sharp', 'sweep', 'paper'"),
        (None, "bounds is None: expected one of"),
    ],
    "method": [
        ("tear", "method is 'tear': expected one of 'tear3d', 'paper'"),
        (None, "method is None: expected one of"),
    ],
    "certify": [
        ("yes", "certify is 'yes': expected True or 'pose', 'rows', or False"),
        ("Pose", "certify is 'Pose': expected"),
        (1, "certify is 1: expected True or 'pose', 'rows', or False"),
        (None, "certify is None: expected"),
        (np.ones(2), "certify is array([1., 1.]): expected"),
    ],
    "progress": [(3, "progress is 3: expected a function of one argument")],
    "rel_gap": [
        (0.0, "rel_gap is 0: expected a number between 0 and 1"),
        (1.0, "rel_gap is 1: expected a number between 0 and 1"),
        (-1e-3, "rel_gap is -0.001: expected a number between 0 and 1"),
        (10**400, f"rel_gap {TOO_LARGE}"),
        ("0.001", "rel_gap is '0.001': expected a number"),
        (np.nan, "rel_gap is NaN: expected a number"),
        (np.inf, "rel_gap is inf: expected a number between 0 and 1"),
        (True, "rel_gap is True: expected a number"),
        ([0.1, 0.2], "rel_gap is [0.1, 0.2]: expected a number"),
    ],
    "time_limit": [
        (-1.0, "time_limit is -1: expected seconds, 0 or more"),
        ("1 s", "time_limit is '1 s': expected seconds, None or 'auto'"),
        ("1", "time_limit is '1': expected seconds, None or 'auto'"),
        (b"1", "time_limit is b'1': expected a number"),
        (10**400, f"time_limit {TOO_LARGE}"),
        (np.nan, "time_limit is NaN: expected a number"),
        (False, "time_limit is False: expected a number"),
        (1j, "time_limit is 1j: expected a number"),
    ],
    "node_limit": [
        (2.5, "node_limit is 2.5: expected a whole number, 0 or more"),
        (-1, "node_limit is -1: expected a whole number, 0 or more"),
        (np.inf, "node_limit is inf: expected a whole number"),
        ("7", "node_limit is '7': expected a number"),
        (10**400, f"node_limit {TOO_LARGE}"),
        (2**63, "node_limit is 9223372036854775808: expected a whole number"),
        (np.bool_(True), "node_limit is"),
    ],
    "threads": [
        (0, "threads is 0: expected a whole number, 1 or more"),
        (1.5, "threads is 1.5: expected a whole number, 1 or more"),
        ("2", "threads is '2': expected a number"),
        (10**400, f"threads {TOO_LARGE}"),
    ],
    "seed": [
        (-1, "seed is -1: expected a whole number, 0 or more"),
        ("x", "seed is 'x': expected a number"),
        (0.5, "seed is 0.5: expected a whole number, 0 or more"),
        (10**400, f"seed {TOO_LARGE}"),
    ],
    "prior": [((0, 0, 1), "prior is (0, 0, 1): expected a Prior or None")],
    "scale": [((0.5, 2.0), "scale is (0.5, 2.0): expected a ScaleRange or None")],
    "max_instances": [
        (0, "max_instances is 0: expected a whole number, 1 or more"),
        (2.5, "max_instances is 2.5: expected a whole number, 1 or more"),
        ("3", "max_instances is '3': expected a number"),
    ],
}


@pytest.mark.parametrize(("name", "value", "message"), [(name, *case) for name, cases in BAD.items() for case in cases])
def test_what_is_wrong_is_named(name, value, message):
    with pytest.raises(InputError) as caught:
        Options.of(**{name: value})
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TearError)


def test_every_option_has_a_bad_case():
    assert set(BAD) == {*DEFAULTS, "threads"} == set(vars(Options.of()))


def test_an_option_that_does_not_exist_is_an_error():
    with pytest.raises(TypeError, match="patience"):
        Options.of(patience=3)


def test_defaults():
    options = Options.of()
    assert {key: value for key, value in vars(options).items() if key != "threads"} == DEFAULTS
    assert 1 <= options.threads <= MOST_THREADS


@pytest.mark.parametrize("number", [int, float, np.int64, np.uint8, np.float32, np.float64, np.array])
def test_numbers_of_any_kind_become_python_numbers(number):
    seven = number(7)
    options = Options.of(time_limit=seven, node_limit=seven, seed=seven, threads=seven, rel_gap=number(1) / number(4))
    assert (options.time_limit, options.node_limit, options.seed, options.threads) == (7.0, 7, 7, 7)
    assert options.rel_gap == 0.25
    kinds = (
        {type(getattr(options, key)) for key in ("time_limit", "rel_gap")},
        {type(getattr(options, key)) for key in ("node_limit", "seed", "threads")},
    )
    assert kinds == ({float}, {int})


def test_whole_numbers_are_not_rounded():
    large = 2**62 + 1  # not a float64
    assert Options.of(seed=large, node_limit=np.int64(large)).seed == large
    assert Options.of(node_limit=np.int64(large)).node_limit == large


def test_limits_at_their_edges():
    assert Options.of(time_limit=0).time_limit == 0.0
    assert math.isinf(Options.of(time_limit=np.inf).time_limit)
    assert Options.of(node_limit=0).node_limit == 0
    assert Options.of(threads=10**9).threads == MOST_THREADS


@pytest.mark.parametrize(
    ("certify", "kept"),
    [
        (True, "pose"),
        (np.True_, "pose"),
        ("pose", "pose"),
        ("full", "pose"),
        (np.str_("full"), "pose"),
        ("rows", "rows"),
        (False, False),
        (np.False_, False),
    ],
)
def test_certify(certify, kept):
    for loss in LOSSES:
        found = Options.of(certify=certify, loss=loss).certify
        assert found == kept
        assert type(found) in (bool, str)


def test_the_gap_goes_with_what_is_proven():
    assert Options.of(certify="rows").rel_gap == 1e-3
    assert Options.of(certify="pose").rel_gap == Options.of(rel_gap=None).rel_gap == 1e-2
    assert Options.of(certify="rows", rel_gap=0.5).rel_gap == Options.of(rel_gap=0.5).rel_gap == 0.5


@pytest.mark.parametrize("bounds", ["sweep", "paper"])
def test_bounds_of_rows_are_for_rows(bounds):
    assert Options.of(bounds=bounds, certify="rows").bounds == Options.of(bounds=bounds, certify=False).bounds == bounds
    with pytest.raises(InputError, match="pass certify='rows'"):
        Options.of(bounds=bounds)


@pytest.mark.parametrize("given", [{}, {"certify": "rows"}, {"bounds": "paper"}, {"threads": 1}, {"certify": np.True_}])
def test_the_papers_method_is_rows_on_its_cells_in_one_thread(given):
    options = Options.of(method="paper", **given)
    assert (options.certify, options.bounds, options.threads, options.rel_gap) == ("rows", "paper", 1, 1e-3)
    assert options.resolution == 1e-3
    assert Options.of().resolution is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"certify": "pose"}, "certify is 'pose': method='paper' proves rows"),
        ({"certify": "full"}, "certify is 'full': method='paper' proves rows"),
        ({"certify": False}, "certify is False: method='paper' proves rows"),
        ({"certify": "yes"}, "certify is 'yes': expected True"),
        ({"threads": 4}, "threads is 4: method='paper' runs in a single one"),
        ({"threads": 0}, "threads is 0: expected"),
    ],
)
def test_the_papers_method_refuses_what_it_does_not_do(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        Options.of(method="paper", **given)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_by_its_name(loss):
    assert Options.of(loss=loss).the_loss is LOSSES[loss]


def test_unless_told_otherwise_the_proof_alone_has_a_limit():
    for given, whole, proof in (("auto", None, 60.0), (None, None, None), (5.0, 5.0, 5.0)):
        limits = Options.of(time_limit=given).limits()
        limits.started -= 3.0
        assert limits.time_limit == whole
        with limits.proving():
            left = None if limits.time_limit is None else limits.time_limit - (3.0 if given == "auto" else 0.0)
            assert left == (None if proof is None else pytest.approx(proof, abs=1.0))
        assert limits.time_limit == whole


def test_the_clock_can_have_been_running():
    assert Options.of(time_limit=5).limits(time.perf_counter() - 6.0).exceeded() == "time_limit"
    assert Options.of().limits(time.perf_counter() - 600.0).exceeded() is None


@pytest.mark.clock
def test_limits_start_with_the_options():
    def watch(report):
        return None

    limits = Options.of(time_limit=5, node_limit=9, progress=watch).limits()
    assert (limits.time_limit, limits.node_limit, limits.progress) == (5.0, 9, watch)
    assert limits.seconds < 1.0
    assert limits.exceeded() is None


def test_the_dictionary_holds_what_the_result_depends_on():
    given = Options.of(seed=3, threads=2, progress=print).to_dict()
    assert given == {key: value for key, value in DEFAULTS.items() if key != "progress"} | {"seed": 3}
