/*
 * Control transfer records: what a model has (../ctr-random/model.c) that goes
 * by what retired, and what the guest copied from the hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../ctr-random/model.h"
#include "history.h"

enum { MCTRCTL = 0x34e, SCTRCTL = 0x14e, VSCTRCTL = 0x24e, SCTRSTATUS = 0x14f,
       SCTRDEPTH = 0x15f };
enum { BREAKPOINT = 3, LCOFI = 13 };

#define PLACES 8            /* for copies */
#define PLACE_SIZE 1024
#define ENTRIES 32          /* that are copied */

/* As ctr_dump in runtime.S writes it */
typedef struct Copy {
    uint64_t mctrctl, sctrctl, vsctrctl, status, depth, none[3];
    struct {
        uint64_t source, target, data;
    } entry[ENTRIES];
} Copy;

static struct ctr ctr;
static Copy copies[PLACES];
static bool copied[PLACES];

static void make_copy(Copy *copy, bool hypervisor)
{
    memset(copy, 0, sizeof(*copy));
    copy->mctrctl = ctr.mctrctl;
    copy->sctrctl = ctr_read_sctrctl(&ctr);
    copy->vsctrctl = hypervisor ? ctr.vsctrctl : 0;
    copy->status = ctr_read_status(&ctr);
    copy->depth = __builtin_ctz(ctr.depth / 16);
    for (unsigned i = 0; i < ENTRIES && i < ctr.depth; i++) {
        const struct ctr_entry *e = &ctr.entry[ctr_place(&ctr, i)];

        copy->entry[i].source = e->source;
        copy->entry[i].target = e->target;
        copy->entry[i].data = e->type;
    }
}

/* From QEMU's number, and 4 for V=1 */
static enum ctr_mode mode_of(unsigned mode)
{
    switch (mode) {
    case 0:
        return MODE_U;
    case 1:
        return MODE_S;
    case 3:
        return MODE_M;
    case 4:
        return MODE_VU;
    case 5:
        return MODE_VS;
    }
    die("mode %u", mode);
}

static void write_csr(const Label *label, unsigned mode)
{
    uint64_t value = label->b;

    switch (label->a) {
    case MCTRCTL:
        ctr_write_mctrctl(&ctr, value);
        break;
    case SCTRCTL:
        if (mode < 4) {
            ctr_write_sctrctl(&ctr, value);
            break;
        }
        /* fall through */
    case VSCTRCTL:
        ctr_write_vsctrctl(&ctr, value);
        break;
    case SCTRSTATUS:
        ctr_write_status(&ctr, value);
        break;
    case SCTRDEPTH:
        ctr.depth = 16 << value;
        break;
    default:
        die("CSR 0x%" PRIx64, label->a);
    }
}

/* The type of a control transfer, TYPE_TAKEN for a branch, or 0 */
static unsigned type_of(const Item *item)
{
    uint32_t code = item->code;
    unsigned rd = code >> 7 & 31;

    if (item->length == 2) {
        unsigned top = code >> 13 & 7, low = code & 3;

        code &= 0xffff;
        if (low == 1 && top == 5) {
            return TYPE_DIRECT_JUMP;
        }
        if (low == 1 && top >= 6) {
            return TYPE_TAKEN;
        }
        if (low == 2 && top == 4 && !(code & 0x7c) && rd) {
            return ctr_jalr_type(code >> 12 & 1, rd);
        }
        if (low == 2 && top == 5) {
            if (!(code & 0x1c00)) {             /* cm.jt, cm.jalt */
                return (code >> 2 & 255) < 32 ? TYPE_DIRECT_JUMP :
                                                TYPE_DIRECT_CALL;
            }
            if ((code & 0xff03) == 0xbe02 || (code & 0xff03) == 0xbc02) {
                return TYPE_RETURN;             /* cm.popret, cm.popretz */
            }
        }
        return 0;
    }
    switch (code & 0x7f) {
    case 0x63:
        return TYPE_TAKEN;
    case 0x6f:
        return ctr_jal_type(rd);
    case 0x67:
        return ctr_jalr_type(rd, code >> 15 & 31);
    }
    return code == 0x30200073 || code == 0x10200073 ? TYPE_TRAP_RETURN : 0;
}

/*
 * A trap that hits another handler's first instruction is written down ahead
 * of the one that led there. That one, or the trap itself.
 */
static size_t led_there(size_t at)
{
    for (size_t i = at + 1; is_handler(items[at].pc) && i + 1 < nitems; i++) {
        if (items[i].kind == TRAP && !items[i].done &&
            items[i + 1].pc == items[at].pc) {
            return i;
        }
    }
    return at;
}

static void trap(size_t at)
{
    const Item *item = &items[at];
    size_t before;

    items[at].done = true;
    before = led_there(at);
    if (before != at) {
        trap(before);
    }
    if (at + 1 < nitems) {
        struct transfer t = {
            .type = item->length ? TYPE_INTERRUPT : TYPE_EXCEPTION,
            .source = item->pc, .target = items[at + 1].pc,
            .from = mode_of(item->from), .to = mode_of(item->mode),
            .breakpoint = !item->length && item->code == BREAKPOINT,
            .lcofi = item->length && item->code == LCOFI,
        };

        ctr_transfer(&ctr, &t);
    }
}

static void at_label(const Item *item, bool hypervisor)
{
    static unsigned place;
    const Label *label = label_at(item->pc);

    if (!label) {
        return;
    }
    switch (label->what) {
    case CTR_WRITE:
        write_csr(label, item->mode);
        break;
    case CTR_CLEAR:
        ctr_clear(&ctr);
        break;
    case CTR_DUMP:
        place = label->a % PLACES;
        break;
    case CTR_DUMPED:
        make_copy(&copies[place], hypervisor);
        copied[place] = true;
        break;
    default:
        break;
    }
}

static void instruction(size_t at)
{
    const Item *item = &items[at];
    unsigned type = type_of(item);
    uint64_t target;
    unsigned mode;

    if (!type) {
        return;
    }
    /* What follows: of traps, the first one */
    at++;
    while (at < nitems && items[at].done) {
        at++;
    }
    if (at == nitems) {
        return;
    }
    if (items[at].kind == TRAP) {
        size_t before = led_there(at);

        while (before != at) {
            at = before;
            before = led_there(at);
        }
    }
    target = items[at].pc;
    mode = items[at].kind == TRAP ? items[at].from : items[at].mode;
    if (type == TYPE_TAKEN && target == item->pc + item->length) {
        type = TYPE_NOT_TAKEN;
    }
    ctr_transfer(&ctr, &(struct transfer) {
        .type = type, .source = item->pc, .target = target,
        .from = mode_of(item->mode), .to = mode_of(mode),
    });
}

static bool same(unsigned place, const char *what, int number, uint64_t is,
                 uint64_t wanted)
{
    if (is != wanted) {
        printf("CTR, copy %u: %s", place, what);
        if (number >= 0) {
            printf(" %d", number);
        }
        printf(" is 0x%" PRIx64 " instead of 0x%" PRIx64 "\n", is, wanted);
    }
    return is == wanted;
}

static bool compare_copy(unsigned place, const Copy *is, const Copy *wanted)
{
    bool ok = same(place, "mctrctl", -1, is->mctrctl, wanted->mctrctl) &
              same(place, "sctrctl", -1, is->sctrctl, wanted->sctrctl) &
              same(place, "vsctrctl", -1, is->vsctrctl, wanted->vsctrctl) &
              same(place, "sctrstatus", -1, is->status, wanted->status) &
              same(place, "sctrdepth", -1, is->depth, wanted->depth);

    for (int i = 0; ok && i < ENTRIES; i++) {
        ok = same(place, "ctrsource", i, is->entry[i].source,
                  wanted->entry[i].source) &
             same(place, "ctrtarget", i, is->entry[i].target,
                  wanted->entry[i].target) &
             same(place, "type", i, is->entry[i].data & 15,
                  wanted->entry[i].data);
    }
    return ok;
}

bool compare_records(const char *path, uint64_t offset, bool hypervisor)
{
    FILE *file = fopen(path, "rb");
    bool any = false, ok = true;

    if (!file) {
        die("cannot read %s", path);
    }
    ctr.depth = 16;
    for (size_t i = 0; i < nitems; i++) {
        if (items[i].kind == TRAP) {
            if (!items[i].done) {
                trap(i);
            }
        } else if (i + 1 < nitems) {
            at_label(&items[i], hypervisor);
            instruction(i);
        }
    }
    for (unsigned place = 0; place < PLACES && ok; place++) {
        Copy copy;

        if (copied[place]) {
            any = true;
            if (fseek(file, offset + place * PLACE_SIZE, SEEK_SET) ||
                fread(&copy, sizeof(copy), 1, file) != 1) {
                die("cannot read %s", path);
            }
            ok = compare_copy(place, &copy, &copies[place]);
        }
    }
    fclose(file);
    if (!any) {
        printf("CTR: nothing was copied\n");
    }
    return ok && any;
}
