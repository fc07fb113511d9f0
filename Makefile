# SPDX-License-Identifier: GPL-2.0-or-later
#
# Entry points; `make` alone explains them. Each step looks for itself at what
# is there already, so all of them may be run again at any time.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
QEMU_SRC ?=
BASE ?=
JOBS ?=
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
export QEMU_SRC BASE JOBS SANITIZE PREFIX DESTDIR

HOURS ?= 1
ROWS ?=
TESTS ?=
ANSWERS ?=

.PHONY: help setup setup-build source build deb install uninstall stock demo lint quick check check-all check-pgo soak fuzz bench series series-check docs \
	builds clean distclean
# JOBS says how many processes; targets install packages one after the other.
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

#: Control transfer records and E-Trace for QEMU's RISC-V harts
#:
#:   make demo       boot Debian Linux with CTR on, trace it through a socket,
#:                   decode and verify the trace; results in build/demo/
#:   make quick      tests of two minutes, to be run often
#:   make check      tests of some twenty minutes, for every commit
#:   make check-all  every test, for each night; goes on where it was interrupted
#:                   The last line of these is the count. TESTS='NAME...': only
#:                   these, or patterns such as 'ctr*'; each writes to
#:                   build/check/NAME.log. SANITIZE=1: with builds that watch
#:                   themselves (slow). LANES=N: tests at a time, default: as
#:                   many as processors
#:   make lint       static analysis of everything: clang-tidy, checkpatch.pl,
#:                   shellcheck, pylint, mypy
#:   make check-pgo  rebuild programs with the profiles that rvtrace writes, with
#:                   clang, BOLT and GCC, and measure them; installs those
#:   make soak       random guests against an independent record of what they
#:                   did; HOURS=N (0.5: half an hour), else 1
#:   make fuzz       feed the decoder with made up inputs; MINUTES=N, else 10
#:   make bench      what recording and tracing cost, beside stock QEMU; ANSWERS=1:
#:                   what each view of a trace costs, beside the run
#:   make build      build/qemu-system-riscv64 and build/rvtrace
#:   make install    QEMU, rvtrace and their manuals to PREFIX, else /usr/local
#:                   (DESTDIR=DIR: below that folder), as HTML, too, if make docs
#:                   was there before; make uninstall: remove
#:   make deb        Debian packages of QEMU and rvtrace, build/deb/*.deb, which
#:                   install beside Debian's own QEMU; for this machine's release
#:   make source     build/qemu: the patched QEMU tree, our folders linked in
#:   make docs       the manuals as HTML, build/docs/index.html; installs sphinx
#:   make stock      build/stock: the same QEMU without us, to compare with
#:   make series     build/series.mbox for `git am` on a QEMU tree, and its parts:
#:                   build/series-PART.mbox, series-cover-PART.patch
#:   make series-check  whether each patch of it builds; an hour, resumable
#:   make builds     with gcc and clang, for hosts of 32 bits and with the other
#:                   byte order, user mode only, KVM only: does it build, and
#:                   do the tests of core and decoder pass there? ROWS='NAME...':
#:                   only these; takes as long as some builds
#:   make clean      remove what was built, keep what was unpacked
#:   make distclean  remove build/ and the cache of downloads
#:
#:   BASE=10.2       the same on QEMU 10.2 instead of 10.0, all of it below
#:                   build/10.2
#:   QEMU_SRC=DIR    use your own QEMU tree, 10.0 or newer, which stays untouched
#:                   (from then on; QEMU_SRC=debian goes back); needs neither apt
#:                   nor a network
#:   DEBIAN_MIRROR=URL  where Debian's packages are, if apt's configuration of
#:                   this machine names no mirror of Debian
#:   JOBS=N          number of processes, default: all processors
#:
#: Packages that are missing are installed when this is root or sudo asks no
#: password. Downloads are cached in ~/.cache/qemu-riscv-trace.

setup:
	@scripts/setup

# What is needed to build, not what tests and the demo need
setup-build:
	@scripts/setup packages-build

source: setup-build
	@scripts/source

build: source
	@scripts/build

# Does not build QEMU: make build as oneself, then this as root.
install:
	@scripts/install

uninstall:
	@scripts/install --uninstall

deb: setup-build build
	@scripts/setup packages-fetch
	@scripts/deb

docs: setup-build build
	@scripts/setup packages-docs
	@scripts/docs

stock: setup
	@scripts/source stock
	@scripts/build stock

demo: setup build
	@demo/run

lint: setup build
	@scripts/lint

quick check: setup build
	@scripts/check $@ $(foreach t,$(TESTS),'$(t)')

check-all: setup build
	@scripts/check all $(foreach t,$(TESTS),'$(t)')

check-pgo: setup build
	@scripts/check-pgo

soak: setup build
	@scripts/soak '$(HOURS)'

ifneq ($(ANSWERS),)
bench: setup build
	@bash -c '. scripts/lib.sh && exec bench/answers'
else
bench: setup build stock
	@bash -c '. scripts/lib.sh && exec bench/run'
endif

fuzz: setup
	@scripts/fuzz "$(MINUTES)"

series: setup
	@scripts/source stock
	@scripts/series

series-check: setup
	@scripts/series-check

builds: setup
	@scripts/builds $(ROWS)

clean:
	@scripts/distclean clean

distclean:
	@scripts/distclean
