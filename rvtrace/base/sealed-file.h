/*
 * Files of our own: a magic number, a version, a checksum, and what is inside
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SEALED_FILE_H
#define ETRACE_SEALED_FILE_H

#include "base/bytes.h"

/* What a file is, for people too: "index of a trace" */
typedef struct SealedKind {
    const char magic[16];   /* "rvtrace ..."; shorter ones end with NULs */
    uint32_t version;
    const char *what;
    const char *remedy;     /* what to do about one that is no good */
} SealedKind;

/* Begin a file: to @out, which is empty, what is inside is appended. */
void sealed_file_begin(const SealedKind *kind, GByteArray *out);

/* When all is there: fill in the checksum. */
void sealed_file_end(GByteArray *out);

/*
 * Read @path; *@in is set to what is inside, and *@digest, if it is not NULL,
 * to its checksum, which the caller frees. Returns what @in refers to, or NULL,
 * with @errp set, if it is no such file.
 */
GBytes *sealed_file_open(const SealedKind *kind, const char *path,
                         ByteReader *in, char **digest, GError **errp);

/* Set @errp: the file makes no sense because of @why. Returns false. */
bool sealed_file_fail(const SealedKind *kind, const char *path,
                      const char *why, GError **errp);

#endif /* ETRACE_SEALED_FILE_H */
