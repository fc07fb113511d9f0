/*
 * RISC-V trace of programs: files that are appended to
 *
 * Through windows of memory: no file descriptor stays open that the program
 * could close, or whose number it could get itself. What was appended is in
 * the file if the process is killed; behind it there are zeroes then, which
 * both streams have no meaning for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_USER_FILE_H
#define TARGET_RISCV_TRACE_USER_FILE_H

typedef struct RISCVTraceFile {
    char *path;                 /* absolute; NULL: it is not open */
    uint8_t *window;            /* or NULL */
    size_t room;                /* its size */
    size_t used;                /* ... bytes of it */
    uint64_t start;             /* of the window, in the file */
    int lock;                   /* holds the lock; nothing is written to it */
} RISCVTraceFile;

/*
 * Create @path, or empty it. False with @errp set if that cannot be done, or if
 * another process appends to it.
 */
bool riscv_trace_file_create(RISCVTraceFile *f, const char *path,
                             Error **errp);

/* Append @len bytes; false with @errp set if there is no room for them. */
bool riscv_trace_file_append(RISCVTraceFile *f, const void *data, size_t len,
                             Error **errp);

/* The file has what was appended and nothing behind it, until more comes. */
void riscv_trace_file_settle(RISCVTraceFile *f);

/* The file is another process's, which goes on. */
void riscv_trace_file_forget(RISCVTraceFile *f);

#endif /* TARGET_RISCV_TRACE_USER_FILE_H */
