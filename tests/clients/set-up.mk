# The clients whose flows `make clients` runs: installed into .build/clients (Node's into tests/clients/node_modules),
# pinned by requirements.txt, package-lock.json, go.sum, Cargo.lock, and pom.xml with jars.sha256.

CLIENTS := .build/clients
FLOWS := tests/clients
GO_TOOLCHAIN := v0.0.1-go1.25.12
COPY_JARS := org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies

.PHONY: clients clients-setup search-clients

clients: edgecask clients-setup
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 $(FLOWS)/run.py

search-clients: edgecask .build/venv/ready $(CLIENTS)/node
	$(FLOWS)/search/setup
	EDGECASK_BIN=$(CURDIR)/$(BIN) python3 $(FLOWS)/search/run.py

clients-setup: .build/apt $(CLIENTS)/apt $(CLIENTS)/venv/ready $(CLIENTS)/node $(CLIENTS)/go-redis
clients-setup: $(CLIENTS)/lettuce/ready $(CLIENTS)/libsql-go $(CLIENTS)/libsql-rust/debug/libsql-flows

$(CLIENTS)/apt:
	mkdir -p $(CLIENTS)
	missing=
	command -v go > /dev/null || missing+=" golang-go"
	command -v javac > /dev/null || missing+=" default-jdk-headless"
	command -v mvn > /dev/null || missing+=" maven"
	if [ -n "$$missing" ]; then
		.ci/apt --no-install-recommends $$missing
	fi
	touch $@

# Python's venv module is looked for with the first of the environments.
$(CLIENTS)/venv/ready: $(FLOWS)/requirements.txt | .build/venv/ready $(CLIENTS)/apt
	python3 -m venv $(CLIENTS)/venv
	$(CLIENTS)/venv/bin/pip install -q --require-hashes -r $<
	touch $@

$(CLIENTS)/node: $(FLOWS)/package-lock.json | node $(CLIENTS)/apt
	npm ci --prefix $(FLOWS) --silent --no-audit --no-fund --ignore-scripts
	touch $@

$(CLIENTS)/go-redis: $(wildcard $(FLOWS)/go-redis/*) | $(CLIENTS)/apt
	cd $(FLOWS)/go-redis
	go build -o $(CURDIR)/$@ .

# libsql-client-go needs Go 1.20, the test cluster 1.25, and Debian 12 has 1.19. Go's toolchains are modules, as `go` itself gets them from 1.21 on: checked against
# Go's database of checksums.
$(CLIENTS)/go/ready: | $(CLIENTS)/apt
	mkdir -p $(CLIENTS)/go
	if [[ $$(go env GOVERSION) =~ ^go1\.(1?[0-9]|2[0-4])(\.|$$) ]]; then
		version=$(GO_TOOLCHAIN).$$(go env GOOS)-$$(go env GOARCH)
		from=$$(cd $(CLIENTS)/go && go mod download -json golang.org/toolchain@$$version | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
		cp -r --no-preserve=mode "$$from/." $(CLIENTS)/go
		chmod +x $(CLIENTS)/go/bin/* $(CLIENTS)/go/pkg/tool/*/*
	fi
	touch $@

$(CLIENTS)/libsql-go: $(wildcard $(FLOWS)/libsql-go/*) | $(CLIENTS)/go/ready
	cd $(FLOWS)/libsql-go
	PATH=$(CURDIR)/$(CLIENTS)/go/bin:$$PATH go build -o $(CURDIR)/$@ .

$(CLIENTS)/libsql-rust/debug/libsql-flows: $(wildcard $(FLOWS)/libsql-rust/Cargo.* $(FLOWS)/libsql-rust/src/*) | rust $(CLIENTS)/apt
	cargo build -q --locked --manifest-path $(FLOWS)/libsql-rust/Cargo.toml --target-dir $(CLIENTS)/libsql-rust
	touch $@

$(CLIENTS)/jars/ready: $(FLOWS)/lettuce/pom.xml $(FLOWS)/lettuce/jars.sha256 | $(CLIENTS)/apt
	rm -rf $(CLIENTS)/jars
	mvn -q -B -f $< $(COPY_JARS) -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(CLIENTS)/jars
	cd $(CLIENTS)/jars
	sha256sum --quiet --strict -c $(CURDIR)/$(FLOWS)/lettuce/jars.sha256
	touch ready

$(CLIENTS)/lettuce/ready: $(CLIENTS)/jars/ready $(wildcard $(FLOWS)/lettuce/*.java)
	mkdir -p $(CLIENTS)/lettuce
	javac -d $(CLIENTS)/lettuce -cp '$(CLIENTS)/jars/*' $(FLOWS)/lettuce/*.java
	touch $@
