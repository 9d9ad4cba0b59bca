"""The search with the sharp bounds: right, honest about its gap, the same for any number of threads."""

import numpy as np
import pytest

import tear3d
from tear3d.problem.limits import Limits
from tear3d.prove.row.points import pack_points
from tear3d.prove.row.sharp import solve_sharp
from tear3d.prove.row.sweep import solve_arc_sweep, solve_row_sweep
from tests import naive


def row_problem(n, seed, *, outliers=0.4, general=True):
    """(x, y, ξ, w, r, t): pairs most of which agree with one row and shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x -= x.mean(axis=0)
    r = rng.normal(size=3)
    r /= np.linalg.norm(r)
    t = rng.normal()
    y = x @ r + t + 0.02 * rng.normal(size=n)
    wrong = rng.random(n) < outliers
    y[wrong] = rng.normal(0.0, 1.5, np.count_nonzero(wrong))
    if general:
        return x, y, rng.uniform(0.05, 0.2, n), rng.uniform(0.2, 2.0, n), r, t
    return x, y, np.array([0.1]), np.ones(1), r, t


def sharp(x, y, xi, w, *, incumbent, rel_gap=1e-2, limits=None, orthogonal_to=None, threads=1, double=True):
    target = np.column_stack([y, np.zeros_like(y), np.zeros_like(y)])
    axis = np.array([1.0, 0.0, 0.0])
    row = pack_points(x, target, xi, w, centre=np.zeros(3), direction=axis, offset=0.0, double=double)
    return solve_sharp(
        row,
        rel_gap=rel_gap,
        limits=limits if limits is not None else Limits(),
        threads=threads,
        incumbent=incumbent,
        orthogonal_to=orthogonal_to,
    )


def each(values, n):
    return np.ascontiguousarray(np.broadcast_to(values, n))


def saving(problem, solution):
    x, y, xi, w, *_ = problem
    return naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), solution.r, solution.t, "tear")


@pytest.mark.slow
def test_sharp_and_sweep_agree_on_two_hundred_problems():
    for seed in range(200):
        n = 3 + seed % 58
        problem = row_problem(n, seed, outliers=(0.0, 0.3, 0.6)[seed % 3], general=seed % 4 != 0)
        x, y, xi, w, r, t = problem
        rough = r + 0.05 * np.random.default_rng(seed).normal(size=3)
        found = sharp(x, y, xi, w, incumbent=(rough, t), rel_gap=0.03, limits=Limits(time_limit=20.0))
        slow = solve_row_sweep(
            x, y, each(xi, n), each(w, n), rel_gap=0.03, incumbent=(r, t), limits=Limits(time_limit=20.0)
        )
        assert found.closed, seed
        assert slow.closed, seed
        assert found.saving == pytest.approx(saving(problem, found), rel=1e-12)
        assert found.total == pytest.approx(slow.total)
        assert found.saving_bound >= slow.saving, seed
        assert slow.saving_bound >= found.saving, seed
        assert found.saving >= slow.saving / 1.03, seed


@pytest.mark.parametrize("n", range(3, 9))
@pytest.mark.parametrize("seed", range(3))
def test_first_row_equals_brute_force(n, seed):
    problem = row_problem(n, 100 * n + seed)
    x, y, xi, w, _, _ = problem
    grid = np.concatenate([naive.cube_directions(face, 0, 0, 0, 10) for face in range(6)])
    best = naive.best_row(x, y, xi, w, "tear", grid)
    found = sharp(x, y, xi, w, incumbent=(np.array([1.0, 0.0, 0.0]), 0.0), limits=Limits(time_limit=30.0))
    assert found.ended_by == "gap"
    assert found.saving_bound >= best[0]
    assert saving(problem, found) >= best[0] / 1.01


@pytest.mark.parametrize("n", [3, 5, 8, 40])
def test_second_row_equals_brute_force_and_sweep(n):
    for seed in range(4):
        x, y, xi, w, r, _ = problem = row_problem(n, 10 * n + seed)
        r1 = np.cross(r, [0.3, -0.5, 0.8])
        r1 /= np.linalg.norm(r1)
        u, v = np.linalg.svd(r1[None])[2][1:]
        circle = naive.arc_directions(u, v, 0.0, 2.0 * np.pi, 400)
        best = naive.best_row(x, y, xi, w, "tear", circle, project=lambda q: q - (q @ r1) * r1)  # noqa: B023
        found = sharp(x, y, xi, w, incumbent=(u, 0.0), orthogonal_to=r1)
        slow = solve_arc_sweep(x, y, xi, w, r1, rel_gap=1e-2)
        assert found.closed
        assert abs(found.r @ r1) < 1e-12
        assert found.saving_bound >= max(best[0], slow.saving)
        assert slow.saving_bound >= found.saving
        assert saving(problem, found) >= max(best[0], slow.saving) / 1.01


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
def test_nothing_saves_more_than_the_certificate_says(general, double):
    x, y, xi, w, r, t = row_problem(3000, 7, outliers=0.8, general=general)
    found = sharp(x, y, xi, w, incumbent=(r, t), rel_gap=1e-3, double=double)
    assert found.closed
    rng = np.random.default_rng(0)
    everywhere = rng.normal(size=(300, 3))
    around = found.r + 10.0 ** rng.uniform(-6, -1, (700, 1)) * rng.normal(size=(700, 3))
    for q in np.concatenate([everywhere, around]):
        q = q / np.linalg.norm(q)
        b = y - x @ q
        for shift in (*rng.choice(b, 3), found.t, found.t + 0.01 * rng.normal()):
            there = naive.row_saving(x, y, each(xi, 3000), each(w, 3000), q, shift, "tear")
            assert there <= found.saving_bound


@pytest.mark.parametrize("far", [-30.0, -100.0, -1000.0])
def test_one_far_pair_does_not_hide_the_better_of_two_motions(far):
    """A shift range of more nodes than one evaluation holds is halved; all halves must keep their points."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    x -= x.mean(axis=0)
    better, worse = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([-1.0, 2.0, 2.0]) / 3.0
    y = x @ better + 0.3
    y[100:180] = x[100:180] @ worse - 0.5
    y[0] = far
    found = sharp(x, y, np.array([0.05]), np.ones(1), incumbent=(worse, -0.5), rel_gap=1e-3)
    assert found.closed
    assert np.linalg.norm(found.r - better) < 1e-3
    assert found.saving_bound >= 5.9


@pytest.mark.parametrize("bounds", ["sharp", "sweep"])
@pytest.mark.parametrize("per_pair", [False, True])
def test_threads_change_no_bit_of_a_small_problem(bounds, per_pair):
    problem = tear3d.synthetic.make_problem(600, 0.7, seed=3)
    noise = problem.noise_bound * np.linspace(0.9, 1.1, 600) if per_pair else problem.noise_bound
    check_threads(problem, noise, bounds=bounds, rel_gap=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "ratio", "shape"), [(20_000, 0.95, "gaussian"), (60_000, 0.98, "ellipsoid")])
def test_threads_change_no_bit(n, ratio, shape):
    problem = tear3d.synthetic.make_problem(n, ratio, cloud=shape, seed=1)
    check_threads(problem, problem.noise_bound, rel_gap=1e-2)


def check_threads(problem, noise, **options):
    results = [
        tear3d.register(problem.source, problem.target, noise_bound=noise, threads=threads, **options)
        for threads in (1, 2, 4)
    ]
    assert results[0].status == "optimal"
    for other in results[1:]:
        assert np.array_equal(results[0].transformation, other.transformation)
        assert np.array_equal(results[0].inlier_mask, other.inlier_mask)
        assert results[0].objective == other.objective
        assert results[0].certificate.to_dict() == other.certificate.to_dict()


@pytest.fixture(scope="module")
def hard():
    """A row problem that takes far longer than the limits below."""
    x, y, _, w, r, t = row_problem(20_000, 5, outliers=0.99, general=False)
    return x, y, np.array([0.05]), w, r, t


def ended(hard, limits, start=None):
    x, y, xi, w, r, t = hard
    best = naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), r, t, "tear")
    begin = (r, t) if start is None else start
    at_start = naive.row_saving(x, y, each(xi, len(y)), each(w, len(y)), begin[0], begin[1], "tear")
    found = sharp(x, y, xi, w, incumbent=begin, rel_gap=1e-6, limits=limits, threads=2)
    assert not found.closed
    assert found.saving >= at_start * (1.0 - 1e-12)
    assert found.saving == pytest.approx(saving(hard, found), rel=1e-9)
    assert found.saving_bound >= best
    return found


def test_time_limit(hard):
    limits = Limits(time_limit=0.1)
    assert ended(hard, limits).ended_by == "time_limit"
    assert limits.seconds < 2.0


@pytest.mark.parametrize("nodes", [0, 1, 10, 200])
def test_node_limit(hard, nodes):
    limits = Limits(node_limit=nodes)
    found = ended(hard, limits, (np.array([1.0, 0.0, 0.0]), 0.0))
    assert found.ended_by == "node_limit"
    assert found.cells <= nodes


def stop_at(call, how):
    calls = []

    def progress(report):
        calls.append(report)
        assert report.saving <= report.saving_bound
        if len(calls) != call:
            return None
        if how is KeyboardInterrupt:
            raise KeyboardInterrupt
        return how

    return progress


@pytest.mark.parametrize("how", [False, KeyboardInterrupt])
@pytest.mark.parametrize("call", range(1, 9))
def test_interruption_wherever_the_callback_is_called(hard, call, how):
    limits = Limits(progress=stop_at(call, how), interval=0.0)
    try:
        assert ended(hard, limits).ended_by == "interrupted"
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
    assert limits.cancelled


def test_interruption_between_two_batches(hard):
    """The report after the last cell of a batch is a call of the callback like any other."""
    complete = []

    def progress(report):
        complete.append(report.done >= 1.0)
        if sum(complete) == 2:
            raise KeyboardInterrupt

    try:
        assert ended(hard, Limits(progress=progress, interval=0.0)).ended_by == "interrupted"
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
