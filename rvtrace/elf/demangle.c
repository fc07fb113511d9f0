/*
 * Demangling: what linkage names of C++ and Rust mean
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <setjmp.h>
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#endif
#include "elf/demangle.h"

#ifndef DMGL_NO_OPTS
/* Fedora has the library without its header. */
#define DMGL_NO_OPTS    0
#define DMGL_PARAMS     1
typedef void (*demangle_callbackref)(const char *text, size_t len,
                                     void *opaque);
int cplus_demangle_v3_callback(const char *name, int options,
                               demangle_callbackref callback, void *opaque);
int rust_demangle_callback(const char *name, int options,
                           demangle_callbackref callback, void *opaque);
#endif

typedef struct Output {
    jmp_buf full;
    GString *text;
} Output;

/*
 * A short name can stand for one of any length, because parts of it can be
 * referred to again and again. Nothing but a jump stops the demangler, which
 * has its memory on the stack.
 */
static void put(const char *text, size_t len, void *opaque)
{
    Output *out = opaque;

    if (len > DEMANGLE_MAX - out->text->len) {
        longjmp(out->full, 1);
    }
    g_string_append_len(out->text, text, len);
}

/* Linkage names begin so; legacy ones of Rust are names of C++, too. */
static bool is_rust(const char *name)
{
    return g_str_has_prefix(name, "_R") || g_str_has_prefix(name, "_ZN");
}

static bool is_cxx(const char *name)
{
    return g_str_has_prefix(name, "_Z") ||
           g_str_has_prefix(name, "_GLOBAL__");
}

typedef int DemangleFn(const char *name, int options,
                       demangle_callbackref callback, void *opaque);

static bool try_style(DemangleFn *fn, const char *name, int options,
                      Output *out)
{
    g_string_truncate(out->text, 0);
    if (setjmp(out->full)) {
        return false;
    }
    return fn(name, options, put, out) && out->text->len;
}

/* The demangler writes this before a suffix that linkage names do not have. */
#define CLONE " [clone ."

/*
 * What compilers make of one function, as the parts of a coroutine, differs in
 * a suffix, which only names with parameters have: "f(int) [clone .actor]".
 */
static bool try_cxx(const char *name, Output *out)
{
    g_autofree char *plain = NULL, *suffix = NULL;
    const char *clone;

    if (!try_style(cplus_demangle_v3_callback, name, DMGL_NO_OPTS, out)) {
        return false;
    }
    if (strchr(name, '.')) {
        plain = g_strdup(out->text->str);
        clone = try_style(cplus_demangle_v3_callback, name, DMGL_PARAMS, out) ?
                strstr(out->text->str, CLONE) : NULL;
        suffix = g_strdup(clone);
        g_string_assign(out->text, plain);
        g_string_append(out->text, suffix ?: "");
    }
    return out->text->len <= DEMANGLE_MAX;
}

char *demangle(const char *name)
{
    Output out;
    bool ok;

    if ((!is_rust(name) && !is_cxx(name)) || strlen(name) > DEMANGLE_MAX) {
        return NULL;
    }
    out.text = g_string_new(NULL);
    ok = (is_rust(name) && try_style(rust_demangle_callback, name,
                                     DMGL_NO_OPTS, &out)) ||
         (is_cxx(name) && try_cxx(name, &out));
    return g_string_free(out.text, !ok);
}
