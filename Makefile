# make run    builds EdgeCask with its console and serves ./data on port 6379 and http://127.0.0.1:8080
# make test   everything that is proved, with all set-up (Debian 12, Rust by rustup, Node 20, root); make gate is its quick
#             part: formatting, lints, unit tests, the core as WebAssembly
# make bench  EdgeCask beside redis-server and valkey-server, written to bench/ (some 50 minutes); it goes on where it was
# make bench-sql  SQL beside SQLite, PostgreSQL 15 and redis-server with joins by the client (some minutes; adds PostgreSQL to the set-up)
# make bench-json  JSON documents beside hashes, and graphs (some minutes after building)
# make bench-search  search beside FTS5, MiniSearch, Orama, tantivy and Meilisearch's engine (an hour, most of it building and slow peers);
#             its last step is bench-keystrokes, 10,000 users who type on WebSockets (a quarter of an hour)
# make client   the client library beside real servers; make bench-clients measures it beside other clients (adds nothing; some
#             twenty minutes, most of it building them)
# make client-js  the package @edgecask/client, into core/client/js/dist (Node 20); make client-js-test runs it in Node, chromium and
#             workerd, make bench-client-js measures it beside a client written by hand
# make scaling  one worker beside as many as there are processors (some minutes)
# make reliability  flipped bits, lost files, kill -9 and full disks, long (root; prints tables)
# make crash-matrix  a million crash states on the simulated disk (some minutes; STATES and EDGECASK_SEED choose others)
# make clients  real clients run their own flows (adds Go and a JDK to the set-up)
# make search-clients  the suites of redis-py, RedisVL and redis-om for search, unmodified, and flows of node-redis and LangChain
#             (some minutes; adds their packages to the set-up)
# make console  the page that the gateway serves, into web-console/dist (Node 20)
# make lua    the interpreter of scripts beside the recorded answers of redis-server (make lua-wasm: as WebAssembly)
# make functions  functions as WebAssembly on both engines, with their examples (make functions-wasm: the interpreter as WebAssembly)
# make edge   the worker for Durable Objects, into edge-worker/dist (Node 20); make edge-test runs it under workerd
# make cluster  suites on a test cluster of TiKV (adds Go to the set-up); cluster-long, cluster-oracles and cluster-large take
#             minutes more, cluster-figures measures a release
# make demo   a real data set in, kill -9, and out again
#
# Every target installs what it needs and the machine lacks; tests/fresh-machine proves that on a bare Debian.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:

VENV := .build/venv
PYTHON := $(VENV)/bin/python
BIN := target/debug/edgecask
RELEASE := target/release/edgecask

# Random runs are the same every time here; unset or change it to look further (each prints its seed).
export EDGECASK_SEED ?= 20261121

# A shell that was open when rustup was installed does not find cargo.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

# What rust-toolchain.toml asks for: the toolchain, its components and its targets.
RUST := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
rust_list = $(shell sed -n 's/^$(1) = \[\(.*\)\]/\1/p' rust-toolchain.toml | tr -d '",')

# The integration tests of the crate in folder $(1), as cargo's arguments.
tests_of = $(foreach name,$(notdir $(basename $(wildcard $(1)/tests/*.rs))) \
	$(notdir $(patsubst %/main.rs,%,$(wildcard $(1)/tests/*/main.rs))),--test $(name))

# The engines of functions as WebAssembly, and SQL at the edge, in all that is built for tests.
WITH_ENGINES := --features edgecask/wasm-functions,edgecask/tikv,edgecask-client/embedded,edgecask-edge-worker/wasm-functions,edgecask-edge-worker/sql

# Which features a dependency has follows from which packages and features are named, and one with other features is built once
# more, with all that stands on it. So all debug builds name the same; only the core is also tested alone, since that is quick.
ALL_BUT_CORE := --workspace --exclude edgecask-core $(WITH_ENGINES)

# The program as users get it: with functions as WebAssembly, whose compiler takes some minutes to build.
RELEASE_BUILD := cargo build --release -p edgecask --features wasm-functions,tikv

.PHONY: run test gate bench scaling demo setup rust node lint core wasm edgecask gateway client bench-clients bench-embedded sql lua lua-wasm wasm-tools functions functions-wasm functions-tools black-box conversations conformance
.PHONY: sql-differences bench-sql bench-json bench-search bench-keystrokes demo-test examples-test reliability reliability-test crash-matrix

run: rust console
	$(RELEASE_BUILD)
	exec $(RELEASE) serve --dir ./data

# Cheap things first. The gateway comes behind the console, which is built into it.
GATE := rust lint core wasm
AFTER_GATE := setup console gateway client sql lua lua-wasm functions functions-wasm black-box conversations conformance sql-differences clients-setup clients cluster console-test edge edge-test client-js-test \
	examples-test demo-test reliability-test

test:
	@MAKE='$(MAKE)' .ci/steps $(GATE) $(AFTER_GATE)
	echo "make test: everything passed"

gate:
	@MAKE='$(MAKE)' .ci/steps $(GATE)

# rustup is asked first what there is, so that a prepared machine needs no network. Rust links by the C compiler, and three
# crates have C inside.
rust:
	@if ! command -v rustup > /dev/null; then
		echo "Rust comes by rustup, which is not installed: https://rustup.rs" >&2
		exit 1
	fi
	command -v cc > /dev/null || .ci/apt gcc libc6-dev
	installed=$$(rustup toolchain list)
	if grep -q '^$(RUST)-' <<< "$$installed"; then
		installed=$$(rustup component list --toolchain $(RUST) --installed)
	fi
	has_all=yes
	for part in $(call rust_list,components) $(addprefix rust-std-,$(call rust_list,targets)); do
		grep -q "^$$part" <<< "$$installed" || has_all=no
	done
	if [ $$has_all = no ]; then
		rustup toolchain install $(RUST) --profile minimal --no-self-update \
			$(addprefix --component ,$(call rust_list,components)) $(addprefix --target ,$(call rust_list,targets))
	fi

node:
	@if ! node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2> /dev/null; then
		echo "Node 20 or newer is needed: https://nodejs.org" >&2
		exit 1
	fi

# The packages of npm that the lock file of a folder names.
%/node_modules/ready: %/package-lock.json | node
	npm ci --prefix $* --silent --no-audit --no-fund --ignore-scripts
	touch $@

# Tools that the tests need; each is looked for first, so a prepared machine installs nothing.
setup: .build/apt .build/venv/ready

.build/apt: Makefile
	mkdir -p .build
	if ! type redis-server redis-cli redis-benchmark chromium openssl ps sqlite3 > /dev/null 2>&1; then
		.ci/apt redis-server redis-tools chromium openssl procps sqlite3
	fi
	# The demo's records are the package index.
	[ "$$(apt-cache dumpavail 2> /dev/null | wc -l)" -gt 100000 ] || apt-get update -qq
	touch $@

.build/venv/ready: tests/requirements.txt
	python3 -c 'import venv, ensurepip' 2> /dev/null || .ci/apt python3-venv
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q -r tests/requirements.txt
	touch $@

# What is compiled for workerd may use vectors of 128 bits, which its engine has: so the module is some kilobytes smaller. The linker
# leaves room in each call for the largest number of a function unless it is told not to: 390 kB, of which 32 are left by gzip.
FOR_WORKERD := CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C target-feature=+simd128 -C link-arg=--compress-relocations"

# The edge worker's lints compile Lua and SQLite for WebAssembly first, as its build needs them.
lint: rust wasm-tools
	cargo fmt --all --check
	cargo clippy -q --workspace --all-targets $(WITH_ENGINES) -- -D warnings
	cargo clippy -q --workspace --exclude edgecask-core --lib --bins -- -D warnings
	$(FOR_WORKERD) cargo clippy -q -p edgecask-edge-worker -p edgecask-client-js --target wasm32-unknown-unknown --profile edge \
		--features edgecask-edge-worker/wasm-functions,edgecask-edge-worker/sql -- -D warnings
	# The pages show the figures that were measured.
	python3 tests/bench/figures.py

core: rust
	cargo test -q -p edgecask-core

wasm: rust .build/venv/ready
	CARGO_TARGET_WASM32_WASIP1_RUNNER="$(CURDIR)/$(PYTHON) $(CURDIR)/tests/wasm/run.py" \
		cargo test -q -p edgecask-core --target wasm32-wasip1 --lib

# The program that all tests but the gateway's own run, as what a test depends on: features that only tests need of a dependency would
# make it another one.
edgecask: rust
	cargo test -q $(ALL_BUT_CORE) --test documentation --no-run

# With it the unit tests of all smaller crates.
gateway: rust
	cargo test $(ALL_BUT_CORE) -q --lib --bin edgecask $(call tests_of,gateway)
	cargo test $(ALL_BUT_CORE) -q --doc

# The client library beside redis-server and EdgeCask, over sockets, WebSocket and in the same process, and beside a server that misbehaves.
client: edgecask setup
	EDGECASK_BIN=$(CURDIR)/$(BIN) cargo test $(ALL_BUT_CORE) -q $(call tests_of,core/client)

# SQLite over pages of a host: the language, what fails and is dropped, and texts that mean harm.
sql: rust
	cargo test $(ALL_BUT_CORE) -q $(call tests_of,core/sql)

# Lua beside the recorded answers of redis-server, its patches, and scripts that mean harm.
lua: rust
	cargo test $(ALL_BUT_CORE) -q $(call tests_of,core/lua)

# The same as the edge worker has it.
LUA_WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/edge/examples/wasm_tests.wasm
lua-wasm: rust node wasm-tools .build/venv/ready
	$(FOR_WORKERD) cargo build -q -p edgecask-lua --example wasm_tests --target wasm32-unknown-unknown --profile edge
	node core/lua/tests/wasm/run.mjs $(LUA_WASM)
	$(PYTHON) core/lua/tests/wasm/run.py $(LUA_WASM)

# Functions as modules of WebAssembly, compiled and interpreted: calls, hostile modules, the examples of guests.
functions: rust functions-tools
	cargo test $(ALL_BUT_CORE) -q $(call tests_of,core/wasm)

# The same calls and hostile modules on the interpreter as the edge worker has it.
FUNCTIONS_WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/edge/examples/functions_wasm_tests.wasm
functions-wasm: rust node
	$(FOR_WORKERD) cargo build -q -p edgecask-wasm --features wasmi --example functions_wasm_tests --target wasm32-unknown-unknown --profile edge
	node core/wasm/tests/wasm/run.mjs $(FUNCTIONS_WASM)

# The compilers of the examples of guests.
ASSEMBLYSCRIPT := examples/functions/assemblyscript
functions-tools: wasm-tools $(ASSEMBLYSCRIPT)/node_modules/ready

# A compiler of C for WebAssembly, and a C library for it: for Lua and SQLite there (the edge worker), and for the example of a guest in C.
wasm-tools:
	@if ! type clang-19 llvm-ar-19 > /dev/null 2>&1 || ! [ -e /usr/lib/wasm32-wasi/libc.a ]; then
		.ci/apt --no-install-recommends clang-19 llvm-19 wasi-libc
	fi

black-box: edgecask
	EDGECASK_BIN=$(CURDIR)/$(BIN) cargo test $(ALL_BUT_CORE) --test black_box -- --nocapture --test-threads 1

conversations: edgecask
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 tests/conversations/run.py

conformance: edgecask .build/venv/ready tests/conformance/jsonpath/node_modules/ready
	EDGECASK_BIN=$(CURDIR)/$(BIN) $(PYTHON) tests/conformance/run.py
	EDGECASK_BIN=$(CURDIR)/$(BIN) $(PYTHON) tests/conformance/jsonpath/run.py
	EDGECASK_BIN=$(CURDIR)/$(BIN) $(PYTHON) tests/conformance/search/run.py
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 tests/scripts/run.py

# SQL over a socket beside the program sqlite3.
sql-differences: edgecask setup
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 tests/sql/differences.py

examples-test: edgecask .build/apt examples/instant-search/node_modules/ready web-console/node_modules/ready
	if [ -e examples/run ]; then EDGECASK_BIN=$(CURDIR)/$(BIN) examples/run; fi

demo-test: edgecask
	python3 tests/demo/demo.py --edgecask $(BIN)

demo: rust
	$(RELEASE_BUILD)
	python3 tests/demo/demo.py --edgecask $(RELEASE)

bench-clients: rust setup
	python3 tests/bench/clients.py

# Stores in the process: the client with `edgecask:DIR` beside EdgeCask over loopback, sled, redb and fjall.
bench-embedded: rust
	$(RELEASE_BUILD)
	cargo run -q --release --manifest-path tests/bench/embedded/Cargo.toml --target-dir .build/embedded-bench -- --edgecask $(RELEASE)

# Fails if a row of bench/results.json is missing or was made by another source, after making such rows anew.
bench: rust setup .build/valkey/usr/bin/valkey-server
	$(RELEASE_BUILD)
	python3 tests/bench/bench.py --edgecask $(RELEASE) --rounds 3 --out bench

.build/valkey/usr/bin/valkey-server: .ci/valkey
	.ci/valkey .build/valkey
	touch $@

# SQL beside SQLite, PostgreSQL and redis-server with joins by the client, and with many rows and connections.
bench-sql: rust setup
	[ -x /usr/lib/postgresql/15/bin/pgbench ] || .ci/apt postgresql-15
	$(RELEASE_BUILD)
	python3 tests/bench/sql.py --edgecask $(RELEASE)
	python3 tests/bench/sql_scale.py --edgecask $(RELEASE)

# JSON documents beside hashes, and graphs.
bench-json: rust setup
	$(RELEASE_BUILD)
	python3 tests/bench/documents.py --edgecask $(RELEASE)
	python3 tests/bench/long_walk.py --edgecask $(RELEASE)
	cargo bench -q -p edgecask-sql --bench graphs

# Search beside SQLite's FTS5, MiniSearch, tantivy and Meilisearch's engine: judged queries, and processor time as one types.
SEARCH := tests/bench/search
SEARCH_OUT := .build/search-bench
bench-search: rust node setup
	$(RELEASE_BUILD)
	[ -e $(SEARCH_OUT)/data/short-1m.tsv ] || python3 $(SEARCH)/data.py $(SEARCH_OUT)/data
	cd $(SEARCH_OUT)
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix node minisearch@7.2.0 @orama/orama@3.1.18 fuse.js@7.5.0
	cd - > /dev/null
	for set in long-100k short-1m; do
		python3 $(SEARCH)/queries.py $(SEARCH_OUT)/data/$$set.tsv $(SEARCH_OUT)/data/$$set.queries.tsv
	done
	ask() {
		python3 $(SEARCH)/peer_edgecask.py "$$@" --edgecask $(RELEASE)
		python3 $(SEARCH)/peer_fts5.py "$$@"
		for peer in tantivy meilisearch; do
			cargo run -q --release --manifest-path $(SEARCH)/peer-$$peer/Cargo.toml --target-dir $(SEARCH_OUT)/target-$$peer -- "$$@"
		done
		node --max-old-space-size=8192 $(SEARCH)/peer_node.mjs minisearch --packages $(SEARCH_OUT)/node --documents "$$@"
	}
	for set in films packages; do
		rm -f $(SEARCH_OUT)/*.answers.tsv
		ask $(SEARCH_OUT)/data/$$set.tsv --answer $(SEARCH)/relevance-$$set.tsv --out $(SEARCH_OUT)
		node --max-old-space-size=8192 $(SEARCH)/peer_node.mjs orama --packages $(SEARCH_OUT)/node --documents $(SEARCH_OUT)/data/$$set.tsv \
			--answer $(SEARCH)/relevance-$$set.tsv --out $(SEARCH_OUT)
		python3 $(SEARCH)/relevance.py $(SEARCH)/relevance-$$set.tsv $(SEARCH_OUT)/*.answers.tsv
	done
	ask $(SEARCH_OUT)/data/long-100k.tsv --time $(SEARCH_OUT)/data/long-100k.queries.tsv --out $(SEARCH_OUT)
	python3 $(SEARCH)/speed.py $(SEARCH_OUT)/long-100k.*.results.tsv
	python3 $(SEARCH)/peer_edgecask.py $(SEARCH_OUT)/data/short-1m.tsv --time $(SEARCH_OUT)/data/short-1m.queries.tsv --out $(SEARCH_OUT) --edgecask $(RELEASE)
	for set in long-100k short-1m; do
		python3 $(SEARCH)/peer_edgecask.py $(SEARCH_OUT)/data/$$set.tsv --cost --out $(SEARCH_OUT) --edgecask $(RELEASE)
	done
	$(MAKE) bench-keystrokes

# 10,000 users who type on WebSockets, all together 5,000 keys a second, while 500 documents a second change: latency at the client, and
# the highest rate with a p99 below 30 ms. The last step of bench-search, which makes the documents and the program.
bench-keystrokes:
	cargo build -q --release --manifest-path $(SEARCH)/keystrokes/Cargo.toml --target-dir $(SEARCH_OUT)/target-keystrokes
	for set in long-100k short-1m; do
		python3 $(SEARCH)/keystrokes.py $(SEARCH_OUT)/data/$$set.tsv $(SEARCH_OUT)/data/$$set.queries.tsv \
			--generator $(SEARCH_OUT)/target-keystrokes/release/keystrokes --edgecask $(RELEASE)
	done

# One worker beside as many as there are processors.
scaling: rust
	$(RELEASE_BUILD)
	python3 tests/bench/scaling.py --edgecask $(RELEASE)

# A few rounds of each; small_disk.py needs to mount, so root.
reliability-test: edgecask
	python3 tests/reliability/flips.py --edgecask $(BIN) --rounds 20
	python3 tests/reliability/live_flips.py --edgecask $(BIN) --rounds 120
	python3 tests/reliability/merged_flips.py --edgecask $(BIN) --rounds 4
	python3 tests/reliability/missing.py --edgecask $(BIN) --rounds 9
	python3 tests/reliability/killed_salvage.py --edgecask $(BIN) --rounds 4
	python3 tests/reliability/kill9.py --edgecask $(BIN) --cycles 4
	python3 tests/reliability/kill9.py --edgecask $(BIN) --cycles 4 --policy everysec --full-disk tmpfs
	python3 tests/reliability/sql_kill9.py --edgecask $(BIN) --cycles 4
	python3 tests/reliability/small_disk.py --edgecask $(BIN) --rounds 7 --overwrite-mb 100 --filesystem tmpfs

# Each goes on after a broken promise, and all run.
reliability: rust
	$(RELEASE_BUILD)
	status=0
	for script in "flips.py --rounds 780" "live_flips.py --rounds 2000" "merged_flips.py --rounds 100" missing.py \
		"killed_salvage.py --rounds 100" "kill9.py --cycles 100" "kill9.py --cycles 100 --full-disk ext4" "sql_kill9.py --cycles 60" "small_disk.py --rounds 20" "small_disk.py --rounds 20 --filesystem tmpfs"; do
		echo "== $$script"
		python3 tests/reliability/$$script --edgecask $(RELEASE) || status=1
	done
	exit $$status

# The test of `make core` that judges 40,000 of them there, for longer: all processors, one seed after another.
STATES ?= 1000000
crash-matrix: rust
	EDGECASK_CRASH_STATES=$(STATES) cargo test -q -p edgecask-core --lib crashes_anywhere -- --nocapture

include tests/clients/set-up.mk
include tests/cluster/set-up.mk
include web-console/build.mk
include edge-worker/build.mk
include core/client/js/build.mk
include tests/edge/suites.mk
