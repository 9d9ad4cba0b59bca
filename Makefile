# Two commands for a newcomer: `make demo` and `make test`. Everything runs inside .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
STAMP_ALL := $(VENV)/.installed-all
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
EXTRAS := dev,clouds,las,e57,mesh,report,parquet,cluster,docs
OPEN3D_LIBRARIES := libusb-1.0-0 libegl1 libgl1 libgomp1 libx11-6

PYTEST_ALL := $(BIN)/python -m pytest --no-skips -rs --durations=15
# Most tests keep one core busy: two runs at once take little more than half as long. What these folders hold takes about
# as long as the rest; a new folder is part of the rest. Tests that look at the clock run afterwards, with nothing beside them.
HALF := tests/benchmarks tests/clouds tests/docs tests/mapping tests/stream

.PHONY: install demo test test-all test-half test-rest system check format fuzz coverage bench bench-quick docs build clean

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[$(EXTRAS)]"
	touch $(STAMP)

# What is large: Open3D, PyTorch, the other systems, and half a gigabyte of rerun (in `view`).
$(STAMP_ALL): $(STAMP)
	$(PIP) -e ".[$(EXTRAS),view,open3d,peers,torch]"
	touch $(STAMP_ALL)

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/tear3d demo --report out/demo.html

# Everything but what needs Open3D or Chromium, which are skipped if they are not there.
test: $(STAMP)
	$(BIN)/python -m pytest

# Everything. Nothing may be skipped but what needs real data (TEAR3D_DATA names its folder).
test-all: $(STAMP_ALL) system
	$(BIN)/tear3d warmup
	$(MAKE) --no-print-directory -j2 test-half test-rest
	$(PYTEST_ALL) -m clock

test-half:
	$(PYTEST_ALL) -m "not clock" $(HALF)

# Printed when it is over.
test-rest:
	@mkdir -p out
	@$(PYTEST_ALL) -m "not clock" -p no:cacheprovider tests $(HALF:%=--ignore=%) >out/test-rest.log 2>&1; code=$$?; \
		cat out/test-rest.log; exit $$code

# What Debian has to add: Chromium, and the libraries that Open3D is linked to.
system: $(STAMP_ALL)
	@wanted=; browser=; \
	for name in chromium chromium-browser google-chrome google-chrome-stable; do \
		if command -v $$name >/dev/null; then browser=$$name; fi; done; \
	if [ -z "$$browser" ]; then wanted=chromium; fi; \
	if ! $(BIN)/python -c "import open3d" 2>/dev/null; then wanted="$$wanted $(OPEN3D_LIBRARIES)"; fi; \
	if [ -z "$$wanted" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing $$wanted"; export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends $$wanted >/dev/null; \
	else \
		echo "MISSING, and only root on Debian installs it from here: $$wanted"; \
		if [ "$$wanted" = chromium ]; then echo "SKIPPED: the tests of the report in a browser"; else exit 1; fi; \
	fi

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Damaged files and odd problems by the thousand: readers answer with a cloud or an error that names the file, `register`
# with a result that keeps its promises or an InputError, and no pose saves more than a proof allows.
fuzz: $(STAMP)
	$(BIN)/python -m tests.io.fuzz --count 100000
	$(BIN)/python -m tests.register.fuzz --count 50000
	$(BIN)/python -m tests.prove.pose.fuzz --count 5000

# Lines of the kernels that small cases reach, run as plain Python.
coverage: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -W ignore:overflow:RuntimeWarning \
		tests/test_small.py tests/prove/bounds -k "test_small or windows and not beat"
	$(BIN)/python -m tests.kernel_lines

bench: $(STAMP)
	$(BIN)/python -m benchmarks.core

# Every figure and table with every system, at reduced size: a quarter of an hour on two cores at most. Killed and
# started again it goes on.
bench-quick: $(STAMP_ALL)
	$(BIN)/python -m benchmarks all --quick

docs: $(STAMP)
	$(BIN)/zensical build --strict

build: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) build dist site .cache out .coverage .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
