"""Why a learned peer cannot run: said before PyTorch is needed."""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks import peers

VARIABLES = {"pointdsc": "TEAR3D_POINTDSC", "vbreg": "TEAR3D_VBREG"}


@pytest.fixture(params=VARIABLES)
def key(request, monkeypatch) -> str:
    monkeypatch.delenv(VARIABLES[request.param], raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if absent and name == "torch" else object())
    absent.clear()
    return request.param


absent: list[str] = []


def test_without_torch(key):
    absent.append("torch")
    assert peers.peer(key).missing() == "torch is not installed (pip install '.[torch]')"


def test_without_a_checkpoint(key):
    reason = peers.peer(key).missing()
    assert VARIABLES[key] in reason
    assert "https://github.com/" in reason


def test_with_a_file_that_is_not_there(key, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLES[key], str(tmp_path / "weights.pkl"))
    assert str(tmp_path / "weights.pkl") in peers.peer(key).missing()


def test_with_a_file(key, monkeypatch, tmp_path):
    (tmp_path / "weights.pkl").touch()
    monkeypatch.setenv(VARIABLES[key], str(tmp_path / "weights.pkl"))
    assert peers.peer(key).missing() is None


def test_networks_are_listed_as_peers_but_their_package_is_not():
    listed = peers.keys()
    assert set(VARIABLES) < set(listed)
    assert "networks" not in listed
    assert all(peers.peer(name).quadratic and peers.peer(name).metres for name in VARIABLES)
