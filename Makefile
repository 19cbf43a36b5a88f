# A thin front for Meson. `make up` and `make test` work on a fresh Debian machine.

BUILD  ?= build
DATA   ?= .sampan
LISTEN ?= 127.0.0.1:6443
KILLS  ?= 1000
FUZZ_SECONDS ?= 60

all: build

build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	tools/need build
	meson setup $(BUILD)

up: build
	$(BUILD)/sampan up --data-dir $(DATA) --listen $(LISTEN) --api-versions all --detach

down: build
	$(BUILD)/sampan down --data-dir $(DATA)

test:
	tools/need build test
	$(MAKE) build
	meson test -C $(BUILD) --print-errorlogs --num-processes 4

test-clients:
	tools/need build test clients
	$(MAKE) build
	SAMPAN_CLIENTS=all tests/clients/run.sh $(BUILD)/sampan go js python java rust

lint:
	tools/need build lint
	tools/lint

analyze:
	tools/need build lint
	tools/lint --deep

# SUITES="--suite net --suite store" runs, and builds, less.
asan:
	tools/need build test
	test -f build-asan/build.ninja || meson setup build-asan -Db_sanitize=address,undefined
	tools/sanitized meson test -C build-asan --print-errorlogs --num-processes 4 --timeout-multiplier 6 \
		$(SUITES)

tsan: SUITES ?= --suite net --suite store --suite server
tsan:
	tools/need build test
	test -f build-tsan/build.ninja || meson setup build-tsan -Db_sanitize=thread
	tools/sanitized meson test -C build-tsan --print-errorlogs --num-processes 4 --timeout-multiplier 10 \
		$(SUITES)

fuzz:
	tools/need build fuzz
	test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dfuzz=true
	ninja -C build-fuzz fuzzers
	tools/fuzz build-fuzz $(FUZZ_SECONDS)

crash: build
	$(BUILD)/tests/store/crash --kills $(KILLS)
	TMPDIR=/dev/shm $(BUILD)/tests/store/crash --kills $(KILLS)

abuse: build
	tests/abuse/run.sh $(BUILD)/sampan $(BUILD)/tests/abuse/abuse --within 1000

golden: build
	tests/golden/run.sh $(BUILD)/sampan $(BUILD)/tests/golden/replay . --diff

bench:
	tools/need build bench
	test -f build-bench/build.ninja || meson setup build-bench --buildtype=release
	ninja -C build-bench
	bench/run build-bench

docs:
	tools/need docs
	tools/layers --dot >docs/map.dot
	dot -Tsvg docs/map.dot | sed '/^<!-- Generated/,/^ -->/d' >docs/map.svg

install: build
	meson install -C $(BUILD)

clean:
	rm -rf build build-asan build-tsan build-fuzz build-bench

.PHONY: all build up down test test-clients lint analyze asan tsan fuzz crash abuse golden bench docs install clean
