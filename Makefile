# The door: each target is one script in dev/. `make demo` and `make test` do all the set-up on a fresh machine.
.PHONY: help apt build demo test check test-long lint format bench clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

apt:  ## install the Debian packages of dev/apt.txt (root), or print the command
	@dev/apt.sh

build: apt  ## .venv with the tools, two MPIs and Hocket
	@dev/build.sh

demo: build  ## a third-party program plain and under Hocket, side by side
	@.venv/bin/python dev/demo.py

test: apt  ## all tests (an hour on 2 cores, with all that has to be built)
	@dev/build.sh intel
	@dev/test.sh test

check: build  ## the quick tests (< 3 minutes)
	@dev/test.sh check

test-long: apt  ## what takes longer than CI may; see docs/testing.md
	@dev/build.sh intel
	@dev/test.sh long

lint: build  ## clang-format, clang-tidy on changed files, ruff, mypy
	@dev/lint.sh

format: build  ## format the source
	@dev/format.sh

bench: apt  ## everything that the pages say (over an hour; dev/bench.sh runs single steps)
	@dev/build.sh intel
	@dev/bench.sh

clean:  ## forget the build (keeps .venv)
	rm -rf build .venv/.stamps/installed
