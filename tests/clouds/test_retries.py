"""What is tried again, what is not, and that the clouds choose among all poses of all tries."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import tear3d.clouds.job as module
from tear3d.clouds.tries import Given, Maker, Recipe
from tear3d.errors import InputError
from tear3d.find.search import Candidate
from tear3d.judge.ambiguity import Ambiguity
from tear3d.problem.pose import Pose
from tests.bumpy import apply, bumpy_cloud, pose
from tests.clouds.support import TRUTH, halves, register_clouds

WRONG = pose([1.0, 2.0, 0.0], [0.0, 0.0, 0.0])


def candidate(T, saving=1.0):
    return Candidate(Pose.from_matrix(T), saving, 9, -9.0, 1, "hits")


@pytest.fixture
def found_in(monkeypatch):
    """Stands in for the search: which poses a recipe leads to; remembers the recipes."""
    answers, asked = {}, []

    search = module.Poses.of

    def poses(matched, options, limits):
        asked.append(matched.recipe)
        return replace(search(matched, options, limits), candidates=answers.get(len(asked) - 1, [candidate(WRONG)]))

    monkeypatch.setattr(module.Poses, "of", poses)
    return answers, asked


def test_what_is_not_given_is_varied():
    first = Given().first(0.1)
    assert first == Recipe(0.1, pytest.approx(0.15))
    assert [(r.voxel_size, r.top_k, r.keypoints) for r in Given().others(first, lambda: False)] == [
        (0.15, 1, None),
        (0.067, 1, None),
        (0.1, 3, None),
        (0.1, 1, "iss"),
    ]
    assert 3 not in [r.top_k for r in Given().others(first, lambda: False, matches=10_000)]
    assert [r.noise_bound for r in Given().others(first, lambda: False)] == pytest.approx([0.225, 0.1005, 0.15, 0.15])


def test_what_is_given_is_kept():
    given = Given(voxel_size=0.2, noise_bound=0.5, top_k=2, keypoints="iss")
    assert list(given.others(given.first(0.2), lambda: False)) == []
    given = Given(noise_bound=0.5, filtered=True)
    others = list(given.others(given.first(0.1), lambda: False))
    assert {r.noise_bound for r in others} == {0.5}
    assert {r.top_k for r in others} == {1}
    fixed = Given(voxel_size=0.2)
    assert {r.voxel_size for r in fixed.others(fixed.first(0.2), lambda: True)} == {0.2}


def test_a_confirmed_pose_ends_the_tries(found_in):
    answers, asked = found_in
    answers[0] = [candidate(TRUTH)]
    found = register_clouds(*halves(), certify=False)
    assert found.success
    assert len(asked) == len(found.tries) == 1


def test_the_next_try_is_judged_on_the_same_clouds(found_in):
    answers, asked = found_in
    answers[1] = [candidate(WRONG), candidate(TRUTH, saving=0.5)]
    found = register_clouds(*halves(), certify=False)
    assert found.success
    assert len(asked) == 2
    assert found.voxel_size == asked[1].voxel_size == pytest.approx(1.5 * asked[0].voxel_size, rel=0.05)
    assert found.evidence.voxel_size == asked[0].voxel_size
    assert found.tries[0].verdict == "rejected"
    assert found.tries[1].verdict == "confirmed"
    assert found.tries[1].fit == pytest.approx(found.evidence.fit, abs=0.05)
    plain = json.loads(json.dumps(found.to_dict()))
    assert [each["voxel_size"] for each in plain["tries"]] == [r.voxel_size for r in asked]
    assert plain["verdict"] == "confirmed"
    assert plain["evidence"]["overlap"] > 0.3


def test_a_pose_that_saves_less_is_chosen_by_the_clouds_and_nothing_is_claimed_about_its_proof(found_in):
    answers, _ = found_in
    answers[0] = [candidate(WRONG), candidate(TRUTH, saving=0.5)]
    found = register_clouds(*halves())
    assert found.success
    assert found.result.status == "uncertified"
    assert found.result.message == "the clouds prefer this pose to one that saves more: nothing was proven"
    assert not found.result.proven
    assert found.result.settings["certify"] == "rows"


def test_an_ambiguity_of_the_matches_stays_in_the_message(found_in, monkeypatch):
    answers, _ = found_in
    answers[0] = [candidate(WRONG), candidate(TRUTH, saving=0.5)]
    solve = module.Poses.solve
    either = Ambiguity("either way up")
    monkeypatch.setattr(module.Poses, "solve", lambda *of: replace(solve(*of), ambiguity=either))
    message = register_clouds(*halves()).result.message
    assert message == "ambiguous: either way up; the clouds prefer this pose to one that saves more: nothing was proven"


def test_when_nothing_is_confirmed_the_best_is_returned_unrefined(found_in):
    _, asked = found_in
    found = register_clouds(*halves())
    assert found.verdict == "rejected"
    assert found.refinement is None
    assert len(asked) == len(found.tries) == 3, "other voxels, and no more once all is rejected"
    assert len({recipe.voxel_size for recipe in asked}) == 3
    assert not found.result.proven


@pytest.mark.clock
def test_a_time_limit_holds_for_all_tries(found_in, monkeypatch):
    """With a search that takes a second, there is no time for all five."""
    search = module.Poses.of

    def slow(matched, options, limits):
        time.sleep(1.0)
        return search(matched, options, limits)

    monkeypatch.setattr(module.Poses, "of", slow)
    cloud = bumpy_cloud(2000, 0)
    began = time.perf_counter()
    found = register_clouds(cloud, apply(TRUTH, cloud), voxel_size=0.2, time_limit=2.0, certify=False)
    assert time.perf_counter() - began < 2.0 + 2.5
    assert 1 <= len(found.tries) < 3
    assert not found.success


def test_a_try_without_matches_is_noted(found_in, monkeypatch):
    match = Maker.match

    def fails(self, recipe, steps):
        if recipe.keypoints == "iss":
            raise InputError("none")
        return match(self, recipe, steps)

    monkeypatch.setattr(Maker, "match", fails)
    found = register_clouds(*halves(), voxel_size=0.1, certify=False)
    assert [each.top_k for each in found.tries] == [1, 3, 1]
    assert found.tries[-1].verdict is None
    assert found.tries[-1].num_matches == 0
    assert found.tries[-1].fit is None


def test_the_same_for_any_number_of_threads_with_tries():
    source = bumpy_cloud(5000, 0)
    target = source * [-1.0, 1.0, 1.0]
    one, two = (register_clouds(source, target, certify=False, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.transformation, two.transformation)
    assert one.evidence == two.evidence
    assert [replace(each, seconds=0.0) for each in one.tries] == [replace(each, seconds=0.0) for each in two.tries]
    assert one.verdict == two.verdict
