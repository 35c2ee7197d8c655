# The test cluster that speaks PD's and TiKV's protocol, and suites that run on it: `make cluster`.

.PHONY: cluster cluster-figures cluster-large cluster-long cluster-oracles cluster-setup

cluster-setup: .build/cluster/mocktikvd

.build/cluster/mocktikvd: $(wildcard tests/cluster/*.go tests/cluster/go.*) | $(CLIENTS)/go/ready
	mkdir -p .build/cluster
	cd tests/cluster
	PATH=$(CURDIR)/$(CLIENTS)/go/bin:$$PATH go build -o $(CURDIR)/$@ .

cluster: edgecask cluster-setup .build/venv/ready
	tests/cluster/run.py --edgecask $(BIN) --python $(PYTHON) --jobs 2

# The suites that compare with redis-server, on the cluster: they take minutes.
cluster-oracles: edgecask cluster-setup .build/venv/ready
	EDGECASK_BLACK_BOX='cargo test -q $(ALL_BUT_CORE) --test black_box --' \
		tests/cluster/run.py --edgecask $(BIN) --python $(PYTHON) conversations transcripts differential

# A minute of transfers with faults, fifty kills and lost messages: what `make cluster` does shortly.
cluster-long: edgecask cluster-setup .build/venv/ready
	tests/cluster/run.py --edgecask $(BIN) --python $(PYTHON) --long bank kills killed_between_phases killed_after_commit

# CPU of a request, more servers, a key that eight of them write, a million members: with a release, on a machine that does nothing else.
cluster-figures: rust cluster-setup
	$(RELEASE_BUILD)
	python3 tests/cluster/figures.py --edgecask $(RELEASE)

# A sorted set of a million members, which takes minutes to make.
cluster-large: edgecask cluster-setup .build/venv/ready
	tests/cluster/run.py --edgecask $(BIN) --python $(PYTHON) large_set
