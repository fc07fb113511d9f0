/*
 * follow HIT VECTOR SWITCHES DEPTH CODE...
 *
 * Reads the pcs of one hart, as rvtrace decode --emit pc writes them. Each time
 * that it comes to HIT, the start of the module's handler of overflows, it
 * writes which transfers were the last ones: of the task that runs, in U mode;
 * and of the hart, in S and U mode, before the last trap to VECTOR, which is
 * the overflow's interrupt.
 *
 * SWITCHES: what --emit task writes. CODE: ELF files that are not moved, or
 * ADDRESS:FILE, whose code may have been patched. Transfers are jumps, and
 * where an instruction did not go on with the next one; where code is not known
 * or may have been patched, 2 or 4 bytes on is the next one, but for compressed
 * jumps and branches. (Linux patches returns of 4 bytes: see clear_page().)
 *
 * Written for each hit: thread, number of transfers of the task, of the hart,
 * 0, 32 bits each; and for each transfer, from the newest: source, target,
 * kind, each 64 bits.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEN,
    HIDDEN, /* a trap came next; the target is where it went on, or 0 */
    TRAP,   /* the source is the last instruction before it */
};

enum { U, S, M };

#define RING 4096
#define MAX_TASKS 1024
#define MAX_CODE 16

typedef struct Transfer {
    uint64_t source, target, kind;
} Transfer;

typedef struct Task {
    uint32_t tid;
    uint32_t nr;        /* so many in all */
    Transfer ring[RING];
} Task;

static struct {
    uint64_t start, size;
    uint8_t *bytes;
    bool exact;
} codes[MAX_CODE], *last_code = codes;
static int nr_codes;
static Task *tasks[MAX_TASKS];
static int nr_tasks;

static void die(const char *why, const char *what)
{
    fprintf(stderr, "follow: %s: %s\n", what, why);
    exit(2);
}

static uint8_t *read_all(const char *path, uint64_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes;

    if (!f || fseek(f, 0, SEEK_END) != 0) {
        die("cannot be read", path);
    }
    *size = ftell(f);
    rewind(f);
    bytes = malloc(*size);
    if (!bytes || fread(bytes, 1, *size, f) != *size) {
        die("cannot be read", path);
    }
    fclose(f);
    return bytes;
}

static void add_code(uint64_t start, uint8_t *bytes, uint64_t size, bool exact)
{
    if (nr_codes == MAX_CODE) {
        die("too many", "code");
    }
    codes[nr_codes].start = start;
    codes[nr_codes].bytes = bytes;
    codes[nr_codes].exact = exact;
    codes[nr_codes++].size = size;
}

static void add_file(const char *text)
{
    uint64_t start, size;
    uint8_t *bytes;
    Elf64_Ehdr *elf;

    if (sscanf(text, "%" SCNx64 ":", &start) == 1 && strchr(text, ':')) {
        bytes = read_all(strchr(text, ':') + 1, &size);
        add_code(start, bytes, size, false);
        return;
    }
    bytes = read_all(text, &size);
    elf = (Elf64_Ehdr *)bytes;
    for (int i = 0; i < elf->e_phnum; i++) {
        Elf64_Phdr *p = (Elf64_Phdr *)(bytes + elf->e_phoff +
                                       i * elf->e_phentsize);

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            add_code(p->p_vaddr, bytes + p->p_offset, p->p_filesz, true);
        }
    }
}

/* Did the instruction at @pc go on with the next one, which is @next? */
static bool went_on(uint64_t pc, uint64_t next)
{
    uint8_t *at;
    uint16_t low;

    if (next - pc != 2 && next - pc != 4) {
        return false;
    }
    if (pc - last_code->start >= last_code->size) {
        for (int i = 0; ; i++) {
            if (i == nr_codes) {
                return true;
            }
            if (pc - codes[i].start < codes[i].size) {
                last_code = &codes[i];
                break;
            }
        }
    }
    at = &last_code->bytes[pc - last_code->start];
    low = at[0] | at[1] << 8;
    if ((low & 3) == 3) {
        return !last_code->exact ||
               (next == pc + 4 &&
                (low & 0x7f) != 0x67 && (low & 0x7f) != 0x6f); /* JALR, JAL */
    }
    /* Nobody patches compressed jumps and branches. */
    if (((low & 0xe07f) == 0x8002 && (low & 0xf80)) ||
        (low & 0xe003) == 0xa001) {
        return false;       /* C.JR, C.JALR; C.J */
    }
    if ((low & 0xc003) == 0xc001) {
        return next == pc + 2;  /* C.BEQZ, C.BNEZ */
    }
    return !last_code->exact || next == pc + 2;
}

static Task *task_of(uint32_t tid)
{
    for (int i = 0; i < nr_tasks; i++) {
        if (tasks[i]->tid == tid) {
            return tasks[i];
        }
    }
    if (nr_tasks == MAX_TASKS) {
        die("too many", "tasks");
    }
    tasks[nr_tasks] = calloc(1, sizeof(Task));
    tasks[nr_tasks]->tid = tid;
    return tasks[nr_tasks++];
}

static void add(Task *t, uint64_t source, uint64_t target, uint64_t kind)
{
    t->ring[t->nr++ % RING] = (Transfer) { source, target, kind };
}

/* The trap is over. */
static void reveal(Task *t, uint64_t target)
{
    Transfer *last = &t->ring[(t->nr - 1) % RING];

    if (t->nr && last->kind == HIDDEN && !last->target) {
        last->target = target;
    }
}

static void write_transfers(const Task *t, uint32_t from, uint32_t nr)
{
    for (uint32_t i = 1; i <= nr; i++) {
        fwrite(&t->ring[(t->nr - from - i) % RING], sizeof(Transfer), 1,
               stdout);
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void write_hit(const Task *task, const Task *hart, uint32_t depth)
{
    uint32_t of_task = least(least(task->nr, RING), depth);
    uint32_t kept = least(hart->nr, RING), from = 0, of_hart;
    Transfer first = { 0, 0, HIDDEN };

    /* What is behind the interrupt is its handler's. */
    while (from < kept) {
        const Transfer *trap = &hart->ring[(hart->nr - ++from) % RING];

        if (trap->kind == TRAP) {
            first.source = trap->source;
            break;
        }
    }
    of_hart = least(kept - from, depth);
    fwrite((uint32_t[]) { task->tid, of_task, of_hart + 1, 0 },
           sizeof(uint32_t), 4, stdout);
    write_transfers(task, 0, of_task);
    fwrite(&first, sizeof(first), 1, stdout);
    write_transfers(hart, from, of_hart);
}

static int mode_of(uint64_t pc)
{
    return pc >> 63 ? S : pc - 0x80000000 < 0x200000 ? M : U;
}

static bool read_pc(uint64_t *pc)
{
    int c = getchar_unlocked();

    if (c == EOF) {
        return false;
    }
    for (*pc = 0; c != '\n' && c != EOF; c = getchar_unlocked()) {
        *pc = *pc << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* Instructions before a switch, and who runs from then on */
static bool read_switch(FILE *f, uint64_t *at, uint32_t *tid)
{
    char line[256];

    *at = UINT64_MAX;
    return fgets(line, sizeof(line), f) &&
           sscanf(line, "%" SCNu64 " %*s %" SCNu32, at, tid) >= 1;
}

/* What the hart did between these two, for its own path and its task's */
static void step(Task *task, Task *hart, uint64_t from, uint64_t to,
                 uint64_t vector)
{
    int mode = mode_of(to), last_mode = mode_of(from);

    if (mode == last_mode) {
        if (mode != M && !went_on(from, to)) {
            add(hart, from, to, to == vector ? TRAP : SEEN);
            if (mode == U) {
                add(task, from, to, SEEN);
            }
        }
        return;
    }
    if (mode == M) {
        add(hart, from, 0, HIDDEN);
    } else if (last_mode == M) {
        reveal(hart, to);
    } else {
        add(hart, from, to, last_mode == U ? TRAP : SEEN);
    }
    if (last_mode == U) {
        add(task, from, 0, HIDDEN);
    } else if (mode == U) {
        reveal(task, to);
    }
}

int main(int argc, char **argv)
{
    uint64_t hit, vector, pc, last = 0, at, n = 0;
    uint32_t next_tid = 0, depth;
    static Task hart;
    FILE *switches;
    Task *task;

    if (argc < 6) {
        die("see its first lines", "usage");
    }
    if (sscanf(argv[1], "%" SCNx64, &hit) != 1 ||
        sscanf(argv[2], "%" SCNx64, &vector) != 1 ||
        sscanf(argv[4], "%" SCNu32, &depth) != 1) {
        die("no number", "HIT, VECTOR or DEPTH");
    }
    switches = fopen(argv[3], "r");
    if (!switches) {
        die("cannot be read", argv[3]);
    }
    for (int i = 5; i < argc; i++) {
        add_file(argv[i]);
    }
    task = task_of(0);
    read_switch(switches, &at, &next_tid);

    for (; read_pc(&pc); n++, last = pc) {
        while (n >= at) {
            task = task_of(next_tid);
            read_switch(switches, &at, &next_tid);
        }
        if (last) {
            step(task, &hart, last, pc, vector);
        }
        if (pc == hit) {
            write_hit(task, &hart, depth);
        }
    }
    return 0;
}
