# What a developer types. "make check" is what CI runs.

GO       ?= go
BIN      := bin
LINT     := $(BIN)/golangci-lint
FUZZTIME ?= 1s
# Packages with goroutines. Of the others there is nothing to race, and the end-to-end tests run processes built without it.
RACE     := ./agent/... ./membership/... ./cmd/wanderd/follow ./cmd/wanderd/web ./lab/bubble ./sim/seeds ./examples/cache-refresh/origin
NFPM     := $(BIN)/nfpm
VULN     := $(BIN)/govulncheck
SBOM     := $(BIN)/cyclonedx-gomod
SCRIPTS  := .ci/run lab/build/fuzz lab/build/package lab/build/reproducible lab/build/tests lab/build/wanderd $(wildcard examples/*/*.sh systemd/package/*.sh)

# What a developer waits for at every step: the protocols and the agent, without real processes.
QUICK    = ./wire/... ./policy/... $(filter-out %/agent/hook,$(shell $(GO) list ./agent/...))

# The stages of a check. The tests come last, all of them, so that their output does.
STAGES   := vet cross lint vuln race fuzz browser deep

.PHONY: all build quick test deep night race browser fuzz hunt mutants foreign guided explore chaos directives oncall races start bench attack vet cross lint vuln fmt check notice packages reproducible hosts clean

all: build

# Without the tables of a debugger; the version and the traces of a panic need none.
# They start faster and are smaller without C's library and HTTP/2, which nobody here speaks. So are those in packages.
build:
	CGO_ENABLED=0 GO=$(GO) LDFLAGS='-s -w' lab/build/wanderd $(CURDIR)/$(BIN) -tags nethttpomithttp2
	CGO_ENABLED=0 $(GO) build -tags nethttpomithttp2 -ldflags='-s -w' -o $(BIN)/ ./cmd/wandersim

# It should take a minute at most on two cores, once all is compiled.
quick:
	$(GO) vet ./...
	$(GO) test $(QUICK)

# It should take three minutes at most on two cores.
test:
	GO=$(GO) lab/build/tests ./...

# The same with more (see lab/deep), which CI runs: about eleven minutes on two cores. Three packages at a time, as some wait for
# processes most of the time.
deep:
	GO=$(GO) WANDERD_DEEP=1 lab/build/tests -p 3 -timeout 20m ./...

# All tests: also what takes too long for every check, such as fleets of 10,000 members and all that a hunt's seeds lead to.
night:
	GO=$(GO) WANDERD_DEEP=night lab/build/tests -p 3 -timeout 0 ./...

# Signatures are two thirds of what the detector would follow, and share no memory: without them it takes less than half.
# A program of tests in virtual time has one processor then (see lab/bubble), so that the agent's, which take longest, run
# in two.
RACING   := -race -gcflags='crypto/internal/fips140/...=-race=false'
race:
	$(GO) test $(RACING) -c -o $(BIN)/agent.race ./agent
	@half() { (cd agent && echo "the agent's tests: $$*" && ../$(BIN)/agent.race -test.timeout 15m "$$@"); }; \
	half -test.run '^TestA' & first=$$!; \
	half -test.skip '^TestA' & second=$$!; \
	failed=; GO=$(GO) lab/build/tests $(RACING) -timeout 15m $(filter-out %/agent,$(shell $(GO) list $(RACE))) || failed=yes; \
	wait $$first || failed=yes; wait $$second || failed=yes; [ -z "$$failed" ]

# Every fuzz target for FUZZTIME, a time or a number of inputs (1000000x), and how many inputs that were in all.
fuzz:
	GO=$(GO) lab/build/fuzz $(FUZZTIME)

# The page of "wanderd web" in Chromium, with real agents; where there is none, it says so. SHOTS is a directory for pictures of it.
browser:
	cd cmd/wanderd/web/browser && $(GO) vet . && $(GO) test -count=1 -v . $(if $(SHOTS),-args -shots $(abspath $(SHOTS)))

# With FOR (8h), all that is hunted, in turn, for that time: $(BIN)/hunts.md says what was drawn and found, and which rare branches never were taken. Where
# machines mark these, half of the time is guided by them. Otherwise on from SEED, or that of the day, for as
# many seeds as SEEDS says, of each strict gate or of GATES ("tree,q"). Both use all processors, and go on after a seed that breaks a rule.
FOR      ?=
SEEDS    ?= 100000
SEED     ?= $(shell date +%Y%m%d000000)
hunt:
ifneq ($(FOR),)
	GOGC=400 $(GO) run ./lab/hunts -for $(FOR) -seed $(SEED) -page $(CURDIR)/$(BIN)/hunts.md
else
	GOGC=400 $(GO) test ./policy/ballot -run '^TestHunt$$' -v -timeout 0 -ballot.all -ballot.gate "$(GATES)" -first $(SEED) -seeds $(SEEDS)
endif

# All known-bad protocols: which seed of the first 4000, in strict gates 40000, notices each. Their files are rewritten where that has changed, and
# docs/mutants.md. The broken shells of strict gates show theirs.
mutants:
	$(GO) test ./sim/fleet/... -run '^(TestMutantsAreCaught|TestEveryMutantIsCaught)$$' -v -timeout 0 -mutants.hunt 4000 -mutants.reduce
	WANDERD_DEEP=night $(GO) test ./agent -run '^TestMutantsAreCaught$$' -v -timeout 0 -mutants.hunt 1
	$(GO) test ./policy/ballot -run '^(TestMutantsAreCaught|TestBrokenShellsAreCaught)$$' -v -timeout 0 -mutants.hunt 40000

# Mutants that nobody has thought of: FOREIGN of them, drawn with FOREIGNSEED, and who notices each. What is known is in a file of the checkout, from which a
# run that was stopped goes on; AGAIN=-foreign.again judges those again that no hunt has noticed. It takes 10 seconds to 2 minutes for each with two cores.
FOREIGN     ?= 500
FOREIGNSEED ?= 1
foreign:
	$(GO) test ./lab/mutant -run '^TestForeignMutantsAreNoticed$$' -v -timeout 0 -foreign $(FOREIGN) -foreign.seed $(FOREIGNSEED) \
		-foreign.record $(CURDIR)/lab/mutant/testdata/foreign.jsonl -foreign.page $(CURDIR)/$(BIN)/foreign.md -foreign.left $(CURDIR)/$(BIN)/foreign.txt $(AGAIN)

# Known-bad protocols of soft gates, hunted guided and drawn side by side: how much of one core's time, and how many worlds, until each is found. GUIDED is the most for
# each hunt, ONLYGUIDED an expression for their names. $(BIN)/guided.md has the table.
GUIDED      ?= 60s
ONLYGUIDED  ?= .
guided:
	mkdir -p $(BIN)
	$(GO) test ./lab/mutant -run '^TestGuidedBesideDrawn$$' -v -timeout 0 -guided $(GUIDED) -guided.runs 5 -guided.only '$(ONLYGUIDED)' \
		-guided.page $(CURDIR)/$(BIN)/guided.md

# All small worlds of strict gates, exhaustively: the states of each, and its bound; and that what is left out of that leads nowhere else. Then those of
# the wandering token, as "make night" has them. It takes minutes.
explore:
	GOGC=400 $(GO) test ./policy/ballot -run '^(TestSmallWorldsExhaustively|TestNothingIsLeftOutOfASmallWorld)$$' -v -timeout 0 -ballot.long
	WANDERD_DEEP=night $(GO) test ./sim/fleet/wander -run '^TestSmallWorldsAreExploredExhaustively$$' -v -timeout 0

# Fleets of real agents under faults, for CHAOS in all. What their commands have recorded is judged twice where the gate is strict. It needs
# root, iproute2 and nftables for faults of the network.
CHAOS    ?= 30m
chaos:
	rm -rf $(BIN)/chaos && mkdir -p $(BIN)/chaos
	$(GO) run ./lab/chaos -for $(CHAOS) -dir $(CURDIR)/$(BIN)/chaos
	$(GO) -C lab/porcupine test .
	$(GO) -C lab/porcupine run . $(CURDIR)/$(BIN)/chaos/[tr]*/journal

# Ten agents get a hundred directives, with loss and without; members are away meanwhile. It needs root, iproute2 and nftables.
directives:
	$(GO) run ./lab/directives

# A gate on call, ten agents: no message at rest, and how soon the next command runs after losses. It needs root, iproute2 and nftables, and 40 minutes.
oncall:
	$(GO) run ./lab/oncall

# wanderd beside etcd, ZooKeeper, Redis and Consul, where they are installed: docs/races.md. It takes four minutes for each.
races:
	$(GO) -C lab/races run . --write $(CURDIR)/docs

# What a start costs, in time and in processor time: "wanderd exec -- true" beside flock, in turn.
start:
	CGO_ENABLED=0 GO=$(GO) LDFLAGS='-s -w' lab/build/wanderd $(CURDIR)/$(BIN) -tags nethttpomithttp2
	$(GO) run ./lab/start $(BIN)/wanderd

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Attacks on real agents, on loopback: what became of them, and what a datagram of junk costs. It takes twelve minutes. Playing back needs
# root. ONLY is a part of the names of the attacks.
attack:
	$(GO) run ./lab/attack -only "$(ONLY)"
	$(GO) test -run '^$$' -bench Junk -benchmem ./agent ./membership

# lab/porcupine, too: nothing else builds it here. The clients in lab/races take minutes to compile.
vet:
	$(GO) vet ./...
	$(GO) -C lab/porcupine vet .

# What is written for other systems than Linux must at least compile. Nobody runs it, so nothing need be optimized.
cross:
	GOOS=darwin $(GO) build -gcflags='all=-N -l' ./...

# shellcheck is used where it is installed.
lint: $(LINT)
	$(LINT) run --timeout 8m ./...
	@if command -v shellcheck >/dev/null; then shellcheck $(SCRIPTS); else echo "no shellcheck: scripts not checked"; fi

fmt: $(LINT)
	$(LINT) fmt ./...

$(LINT): lab/build/golangci-lint/go.mod lab/build/golangci-lint/go.sum
	cd lab/build/golangci-lint && $(GO) build -ldflags='-s -w' -o ../../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Known holes in what the programs call. VULNDB is a database of them, as govulncheck reads it: https://vuln.go.dev, or file:// and
# a directory. Without one nothing is asked: a check needs no network.
vuln: $(if $(VULNDB),$(VULN))
	@if [ -n "$(VULNDB)" ]; then echo $(VULN) -db $(VULNDB) ./...; $(VULN) -db $(VULNDB) ./...; \
	else echo "no VULNDB: known holes not looked for (try VULNDB=https://vuln.go.dev)"; fi

$(VULN): lab/build/govulncheck/go.mod lab/build/govulncheck/go.sum
	cd lab/build/govulncheck && $(GO) build -ldflags='-s -w' -o ../../../$(VULN) golang.org/x/vuln/cmd/govulncheck

# What is linked, and under which licences.
notice:
	$(GO) run ./lab/build/notice >NOTICE

# A deb, an rpm and a tarball in dist/, with an SBOM and SHA256SUMS.
packages: $(NFPM) $(SBOM)
	GO=$(GO) NFPM=$(NFPM) SBOM=$(SBOM) lab/build/package

# Makes the packages twice, under all the circumstances that must not matter, and compares them.
reproducible: $(NFPM) $(SBOM)
	GO=$(GO) NFPM=$(NFPM) SBOM=$(SBOM) lab/build/reproducible

# Installs the deb on booted hosts, and drills them. It needs root and systemd-container, and skips what it lacks.
hosts: packages
	$(GO) test ./systemd/hosts -v -timeout 20m -deb '$(CURDIR)/dist/*.deb'

$(NFPM): lab/build/nfpm/go.mod lab/build/nfpm/go.sum
	cd lab/build/nfpm && $(GO) build -ldflags='-s -w' -o ../../../$(NFPM) github.com/goreleaser/nfpm/v2/cmd/nfpm

# An SBOM names the program that made it, by its hash: so that one must not depend on where it was built.
$(SBOM): lab/build/sbom/go.mod lab/build/sbom/go.sum
	cd lab/build/sbom && $(GO) build -trimpath -buildvcs=false -ldflags='-s -w' -o ../../../$(SBOM) github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

# Every stage runs, also after one that failed, so that one run tells everything there is to mend. A machine on which the others take longer
# than DEEPWITHIN seconds, more than twice as long as usual, has no time for the deep tests: the usual ones take their place, and it says so.
DEEPWITHIN ?= 900
check:
	@failed=; took=; first=$$(date +%s); \
	for stage in $(STAGES); do \
		begun=$$(date +%s); \
		printf '\n== %s\n' $$stage; \
		[ $$stage != deep ] || echo "took so far:$$took failed:$${failed:- nothing}"; \
		if [ $$stage = deep ] && [ $$((begun - first)) -gt $(DEEPWITHIN) ]; then \
			echo "this machine is slow: no deep tests"; stage=test; \
		fi; \
		$(MAKE) --no-print-directory $$stage || failed="$$failed $$stage"; \
		took="$$took $$stage $$(($$(date +%s) - begun)) s,"; \
	done; \
	[ -z "$$failed" ]

clean:
	rm -rf $(BIN) dist
