# The front door. `make help` lists what there is; CMakePresets.json and tools/ hold how it is done.
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
PYTHON := /usr/bin/python3

.PHONY: help deps build demo test lint format bench fuzz sim clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  JOBS=N limits parallel work (now $(JOBS)). On a fresh Debian 12: apt-get install -y make git, then make demo."

deps: ## Install the Debian packages of tools/deps.txt (root or sudo); nothing to do if they are there
	@tools/deps

build: deps ## Build the release program: build/teson
	@test -f build/build.ninja || cmake --preset release
	cmake --build build --parallel $(JOBS) --target teson

demo: build ## Train, lose the machine and the server half way, finish from the checkpoint (under 2 minutes)
	@$(PYTHON) examples/digits/demo.py --teson build/teson

test: build ## Build and run every test; the last line is "N passed, N failed"
	@$(PYTHON) tests/run --jobs $(JOBS)

lint: deps ## clang-format, clang-tidy on changed files (ALL=1: on all), layering, shellcheck
	@JOBS=$(JOBS) tools/lint $(if $(ALL),--all)

format: deps ## Apply clang-format to all C++ files
	@git ls-files '*.cc' '*.h' | xargs --no-run-if-empty clang-format-19 -i

bench: deps ## Build and run the benchmarks (bench/README.md)
	cmake --preset bench
	cmake --build build --parallel $(JOBS) --target teson http_load
	@$(PYTHON) bench/run --build build

fuzz: deps ## Build and run the fuzzers, a minute in all (tests/fuzz/README.md)
	@tests/fuzz/run.sh

sim: deps ## The long fault simulation: 1,000,000 steps over 100 seeds
	@test -f build/build.ninja || cmake --preset release
	cmake --build build --parallel $(JOBS) --target teson-sim
	@build/teson-sim --seeds 100 --steps 1000000

clean: ## Remove everything that was built
	rm -rf build build-debug build-asan build-tsan build-fuzz
