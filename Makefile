# A thin front for Meson. `make up` and `make test` work on a fresh Debian machine.

BUILD  ?= build
DATA   ?= .sampan
LISTEN ?= 127.0.0.1:6443
NODES  ?= 3
KILLS  ?= 1000
FUZZ_SECONDS ?= 60
PREFIX ?= /usr/local

all: build

build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

# Only the program, without its tests.
binary: $(BUILD)/build.ninja
	ninja -C $(BUILD) sampan

$(BUILD)/build.ninja:
	tools/need build
	meson setup $(BUILD) --prefix=$(PREFIX)

up: binary
	$(BUILD)/sampan up --data-dir $(DATA) --listen $(LISTEN) --api-versions all --simulate-nodes $(NODES) --node auto --detach

down: binary
	$(BUILD)/sampan down --data-dir $(DATA)

test:
	tools/need build test
	$(MAKE) build
	meson test -C $(BUILD) --print-errorlogs --num-processes 4

test-clients:
	tools/need build test clients
	$(MAKE) build
	SAMPAN_CLIENTS=all tests/clients/run.sh $(BUILD)/sampan go envtest js python java rust

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

tsan: SUITES ?= --suite client --suite net --suite store --suite server --suite controllers \
	--suite scheduler --suite node
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

# What the real controllers and the real scheduler did, played on ours. It waits a lot, as they do.
reconcile:
	tools/need build test
	$(MAKE) build
	tests/reconcile_test.sh $(BUILD)/sampan .

bench:
	tools/need build bench
	test -f build-bench/build.ninja || meson setup build-bench --buildtype=release
	ninja -C build-bench
	bench/run build-bench

docs:
	tools/need docs
	tools/layers --dot >docs/map.dot
	dot -Tsvg docs/map.dot | sed '/^<!-- Generated/,/^ -->/d' >docs/map.svg

# PREFIX is for the first time that a folder is built in; DESTDIR is put in front of all paths.
install: $(BUILD)/build.ninja
	ninja -C $(BUILD) installed
	meson install -C $(BUILD) --no-rebuild
	test -n "$(DESTDIR)" || PATH=$$PATH:/sbin ldconfig 2>/dev/null || true # programs find libsampan.so from now on

# Debian packages, in build-deb/packages.
deb:
	tools/need build deb
	test -f build-deb/build.ninja || meson setup build-deb --prefix=/usr --buildtype=release
	ninja -C build-deb installed
	tools/deb build-deb build-deb/packages

# A container image in OCI's layout, without a container engine.
image: binary
	tools/image $(BUILD)/sampan $(BUILD)/sampan-image.tar

# What the last `make install` put there.
uninstall:
	ninja -C $(BUILD) uninstall

# After a wanted change of what libsampan exports (docs/abi.md).
abi:
	tools/abi --write

clean:
	rm -rf build build-asan build-tsan build-fuzz build-bench

.PHONY: all build binary up down test test-clients lint analyze asan tsan fuzz crash abuse golden reconcile bench docs install deb image uninstall abi clean
