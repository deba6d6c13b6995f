# The two commands are `make demo` and `make test`. Everything they need is put into .venv; a stamp file there remembers
# what has been installed, so that a second run starts at once.

VENV     := .venv
BIN      := $(VENV)/bin
LIBRARY  := .demo/library
UI       ?= yes
QUESTION := who pays when delivery is late?
PYTHON   ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,\
	$(if $(shell $(name) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(name))))
PIP      := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
DECLARED := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint audit bench docs clean

help: ## say what there is to make
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/.installed ## read data/samples, print a search, then serve the browser page (UI=no: without the page)
	@echo "==> longdoc add data/samples"
	@$(BIN)/longdoc --library $(LIBRARY) add data/samples
	@echo "==> longdoc search \"$(QUESTION)\""
	@$(BIN)/longdoc --library $(LIBRARY) search -k 3 "$(QUESTION)"
ifeq ($(UI),yes)
	@echo "==> longdoc ui    (stop it with Ctrl+C)"
	@$(BIN)/longdoc --library $(LIBRARY) ui
else
	@echo "==> done. To search in the browser: $(BIN)/longdoc --library $(LIBRARY) ui"
endif

test: $(VENV)/.installed-test $(VENV)/.browser ## run every test
	@$(BIN)/python -m pytest $(TESTS)

lint: $(VENV)/.installed-lint ## run ruff, mypy and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python .ci/pins.py

audit: $(BIN)/python ## ask whether a pinned dependency has a known vulnerability (needs a network; says so where there is none)
	@test -x $(VENV)/audit/bin/pip-audit || { $(BIN)/python -m venv $(VENV)/audit && $(VENV)/audit/bin/python -m pip \
		--disable-pip-version-check --quiet install pip-audit==2.10.1; } >/dev/null 2>&1 || true
	@$(BIN)/python .ci/audit.py $(VENV)/audit/bin/pip-audit

bench: $(VENV)/.installed-test ## run every benchmark under tests/benchmarks (minutes)
	@failed=; for script in $$(grep -l '__main__' tests/benchmarks/*.py); do \
		echo "==> $$script"; $(BIN)/python -m $$(echo $${script%.py} | tr / .) || failed="$$failed $$script"; \
	done; test -z "$$failed" || { echo "these did not run to their end:$$failed" >&2; exit 1; }

docs: $(VENV)/.installed-test ## write the generated parts of README.md
	@$(BIN)/cog -r README.md

clean: ## remove the environment, the demonstration library and every cache in this folder
	rm -rf $(VENV) .demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "longdoc needs Python 3.11 or newer, and none was found. Install it, or name one: make demo PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "==> creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Python's venv module is incomplete here. On Debian and Ubuntu: apt-get install python3-venv (as root), then run make again." >&2; exit 1; }

$(VENV)/.installed: $(BIN)/python $(DECLARED)
	@echo "==> installing the pinned packages into $(VENV) (once; a few minutes)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "==> installing the test packages"
	@$(PIP) --editable ".[test,ocr]"
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed-test
	@echo "==> installing the lint packages"
	@$(PIP) --editable ".[test,ocr,lint]"
	@touch $@

# The browser tests need Debian's chromium. Without it, and without the right to install it, they are skipped with a reason.
$(VENV)/.browser: $(BIN)/python
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif ! command -v apt-get >/dev/null; then \
		echo "==> no chromium and no apt-get here: the browser tests will be skipped. Install chromium to run them."; exit 0; \
	elif [ "$$(id -u)" = 0 ]; then \
		echo "==> installing chromium for the browser tests"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
			|| { echo "==> chromium could not be installed: the browser tests will be skipped."; exit 0; }; \
	else \
		echo "==> no chromium, and only root may install it: the browser tests will be skipped. To run them: sudo apt-get install chromium"; exit 0; \
	fi; touch $@
