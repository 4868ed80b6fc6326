# Grenier: everything a developer or a user runs. `make help` lists it.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT    = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
RUN_DIR     ?= data/awari
RUN_SEEDS   ?= 16

FUZZTIME    ?= 10s
LONG        ?= 1
RACE        ?= .
TIMEOUT     ?= 60m
# Few processors take more packages at once, as tests wait for disks and for other processes. Each is then compiled by one thread.
FEW         := $(shell test "$$(getconf _NPROCESSORS_ONLN)" -lt 4 && echo yes)
PARALLEL    ?= $(if $(FEW),-p 4)
# One way to compile for the program, most tests and vet, so that each package is compiled once: no
# paths, and no tables for debuggers, which tests would drop when they are linked.
COMPILE     := -dwarf=false$(if $(FEW), -c=1)
# All wait for the runtime, which more threads compile sooner.
RUNTIME     := '-gcflags=runtime=-dwarf=false'
FLAGS       := -trimpath '-gcflags=all=$(COMPILE)' $(RUNTIME)
# Compilers, checkers and the quick tests take less time if they collect garbage less often. Long tests, which
# look at memory, run as usual.
QUICK        = GOGC=1000

PREFIX      ?= /usr/local
SHARE        = $(DESTDIR)$(PREFIX)/share

.PHONY: build install dist run test test-long test-full mutate test-arm64 race race-portable bench bench-compare lint fuzz clean help

build: ## build bin/grenier
	CGO_ENABLED=0 $(QUICK) $(GO) build $(FLAGS) -o bin/grenier ./cmd/grenier

install: build ## install program, documents, man pages and completions below PREFIX (/usr/local), in DESTDIR
	rm -rf bin/pages
	$(GO) run ./cmd/dist -pages bin/pages
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/doc/grenier $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 bin/grenier $(DESTDIR)$(PREFIX)/bin/grenier
	cp -R bin/pages/README.md bin/pages/LICENSE bin/pages/docs $(SHARE)/doc/grenier
	install -m 644 bin/pages/man/man1/*.1 $(SHARE)/man/man1/
	install -m 644 bin/pages/completions/bash/grenier $(SHARE)/bash-completion/completions/grenier
	install -m 644 bin/pages/completions/zsh/_grenier $(SHARE)/zsh/site-functions/_grenier
	install -m 644 bin/pages/completions/fish/grenier.fish $(SHARE)/fish/vendor_completions.d/grenier.fish

dist: ## build the archives of a release of this commit into dist/, with their SHA-256 sums
	$(GO) run ./cmd/dist -out dist

run: build ## solve layers 0-16 of awari into data/awari and probe a board
	bin/grenier awari solve --seeds $(RUN_SEEDS) --dir $(RUN_DIR)
	bin/grenier awari probe --dir $(RUN_DIR) 1 1 1 1 1 2 4 2 3 0 0 0

# The tests are built as the program is, without C, and so is what they build themselves; vet is in lint. A test that does more if GRENIER_LONG is
# set is named TestLong...: LONG=only runs no other.
TEST         = GOFLAGS="$$GOFLAGS $(FLAGS)" $(GO) test -vet=off -timeout $(TIMEOUT) $(PARALLEL)
LONG_FOLDERS = $(shell grep -rl --include='*_test.go' '^func TestLong' . | xargs -n 1 dirname | sort -u)

# Libraries are compiled in less time if nothing is inlined, and quick tests hardly notice. Of the runtime, and of what is ours, they would.
test: FLAGS = -trimpath '-gcflags=all=$(COMPILE) -l' $(RUNTIME) $(foreach p,internal/runtime/... grenier/...,'-gcflags=$p=$(COMPILE)')
test: ## run the tests, but those that take long or need a browser
	CGO_ENABLED=0 $(QUICK) $(shell .ci/scratch) $(TEST) -tags quick ./...

test-long: ## run the tests, the long ones included; with LONG=only those alone that make test does not run in full
	CGO_ENABLED=0 GRENIER_LONG=1 $(TEST) -parallel 4 $(if $(filter only,$(LONG)),-run '^TestLong' $(LONG_FOLDERS),./...)

test-full: TIMEOUT = 180m
test-full: ## run the long tests in full: more random cases than test-long
	CGO_ENABLED=0 GRENIER_LONG=full $(TEST) ./...

COUNT ?= 20
SEED  ?= 1
mutate: ## change COUNT things in PACKAGES, one at a time, and list those that no test notices (docs/mutation.md)
	CGO_ENABLED=0 $(QUICK) GOFLAGS="$(FLAGS)" $(GO) run ./internal/testkit/mutate -count $(COUNT) -seed $(SEED) $(PACKAGES)

test-arm64: ## run the tests of the kernels and a solve of 12 seeds for arm64, under qemu-aarch64
	GOFLAGS="$$GOFLAGS $(FLAGS)" .ci/arm64

race: ## run the tests under the race detector
	$(GO) test $(FLAGS) -race -short ./...

race-portable: ## run the tests of the engine with the portable kernels under the race detector; with RACE=... those that it matches
	$(GO) test $(FLAGS) -race -short -tags purego -run '$(RACE)' ./pipeline/solve/internal/halfboard/...

bench: ## run the benchmarks; results go to bench.txt too
	$(GO) test -run '^$$' -bench . ./kernels/... ./io/layerfile ./layers/... ./pipeline/... | tee bench.txt

bench-compare: ## compare bench.txt with bench-old.txt
	$(GO) run $(BENCHSTAT) bench-old.txt bench.txt

lint: export CGO_ENABLED = 0
lint: export GOGC = 400
lint: ## vet (for Windows and arm64 too), staticcheck, gofmt, rules for the whole tree, tidy
	$(GO) vet $(FLAGS) ./...
	GOOS=windows $(GO) vet -gcflags='all=-N -l -dwarf=false' ./... # nothing of it is run
	GOARCH=arm64 $(GO) vet $(FLAGS) ./...
	GOFLAGS="$$GOFLAGS $(FLAGS)" $(GO) run $(STATICCHECK) ./...
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) test $(FLAGS) -vet=off ./cmd/grenier -run '^TestTree'
	$(GO) mod tidy -diff

fuzz: ## fuzz every target for FUZZTIME, a time or a number of inputs (500x)
	mkdir -p bin
	for folder in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		CGO_ENABLED=0 $(QUICK) $(GO) test $(FLAGS) -vet=off -c -fuzz . -o bin/fuzz.test $$folder || exit 1; \
		for target in $$(bin/fuzz.test -test.list '^Fuzz'); do \
			echo "$$folder $$target"; \
			(cd $$folder && "$(CURDIR)/bin/fuzz.test" -test.run '^$$' -test.fuzz "^$$target$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzminimizetime 1x -test.fuzzcachedir "$$($(GO) env GOCACHE)/fuzz/grenier/$$folder") || exit 1; \
		done; \
	done

clean: ## remove what was built; solved layers stay
	rm -rf bin dist bench.txt

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16
