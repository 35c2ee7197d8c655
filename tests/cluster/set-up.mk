# The test cluster that speaks PD's and TiKV's protocol, and suites that run on it: `make cluster`.

.PHONY: cluster cluster-large cluster-oracles cluster-setup

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

# A sorted set of a million members, which takes minutes to make.
cluster-large: edgecask cluster-setup .build/venv/ready
	tests/cluster/run.py --edgecask $(BIN) --python $(PYTHON) large_set
