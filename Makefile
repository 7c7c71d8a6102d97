# What one does with this tree. `make` alone lists it.

SOAK = 10000
FLAT = 100000
WAITING = 1000
FUZZ = 1h
ROUNDS = 40

.PHONY: help test pythons starts stubs stdlib soak flat waiting fuzz bench figures codemode-figures

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

test: ## all tests, each on two Pythons of the machine: the README's command
	go test -race -timeout 60m ./...

pythons: ## all tests, each on every Python of the machine and not on two
	THIRDRAIL_TEST_PYTHONS=all go test -count 1 -timeout 120m ./...

starts: ## all tests twice: children forked, and spawned
	THIRDRAIL_TEST_START=fork go test -count 1 -timeout 120m .
	THIRDRAIL_TEST_START=spawn go test -count 1 -timeout 120m .

stubs: ## every declaration of the corpus compiled, and checked by mypy and pyright
	go test -count 1 -v -run '^Test(SourcesCompile|MypyAcceptsSources|PyrightAcceptsSources|TypesAreTrue|Injection)$$' ./codemode

stdlib: ## CPython's own tests inside the walls and outside, on every Python
	THIRDRAIL_STDLIB=all go test -count 1 -timeout 60m -v -run '^TestStandardLibrary$$' .

soak: ## SOAK=10000 mixed runs, eight at a time: descriptors, memory and files stay flat
	THIRDRAIL_SOAK=$(SOAK) go test -count 1 -timeout 0 -v -run '^TestSoak$$' .

flat: ## FLAT=100000 forked runs: the memory of host and nursery stays flat
	THIRDRAIL_FLAT=$(FLAT) go test -count 1 -timeout 0 -v -run '^TestFlat$$' .

waiting: ## WAITING=1000 forked runs that wait in a call at once, and their memory
	THIRDRAIL_WAITING=$(WAITING) go test -count 1 -timeout 0 -v -run '^TestWaitingRuns$$' .

fuzz: ## every fuzzer for FUZZ=1h each
	.ci/fuzz $(FUZZ)

bench: ## what a run and its walls cost on this machine, as ratios
	go run ./cmd/thirdrail bench --rounds $(ROUNDS)

figures: ## the same, put into docs/performance.md
	go run ./cmd/thirdrail bench --rounds $(ROUNDS) >docs/performance.new
	sed '/^## Measured/q' docs/performance.md >docs/performance.head
	(cat docs/performance.head; echo; cat docs/performance.new) >docs/performance.md
	rm docs/performance.head docs/performance.new

codemode-figures: ## tokens, calls and clients of Code Mode over MCP, put into docs/codemode.md
	cd bench/codemode && go run . -rounds $(ROUNDS) >../../docs/codemode.new
	sed '/^## Measured/q' docs/codemode.md >docs/codemode.head
	(cat docs/codemode.head; echo; cat docs/codemode.new) >docs/codemode.md
	rm docs/codemode.head docs/codemode.new
