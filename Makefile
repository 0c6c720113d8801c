# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

MODULE   := github.com/capkit/capkit
# The packages of the modules that are one workspace, go.work: all but test/browser. Tools have a module of their own, without it.
ALL      := ./... $(addsuffix /...,./cmd ./internal/cli ./pkg/admission ./pkg/cli ./pkg/gardenerlib ./pkg/openstack/machines ./pkg/worker/kit ./hack ./test ./test/authors/convert)
TOOL     := env GOWORK=off go tool -modfile=hack/tools/go.mod
COMMIT   := $(shell git describe --always --dirty --match='' --abbrev=12 2>/dev/null)
# The commit of a release has its version in this file; others the one that is in the making.
VERSION  := $(shell cat VERSION)$(if $(COMMIT),+$(COMMIT))
# The second is what --version of a Gardener component prints.
LDFLAGS  := -X $(MODULE)/pkg/cli.Version=$(VERSION) -X k8s.io/component-base/version.gitVersion=v$(VERSION) -X k8s.io/component-base/version/verflag.programName=gardener-extension
# Leaves out the symbol table and the debugging information, a third of a program, as the images do. Stack traces do not need them.
STRIP    := -s -w
FUZZTIME ?= 10s
COUNT    ?= 1
BASELINE ?=
# Whose admission component make demo and make up show: openstack, or the provider type of another cloud.
PROVIDER ?= openstack
# Where images and charts are going to be.
REGISTRY ?= registry.example.com/capkit
# What images are built for.
PLATFORMS ?= linux/amd64,linux/arm64
# What archives of the command are made for, and where they are going to be, each release in a folder like v1.2.3.
DIST_PLATFORMS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64
RELEASES       ?= https://github.com/capkit/capkit/releases/download
# Which specs are run: a regular expression on their text, and a label filter of ginkgo. Without both, all tests are.
FOCUS  ?=
LABELS ?=

# Everything is built with the flags of the images, so that a package is compiled once for commands, images, tests and gardens. The compiler
# takes a third less time, and a quarter more memory, if it collects garbage less often, and writes the same bytes. Debugging information,
# which no program gets, would take an eighth of its time and a quarter of the cache.
BUILD_FLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false '-toolexec=env GOGC=400'
export CGO_ENABLED := 0
export GOFLAGS     := $(strip $(filter-out $(BUILD_FLAGS),$(shell go env GOFLAGS)) $(BUILD_FLAGS))

# The packages that decide, and one that asks a cloud many things at once: what is worth running under the race detector, which compiles
# everything once more.
PURE := ./pkg/capability/... ./pkg/imageselector/... ./pkg/finding/... ./pkg/provider/... ./pkg/providerconfig/... ./pkg/fieldpath/... ./pkg/ratchet/... ./pkg/profile/... ./pkg/resolve/... ./pkg/check/... \
	./pkg/render/... ./pkg/strictjson/... ./pkg/words/... ./internal/cli/inventory/openstack

# The compiler is silent for minutes when nothing was built before.
GARDEN = hack/controlplane.sh > /dev/null && echo 'compiling what is not compiled yet: minutes the first time, seconds later' >&2 && go run ./hack/garden

MODULES       = . pkg/gardenerlib pkg/admission pkg/worker/kit pkg/openstack/machines internal/cli pkg/cli cmd hack hack/tools hack/usertools hack/controlplane hack/apiservers/v1.146.0 hack/apiservers/v1.149.3 test test/authors/convert test/browser
GO_FILES      = git ls-files -z -- '*.go' ':!:*zz_generated*'
LICENSE_FILES = git ls-files -z -- '*.go' '*.sh' '.*.yaml' '.ci/run' Makefile

##@ Build

.PHONY: build
build: ## Build the commands into bin
	@mkdir -p bin
	go build -ldflags '$(STRIP) $(LDFLAGS)' -o bin/ ./cmd/...

.PHONY: install
install: ## Install capkit where go install puts commands, and say where that is
	@go install -ldflags '$(STRIP) $(LDFLAGS)' ./cmd/capkit
	@command=$$(go list -f '{{.Target}}' ./cmd/capkit); echo "installed $$command"; \
	if [[ $$(command -v capkit) != "$$command" ]]; then echo "capkit is not on your PATH: export PATH=\"$${command%/*}:\$$PATH\""; fi

.PHONY: dist
dist: ## Pack capkit for DIST_PLATFORMS into bin/dist: archives, SBOMs, checksums and a manifest for krew
	go run ./hack/dist -o bin/dist -platforms '$(DIST_PLATFORMS)' -version '$(VERSION)' -releases '$(RELEASES)' -ldflags '$(LDFLAGS)'

.PHONY: images
images: ## Build the container images for PLATFORMS into bin/images, as OCI layouts
	go run ./hack/images -o bin/images -platforms '$(PLATFORMS)' -version '$(VERSION)' -ldflags '$(LDFLAGS)'

.PHONY: charts
charts: ## Package the charts into bin/charts, with manifests that install them from REGISTRY
	@go run ./hack/charts -o bin/charts -registry '$(REGISTRY)'

# What make release releases, and what comes after it: RELEASE=1.2.3 NEXT=1.3.0-dev.
RELEASE ?=
NEXT    ?=

.PHONY: release
release: ## Commit RELEASE, build what is published into bin/release, begin NEXT, and print what is left to do: docs/releasing.md
	@hack/release.sh $(RELEASE) $(NEXT)

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin

##@ Source

.PHONY: generate
generate: ## Write all generated files
	hack/generate.sh

.PHONY: check-generate
check-generate: ## Fail if generated files are not up to date
	hack/check-generate.sh

.PHONY: format
format: ## Format the Go files and sort their imports
	$(GO_FILES) | xargs -0 gofmt -s -w
	$(GO_FILES) | xargs -0 $(TOOL) goimports -local $(MODULE) -w

.PHONY: check-format
check-format: ## Fail if a Go file is not formatted
	@files=$$({ $(GO_FILES) | xargs -0 gofmt -s -l; $(GO_FILES) | xargs -0 $(TOOL) goimports -local $(MODULE) -l; } | sort -u); \
	if [[ -n $$files ]]; then printf 'not formatted, run make format:\n%s\n' "$$files"; exit 1; fi

.PHONY: check
check: check-tidy check-license ## Run the linters (go vet is one of them), and check go.mod and licence headers
	lint=$$($(subst go tool,go tool -n,$(TOOL)) golangci-lint); export GOGC=400; $$lint run --allow-serial-runners $(ALL); cd test/browser; $$lint run --allow-serial-runners

.PHONY: check-tidy
check-tidy: ## Fail if go mod tidy would change something
	for module in $(MODULES); do (cd $$module; GOWORK=off go mod tidy -diff); done

.PHONY: check-license
check-license: ## Fail if a file has no SPDX header
	@files=$$($(LICENSE_FILES) | xargs -0 grep -L 'SPDX-License-Identifier: Apache-2.0' || true); \
	if [[ -n $$files ]]; then printf 'no SPDX header, see hack/boilerplate.go.txt:\n%s\n' "$$files"; exit 1; fi

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what is linked: needs https://vuln.go.dev, or VULNDB=URL of a copy
	$(TOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./cmd/...

.PHONY: tidy
tidy: ## Tidy all modules
	for module in $(MODULES); do (cd $$module; GOWORK=off go mod tidy); done

##@ Test

# What takes long and hardly ever changes its answer has the build tag long. Those are the packages that have some of it.
LONG = $(shell git grep --untracked -l '^//go:build long' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# make check vets. Suites mostly wait, so more of them run at once than there are processors. The time limit is for tests that hang.
TEST_FLAGS = -vet=off -p=4 -timeout=60m
GO_TEST    = go test $(TEST_FLAGS)
# The packages with ginkgo suites, which know FOCUS and LABELS.
SUITES  = $(shell git grep --untracked -l 'suite\.Run\b' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: test
ifeq ($(FOCUS)$(LABELS),)
test: ## Run all tests but the long ones, or the specs that FOCUS and LABELS choose; JUnit reports are in bin/reports
	hack/test.sh $(TEST_FLAGS) $(ALL)
	$(MAKE) test-oldest
else
test:
	@mkdir -p bin/reports
	$(GO_TEST) -tags=long -v $(SUITES) -ginkgo.focus='$(FOCUS)' -ginkgo.label-filter='$(LABELS)' | tee bin/reports/chosen.txt
	@grep -q '^Ran [1-9]' bin/reports/chosen.txt || { echo "no spec matches FOCUS='$(FOCUS)' LABELS='$(LABELS)'" >&2; exit 1; }
endif

# The root module alone is what authors of extensions embed, with the oldest Gardener that it is for. In the workspace it has the newest.
.PHONY: test-oldest
test-oldest: ## Run the tests of what decides with the oldest API types of Gardener that it is for: those that go.mod requires
	GOWORK=off hack/test.sh $(TEST_FLAGS) ./...

.PHONY: test-long
test-long: ## Run the long tests, with the suites they are in: CONTRIBUTING.md lists them
	hack/test.sh $(TEST_FLAGS) -tags=long $(LONG)

# How many profiles make test-migration migrates.
PROFILES ?= 10000

.PHONY: test-migration
test-migration: ## Migrate PROFILES (10000) random profiles, of which make test takes 240, and 1500 with reserved capabilities; import into half as many
	go test -vet=off -count=1 -timeout 2h -v ./pkg/cli -run MigrationOfRandomProfiles -profiles=$(PROFILES)
	go test -vet=off -count=1 -timeout 2h -v ./pkg/cli -run ImportIntoRandomProfiles -profiles=$(PROFILES)
	go test -vet=off -count=1 -timeout 2h -v ./internal/cli/transform -run RegisteringChangesNoAnswer -profiles=$(PROFILES)

.PHONY: test-race
test-race: ## Run the tests of the packages that decide under the race detector
	CGO_ENABLED=1 go test -race $(PURE)

# The tests are a module of their own, and run on capkit and on Chromium, which is downloaded once if it is not installed.
.PHONY: test-browser
test-browser: ## Run the tests of the page of capkit report, and of capkit lsp in CodeMirror, in Chromium, which is downloaded into the cache: on Debian
	cd test/browser && go test -vet=off -count 1 -timeout 30m .

.PHONY: test-editor
test-editor: ## Run the tests of capkit lsp in Neovim, and of the schemas in yaml-language-server, which are downloaded into the cache: on Debian
	go test -vet=off -count 1 -timeout 30m -tags editor ./test/editor
	go test -vet=off -count 1 -timeout 30m -tags editor -run TestEditor ./test/schema

.PHONY: editor-picture
editor-picture: ## Write the picture of capkit lsp in Neovim in docs/pictures
	go test -vet=off -count 1 -timeout 30m -tags editor ./test/editor -update
	go run ./hack/pictures

.PHONY: report-pictures
report-pictures: ## Write the pictures of the page of capkit report in docs/pictures
	cd test/browser && go test -vet=off -count 1 -run TestPictures . -update

.PHONY: test-openstack
test-openstack: ## Run the tests that need a real OpenStack, which is installed into the cache: on Debian 12
	go test -vet=off -count 1 -timeout 30m -tags openstack -v ./test/openstack

.PHONY: test-cov
test-cov: ## Run all tests, print the coverage by function and write bin/coverage.html
	@mkdir -p bin
	$(GO_TEST) -coverpkg=./pkg/...,./internal/... -coverprofile=bin/coverage.all $(ALL)
	grep -v zz_generated bin/coverage.all > bin/coverage.out
	go tool cover -html=bin/coverage.out -o bin/coverage.html
	go tool cover -func=bin/coverage.out

.PHONY: bench
bench: ## Run the benchmarks COUNT times into bin/bench.txt; BASELINE=file compares with an earlier one
	@mkdir -p bin
	packages=$$(git grep --untracked -l '^func Benchmark' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|'); \
	go test -vet=off -run '^$$' -bench . -benchmem -count $(COUNT) $$packages | tee bin/bench.txt
ifneq ($(BASELINE),)
	$(TOOL) benchstat $(BASELINE) bin/bench.txt
endif

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s)
	hack/fuzz.sh $(FUZZTIME)

.PHONY: stress
stress: ## Run make test 10 times beside 4 busy loops, and print what failed: see hack/stress.sh
	hack/stress.sh 10 4

# How long make soak goes on.
TIME ?= 20m

.PHONY: soak
soak: ## Write, attack, forge, kill and renew at the same time for TIME (20m) in a garden, and print what became of it
	go test -vet=off -count=1 -timeout 24h -tags=long -v ./test/faults -soak=$(TIME) -ginkgo.timeout=24h \
		-ginkgo.focus='killed, renewed and attacked' -ginkgo.silence-skips

.PHONY: floods
floods: ## Measure what memory the admission component takes in floods of the most costly requests: the table of docs/operators/operations.md
	go test -vet=off -count=1 -timeout 2h -tags=long -v ./test/faults -floods -ginkgo.v -ginkgo.focus='A replica in a flood' | sed -n 's/^ *| /| /p' | sort

# NEXT=v1.x.y takes another version than the newest.
.PHONY: next-gardener
next-gardener: ## Build and test HEAD against the newest Gardener, or NEXT, in a folder of its own, and print which copied rules have changed
	@NEXT='$(NEXT)' hack/next-gardener.sh

.PHONY: verify
verify: check check-format test test-browser test-editor ## Check, then test: to be run before a commit

##@ Garden

.PHONY: demo
demo: ## Start a garden with the admission component for PROVIDER (openstack), show what it does, and stop it again
	@$(GARDEN) demo $(PROVIDER)

.PHONY: demo-reserved
demo-reserved: ## Show trusted launch and updates in place on a Gardener that accepts its own capabilities in CloudProfiles, and stop it again
	@$(GARDEN) demo-reserved

.PHONY: demo-worker
demo-worker: ## Start a seed with the worker controller for OpenStack, show what becomes of machines, and stop it again
	@hack/controlplane.sh > /dev/null && echo 'compiling what is not compiled yet: minutes the first time, seconds later' >&2 && go run ./hack/seed

.PHONY: up
up: ## Start a garden with the admission component for PROVIDER (openstack) in the background, and say how to use it
	@$(GARDEN) up $(PROVIDER)

.PHONY: down
down: ## Stop the garden
	@go run ./hack/garden down

.PHONY: sizing
sizing: ## Measure what memory and CPU the admission component takes: the table of docs/operators/operations.md
	@hack/controlplane.sh > /dev/null && go run ./hack/sizing

.PHONY: controlplane
controlplane: ## Build etcd, kube-apiserver and kubectl, which up and the tests do if needed
	@hack/controlplane.sh

##@ Help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
