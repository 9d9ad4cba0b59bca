"""Settings of the whole suite, and the strict run: nothing may be skipped but for want of real data."""

from __future__ import annotations

import os
import shutil
import signal

import pytest
from hypothesis import settings

from tests.real_data import MISSING

NO_CHROMIUM = "Chromium is not installed"

# In CI the examples are the same at every run; elsewhere every run looks at new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="fail if anything but missing real data was skipped")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in jobs that a shell started in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--no-skips"):
        config.pluginmanager.register(NoSkips(), "no-skips")


def may_skip(reason: str) -> bool:
    """Whether a strict run accepts a skip for this reason."""
    if reason.startswith(MISSING):
        return not os.environ.get("TEAR3D_DATA")
    if reason.startswith(NO_CHROMIUM):  # only root can install it
        return not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"))
    return False


class NoSkips:
    """Turns a session with forbidden skips into a failure, and lists them."""

    def __init__(self) -> None:
        self.forbidden: list[tuple[str, str]] = []

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            if not may_skip(reason):
                self.forbidden.append((report.nodeid, reason))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.forbidden and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.forbidden:
            terminalreporter.section("skipped, but must run", red=True)
            for name, reason in self.forbidden:
                terminalreporter.line(f"{name}: {reason}")
