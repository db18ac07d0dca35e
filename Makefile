# Everything a fresh machine needs: `make run` plays a table, `make test` proves it.
PORT ?= 8080
DATA ?= data
PYTHON ?= python3
BIN := .venv/bin
# The debian packages that the tests drive, look at pages with, or keep an archive in.
DEBIAN_PACKAGES := chromium fonts-dejavu-core fonts-wqy-microhei openssl postgresql

.PHONY: setup run test test-long test-vm sim bench screenshots package lock clean debian-packages

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "boxman needs Python 3.11 or later; set PYTHON=" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { echo "a virtual environment cannot be made; install the package python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: setup
	$(BIN)/boxman run --port $(PORT) --data $(DATA)

test: setup debian-packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

# What a night is for: 20,000 sequences of steps, new ones every time, a long evening at each rule set's full table, and 200
# kills of a running terminal.
test-long: setup
	BOXMAN_TEST_LONG=1 $(BIN)/pytest --durations=8 tests/test_engine_properties.py tests/test_engine_micropython.py tests/test_terminal_kills.py

# In virtual machines: the drivers on a GPIO chip of a real kernel, full file systems, a whole system from its package to
# its uninstallation, a card's first boot, and VM_CUTS power cuts of a running terminal. As root; fetches some 500 MB the
# first time.
test-vm: setup
	PYTHON=$(BIN)/python tests/vm/rig.sh

# Seeds of the simulator, on all cores: `make sim SEEDS=10000 FIRST=1`; one of them again, with its end: `make sim SEED=123`.
SEEDS ?= 1000
FIRST ?= 1

sim: setup
	$(BIN)/python -m tests.simulator $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --first $(FIRST))

# A slow card's flush is made by strace.
bench: DEBIAN_PACKAGES += strace
bench: setup debian-packages
	$(BIN)/python -m tests.bench

screenshots: setup debian-packages
	$(BIN)/python -m tests.screenshots

# Debian packages for amd64 and arm64 in dist/, the same bytes whenever they are made. RELEASE_KEY=U... is the public key
# whose signature updates will need; without one, units are updated with packages.
package: setup
	$(BIN)/python -m provisioning.release.package_program $(if $(RELEASE_KEY),--key $(RELEASE_KEY))

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --extra test --extra bench --no-emit-index-url --no-header pyproject.toml -o requirements.lock

# As root the missing packages are installed; otherwise one line says what to install.
debian-packages:
	@missing=""; for p in $(DEBIAN_PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing >/dev/null; \
	  else echo "the tests need these packages: apt-get install$$missing" >&2; exit 1; fi; fi

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
