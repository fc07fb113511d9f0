/*
 * A hart's history from what steps.c wrote down, and whether what is decoded
 * and what the hart's CTR holds are the same: the part of the random guests'
 * test that takes the time
 *
 * history [OPTION...] STEPS...     files that are one after the other
 *     --xlen=N
 *     --handlers=ADDR,ADDR,...     of all trap handlers
 *     --labels=FILE                what the program does where; lines of an
 *                                  address (of the program itself, whatever
 *                                  window it is seen in), a word and numbers,
 *                                  see labels.c
 *     --compare                    with what "rvtrace decode --emit pc" writes
 *                                  to the standard input
 *     --loaded                     a state was loaded, and no rest is reported
 *     --data=all|some              with "decode --emit pc,data". Where software
 *                                  switches data trace and filters, some
 *                                  accesses are missing or cannot be put to
 *                                  their instructions
 *     --filter=FILE                the encoder's filter, see filter.c
 *     --retired=FILE               to be written: u64 for each instruction
 *                                  that the filter lets through
 *     --records=FILE@OFFSET        compare copies of the CTR in the guest's
 *                                  memory; --hypervisor: with vsctrctl
 *
 * Says "N instructions, N traced", the latter as far as the filter goes, and
 * what is different if anything is; ends with 1 then.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "history.h"

#define MAX_HANDLERS 8
#define MAX_STEPS (1ull << 26)

static Step *steps;
static size_t nsteps;
Item *items;
size_t nitems;
static uint64_t handlers[MAX_HANDLERS];
static unsigned nhandlers;
static uint64_t address_mask = UINT64_MAX;
static bool loaded;

void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("history: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

void *grow(void *old, size_t count, size_t size)
{
    void *new = realloc(old, count * size + 1);

    if (!new) {
        die("not enough memory");
    }
    return new;
}

static void read_steps(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    size_t n;

    if (fd < 0 || fstat(fd, &st)) {
        die("%s: %s", path, strerror(errno));
    }
    n = st.st_size / sizeof(Step);
    if (st.st_size % sizeof(Step) || n > MAX_STEPS) {
        die("%s: %jd bytes", path, (intmax_t)st.st_size);
    }
    steps = grow(steps, nsteps + n, sizeof(Step));
    for (size_t done = 0; done < n * sizeof(Step);) {
        ssize_t got = read(fd, (char *)(steps + nsteps) + done,
                           n * sizeof(Step) - done);

        if (got <= 0) {
            die("%s: %s", path, strerror(errno));
        }
        done += got;
    }
    close(fd);
    for (size_t i = nsteps, end = nsteps + n; i < end; i++) {
        if (steps[i].kind == ACCESS) {
            if (!nsteps || ++i == end || steps[i].kind != DATA) {
                die("%s: an access of nothing", path);
            }
            steps[i - 1].pc &= address_mask;
            add_access(nsteps - 1, &steps[i - 1], &steps[i]);
            continue;
        }
        steps[nsteps] = steps[i];
        steps[nsteps++].pc &= address_mask;
    }
}

bool is_handler(uint64_t pc)
{
    for (unsigned i = 0; i < nhandlers; i++) {
        if (handlers[i] == pc) {
            return true;
        }
    }
    return false;
}

/*
 * The epc of the trap at that place. If that is a handler, which could not
 * begin and which nothing but a trap leads to, then the epc of the trap to
 * it, which is written down when the handler does begin. False: there is none.
 */
static bool trapped_at(size_t at, uint64_t *epc)
{
    *epc = steps[at].pc;
    if (!is_handler(*epc)) {
        return true;
    }
    for (size_t i = at + 1; i + 1 < nsteps; i++) {
        if (steps[i].kind == TRAP && steps[i + 1].pc == *epc) {
            return trapped_at(i, epc);
        }
    }
    return false;
}

/* ecall, ebreak, c.ebreak */
bool never_retires(const Step *s)
{
    return s->code == 0x73 || s->code == 0x100073 ||
           (s->length == 2 && (s->code & 0xffff) == 0x9002);
}

/* May the instruction be followed by another than the one behind it? */
static bool leads_elsewhere(const Step *s)
{
    uint32_t code = s->code, high = code >> 13 & 7;

    if (s->length == 2) {
        return ((code & 3) == 1 && (high == 1 || high >= 5)) ||
               ((code & 3) == 2 && (high == 4 || high == 5));
    }
    switch (code & 0x7f) {
    case 0x63:
    case 0x67:
    case 0x6f:
        return true;
    }
    /* mret, sret, mnret. All others are not left without a trap. */
    return code == 0x30200073 || code == 0x10200073 || code == 0x70200073;
}

static void add(const Step *s, bool doubtful)
{
    items[nitems++] = (Item) {
        s->pc, s->code, s->length, s->mode, s->kind, s->from, doubtful, false,
        false, s - steps
    };
}

/*
 * The hart rests, and the step began last before. Where the hart would go on
 * says whether it retired; what happens to the hart later does not matter.
 */
static void before_rest(const Step *last, const Step *rest)
{
    uint64_t pc = rest->pc;

    /*
     * A trap can be taken to a handler that another one is taken at. They are
     * those of M, S and VS, as are the epcs behind the rest.
     */
    for (unsigned k = 0; k < nhandlers && is_handler(pc); k++) {
        unsigned i = 0;

        while (handlers[i] != pc) {
            i++;
        }
        pc = rest[1 + i].pc;
    }
    if (pc != last->pc) {
        add(last, false);
    }
}

/*
 * With one thread for all harts nothing reports a rest. A reset leaves the
 * epcs as they are: if one is that of the step which began last
 * before, the step may have trapped, now or long ago.
 */
static void before_reset(const Step *last, const Step *epcs)
{
    if (!never_retires(last)) {
        add(last, epcs[0].pc == last->pc || epcs[1].pc == last->pc ||
                  epcs[2].pc == last->pc);
    }
}

/*
 * Nothing more is known than what began next, if anything did. If that is the
 * same again, a state may have been loaded that is ahead of it.
 */
static void before_step(const Step *last, const Step *next)
{
    bool again = next && next->pc == last->pc;
    bool elsewhere = next && next->pc != last->pc + last->length &&
                     !leads_elsewhere(last);

    if (!never_retires(last)) {
        add(last, again || elsewhere);
    }
}

/*
 * A trap is next, at @epc if that is @known, and not at the last step. If the
 * last one does not lead there either, another state was loaded in between.
 */
static void before_trap(const Step *last, bool known, uint64_t epc)
{
    bool elsewhere = !(known && epc == last->pc + last->length) &&
                     !leads_elsewhere(last);

    if (!never_retires(last)) {
        add(last, elsewhere);
    }
}

static void make_history(void)
{
    const Step *last = NULL;

    items = grow(NULL, nsteps, sizeof(*items));
    for (size_t i = 0; i < nsteps; i++) {
        const Step *s = &steps[i];
        uint64_t epc;
        bool known;

        if ((s->kind == RESTS && (i + 3 >= nsteps || s[1].kind != MEPC)) ||
            (s->kind == MEPC && (i + 2 >= nsteps || s[2].kind != VSEPC))) {
            die("step %zu: not complete", i);
        }
        switch (s->kind) {
        case TRAP:
            known = trapped_at(i, &epc);
            if (last && !(known && epc == last->pc)) {
                before_trap(last, known, epc);
            }
            last = NULL;
            add(s, false);
            break;
        case BEGAN:
            if (last && (last->pc != s->pc || loaded)) {
                before_step(last, s);
            }
            last = s;
            break;
        case RESTS:
            if (last) {
                before_rest(last, s);
            }
            last = NULL;
            i += 3;
            break;
        case MEPC:
            if (last) {
                before_reset(last, s);
            }
            last = NULL;
            i += 2;
            break;
        default:
            die("step %zu: kind %d", i, s->kind);
        }
    }
    if (last) {
        before_step(last, NULL);
    }
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
        die("%s: %s", path, strerror(errno));
    }
}

static void write_retired(const char *path)
{
    uint64_t *pcs = grow(NULL, nitems, sizeof(*pcs));
    size_t n = 0;

    for (size_t i = 0; i < nitems; i++) {
        if (items[i].kind == BEGAN && !items[i].filtered) {
            pcs[n++] = items[i].pc;
        }
    }
    write_file(path, pcs, n * sizeof(*pcs));
    free(pcs);
}

static void read_handlers(char *text)
{
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        if (nhandlers == MAX_HANDLERS) {
            die("too many handlers");
        }
        if (sscanf(word, "%" SCNx64, &handlers[nhandlers++]) != 1) {
            die("no address: %s", word);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "xlen", required_argument, NULL, 'x' },
        { "handlers", required_argument, NULL, 'h' },
        { "labels", required_argument, NULL, 'l' },
        { "compare", no_argument, NULL, 'c' },
        { "loaded", no_argument, NULL, 'L' },
        { "retired", required_argument, NULL, 'r' },
        { "records", required_argument, NULL, 'R' },
        { "hypervisor", no_argument, NULL, 'H' },
        { "data", required_argument, NULL, 'd' },
        { "filter", required_argument, NULL, 'f' },
        { 0 },
    };
    const char *retired = NULL, *file = NULL, *data = NULL, *word;
    int64_t offset = 0;
    bool wanted = false, hypervisor = false, same = true;
    size_t count = 0, traced = 0;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'x':
            address_mask = atoi(optarg) == 32 ? UINT32_MAX : UINT64_MAX;
            break;
        case 'h':
            read_handlers(optarg);
            break;
        case 'l':
            read_labels(optarg);
            break;
        case 'L':
            loaded = true;
            break;
        case 'c':
            wanted = true;
            break;
        case 'r':
            retired = optarg;
            break;
        case 'R':
            file = strtok(optarg, "@");
            word = strtok(NULL, "") ?: "";
            if (sscanf(word, "%" SCNi64, &offset) != 1) {
                die("no offset: %s", word);
            }
            break;
        case 'H':
            hypervisor = true;
            break;
        case 'd':
            data = optarg;
            break;
        case 'f':
            read_filter(optarg);
            break;
        default:
            return 2;
        }
    }
    for (; optind < argc; optind++) {
        read_steps(argv[optind]);
    }
    make_history();
    filter_items();
    for (size_t i = 0; i < nitems; i++) {
        count += items[i].kind == BEGAN;
        traced += items[i].kind == BEGAN && !items[i].filtered;
    }
    printf("%zu instructions, %zu traced\n", count, traced);
    if (retired) {
        write_retired(retired);
    }
    if (wanted) {
        same = compare_decoded(data, data && !strcmp(data, "some"));
    }
    if (file) {
        same &= compare_records(file, offset, hypervisor);
    }
    if (fflush(stdout)) {
        die("%s", strerror(errno));
    }
    return same ? 0 : 1;
}
