/*
 * Demangling: what linkage names of C++ and Rust mean
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DEMANGLE_H
#define ETRACE_DEMANGLE_H

/* Names of which either form is longer, bytes, stay as they are. */
#define DEMANGLE_MAX    4096

/*
 * The name that the source has for the linkage name @name, without parameters
 * and hashes, as perf shows it: of C++ (Itanium's ABI) and Rust (legacy and
 * v0). What compilers make of a function of C++ is distinguished as c++filt
 * does: "f [clone .actor]". The caller frees it. Returns NULL if @name is not
 * mangled.
 */
char *demangle(const char *name);

#endif /* ETRACE_DEMANGLE_H */
