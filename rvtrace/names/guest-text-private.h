/*
 * What the guest said of itself: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GUEST_TEXT_PRIVATE_H
#define ETRACE_GUEST_TEXT_PRIVATE_H

#include "names/guest-text.h"

/* From here on a process has this address space: it has begun or run exec. */
typedef struct GuestEpoch {
    size_t pos;
    SidebandSpace space;
} GuestEpoch;

/* A line of maps */
typedef struct GuestMap {
    uint64_t lo, hi, offset;
    /* To be executed: a file, by GuestText.strings; or memory of none */
    const char *path;
    bool anonymous;
} GuestMap;

/* A line of perf-PID.map */
typedef struct GuestJit {
    size_t pos;
    uint64_t lo, hi;
    const char *name;           /* of GuestText.strings */
    uint64_t addr;              /* in GuestProcess.jit */
} GuestJit;

/* One time that a process' file was sent */
typedef struct GuestDump {
    size_t pos;                 /* of its first line */
    unsigned epoch;             /* of the process: index */
    GArray *lines;              /* GuestMap or GuestJit */
} GuestDump;

typedef struct GuestProcess {
    uint32_t tgid;
    GArray *epochs;             /* GuestEpoch, by pos */
    GPtrArray *maps, *jits;     /* GuestDump, by pos */
    Object *jit;                /* what it made at run time; or NULL */
} GuestProcess;

/* A page of an address space is mapped there from a place on. */
typedef struct GuestPage {
    size_t pos;
    uint64_t ppage;
} GuestPage;

/* Bytes of a physical page that ran from a place on */
typedef struct GuestCode {
    size_t pos;
    const uint8_t *bytes;       /* the sideband's */
    uint16_t off, len;          /* in the page */
} GuestCode;

/* A symbol of the kernel */
typedef struct GuestKsym {
    uint64_t addr;
    const char *name, *module;  /* NULL: the kernel's own */
} GuestKsym;

typedef struct GuestModule {
    const char *name;
    uint64_t lo, hi;
} GuestModule;

struct GuestText {
    const Sideband *sb;
    GStringChunk *strings;
    GHashTable *processes;      /* tgid -> GuestProcess */
    GArray *ksyms;              /* GuestKsym */
    GArray *modules;            /* GuestModule */
    GHashTable *module_names;   /* of all, also without an address */
    unsigned malformed;
    /* guest_text_objects() */
    GHashTable *files;          /* path -> Object with code */
    GHashTable *paths;          /* path -> Object without */
    GPtrArray *kernel;          /* Object: the kernel's and its modules' */
    /* Of code that was made at run time: */
    GHashTable *pages;          /* space and page -> GArray of GuestPage */
    GHashTable *code;           /* ppage -> GArray of GuestCode */
};

/* guest-text-parse.c */

/* A text of the stream, at @pos; says false if it makes no sense. */
bool guest_text_line(GuestText *g, size_t pos, const char *text, size_t len);

GuestProcess *guest_text_process(GuestText *g, uint32_t tgid);

bool guest_text_same_space(const SidebandSpace *a,
                           const SidebandSpace *b);

/*
 * Which of the process' epochs is it in the address space of @where; -1: it
 * was not known to run there.
 */
int guest_text_epoch(const GuestProcess *p, const SidebandWhere *where);

/* guest-text-jit.c */

/* Make objects of @table for code that was made at run time. */
void guest_text_name_jits(GuestText *g, ObjectTable *table);

#endif /* ETRACE_GUEST_TEXT_PRIVATE_H */
