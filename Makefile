# SPDX-License-Identifier: GPL-2.0-or-later
#
# A thin layer over the CMake presets.  DEPS=true skips looking for packages.
SHELL = /bin/bash
DEPS ?= tools/install-deps
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
CHROOTS ?= build/wireshark
PACKAGES ?= build/package
FUZZ ?= .*
FUZZ_SECONDS ?= 60
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)

release := build/release
scripts := ^(agreement|docs|extract|findings|names|points|sim|threads|trains)$$
bench = ROCESCOPE='$(CURDIR)/$(release)/bin/rocescope' ROCESCOPE_SOURCE='$(CURDIR)' \
	ROCESCOPE_BUILD='$(CURDIR)/$(release)' PYTHONDONTWRITEBYTECODE=1 \
	ROCESCOPE_PLUGIN='$(CURDIR)/$(release)/plugin/rocescope.so' /usr/bin/python3
c_files = find include core analyzer plugin tests docs/examples -name '*.[ch]' -print0

.PHONY: accuracy bench columns findings golden all demo check check-browser check-instructions check-package check-release check-slurm check-static check-threads check-wireshark release screenshots install package coverage fuzz format check-format deps mutate clean
all: release

deps:
	@$(DEPS)

release: deps
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS)

demo: deps
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target rocescope rocescope_plugin
	@tools/demo $(release)/bin/rocescope build/demo

# Under ASan and UBSan, with clang what stands close to the code, with gcc everything but
# what starts programs for minutes: that has what is shipped.  ctest's summary of the most
# comes last.
check: release
	@cmake --preset dev-clang
	@cmake --build --preset dev-clang -j $(JOBS)
	@ctest --preset dev-clang --output-on-failure -j $(JOBS)
	@ctest --preset release --output-on-failure -j $(JOBS) -L '$(scripts)'
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS)
	@ctest --preset dev --output-on-failure -j $(JOBS) -LE '$(scripts)'

# Core and plugin with the Wiresharks of other Debian suites, in chroots that are kept.
check-wireshark: release
	@$(DEPS) debootstrap || true
	@JOBS=$(JOBS) tools/check-wireshark $(release)/bin/rocescope '$(CHROOTS)'

# The Debian packages, in build/package/packages.
package: deps
	@$(DEPS) debhelper
	@JOBS=$(JOBS) tools/check-package --build-only $(release) '$(PACKAGES)'

# The same, built twice with the same bytes, looked at by lintian, installed in a clean
# chroot, run and removed.
check-package: release
	@$(DEPS) debhelper debootstrap lintian || true
	@JOBS=$(JOBS) tools/check-package $(release) '$(PACKAGES)'

# The HTML report in Chromium, without a window; screenshots are left in build/browser.
check-browser: release
	@$(DEPS) chromium chromium-driver python3-selenium || true
	@ROCESCOPE='$(CURDIR)/$(release)/bin/rocescope' ROCESCOPE_SOURCE='$(CURDIR)' \
		ROCESCOPE_BUILD='$(CURDIR)/$(release)' PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 tests/browser/test_browser.py || [ $$? -eq 77 ]

# The pictures of docs/cases, or those alone that PICTURES names; to be looked at.
screenshots: release
	@$(DEPS) chromium chromium-driver python3-selenium wireshark xvfb xdotool imagemagick \
		pngquant optipng
	@tools/screenshots $(release)/bin/rocescope $(release)/plugin/rocescope.so \
		docs/images $(PICTURES)

# contrib/slurm on a Slurm of this machine's own, with tasks that are killed and requeued.
check-slurm: release
	@$(DEPS) slurmctld slurmd slurm-client munge parallel || true
	@$(bench) tests/slurm/test_slurm.py || [ $$? -eq 77 ]

# Defects that analyzers of gcc and clang, clang-tidy and cppcheck see without running.
check-static: deps
	@$(DEPS) clang-tidy cppcheck || true
	@JOBS=$(JOBS) tools/check-static

# Instructions per packet are not a tenth more than tests/bench/instructions.json says.
check-instructions: release
	@$(bench) tests/bench/instructions.py || [ $$? -eq 77 ]

# What is shipped, optimised as one and confined, says what the others say.
check-release: release
	@ctest --preset release --output-on-failure -j $(JOBS) -L '^(unit|golden|truth|threads|cli)$$'

# The same reports with any number of threads, under TSan.
check-threads: deps
	@cmake --preset threads
	@cmake --build --preset threads -j $(JOBS)
	@ctest --preset threads --output-on-failure

install: deps
	@cmake --preset release -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	@cmake --build --preset release -j $(JOBS) --target rocescope rocescope_plugin roce_core_plain
	@DESTDIR='$(DESTDIR)' cmake --install $(release)

# Lines and branches of core and analyzer that the tests reach, file by file; those of core
# must be nearly all.
coverage: deps
	@cmake --preset coverage
	@cmake --build --preset coverage -j $(JOBS)
	@ctest --preset coverage --output-on-failure -j $(JOBS)
	@tools/coverage build/coverage

# Each fuzzer for FUZZ_SECONDS, or those alone whose name FUZZ matches.
fuzz: deps
	@cmake --preset fuzz -DROCESCOPE_FUZZ_SECONDS='$(FUZZ_SECONDS)'
	@cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	@ctest --preset fuzz --output-on-failure -R '^fuzz\.($(FUZZ))$$'

# Whether the tests notice when a rule of core is broken: each rule in tests/mutate, or those
# alone whose name or file MUTATE matches.
mutate: deps
	@JOBS=$(JOBS) /usr/bin/python3 tests/mutate/mutate.py $(and $(MUTATE),'$(MUTATE)')

# Writes the expected reports anew; read the difference before you believe it.
golden: release
	@ROCESCOPE=$(release)/bin/rocescope ROCESCOPE_SOURCE=$(CURDIR) python3 tests/golden/test_golden.py --update

# docs/findings.md is the program's own table.
findings: release
	@$(release)/bin/rocescope --list-findings >docs/findings.md

# docs/columns.md as well.
columns: release
	@$(release)/bin/rocescope --list-columns >docs/columns.md

# Precision and recall of every verdict; some minutes.
accuracy: release
	@ROCESCOPE=$(release)/bin/rocescope ROCESCOPE_SOURCE=$(CURDIR) python3 tests/sim/accuracy.py --page docs/accuracy.md

# How fast captures are read, beside other programs; instructions per packet, and where
# they go; how much longer tshark takes with the plugin than without.  BENCH takes options
# of bench_speed.py; with PAGE=docs/performance.md the tables of that page are written.
bench: release
	@$(bench) tests/bench/bench_speed.py $(and $(PAGE),--page '$(PAGE)') $(BENCH)
	@$(bench) tests/bench/instructions.py $(and $(PAGE),--page '$(PAGE)') || [ $$? -eq 77 ]
	@$(bench) tests/bench/bench_plugin.py

format: deps
	@$(c_files) | xargs -0 $(CLANG_FORMAT) -i

check-format: deps
	@$(c_files) | xargs -0 $(CLANG_FORMAT) --dry-run -Werror

clean:
	@rm -rf build
