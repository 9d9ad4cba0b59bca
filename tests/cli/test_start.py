"""Only the command that is asked for is made."""

import pytest

from tear3d.cli.app import _asked_for, app


@pytest.mark.parametrize("words", [["register", "x.npz"], ["info", "--help"], ["view"]])
def test_one_command_when_its_name_comes_first(words):
    assert [one.callback.__name__ for one in _asked_for(words)] == words[:1]


@pytest.mark.parametrize("words", [[], ["--help"], ["registre"], ["-h", "register"]])
def test_all_where_any_may_be_meant(words):
    assert _asked_for(words) == app.registered_commands
