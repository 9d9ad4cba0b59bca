"""Cells of the sphere and of the circle: they cover, children partition the parent, frames hold."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.domains.angles import WHOLE_SPHERE, AngleRectangle, direction
from tear3d.prove.domains.circle import Arc, arc_geometry, on_circle, orthogonal_basis, top_arcs
from tear3d.prove.domains.sphere import (
    DEEPEST_LEVEL,
    CubeCell,
    cell_centre,
    cell_frame,
    cell_geometry,
    cell_vertices,
    top_cells,
)
from tests import naive


def contains(vertices, r, tolerance=1e-14):
    """r is on the inner side of the four planes through neighbouring vertices."""
    normals = np.cross(vertices, np.roll(vertices, -1, axis=0) - vertices)
    normals *= np.sign(normals @ vertices.sum(axis=0))[:, None]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.all(normals @ r >= -tolerance, axis=0)


def random_directions(n, seed=0):
    r = np.random.default_rng(seed).normal(size=(n, 3))
    return r / np.linalg.norm(r, axis=1, keepdims=True)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_top_cells_tile_the_sphere(level):
    cells = top_cells(level)
    assert len(set(cells)) == 6 * 4**level
    r = np.concatenate([random_directions(300), np.eye(3), -np.eye(3), naive.cube_directions(3, 0, 0, 0, 9)])
    hits = sum(contains(cell.vertices, r.T).astype(int) for cell in cells)
    assert np.all(hits >= 1)
    inner = sum(contains(cell.vertices, r.T, tolerance=-1e-9).astype(int) for cell in cells)
    assert np.all(inner <= 1)
    assert np.all(inner[:300] == 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5), st.integers(0, 12), st.data())
def test_children_partition_the_parent(face, level, data):
    side = st.integers(0, 2**level - 1)
    cell = CubeCell(face, level, data.draw(side), data.draw(side))
    children = cell.split()
    assert len(children) == 4
    r = naive.cube_directions(*cell, 7)[[8, 10, 12, 22, 26, 36, 40, 24]]
    assert np.all(sum(contains(child.vertices, r.T).astype(int) for child in children) >= 1)
    corners = np.concatenate([child.vertices for child in children])
    for vertex in cell.vertices:
        assert np.min(np.linalg.norm(corners - vertex, axis=1)) == 0.0
    assert np.all(contains(cell.vertices, corners.T))
    assert all(child.radius < 0.7 * cell.radius for child in children)


def test_neighbours_share_their_vertices_exactly_also_across_faces():
    vertices = np.concatenate([cell.vertices for cell in top_cells(2)])
    distinct = np.unique(vertices, axis=0)
    assert len(distinct) == 6 * 16 + 2  # Euler: cells + 2


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 5), st.sampled_from([0, 1, 2, 3, 5, 10, 20]), st.data())
def test_geometry_holds_in_the_whole_cell(face, level, data):
    side = st.integers(0, 2**level - 1)
    i, j = data.draw(side), data.draw(side)
    cell = cell_geometry(face, level, i, j)
    assert cell == cell_frame(cell_vertices(face, level, i, j))
    c, e1, e2, h1, h2, theta, kappa0, eta = cell
    assert kappa0 + eta == pytest.approx(1.0, abs=1e-15)
    assert kappa0 - eta == pytest.approx(math.cos(theta), abs=1e-15)
    np.testing.assert_allclose(c, cell_centre(face, level, i, j), atol=1e-15)
    frame = np.array([c, e1, e2])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    r = naive.cube_directions(face, level, i, j, 21)
    assert np.all(np.abs(r @ e1) <= h1 + 1e-15)
    assert np.all(np.abs(r @ e2) <= h2 + 1e-15)
    assert np.all(r @ c >= math.cos(theta))
    # and tightly so, on the plane tangent at the centre
    assert np.max(np.abs(r @ e1) / (r @ c)) == pytest.approx(h1, rel=1e-2, abs=1e-14)
    assert np.max(np.abs(r @ e2) / (r @ c)) == pytest.approx(h2, rel=1e-2, abs=1e-14)
    assert 2 * math.asin(np.linalg.norm(r - c, axis=1).max() / 2) == pytest.approx(theta, rel=1e-2, abs=1e-7)


def test_splitting_ends():
    assert CubeCell(0, DEEPEST_LEVEL, 0, 0).split() == []
    assert Arc(1.0, np.nextafter(1.0, 2.0)).split() == []
    assert AngleRectangle(0.0, 5e-324, 0.0, 1.0).split() == []


def test_rectangles_cover_their_parent():
    children = WHOLE_SPHERE.split()
    assert children[0] == (0.0, math.pi, 0.0, math.pi / 2)
    assert children[-1] == (math.pi, 2 * math.pi, math.pi / 2, math.pi)
    for child in children:
        r = naive.rectangle_directions(*child, 9)
        assert np.all(np.arccos(np.clip(r @ child.centre, -1, 1)) <= child.radius + 1e-12)
    np.testing.assert_allclose(direction(0.0, math.pi / 2), [1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("r", [[0, 0, 1], [1, 0, 0], [0.0, -2.0, 0.0], [1e-9, 1, -3], [1, 1, 1]])
def test_circle_is_orthogonal_and_covered(r):
    r = np.array(r, float)
    u, v = orthogonal_basis(r)
    frame = np.array([u, v, r / np.linalg.norm(r)])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    arcs = top_arcs(8)
    assert arcs[0].a1 == 0.0
    assert arcs[-1].a2 == 2 * math.pi
    assert all(a.a2 == b.a1 for a, b in pairwise(arcs))
    halves = arcs[3].split()
    assert (halves[0].a1, halves[0].a2, halves[1].a2) == (arcs[3].a1, halves[1].a1, arcs[3].a2)
    np.testing.assert_allclose(on_circle(u, v, math.pi / 2), v, atol=1e-15)


@pytest.mark.parametrize("level", [1, 2, 5, 12, 30, 40])
def test_arc_geometry_holds_in_the_whole_arc(level):
    basis = np.array(orthogonal_basis(np.array([0.3, -0.5, 0.8])))
    for i in {0, 2**level // 3, 2**level - 1}:
        c, e1, e2, h1, h2, theta, kappa0, eta = arc_geometry(level, i, basis)
        assert e2 == (0.0, 0.0, 0.0)
        assert h2 == 0.0
        r = naive.arc_directions(*basis, 2 * math.pi * i / 2**level, 2 * math.pi * (i + 1) / 2**level, 101)
        assert np.all(np.abs(r @ e1) <= h1 + 1e-15)  # the directions carry rounding of their own
        assert np.all(np.abs(r @ c - kappa0) <= eta + 1e-15)
        assert h1 == pytest.approx(math.sin(min(math.pi / 2**level, math.pi / 2)), rel=1e-6, abs=1e-14)
        assert theta == pytest.approx(math.pi / 2**level, rel=1e-2, abs=1e-7)
