# What one does with this tree. `make` alone lists it.

SOAK = 10000
FUZZ = 1h

.PHONY: help test pythons soak fuzz bench

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

test: ## all tests, each on three Pythons of the machine: the README's command
	go test -race -timeout 60m ./...

pythons: ## all tests, each on every Python of the machine and not on three
	THIRDRAIL_TEST_PYTHONS=all go test -count 1 -timeout 120m ./...

soak: ## SOAK=10000 mixed runs, eight at a time: descriptors, memory and files stay flat
	THIRDRAIL_SOAK=$(SOAK) go test -count 1 -timeout 0 -v -run '^TestSoak$$' .

fuzz: ## every fuzzer for FUZZ=1h each
	.ci/fuzz $(FUZZ)

bench: ## what a run and its walls cost, as ratios
	go test -run '^$$' -bench . ./bench
