# `make demo` and `make test` need Go and git, nothing else.

GO      ?= go
PREFIX  ?= $(HOME)/.local
# What tests leave out, or take a sample of: the whole takes an hour. make test SHORT= runs it.
SHORT   ?= -short

# As programs are built (internal/build), so is all else: then everything is compiled once. The
# race detector alone needs cgo.
export CGO_ENABLED := 0
export GOFLAGS     := $(filter-out -trimpath -mod=%,$(GOFLAGS)) -trimpath

.PHONY: cheats screens seeds build fleet fleet-test fleet-faults bench-fleet demo test docs-test newcomer test-race test-e2e test-thirdparty drift bench lint generate corpus crash night size install uninstall release release-check clean help

build: ## relay and its plugins into bin/
	@$(GO) run ./internal/build -o bin

# Modules of their own: what they are built from is for nobody who has no fleet. The server takes minutes and 150 MB, the first time.
fleet: ## relay-fleet, and Temporal's server for trying it, into bin/
	$(GO) -C fleet build -ldflags="-s -w" -o "$(CURDIR)/bin/relay-fleet" .
	@GO="$(GO)" ./.ci/fleet-server "$(CURDIR)/bin/relay-fleet-server"

demo: ## a sample repository, a tick that lands and one that is stopped
	@$(GO) run ./internal/build -o out/demo -plugins patch,replay
	@out/demo/relay demo

# work is all packages of go.work: relay's and the SDK's. Many tests wait for clocks and processes, so one package more than there are processors; the first mostly waits, and begun last it would be left over alone.
# Without -count=1 it takes nearly half as long again, since go notes and hashes what each test reads. CI sets ROTATE, and has more of what takes long. AGAIN and AGAIN_TESTS: only these packages and tests, when .ci/run tries once more what failed.
test: ## unit, conformance and script tests
	$(GO) vet work
	@./.ci/memory $(GO) test -count=1 -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -timeout 40m $(SHORT) $${AGAIN_TESTS:+-run "$$AGAIN_TESTS"} $${AGAIN:-./sdk/plugintest work}

docs-test: ## every command of the documentation is run; its links and its generated pages
	@$(GO) -C cmd/relay test -count=1 -run '^Test(Document|Reference)'

newcomer: ## the commands of README.md in a fresh clone and a fresh home, timed, to a first verified commit
	@./.ci/newcomer

test-race: ## the same under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 60m $(SHORT) work

test-e2e: build ## with the real Claude Code, Codex and Gemini CLI programs and a model server on loopback
	@SHORT=$(SHORT) ./.ci/e2e

# In make night, and not in .ci/run: to compile the server takes longer than the rest.
fleet-test: build fleet ## the fleet: its own tests, and workers that are killed beside a real server
	$(GO) -C fleet vet ./...
	$(GO) build -o out/fakemodel ./testdata/fakemodel/cmd/fakemodel
	$(GO) -C fleet test -count=1 ./internal/...
	$(GO) -C fleet test -count=1 -timeout 20m . -bin "$(CURDIR)/bin" -model "$(CURDIR)/out/fakemodel"

# Its relay is built with a clock that can be set. A round that fails says how it is repeated: SEED=, FROM=.
fleet-faults: build fleet ## FAULTS=1000 of SEED=1: what is killed, cut off, frozen, full or an hour off beside a fleet at work
	$(GO) run ./internal/build -tags relaytest -plugins claude,external,replay -o out/faults
	cp bin/relay-fleet bin/relay-fleet-server out/faults
	$(GO) build -o out/fakemodel ./testdata/fakemodel/cmd/fakemodel
	$(GO) -C fleet test -count=1 -timeout 8h -v -run 'TestFaults$$' . -bin "$(CURDIR)/out/faults" -model "$(CURDIR)/out/fakemodel" \
		-faults $(or $(FAULTS),1000) -seed $(or $(SEED),1) -from $(or $(FROM),1)

bench-fleet: build fleet ## 8 workers beside one, empty ticks beside the engine alone, what a tick costs more, memory
	$(GO) -C fleet test -count=1 -timeout 30m -v -run 'TestFigures$$' . -bin "$(CURDIR)/bin" -figures

test-thirdparty: build ## plugins of strangers, in Go and Python, built, tested and installed
	@./.ci/thirdparty

drift: ## what the installed programs print now, by its shape, beside what was recorded; CLAUDE=, CODEX=, GEMINI= other versions
	@mkdir -p out; ./.ci/e2e drift

bench: build ## the table of figures; ONLY=loop,judged parts of it
	@$(GO) test ./internal/bench -run '^$$' -bench Relay -benchtime 1x -timeout 2h -args $(if $(ONLY),-only $(ONLY))
	@for p in policy attest checkout; do case ,$(or $(ONLY),policy,attest,checkout), in *,$$p,*) \
		$(GO) test ./host/internal/$$p -run '^$$' -bench 'Decide|Compile|Verify|Second' || exit;; esac; done

lint: ## gofmt, vet, types on darwin, staticcheck
	@./.ci/lint

generate: ## code from schemas/, reference pages from code
	GOWORK=off $(GO) -C schemas/gen run . .. ../..
	$(GO) test -count=1 ./host/internal/config -run TestPublished -update
	$(GO) test -count=1 ./cmd/relay -run TestReferencePages -update
	$(GO) test -count=1 ./sdk/plugintest -run "TestGuide|TestRulesPage" -update
	$(GO) test -count=1 ./host/internal/scaffold -run TestPython -update
	$(GO) test -count=1 ./judge/box -run TestGapTable -update

seeds: ## the requirements that relay is built from: works, deviates or missing, and the script that holds each
	@$(GO) run ./internal/seeds

screens: ## the pictures of the documentation, into docs/images/: a real terminal in tmux, and the report in a browser
	@mkdir -p docs/images
	$(GO) test -count=1 ./cmd/relay -run 'TestScreens$$' -screens "$(CURDIR)/docs/images"

# CI runs it with QUICK=1, which says at its end what it leaves out and why.
corpus: build ## the adversarial corpus against bin/relay, as root and as a user, by each means of the box; MEANS=copy by one, CASES=DIR others
	@CASES="$(CASES)" MEANS="$(MEANS)" QUICK="$(QUICK)" ./.ci/corpus

# Needs Python, Node.js, Ruby, Perl, PHPUnit, CMake, bats and cargo, and once the network for npm: testdata/cheats/setup.sh installs them on Debian.
cheats: build ## scripted reward hacks and honest work, in every mode, against bin/relay; CASES=DIR others, MODES=open, ONLY=GLOB, QUICK=1 a sample
	@mkdir -p out; RUNNERS="$${RUNNERS:-$${RELAY_CI_CACHE:-$(CURDIR)/out}/cheat-runners}"; export RUNNERS; \
	[ -d "$$RUNNERS/newest/node_modules/node" ] || testdata/cheats/setup.sh $(if $(QUICK),npm) >out/cheats-setup.log 2>&1 || { tail -5 out/cheats-setup.log; exit 1; }; \
	if [ -n "$(QUICK)" ]; then export MODES=open SAMPLE=14 CHEATS_CACHE="$${RELAY_CI_CACHE:-$(CURDIR)/out}/cheat-cache"; exec testdata/cheats/all.sh bin $(CASES); fi; \
	MODES="$(MODES)" ONLY="$(ONLY)" testdata/cheats/all.sh bin $(CASES)

crash: ## relay killed and starved of disk at every moment, then started again; a thousand plugins that crash; KILLS=N; CRASHES=N; STORM=1000: as many of every bad kind, and in boxes
	@mkdir -p out; export RELAY_KILLS=$(or $(KILLS),300) RELAY_STORM=$(STORM); rc=0; \
	$(GO) test -count=1 -timeout 30m -v ./internal/crash >out/crash.log 2>&1 || rc=$$?; \
	$(GO) test -count=1 -timeout 30m -v -run TestKilledWhileLanding ./host/change >>out/crash.log 2>&1 || rc=$$?; \
	RELAY_STORM=$(or $(STORM),$(CRASHES),1000) $(GO) test -count=1 -timeout 30m -v -run TestCrashingLaunches ./host/internal/pluginhost >>out/crash.log 2>&1 || rc=$$?; \
	[ -z "$(STORM)" ] || $(GO) test -count=1 -timeout 30m -v -run 'TestNothingLeaks|TestCrashStorm' ./host/internal/pluginhost ./host/internal/pluginenv >>out/crash.log 2>&1 || rc=$$?; \
	grep -vE '^(=== |--- PASS|PASS|ok )' out/crash.log; exit $$rc

night: ## everything of .ci/run in full: every kill, every isolation mode, every platform; takes hours
	NIGHT=1 ./.ci/run

size: ## lines of Go without tests and generated code, per room, and of the core
	@./.ci/size

# Where root has no Go: make build, then sudo ./.ci/install /usr/local. What make fleet made is installed, too.
install: build ## relay to PREFIX/bin, plugins to PREFIX/libexec/relay
	@./.ci/install "$(PREFIX)"

uninstall: ## what install put into PREFIX
	@./.ci/install -u "$(PREFIX)"

release: ## archives, SBOMs and SHA256SUMS of the last commit, into dist/; PLATFORMS=linux/amd64,… for some
	@$(GO) run ./internal/release -o dist $(if $(PLATFORMS),-platforms $(PLATFORMS))

release-check: ## the same, made twice in two folders, the second time from an empty cache, and compared
	@$(GO) run ./internal/release -o dist -check $(if $(PLATFORMS),-platforms $(PLATFORMS))

clean:
	rm -rf bin dist out

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14
