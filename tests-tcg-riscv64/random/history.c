/*
 * A hart's history from what steps.c wrote down, and whether what is decoded
 * is the same: the part of the random guests' test that takes the time
 *
 * history [OPTION...] STEPS...     files that are one after the other
 *     --xlen=N
 *     --handlers=ADDR,ADDR,...     of all trap handlers
 *     --labels=FILE                what the program does where; lines of an
 *                                  address (of the program itself, whatever
 *                                  window it is seen in) and a word:
 *                                  on, off, mask N, range LOW HIGH, ctr
 *     --compare                    with what "rvtrace decode --emit pc" writes
 *                                  to the standard input
 *     --retired=FILE               to be written: u64 for each instruction
 *     --transfers=FILE             to be written, for ctr.py: see there
 *
 * Says "N instructions"; with --compare, also what is different, and then
 * ends with 1.
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

enum { BEGAN, TRAP, RESTS, MEPC, SEPC };    /* kinds of steps */
enum { MUST, MAY, NOT };                    /* be decoded */

#define FENCE_I 0x100f
#define RESET_VECTOR 0x1000
#define MAX_HANDLERS 8
#define MAX_STEPS (1ull << 26)

typedef struct Step {
    uint64_t pc;
    uint32_t code;
    uint8_t length, mode, kind, from;
} Step;

/* An instruction that retired, or a trap that was taken (pc is epc) */
typedef struct Item {
    uint64_t pc;
    uint32_t code;
    uint8_t length, mode, kind, from;
    bool doubtful;      /* of an instruction: it may have trapped */
} Item;

typedef struct Label {
    uint64_t addr, low, high;
    enum { OFF, ON, MASK, RANGE, CTR } what;
} Label;

static Step *steps;
static size_t nsteps;
static Item *items;
static size_t nitems;
static Label *labels;
static size_t nlabels;
static uint64_t handlers[MAX_HANDLERS];
static unsigned nhandlers;
static uint64_t address_mask = UINT64_MAX;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("history: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

static void *grow(void *old, size_t count, size_t size)
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
    for (size_t i = nsteps; i < nsteps + n; i++) {
        steps[i].pc &= address_mask;
    }
    nsteps += n;
}

static bool is_handler(uint64_t pc)
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
static bool never_retires(const Step *s)
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
        s->pc, s->code, s->length, s->mode, s->kind, s->from, doubtful
    };
}

/*
 * The hart rests, and the step began last before. Where the hart would go on
 * tells whether it retired; what happens to the hart later does not matter.
 */
static void before_rest(const Step *last, const Step *rest)
{
    uint64_t pc = rest->pc;

    /* The first handler is the one of M-mode. */
    for (unsigned k = 0; k < nhandlers && is_handler(pc); k++) {
        pc = rest[pc == handlers[0] ? 1 : 2].pc;
    }
    if (pc != last->pc) {
        add(last, false);
    }
}

/*
 * With one thread for all harts nothing tells of a rest. A reset leaves mepc
 * and sepc (epcs) as they are: if one is that of the step which began last
 * before, the step may have trapped, now or long ago.
 */
static void before_reset(const Step *last, const Step *epcs)
{
    if (!never_retires(last)) {
        add(last, epcs[0].pc == last->pc || epcs[1].pc == last->pc);
    }
}

/* Nothing more is known than what began next, if anything did. */
static void before_step(const Step *last, const Step *next)
{
    bool elsewhere = next && next->pc != last->pc + last->length &&
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

        if ((s->kind == RESTS && (i + 2 >= nsteps || s[1].kind != MEPC)) ||
            (s->kind == MEPC && (i + 1 >= nsteps || s[1].kind != SEPC))) {
            die("step %zu: not complete", i);
        }
        switch (s->kind) {
        case TRAP:
            if (last && !(trapped_at(i, &epc) && epc == last->pc)) {
                add(last, false);
            }
            last = NULL;
            add(s, false);
            break;
        case BEGAN:
            if (last && last->pc != s->pc) {
                before_step(last, s);
            }
            last = s;
            break;
        case RESTS:
            if (last) {
                before_rest(last, s);
            }
            last = NULL;
            i += 2;
            break;
        case MEPC:
            if (last) {
                before_reset(last, s);
            }
            last = NULL;
            i++;
            break;
        default:
            die("step %zu: kind %d", i, s->kind);
        }
    }
    if (last) {
        before_step(last, NULL);
    }
}

/* Of the program, whatever window it is seen in; not of the boot ROM */
static uint64_t physical(uint64_t pc)
{
    return pc >> 30 ? (pc & 0x3fffffff) + 0x80000000 : pc;
}

static int compare_labels(const void *a, const void *b)
{
    uint64_t x = ((const Label *)a)->addr, y = ((const Label *)b)->addr;

    return x < y ? -1 : x > y;
}

static void read_labels(const char *path)
{
    FILE *file = fopen(path, "r");
    char word[16];
    uint64_t addr;

    if (!file) {
        die("%s: %s", path, strerror(errno));
    }
    while (fscanf(file, "%" SCNx64 " %15s", &addr, word) == 2) {
        static const char *const names[] = {
            [OFF] = "off", [ON] = "on", [MASK] = "mask", [RANGE] = "range",
            [CTR] = "ctr",
        };
        Label label = { .addr = addr, .what = OFF };

        while (label.what <= CTR && strcmp(word, names[label.what])) {
            label.what++;
        }
        if (label.what > CTR ||
            (label.what == MASK &&
             fscanf(file, "%" SCNx64, &label.low) != 1) ||
            (label.what == RANGE &&
             fscanf(file, "%" SCNx64 " %" SCNx64, &label.low,
                    &label.high) != 2)) {
            die("%s: label %zu", path, nlabels + 1);
        }
        labels = grow(labels, nlabels + 1, sizeof(label));
        labels[nlabels++] = label;
    }
    if (!feof(file)) {
        die("%s: behind label %zu", path, nlabels);
    }
    fclose(file);
    qsort(labels, nlabels, sizeof(*labels), compare_labels);
}

static const Label *label_at(uint64_t pc)
{
    static uint64_t filter[1 << 10];    /* most places have none */
    static bool ready;
    uint64_t addr = physical(pc);
    Label key = { .addr = addr };

    if (!ready) {
        ready = true;
        for (size_t i = 0; i < nlabels; i++) {
            uint64_t bit = labels[i].addr >> 1;

            filter[bit >> 6 & 1023] |= 1ull << (bit & 63);
        }
    }
    if (!(filter[addr >> 7 & 1023] >> (addr >> 1 & 63) & 1)) {
        return NULL;
    }
    return bsearch(&key, labels, nlabels, sizeof(*labels), compare_labels);
}

/*
 * What software has switched. From the write of a register up to the fence.i
 * behind it, which ends a translation block, it may be either way.
 */
typedef struct Software {
    bool on, settled;
    uint64_t mask, low, high;
} Software;

/* E-Trace's privilege of U, S, M, VU and VS: QEMU's number, and 4 for V=1 */
static unsigned privilege(unsigned mode)
{
    return mode == 4 ? 5 : mode == 5 ? 6 : mode;
}

static int expected(Software *now, const Item *item)
{
    const Label *label = label_at(item->pc);
    int how;

    if (label && label->what != CTR) {
        now->settled = false;
        switch (label->what) {
        case OFF:
        case ON:
            now->on = label->what == ON;
            break;
        case MASK:
            now->mask = label->low;
            break;
        default:
            now->low = label->low;
            now->high = label->high;
        }
    }
    if (!now->settled || item->doubtful) {
        how = MAY;
    } else {
        how = now->on && now->mask >> privilege(item->mode) & 1 &&
              item->pc >= now->low && item->pc <= now->high ? MUST : NOT;
    }
    if (item->code == FENCE_I) {
        now->settled = true;
    }
    return how;
}

/* What is decoded: a number a line, read in large parts */
typedef struct Decoded {
    char buf[1 << 16];
    ssize_t at, end;
    uint64_t pc, count, before[3];
    bool over;
} Decoded;

static int next_char(Decoded *d)
{
    if (d->at == d->end) {
        d->at = 0;
        d->end = read(0, d->buf, sizeof(d->buf));
        if (d->end < 0) {
            die("standard input: %s", strerror(errno));
        }
        if (!d->end) {
            return EOF;
        }
    }
    return (unsigned char)d->buf[d->at++];
}

static void next_decoded(Decoded *d)
{
    uint64_t pc = 0;
    int c, digits = 0;

    d->before[d->count++ % 3] = d->pc;
    while ((c = next_char(d)) != EOF && c != '\n') {
        int digit = c >= '0' && c <= '9' ? c - '0' :
                    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0 || ++digits > 18) {
            /* with 0x */
            if (c != 'x' || pc) {
                die("decoded %" PRIu64 ": not a number", d->count);
            }
            continue;
        }
        pc = pc << 4 | digit;
    }
    d->pc = pc;
    d->over = c == EOF && !digits;
}

static void show_decoded(Decoded *d)
{
    uint64_t first = d->count;

    printf("decoded %" PRIu64 ":", first - 1);
    for (uint64_t k = first > 4 ? first - 4 : 0; k + 1 < first; k++) {
        printf(" %" PRIx64, d->before[(k + 1) % 3]);
    }
    printf(" >");
    for (int k = 0; k < 4 && !d->over; k++) {
        printf("%" PRIx64 " ", d->pc);
        next_decoded(d);
    }
}

static void show_expected(size_t at)
{
    size_t first = at, n = 3;

    while (first && n) {
        n -= items[--first].kind == BEGAN;
    }
    printf("\nexpected:");
    for (n = 0; first < nitems && n < 4; first++) {
        if (items[first].kind == BEGAN) {
            printf(first == at ? " >%" PRIx64 : " %" PRIx64, items[first].pc);
            n += first >= at;
        }
    }
    printf("\n");
}

static bool compare(void)
{
    static Decoded d;
    Software now = { true, true, 0xff, 0, UINT64_MAX };

    next_decoded(&d);
    for (size_t i = 0; i < nitems; i++) {
        int how;

        if (items[i].kind != BEGAN) {
            continue;
        }
        how = expected(&now, &items[i]);
        if (how == NOT) {
            continue;
        }
        if (!d.over && d.pc == items[i].pc) {
            next_decoded(&d);
        } else if (how == MUST) {
            show_decoded(&d);
            show_expected(i);
            return false;
        }
    }
    if (!d.over) {
        printf("decoded, but did not retire:\n");
        show_decoded(&d);
        printf("\n");
        return false;
    }
    return true;
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
        if (items[i].kind == BEGAN) {
            pcs[n++] = items[i].pc;
        }
    }
    write_file(path, pcs, n * sizeof(*pcs));
    free(pcs);
}

/*
 * What ctr.py reads: an item, and where and in which mode the hart went on.
 * mode_after: 254 if a trap followed, 255 if nothing did
 */
typedef struct Transfer {
    uint64_t pc, next;
    uint32_t code;
    uint8_t length, mode, kind, from;
    uint8_t mode_after, label, pad[6];
} Transfer;

static void write_transfers(const char *path)
{
    Transfer *out = grow(NULL, nitems, sizeof(*out));
    size_t n = 0;

    for (size_t i = 0; i < nitems; i++) {
        const Item *item = &items[i];
        const Item *after = i + 1 < nitems ? item + 1 : NULL;
        const Step as_step = { .code = item->code, .length = item->length };
        const Label *label = item->kind == BEGAN ? label_at(item->pc) : NULL;
        bool named = label && label->what == CTR;

        if (item->kind == TRAP || named || leads_elsewhere(&as_step)) {
            out[n++] = (Transfer) {
                .pc = item->pc, .next = after ? after->pc : 0,
                .code = item->code, .length = item->length,
                .mode = item->mode, .kind = item->kind, .from = item->from,
                .mode_after = !after ? 255 :
                              after->kind == TRAP ? 254 : after->mode,
                .label = named,
            };
        }
    }
    write_file(path, out, n * sizeof(*out));
    free(out);
}

static void read_handlers(char *text)
{
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        if (nhandlers == MAX_HANDLERS) {
            die("too many handlers");
        }
        handlers[nhandlers++] = strtoull(word, NULL, 16);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "xlen", required_argument, NULL, 'x' },
        { "handlers", required_argument, NULL, 'h' },
        { "labels", required_argument, NULL, 'l' },
        { "compare", no_argument, NULL, 'c' },
        { "retired", required_argument, NULL, 'r' },
        { "transfers", required_argument, NULL, 't' },
        { 0 },
    };
    const char *retired = NULL, *transfers = NULL;
    bool wanted = false, same = true;
    size_t count = 0;
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
        case 'c':
            wanted = true;
            break;
        case 'r':
            retired = optarg;
            break;
        case 't':
            transfers = optarg;
            break;
        default:
            return 2;
        }
    }
    for (; optind < argc; optind++) {
        read_steps(argv[optind]);
    }
    make_history();
    for (size_t i = 0; i < nitems; i++) {
        count += items[i].kind == BEGAN;
    }
    printf("%zu instructions\n", count);
    if (retired) {
        write_retired(retired);
    }
    if (transfers) {
        write_transfers(transfers);
    }
    if (wanted) {
        same = compare();
    }
    if (fflush(stdout)) {
        die("%s", strerror(errno));
    }
    return same ? 0 : 1;
}
