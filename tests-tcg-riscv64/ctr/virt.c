/*
 * 6.1.1 Virtualization mode transitions
 *
 * "What is recorded, if anything, on these virtualization mode transitions
 * depends upon fields from both [ms]ctrctl and vsctrctl." Each transition
 * between V=0 and V=1, in both directions, with one field at a time in one of
 * the two registers. The freeze bits are in freeze.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static const struct transition {
    const char *name;
    enum mode from, to;
    unsigned type;
} transitions[] = {
    { "exception VU to HS", VU, S, EXCEPTION },
    { "exception VU to M", VU, M, EXCEPTION },
    { "exception VS to HS", VS, S, EXCEPTION },
    { "exception VS to M", VS, M, EXCEPTION },
    { "interrupt VU to HS", VU, S, INTERRUPT },
    { "interrupt VU to M", VU, M, INTERRUPT },
    { "interrupt VS to HS", VS, S, INTERRUPT },
    { "interrupt VS to M", VS, M, INTERRUPT },
    { "sret HS to VS", S, VS, TRAP_RETURN },
    { "sret HS to VU", S, VU, TRAP_RETURN },
    { "mret M to VS", M, VS, TRAP_RETURN },
    { "mret M to VU", M, VU, TRAP_RETURN },
};
#define N_TRANSITIONS (sizeof(transitions) / sizeof(transitions[0]))

static const uint64_t mode_bit[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

static bool is_virtual(enum mode mode)
{
    return mode == VS || mode == VU;
}

/*
 * Makes the transition. If M is enabled, run()'s mret and the trap that ends
 * it may be in the buffer as well.
 */
static void make(const struct transition *t, uint64_t mctrctl,
                 uint64_t vsctrctl)
{
    bool trap = t->type != TRAP_RETURN;
    struct run r = { .mctrctl = mctrctl };

    csr_write(medeleg, trap && t->to == S ? 1 << CAUSE_ILLEGAL : 0);
    csr_write(mideleg, trap && t->to == S ? 0x2 : 0);
    csr_write(CSR_HEDELEG, 0);
    if (trap) {
        r.mode = t->from;
        r.pc = (xlen_t)illegal_stub;
    } else if (t->from == M) {
        r.mode = t->to;
        r.pc = (xlen_t)ecall_stub;
    } else {
        r.mode = S;
        r.pc = (xlen_t)sret_stub;
        csr_write(sepc, ecall_stub);
        csr_clear(sstatus, MSTATUS_SPP);
        csr_set(sstatus, t->to == VS ? MSTATUS_SPP : 0);
        csr_set(CSR_HSTATUS, HSTATUS_SPV);
    }
    if (t->type == INTERRUPT) {
        csr_set(mip, 0x2);
        csr_set(mie, 0x2);
    }
    ctr_clear();
    csr_write(CSR_VSCTRCTL, vsctrctl);
    run(&r);
    csr_write(CSR_VSCTRCTL, 0);
    csr_clear(mip, 0x2);
    csr_clear(mie, 0x2);
    if (trap) {
        check_eq("cause", t->to == S ? csr_read(scause) : r.cause,
                 t->type == INTERRUPT ? CAUSE_INTERRUPT | 1 : CAUSE_ILLEGAL);
    } else {
        check_eq("reached mode", r.from, t->to);
    }
}

/* Is the transition in the buffer? Others of run() may be, if M is enabled. */
static bool recorded(const struct transition *t, bool source, bool target)
{
    uint64_t from = t->type != TRAP_RETURN ? addr(illegal_stub) :
                    t->from == M ? addr(enter_mret) : addr(sret_stub);
    uint64_t to = t->type == TRAP_RETURN ? addr(ecall_stub) :
                  t->to == M ? addr(trap_vector) : addr(quiet_trap);

    for (unsigned i = 0; i < depth; i++) {
        struct entry e = entry_read(i);

        if (e.source == (source ? from | 1 : 1) &&
            e.target == (target ? to : 0) && (e.data & DATA_TYPE) == t->type) {
            return true;
        }
    }
    return false;
}

/* With both modes enabled, is the transition recorded with these fields? */
static bool with_both(const struct transition *t, uint64_t mctrctl,
                      uint64_t vsctrctl)
{
    enum mode host = is_virtual(t->from) ? t->to : t->from;
    enum mode guest = is_virtual(t->from) ? t->from : t->to;

    make(t, mctrctl | mode_bit[host], vsctrctl | mode_bit[guest]);
    return recorded(t, true, true);
}

static uint64_t inhibit(unsigned type)
{
    return type == EXCEPTION ? CTL_EXCINH :
           type == INTERRUPT ? CTL_INTRINH : CTL_TRETINH;
}

/* "For all other xctrctl fields, the value in vsctrctl is used." */
static void filters(const struct transition *t)
{
    static const uint64_t all = CTL_EXCINH | CTL_INTRINH | CTL_TRETINH;

    rule("6.1.1 %s: the type filters of vsctrctl are used", t->name);
    about("no filter");
    check("recorded", with_both(t, 0, 0));
    about("vsctrctl inhibits the type");
    check("not recorded", !with_both(t, 0, inhibit(t->type)));
    about("vsctrctl inhibits the other types");
    check("recorded", with_both(t, 0, all & ~inhibit(t->type)));
    about("mctrctl inhibits the type");
    check("recorded", with_both(t, inhibit(t->type), 0));
    about("both inhibit the type");
    check("not recorded", !with_both(t, all, inhibit(t->type)));
}

static void rasemu(const struct transition *t)
{
    rule("6.1.1 %s: RASEMU of vsctrctl is used", t->name);
    about("mctrctl.RASEMU");
    check("recorded", with_both(t, CTL_RASEMU, 0));
    about("vsctrctl.RASEMU");
    check("not recorded", !with_both(t, 0, CTL_RASEMU));
}

/*
 * "mctrctl.M, sctrctl.S, and vsctrctl.{S,U} are used to determine whether the
 * source and target modes are enabled"
 */
static void enables(const struct transition *t)
{
    enum mode host = is_virtual(t->from) ? t->to : t->from;
    enum mode guest = is_virtual(t->from) ? t->from : t->to;
    uint64_t host_bits = (CTL_U | CTL_S | CTL_M) & ~mode_bit[host];
    uint64_t guest_bits = (CTL_U | CTL_S) & ~mode_bit[guest];

    rule("6.1.1 %s: the mode enables are of the register of each mode",
         t->name);
    if (host == S) {
        host_bits &= ~CTL_M;    /* or the frame of run() is recorded */
    }
    about("the bits of every mode but these two");
    make(t, host_bits, guest_bits);
    check("not recorded", !recorded(t, true, true) &&
                          !recorded(t, true, false) &&
                          !recorded(t, false, true));
    about("both bits, each in its register");
    check("recorded", with_both(t, 0, 0));
    about("the host's alone");
    make(t, mode_bit[host] | (host_bits & (CTL_U | CTL_S)), guest_bits);
    check("recorded as the table says",
          recorded(t, t->from == host, t->to == host));
    about("the guest's alone");
    make(t, host_bits, mode_bit[guest] | guest_bits);
    check("not recorded", !recorded(t, true, true) &&
                          !recorded(t, true, false) &&
                          !recorded(t, false, true));
}

/*
 * RASEMU: "external trap enable bits are ignored" and traps inhibited; RASEMU
 * is a field of which vsctrctl's value is used on these transitions.
 */
static void external(const struct transition *t)
{
    uint64_t m = CTL_MTE | CTL_STE, vs = CTL_STE | mode_bit[t->from];

    rule("6.1.1 external %s: RASEMU of vsctrctl is used", t->name);
    about("no RASEMU");
    make(t, m, vs);
    check("recorded", recorded(t, true, false));
    about("mctrctl.RASEMU");
    make(t, m | CTL_RASEMU, vs);
    check("recorded", recorded(t, true, false));
    about("vsctrctl.RASEMU");
    make(t, m, vs | CTL_RASEMU);
    check("not recorded", !recorded(t, true, false));
}

/* Within V=1 nothing depends on sctrctl, within V=0 nothing on vsctrctl. */
static void within(void)
{
    static const uint64_t filters =
        CTL_EXCINH | CTL_TRETINH | CTL_TKBRINH | CTL_DIRCALLINH |
        CTL_RASEMU | CTL_NTBREN;

    rule("2.3 in VS and VU the fields of mctrctl have no effect");
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(RETURN);
    gen_transfer(DIR_CALL);
    gen_end();
    for (enum mode mode = VS; mode <= VU; mode++) {
        about("%s", mode_name[mode]);
        ctr_clear();
        csr_write(CSR_VSCTRCTL, mode_bit[mode]);
        run_at(mode, gen_code, filters | CTL_S | CTL_U);
        csr_write(CSR_VSCTRCTL, 0);
        check_buffer(gen_list, gen_count);
    }

    rule("2.3 in HS and U the fields of vsctrctl have no effect");
    for (enum mode mode = S; mode <= U; mode++) {
        about("%s", mode_name[mode]);
        ctr_clear();
        csr_write(CSR_VSCTRCTL, filters | CTL_S | CTL_U);
        run_at(mode, gen_code, mode_bit[mode]);
        csr_write(CSR_VSCTRCTL, 0);
        check_buffer(gen_list, gen_count);
    }
}

void test_main(void)
{
    for (unsigned i = 0; i < N_TRANSITIONS; i++) {
        enables(&transitions[i]);
        filters(&transitions[i]);
        rasemu(&transitions[i]);
        if (transitions[i].type != TRAP_RETURN) {
            external(&transitions[i]);
        }
    }
    within();
}
