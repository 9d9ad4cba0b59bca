"""Verdict, ambiguity, other poses, uncertainty and how to repeat a run: in words and in the page."""

import html
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tear3d
from tear3d.judge.uncertainty import carried
from tear3d.report import About, judged, words, write_report
from tear3d.result import Alternative, Ambiguity, FreeMotion
from tests.report.case import make_case, make_found

FREE = FreeMotion("rotation", (1e-9, 0.0, 1.0), (0.25, 1e-9, 0.0), 120.0)
TWICE = Ambiguity("two ways to put it", (FREE, FreeMotion("translation", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), None)))


def page_of(tmp_path, problem, result, about=None):
    text = write_report(tmp_path / "x.html", result, problem.source, problem.target, about=about).read_text("utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u202f", " ").split())


def turned(pose, degrees, shift):
    out = pose.copy()
    out[:3, :3] = Rotation.from_euler("z", degrees, degrees=True).as_matrix() @ pose[:3, :3]
    out[0, 3] += shift
    return out


@pytest.fixture
def rivalled():
    problem, _ = make_case(200, 0.5)
    others = tuple(
        Alternative(turned(problem.transformation, angle, 0.0), saving, 31, -5.2)
        for angle, saving in ((90.0, 3.1), (40.0, 2.0))
    )
    return problem, make_case(200, 0.5, alternatives=others, saving=10.0, centre=np.zeros(3))[1]


@pytest.mark.parametrize(
    ("verdict", "tone", "phrase"),
    [("confirmed", "good", "proven optimal"), ("doubtful", "warn", "not confirm"), ("rejected", "bad", "contradict")],
)
def test_the_clouds_have_the_first_word(verdict, tone, phrase):
    problem, result = make_case(200, 0.5)
    said = judged.verdict(result, make_found(problem, result, verdict=verdict))
    assert (said.tone, said.label) == (tone, verdict)
    assert phrase in said.headline
    assert said.reasons == ("the surfaces agree",)
    assert "100 of 200 matches" in said.sentence


def test_a_confirmed_pose_without_a_consensus_rests_on_the_clouds():
    problem, result = make_case(200, 0.5, status="no_consensus", significance=-0.5)
    confirmed = judged.verdict(result, make_found(problem, result))
    assert "rests on the clouds alone" in confirmed.sentence
    assert "proven" not in confirmed.headline
    doubtful = judged.verdict(result, make_found(problem, result, verdict="doubtful"))
    assert "rests on" not in doubtful.sentence


def test_clouds_that_fit_twice_are_called_aligned_but_ambiguous():
    problem, result = make_case(200, 0.5)
    one = make_found(problem, result, verdict="doubtful", ambiguity=TWICE, reasons=("ambiguous: it is",))
    assert "another pose may be meant" in judged.verdict(result, one).headline
    more = make_found(problem, result, verdict="doubtful", ambiguity=TWICE, reasons=("ambiguous: it is", "too little"))
    assert "do not confirm" in judged.verdict(result, more).headline


@pytest.mark.parametrize(("status", "label"), [("optimal", "optimal, ambiguous"), ("no_consensus", "no consensus")])
def test_ambiguous_pairs_are_a_warning_unless_they_are_chance(status, label):
    message = "ambiguous: two ways to put it; both rows"
    _, result = make_case(200, 0.5, status=status, ambiguity=TWICE, message=message)
    said = words.verdict(result)
    assert said.label == label
    assert said.tone == ("warn" if status == "optimal" else "bad")
    assert judged.message(result) == "both rows"
    assert str(result).startswith(f"{status}, ambiguous (gap")


@pytest.mark.parametrize("away", [0.0, 1e3, 5e6])
def test_the_uncertainty_does_not_grow_with_the_distance_of_the_origin(away):
    centre = np.array([away, -away, 0.5 * away])
    here = np.diag([1e-6, 2e-6, 4e-6, 1e-4, 1e-4, 9e-4])
    degrees, length = judged.deviations(carried(here, 1.0, centre), centre)
    assert degrees == pytest.approx(np.degrees(2e-3))
    assert length == pytest.approx(0.03, rel=1e-6)
    assert judged.deviations(np.full((6, 6), np.nan), centre) is None


@pytest.mark.parametrize(
    ("exponent", "text"), [(-51.2, "10⁻⁵¹"), (-2.0, "0.01"), (-0.3, "0.5"), (1.0, "1"), (np.inf, "–"), (np.nan, "–")]
)
def test_significance_as_a_probability(exponent, text):
    assert words.probability(exponent) == text


def test_the_best_other_pose_in_a_sentence(rivalled):
    _, result = rivalled
    text = judged.next_best(result).replace("\u202f", " ")
    assert text == "saves 31 % of what this one does, turned by 90°, the centre 0 away; 1 more was kept"
    assert judged.next_best(make_case(200, 0.5)[1]) == ""


def test_the_page_of_pairs_shows_other_poses_and_the_uncertainty(tmp_path, rivalled):
    problem, result = rivalled
    page = page_of(tmp_path, problem, result)
    assert "Other poses" in page
    assert "1 31 % 31 10⁻⁵ 90° 0" in page
    assert "Ambiguous:" not in page
    assert "not known: what agrees" in page
    assert "result = tear3d.register(source, target, noise_bound=0.0554" in page


def test_the_page_of_clouds_shows_what_they_say_and_how_long_it_all_took(tmp_path):
    problem, result = make_case(200, 0.5)
    found = make_found(problem, result, ambiguity=TWICE, verdict="doubtful", reasons=("too <little>",), notes=("odd",))
    inputs = ({"path": "a.ply", "bytes": 1234, "sha256": "0123456789abcdef0123"},)
    about = About(found, "tear3d align a.ply b.ply --seed 0", "found = it()", inputs, {"read a.ply": 0.5}, 13.0)
    page = page_of(tmp_path, problem, result, about)
    for text in (
        "The clouds do not confirm this pose",
        "too <little>",
        "61 % of the source and 52 % of the target within 0.05",
        "0.63, from 0 to 1",
        "0.4 % contradicted",
        "Note odd",
        "voxel 0.075, 3 matches a point, iss keypoints 0 – 500 ms no matches",
        "Ambiguous: two ways to put it.",
        "turn about (0, 0, 1) through (0.25, 0, 0) by 120°",
        "slide along (1, 0, 0) by any amount",
        "total 13 s",
        "everything else 1 s",
        "0.11° and 0.03 at the centre, one standard deviation, if it is the right pose",
        "tear3d align a.ply b.ply --seed 0",
        "found = it()",
        "chosen from the data: 0.05",
        "a.ply 1 234 bytes, sha256 0123456789abcdef…",
    ):
        assert text in page, text


def test_clouds_that_were_not_compared_give_a_page(tmp_path):
    problem, result = make_case(60, 0.5)
    found = make_found(problem, result, evidence=tear3d.clouds.verdict.CloudEvidence(), tries=(), verdict="doubtful")
    page = page_of(tmp_path, problem, result, About(found))
    assert "Overlap" not in page
    assert "What was tried" not in page
    assert "In Python" not in page, "the options of the call are not known"


def test_the_header_says_no_sentence_twice(tmp_path):
    problem = tear3d.synthetic.make_problem(600, 0.8, seed=1)
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    told = "no rotation and translation saves more than 1 % beyond this one"
    page = write_report(tmp_path / "a.html", result, problem.source, problem.target).read_text("utf-8")
    header = (
        html.unescape(re.search(r"<header>.*?</header>", page, re.DOTALL).group()).replace("\u202f", " ").casefold()
    )
    assert told in result.message
    assert header.count(told) == 1
    sentence = judged.verdict(result).sentence
    assert judged.rest_of_message(result, sentence) == ""
    object.__setattr__(result, "message", f"{result.message}; it lies at the edge")
    assert judged.rest_of_message(result, sentence) == "It lies at the edge."


@pytest.mark.parametrize("clouds", [True, False])
def test_an_ambiguity_is_told_once(tmp_path, clouds):
    own = {} if clouds else {"ambiguity": TWICE, "message": f"ambiguous: {TWICE.sentence}; both rows"}
    problem, result = make_case(200, 0.5, **own)
    reasons = (f"ambiguous: {TWICE.sentence}",)
    found = make_found(problem, result, verdict="doubtful", ambiguity=TWICE, reasons=reasons) if clouds else None
    page = page_of(tmp_path, problem, result, About(found))
    assert page.partition("How to repeat this run")[0].count(TWICE.sentence) == 1
    assert "turn about (0, 0, 1) through (0.25, 0, 0) by 120°" in page
    assert (result if found is None else found)._repr_html_().count(TWICE.sentence) == 1
