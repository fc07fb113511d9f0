# SPDX-License-Identifier: GPL-2.0-or-later
# make -f plugin.mk OUT=DIR QEMU_INCLUDE=DIR  ->  OUT/libframes.so
# QEMU_INCLUDE is where qemu-plugin.h of the QEMU that loads it is.

here := $(dir $(lastword $(MAKEFILE_LIST)))
OUT ?= $(here)../../../../build/check/rvtrace-unwind
QEMU_INCLUDE ?= $(here)../../../../build/qemu-stock/include/qemu
CC ?= gcc
CFLAGS ?= -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror
packages := gmodule-2.0 libdw libelf

$(OUT)/libframes.so: $(here)frames.c $(here)files.c $(here)files.h \
		$(here)../observer.h $(QEMU_INCLUDE)/qemu-plugin.h
	mkdir -p $(OUT)
	$(CC) $(CFLAGS) -fPIC -shared -fvisibility=hidden \
		-I$(QEMU_INCLUDE) -I$(here).. $$(pkg-config --cflags $(packages)) \
		-o $@ $(here)frames.c $(here)files.c \
		$$(pkg-config --libs $(packages))
