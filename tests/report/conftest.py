import pytest

from tests.report.chromium import Chromium, find_chromium


@pytest.fixture(scope="module")
def browser():
    chromium = Chromium(find_chromium())
    yield chromium
    chromium.close()
