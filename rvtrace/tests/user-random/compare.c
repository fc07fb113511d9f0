/*
 * Is what is decoded of a hart what its threads began to execute?
 *
 *   compare HANDLER FIRST=FILE... < PCS
 *
 * Each thread that was this hart began to run behind so many instructions of
 * it; FILE has what the plugin "executed" saw of it, HANDLER is the address of
 * the handler of faults. Standard input has the decoded addresses, in
 * hexadecimal, a line each. What has begun and is not decoded may be
 *  - an ecall or an ebreak, which bit 0 says: they trap;
 *  - an instruction behind which the handler begins: it has faulted;
 *  - an instruction that begins once more: QEMU has started it anew, because it
 *    had to be alone, or has written code of its own block;
 *  - an instruction at the very end, which has ended the process;
 *  - with ":" in place of "=", anything at the end: another thread has ended the
 *    process. Likewise, more may be decoded than the plugin could write down.
 * Prints how many instructions were compared.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRAPS   1       /* the plugin's mark */

static uint64_t handler;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    exit(1);
}

/* What a thread began to execute */
typedef struct Saw {
    uint64_t first;     /* of the hart's instructions */
    const char *path;
    FILE *file;
    bool cut;           /* it may have been, at its end */
    uint64_t ahead[2];  /* read, and not consumed */
    unsigned n_ahead;
} Saw;

static bool peek(Saw *saw, unsigned which, uint64_t *pc)
{
    while (saw->n_ahead <= which) {
        if (!fread(&saw->ahead[saw->n_ahead], sizeof(uint64_t), 1,
                   saw->file)) {
            return false;
        }
        saw->n_ahead++;
    }
    *pc = saw->ahead[which];
    return true;
}

static void consume(Saw *saw)
{
    saw->ahead[0] = saw->ahead[1];
    saw->n_ahead--;
}

/* May what was seen not be decoded? At the end of all, it is the last one. */
static bool may_lack(Saw *saw, bool last)
{
    uint64_t pc, next;

    if (!peek(saw, 0, &pc) || pc & TRAPS) {
        return true;
    }
    if (!peek(saw, 1, &next)) {
        return last;
    }
    return next == handler || (next & ~(uint64_t)TRAPS) == pc;
}

static bool next_decoded(uint64_t *pc)
{
    static char *line;
    static size_t size;

    if (getline(&line, &size, stdin) < 0) {
        return false;
    }
    *pc = strtoull(line, NULL, 16);
    return true;
}

/* The thread's last instructions; all that is decoded was seen. */
static void finish(Saw *saw)
{
    uint64_t pc;

    while (!saw->cut && peek(saw, 0, &pc)) {
        if (!may_lack(saw, true)) {
            die("%s: %" PRIx64 " was executed and is not decoded", saw->path,
                pc);
        }
        consume(saw);
    }
    fclose(saw->file);
}

int main(int argc, char **argv)
{
    unsigned n_saw = argc - 2, now = 0;
    Saw *saw = calloc(argc, sizeof(*saw));
    uint64_t count = 0, pc, began;
    bool over = false;

    handler = strtoull(argv[1], NULL, 16);
    for (unsigned i = 0; i < n_saw; i++) {
        char *file;

        saw[i].first = strtoull(argv[2 + i], &file, 10);
        saw[i].cut = *file == ':';
        saw[i].path = file + 1;
        saw[i].file = fopen(file + 1, "rb");
        if (!saw[i].file) {
            die("%s: %s", file + 1, strerror(errno));
        }
    }
    while (next_decoded(&pc)) {
        while (now + 1 < n_saw && saw[now + 1].first == count) {
            finish(&saw[now++]);
            over = false;
        }
        for (; !over; consume(&saw[now])) {
            if (!peek(&saw[now], 0, &began)) {
                over = saw[now].cut;
                if (!over) {
                    die("%s: number %" PRIu64 ", %" PRIx64
                        ", was not executed", saw[now].path, count, pc);
                }
                break;
            }
            if (began == pc) {
                consume(&saw[now]);
                break;
            }
            if (!may_lack(&saw[now], false)) {
                die("%s: number %" PRIu64 " is %" PRIx64 ", not %" PRIx64,
                    saw[now].path, count, pc, began);
            }
        }
        count++;
    }
    while (now < n_saw) {
        finish(&saw[now++]);
    }
    printf("%" PRIu64 "\n", count);
    return 0;
}
