"""The rules of the house: short files, short parameter lists, a map that is true, and no path of anybody's machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel_lines import kernels

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tear3d", "tests", "benchmarks", "docs", "examples")
MOST_LINES = 300
MOST_PARAMETERS = 8
# Their keyword options are the interface; so are those of every command in tear3d/cli.
LONG_SIGNATURES = {
    ("tear3d/api.py", "register"),
    ("tear3d/clouds/register.py", "register_clouds"),
    ("tear3d/lab/synthetic.py", "make_problem"),
    ("tear3d/mapping/build.py", "build_map"),
    ("tear3d/report/html.py", "write_report"),
}
TABLE = "## Where does a new thing go?"
# Where people's files lie on Linux, macOS and Windows.
MACHINE_PATH = re.compile(r"(?<![\w.:/])(?:/(?:home|root|Users|work|mnt|opt|srv)/\w|[A-Z]:\\\w)")


def python_files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def text_files() -> list[Path]:
    """What the repository holds, or outside of one every file of the folders above."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    paths = [ROOT / name for name in names if name] or [p for f in FOLDERS for p in (ROOT / f).rglob("*")]
    kinds = {".py", ".md", ".toml", ".yml", ".yaml", ".cff", ".html", ".js", ".css", ".json", ""}
    return sorted(path for path in paths if path.is_file() and path.suffix in kinds)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def long_signatures(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Functions, no kernels among them, with more parameters than a reader can keep apart."""
    compiled = set(kernels(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node not in compiled:
            rest = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *rest]
            count = sum(argument.arg not in ("self", "cls") for argument in every)
            if count > MOST_PARAMETERS:
                yield node.name, count


def commands() -> set[tuple[str, str]]:
    """The functions that typer makes commands of: one in each file of tear3d/cli, named like the file."""
    return {(name_of(path), path.stem) for path in (ROOT / "tear3d" / "cli").glob("*.py")}


def test_no_function_but_kernels_takes_more_than_eight_parameters():
    allowed = LONG_SIGNATURES | commands()
    long = [
        f"{name_of(path)}: {function} takes {count}"
        for path in python_files()
        for function, count in long_signatures(ast.parse(path.read_text(encoding="utf-8")))
        if (name_of(path), function) not in allowed
    ]
    assert not long, "\n".join(long)


def test_the_allowed_long_signatures_are_still_there():
    for name, function in LONG_SIGNATURES:
        assert function in dict(long_signatures(ast.parse((ROOT / name).read_text(encoding="utf-8")))), name


def test_no_file_is_longer_than_a_reader_will_read():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    long = [f"{name}: {count} lines" for name, count in lines.items() if count > MOST_LINES]
    assert not long, "\n".join(long)


def test_the_map_of_contributing_names_what_exists():
    _, found, rest = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(TABLE)
    assert found, f"CONTRIBUTING.md has no heading {TABLE!r}"
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    assert len(rows) > 5
    named = {name for row in rows for name in re.findall(r"`([\w./<>]+/[\w./<>]*)`", row)}
    assert named
    missing = [name for name in sorted(named) if not place_of(name).exists()]
    assert not missing, f"CONTRIBUTING.md names what is not there: {missing}"


def place_of(name: str) -> Path:
    """A file, or for a new one, written `folder/<name>.py`, the folder it goes to."""
    known = name.partition("<")[0]
    return ROOT / (known if known == name else known.rpartition("/")[0])


def test_no_path_of_a_machine_is_written_down():
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path in text_files()
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("line", ["open('/home/me/a')", "data = /root/x", r"C:\Users\me", "/srv/a"])
def test_a_path_of_a_machine_would_be_noticed(line):
    assert MACHINE_PATH.search(line)


def test_tests_mirror_the_folders():
    def folders(root: Path) -> set[str]:
        return {path.parent.relative_to(root).as_posix() for path in root.rglob("*.py")} - {"."}

    benchmarks = {f"benchmarks/{folder}" for folder in folders(ROOT / "benchmarks")}
    extra = folders(ROOT / "tests") - folders(ROOT / "tear3d") - benchmarks - {"benchmarks", "docs", "register"}
    assert not extra, f"tests/ has folders that tear3d/ has not: {sorted(extra)}"
