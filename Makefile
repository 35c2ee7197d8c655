# make run    builds EdgeCask with its console and serves ./data on port 6379 and http://127.0.0.1:8080
# make test   everything that is proved, with all set-up (Debian 12, Rust by rustup, Node 20, root)
# make bench  EdgeCask beside redis-server, written to bench/ (some 35 minutes)
# make clients  real clients run their own flows (adds Go and a JDK to the set-up)
# make console  the page that the gateway serves, into web-console/dist (Node 20)
# make edge   the worker for Durable Objects, into edge-worker/dist (Node 20); make edge-test runs it under workerd
# make demo   a real data set in, kill -9, and out again

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:

VENV := .build/venv
PYTHON := $(VENV)/bin/python
BIN := target/debug/edgecask
RELEASE := target/release/edgecask

# Random runs are the same every time here; unset or change it to look further (each prints its seed).
export EDGECASK_SEED ?= 20261121

.PHONY: run test bench demo setup lint core wasm gateway black-box conversations conformance demo-test

run: console
	cargo build --release -p edgecask
	exec $(RELEASE) serve --dir ./data

# The console comes first, since the gateway is built with it.
test: setup console lint core wasm gateway black-box conversations conformance clients console-test edge-test demo-test
	@echo "make test: everything passed"

# Tools that the tests need; each is looked for first, so a prepared machine installs nothing.
setup: .build/apt .build/venv/ready
	rustup target list --installed | grep -q wasm32-wasip1 || rustup target add wasm32-wasip1 wasm32-unknown-unknown

.build/apt:
	mkdir -p .build
	if ! type redis-server redis-cli redis-benchmark chromium openssl > /dev/null 2>&1 ||
		! python3 -c 'import venv, ensurepip' 2> /dev/null; then
		apt-get update -qq
		# The package starts a server of its own, which nobody asked for.
		printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server redis-tools python3-venv chromium openssl
		rm -f /usr/sbin/policy-rc.d
	fi
	# The demo's records are the package index.
	[ "$$(apt-cache dumpavail 2> /dev/null | wc -l)" -gt 100000 ] || apt-get update -qq
	touch $@

.build/venv/ready: tests/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q -r tests/requirements.txt
	touch $@

lint:
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets -- -D warnings

core:
	cargo test -q -p edgecask-core

wasm: .build/venv/ready
	CARGO_TARGET_WASM32_WASIP1_RUNNER="$(CURDIR)/$(PYTHON) $(CURDIR)/tests/wasm/run.py" \
		cargo test -q -p edgecask-core --target wasm32-wasip1 --lib

gateway:
	cargo test -q -p edgecask

black-box:
	cargo build -q -p edgecask
	EDGECASK_BIN=$(CURDIR)/$(BIN) cargo test -p edgecask-tests -- --nocapture --test-threads 1

conversations:
	cargo build -q -p edgecask
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 tests/conversations/run.py

conformance: .build/venv/ready
	cargo build -q -p edgecask
	EDGECASK_BIN=$(CURDIR)/$(BIN) $(PYTHON) tests/conformance/run.py

demo-test:
	cargo build -q -p edgecask
	python3 tests/demo/demo.py --edgecask $(BIN)

demo:
	cargo build --release -p edgecask
	python3 tests/demo/demo.py --edgecask $(RELEASE)

bench: setup
	cargo build --release -p edgecask
	python3 tests/bench/bench.py --edgecask $(RELEASE) --out bench

include tests/clients/set-up.mk
include web-console/build.mk
include edge-worker/build.mk
include tests/edge/suites.mk
