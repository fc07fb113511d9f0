/*
 * 6.4 RAS (Return Address Stack) Emulation Mode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* The buffer as the text has it: physical entries and WRPTR */
static struct {
    struct transfer entry[256];
    bool valid[256];
    unsigned wrptr;
} model;

static void model_clear(void)
{
    for (unsigned i = 0; i < 256; i++) {
        model.entry[i] = (struct transfer){ 0, 0, 0 };
        model.valid[i] = false;
    }
    model.wrptr = 0;
}

static void model_transfer(const struct transfer *t)
{
    switch (t->type) {
    case IND_CALL:
    case DIR_CALL:
        /* "Indirect and direct calls are recorded as normal" */
        model.entry[model.wrptr] = *t;
        model.valid[model.wrptr] = true;
        model.wrptr = (model.wrptr + 1) % depth;
        break;
    case RETURN:
        /*
         * "Function returns pop the most recent call, by decrementing the
         * WRPTR then invalidating the WRPTR entry (by setting
         * ctrsource.V=0)."
         */
        model.wrptr = (model.wrptr + depth - 1) % depth;
        model.valid[model.wrptr] = false;
        break;
    case SWAP:
        /* "Logical entry 0 is overwritten, and WRPTR is not modified." */
        model.entry[(model.wrptr + depth - 1) % depth] = *t;
        model.valid[(model.wrptr + depth - 1) % depth] = true;
        break;
    default:
        /* "Other transfer types are inhibited" */
        break;
    }
}

static void model_compare(void)
{
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), model.wrptr);
    for (unsigned x = 0; x < depth; x++) {
        unsigned y = (model.wrptr + depth - x - 1) % depth;
        struct entry e = entry_read(x);

        if (!check_eq("ctrsource", e.source,
                      model.entry[y].source | model.valid[y]) ||
            !check_eq("ctrtarget", e.target, model.entry[y].target) ||
            !check_eq("TYPE", e.data & ~(DATA_CC | DATA_CCV),
                      model.entry[y].type)) {
            print("#   in logical entry %u\n", x);
            return;
        }
    }
}

static void set_depth(unsigned code)
{
    csr_write(CSR_SCTRDEPTH, code);
    depth = 16u << (csr_read(CSR_SCTRDEPTH) & 7);
}

/* Runs the transfers in a mode, and what they are to do in the model. */
static void go(enum mode mode, uint64_t control)
{
    bool virt = mode == VS || mode == VU;
    uint64_t on = CTL_RASEMU | control |
                  (mode == M ? CTL_M : mode == S || mode == VS ? CTL_S : CTL_U);

    gen_end();
    if (have_h) {
        csr_write(CSR_VSCTRCTL, virt ? on : 0);
    }
    run_at(mode, gen_code, virt ? 0 : on);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    for (unsigned i = 0; i < gen_count; i++) {
        model_transfer(&gen_list[i]);
    }
    model_compare();
}

static void begin(void)
{
    ctr_clear();
    model_clear();
    gen_begin();
}

/* c: direct call, C: indirect call, r: return, s: swap, o: every other type */
static void script(const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case 'c':
            gen_transfer(DIR_CALL);
            break;
        case 'C':
            gen_transfer(IND_CALL);
            break;
        case 'r':
            gen_transfer(RETURN);
            break;
        case 's':
            gen_transfer(SWAP);
            break;
        case 'o':
            gen_transfer(NOT_TAKEN);
            gen_transfer(TAKEN);
            gen_transfer(IND_JUMP);
            gen_transfer(DIR_JUMP);
            gen_transfer(IND_LINK);
            gen_transfer(DIR_LINK);
            break;
        }
    }
}

static void scripted(const char *what, const char *text)
{
    rule("6.4 %s", what);
    for (enum mode mode = M; mode < MODES; mode++) {
        if (mode >= VS && !have_h) {
            break;
        }
        about("%s in %s", text, mode_name[mode]);
        begin();
        script(text);
        go(mode, 0);
    }
}

/* The words of the text once more, without the model */
static void by_hand(void)
{
    struct entry e;

    rule("6.4 after two calls and a return, entry 0 is the first call and "
         "entry depth-1 the second, with V=0");
    begin();
    script("cCr");
    go(U, 0);
    e = entry_read(0);
    check_eq("entry 0 ctrsource", e.source, gen_list[0].source | 1);
    check_eq("entry 0 ctrtarget", e.target, gen_list[0].target);
    check_eq("entry 0 TYPE", e.data & DATA_TYPE, DIR_CALL);
    e = entry_read(depth - 1);
    check_eq("entry depth-1 ctrsource", e.source, gen_list[1].source);
    check_eq("entry depth-1 ctrtarget", e.target, gen_list[1].target);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 1);
}

static void depths(void)
{
    for (unsigned code = 0; code <= 4; code++) {
        set_depth(code);
        rule("6.4 overflow: depth %u keeps the last calls", depth);
        begin();
        for (unsigned i = 0; i < depth + 3; i++) {
            script(i % 3 ? "c" : "C");
        }
        go(U, 0);

        rule("6.4 underflow: returns from an empty buffer of depth %u "
             "decrement WRPTR", depth);
        begin();
        for (unsigned i = 0; i < depth + 3; i++) {
            script("r");
        }
        go(U, 0);

        rule("6.4 depth %u: overflow, underflow, and calls again", depth);
        begin();
        for (unsigned i = 0; i < depth + 5; i++) {
            script("c");
        }
        for (unsigned i = 0; i < depth + 7; i++) {
            script("r");
        }
        script("csCrrsc");
        go(U, 0);
    }
    set_depth_max();
}

static void many(void)
{
    static const char *const operations[] = {
        "c", "C", "r", "r", "s", "o", "c", "r"
    };
    uint64_t random = 0x9e3779b97f4a7c15;

    for (unsigned code = 0; code <= 4; code += 2) {
        set_depth(code);
        rule("6.4 thousands of calls, returns and swaps at depth %u", depth);
        ctr_clear();
        model_clear();
        for (unsigned burst = 0; burst < 10; burst++) {
            about("burst %u", burst);
            gen_begin();
            for (unsigned i = 0; i < 500; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                script(operations[random >> 20 & 7]);
            }
            go(U, 0);
        }
    }
    set_depth_max();
}

/*
 * "Transfer type filtering bits (xctrctl[47:32]) and external trap enable bits
 * (xctrctl.xTE) are ignored"
 */
static void ignored(void)
{
    const struct transfer none[1];

    rule("6.4 the filter bits are ignored");
    for (unsigned bit = 32; bit < 48; bit++) {
        about("bit %u", bit);
        begin();
        script("cCocsror");
        go(U, BIT(bit));
    }
    about("all");
    begin();
    script("cCocsror");
    go(U, 0xffffull << 32);

    rule("6.4 xTE are ignored: external traps are not recorded");
    for (unsigned i = 0; i < 2; i++) {
        csr_write(medeleg, i ? 1 << CAUSE_ILLEGAL : 0);
        about(i ? "U to S" : "U to M");
        ctr_clear();
        run_at(U, illegal_stub, CTL_U | CTL_MTE | CTL_STE | CTL_RASEMU);
        check_buffer(none, 0);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 0);
    }

    rule("6.4 traps and trap returns are inhibited");
    for (unsigned i = 0; i < 2; i++) {
        csr_write(medeleg, i ? 1 << CAUSE_ILLEGAL : 0);
        about(i ? "U to S" : "M to U to M");
        ctr_clear();
        run_at(U, illegal_stub, CTL_U | (i ? CTL_S : CTL_M) | CTL_RASEMU);
        check_buffer(none, 0);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 0);
    }
    csr_write(medeleg, 0);
}

/* 6.5: "When sctrstatus.FROZEN=1, transfer recording is inhibited." */
static void frozen(void)
{
    rule("6.5 FROZEN inhibits calls, returns and swaps of RASEMU");
    begin();
    script("ccc");
    go(U, 0);
    gen_begin();
    script("crrsC");
    gen_end();
    csr_set(CSR_SCTRSTATUS, STATUS_FROZEN);
    run_at(U, gen_code, CTL_U | CTL_RASEMU);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 3);
    csr_clear(CSR_SCTRSTATUS, STATUS_FROZEN);
    model_compare();
}

/* Returns in a mode that is not enabled pop nothing. */
static void disabled(void)
{
    rule("6.4 nothing is pushed or popped in a disabled mode");
    begin();
    script("ccc");
    go(U, 0);
    gen_begin();
    script("rrcs");
    gen_end();
    run_at(S, gen_code, CTL_U | CTL_RASEMU);
    model_compare();
}

void test_main(void)
{
    scripted("indirect and direct calls are recorded as normal", "cCcC");
    scripted("a return pops the most recent call", "cCcrrC");
    scripted("a co-routine swap overwrites entry 0", "ccs");
    scripted("a co-routine swap with an empty buffer", "s");
    scripted("a co-routine swap after a return", "ccrs");
    scripted("other transfer types are inhibited", "ococor");
    by_hand();
    depths();
    many();
    ignored();
    frozen();
    disabled();
}
