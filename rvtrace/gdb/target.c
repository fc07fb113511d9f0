/*
 * gdb's target: requests
 *
 * See "Remote Protocol", "Packets" in gdb's manual.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"

/* EFAULT, as gdbserver says it */
#define NO_MEMORY       "E14"

/* Transfers of gdb's own "set record btrace bts buffer-size", 64 KiB */
#define TRANSFERS       (65536 / 24)

GdbTarget *gdb_target_new(const Trace *t, GPtrArray *replays, ElfCode *files,
                          SourcePlaces *places)
{
    GdbTarget *g = g_new0(GdbTarget, 1);

    g->t = t;
    g->replays = replays;
    g->files = files;
    g->places = places;
    g->nr_harts = replays->len;
    g->harts = g_new0(GdbHart, g->nr_harts);
    g->breakpoints = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g->removed = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g->watches = g_array_new(FALSE, FALSE, sizeof(ReplayWatch));
    g->libraries = gdb_libraries_new();
    g->transfers = TRANSFERS;
    g->mover = -1;
    gdb_wait_init(g);
    g->id = (uint64_t)g_random_int() << 32 | g_random_int();
    for (unsigned i = g->nr_harts; i-- > 0;) {
        GdbHart *h = &g->harts[i];

        h->replay = replays->pdata[i];
        if (h->replay) {
            h->at = replay_length(h->replay) - 1;
            g->general = g->selected = i;
            g->xlen = t->harts[i].params.iaddress_width > 32 ? 64 : 32;
        }
    }
    return g;
}

void gdb_target_free(GdbTarget *g)
{
    for (unsigned i = 0; i < g->nr_harts; i++) {
        g_free(g->harts[i].given);
        g_clear_pointer(&g->harts[i].stacks, replay_stacks_free);
        g_clear_pointer(&g->harts[i].states, replay_states_free);
    }
    gdb_history_drop(g);
    g_array_unref(g->breakpoints);
    g_array_unref(g->removed);
    g_array_unref(g->watches);
    g_free(g->shared);
    g_array_unref(g->libraries);
    g_free(g->harts);
    g_free(g);
}

void gdb_target_set_stacks(GdbTarget *g, unsigned hart, ReplayStacks *stacks)
{
    g->harts[hart].stacks = stacks;
    replay_stacks_set_wait(stacks, &g->wait);
}

void gdb_target_set_states(GdbTarget *g, unsigned hart, ReplayStates *states)
{
    g->harts[hart].states = states;
    if (states) {
        replay_states_set_wait(states, &g->wait);
    }
}

void gdb_target_share(GdbTarget *g)
{
    unsigned n = 0;

    g->is_process = g->t->sideband && sideband_is_process(g->t->sideband);
    g->shared = g_new0(ReplayStates *, g->nr_harts);
    for (unsigned i = 0; i < g->nr_harts; i++) {
        g->shared[i] = g->harts[i].states;
        n += g->shared[i] != NULL;
    }
    if (n < 2) {
        g_clear_pointer(&g->shared, g_free);
    }
    for (unsigned i = 0; g->shared && i < g->nr_harts; i++) {
        if (g->shared[i] && !g->is_process) {
            replay_states_share(g->shared[i]);
        }
    }
}

void gdb_target_connected(GdbTarget *g)
{
    g_array_set_size(g->breakpoints, 0);
    g_array_set_size(g->removed, 0);
    g_array_set_size(g->watches, 0);
    gdb_history_drop(g);
    g->knows_swbreak = g->knows_errors = false;
    g->is_lldb = false;
    g->mover = -1;
    g->transfers = TRANSFERS;
    for (unsigned i = 0; i < g->nr_harts; i++) {
        g->harts[i].btrace = false;
        g_clear_pointer(&g->harts[i].given, g_free);
    }
}

/* Hg, Hc: the thread that is asked about, and the one that goes on */
static void select_thread(GdbTarget *g, const char *args)
{
    const char *thread = args + 1;
    unsigned hart;

    if (!*args || !gdb_get_thread(g, &thread, &hart)) {
        gdb_puts(g, "E01");
        return;
    }
    if (*args == 'g') {
        g->general = hart;
    } else {
        /* 0 or -1: any of them, or all */
        g->mover = args[1] == '0' || args[1] == '-' ? -1 : (int)hart;
        g->selected = hart;
    }
    gdb_puts(g, "OK");
}

static unsigned mover(const GdbTarget *g)
{
    return g->mover >= 0 ? (unsigned)g->mover : g->selected;
}

static void is_alive(GdbTarget *g, const char *args)
{
    unsigned hart;

    if (!gdb_get_thread(g, &args, &hart)) {
        gdb_puts(g, "E01");
        return;
    }
    g->selected = hart;
    gdb_puts(g, "OK");
}

/* Set *@value to register @n of the hart, if it is known. */
static bool get_register(GdbTarget *g, unsigned n, uint64_t *value)
{
    GdbHart *h = gdb_hart(g);
    const ReplayInsn *insn;
    const Cpu *cpu;

    *value = 0;
    if (!n) {
        return true;
    }
    if (n == GDB_REG_PC) {
        insn = replay_insn(h->replay, h->at);
        *value = insn ? insn->pc : 0;
        return insn;
    }
    cpu = h->states && n < GDB_REG_FFLAGS ? replay_registers(h->states, h->at)
                                          : NULL;
    if (!cpu) {
        return false;
    }
    if (n < GDB_REG_PC) {
        *value = cpu->x[n];
        return cpu->known_x >> n & 1;
    }
    *value = cpu->f[n - GDB_REG_F0];
    return cpu->known_f >> (n - GDB_REG_F0) & 1;
}

/* Append register @n of the hart that is asked about, as g and p have them. */
static void put_register(GdbTarget *g, GString *s, unsigned n)
{
    unsigned size = n >= GDB_REG_FFLAGS ? 4 : n >= GDB_REG_F0 ? 8 :
                    g->xlen / 8;
    uint64_t value;

    if (get_register(g, n, &value)) {
        rsp_put_value(s, value, size);
    } else {
        for (unsigned i = 0; i < 2 * size; i++) {
            g_string_append_c(s, 'x');
        }
    }
}

static void read_registers(GdbTarget *g)
{
    g_autoptr(GString) s = g_string_new(NULL);

    /* lldb takes every 'x' for a digit c, and asks for one after the other. */
    if (g->is_lldb) {
        gdb_puts(g, "");
        return;
    }
    for (unsigned n = 0; n < GDB_REG_PLACE; n++) {
        put_register(g, s, n);
    }
    gdb_put_own_register(g, s, GDB_REG_PLACE);
    if (!gdb_was_interrupted(g)) {
        gdb_put(g, s);
    }
}

static void read_register(GdbTarget *g, const char *args)
{
    g_autoptr(GString) s = g_string_new(NULL);
    uint64_t n, value;

    if (!rsp_get_number(&args, &n) || *args || n >= GDB_NR_REGS) {
        gdb_puts(g, "E01");
        return;
    }
    if (n >= GDB_REG_PLACE) {
        if (gdb_put_own_register(g, s, n)) {
            gdb_put(g, s);
        } else {
            gdb_puts(g, "E02");
        }
        return;
    }
    if (g->is_lldb && !get_register(g, n, &value)) {
        if (!gdb_was_interrupted(g)) {
            gdb_puts(g, "E02");
        }
        return;
    }
    put_register(g, s, n);
    if (!gdb_was_interrupted(g)) {
        gdb_put(g, s);
    }
}

/* Bytes of the files at @addr, as many as there are in a row */
static size_t read_files(ElfCode *files, uint64_t addr, uint8_t *buf,
                         size_t len)
{
    size_t n;

    for (n = 0; files && n < len; n++) {
        unsigned off = (addr + n) & CODE_PAGE_MASK;
        CodePage *page = elf_code_page(files, addr + n);

        if (!page || !code_page_valid(page, off & ~1u)) {
            break;
        }
        buf[n] = page->bytes[off];
    }
    if (files && elf_code_nr_pages(files) > IMAGE_MAX_PAGES) {
        elf_code_trim(files);
    }
    return n;
}

/*
 * What harts have accessed. *@stored: the next byte need not be as code is, even
 * if that is known.
 */
static size_t read_accessed(GdbTarget *g, GdbHart *h, uint64_t addr,
                            uint8_t *buf, size_t len, bool *stored)
{
    *stored = false;
    if (!h->states) {
        return 0;
    }
    if (!g->shared) {
        return replay_memory(h->states, h->at, addr, buf, len);
    }
    /* A program's threads have no times that order what they do. */
    return (g->is_process ? replay_threads_memory : replay_shared_memory)(
        g->shared, g->nr_harts, g->general, h->at, addr, buf, len, stored);
}

/* What harts have accessed, or what ran, or what is in the files */
static size_t read_some(GdbTarget *g, uint64_t addr, uint8_t *buf, size_t len)
{
    GdbHart *h = gdb_hart(g);
    bool stored;
    size_t n = read_accessed(g, h, addr, buf, len, &stored);

    if (!n && !stored) {
        /* The next byte may have been stored since that ran. */
        len = h->states ? 1 : len;
        n = replay_read(h->replay, h->at, addr, buf, len);
        n += read_files(g->files, gdb_address(g, addr + n), buf + n, len - n);
    }
    return n;
}

static void read_memory(GdbTarget *g, const char *args)
{
    g_autofree uint8_t *buf = g_malloc(RSP_MAX_PAIRS);
    g_autoptr(GString) s = g_string_new(NULL);
    uint64_t addr, len;
    size_t n = 0, more;

    if (!rsp_get_number(&args, &addr) || *args++ != ',' ||
        !rsp_get_number(&args, &len) || *args) {
        gdb_puts(g, "E01");
        return;
    }
    len = MIN(len, RSP_MAX_PAIRS);
    do {
        more = read_some(g, gdb_address(g, addr + n), buf + n, len - n);
        n += more;
    } while (more && n < len);
    if (gdb_was_interrupted(g)) {
        return;
    }
    if (len && !n) {
        gdb_puts(g, NO_MEMORY);
        return;
    }
    rsp_put_hex(s, buf, n);
    gdb_put(g, s);
}

static void list_threads(GdbTarget *g, bool first)
{
    g_autoptr(GString) s = g_string_new(NULL);
    unsigned hart = first ? 0 : g->next_listed;

    for (; hart < g->nr_harts && s->len < RSP_MAX_DATA / 2; hart++) {
        if (g->harts[hart].replay) {
            g_string_append_printf(s, "%c%x", s->len ? ',' : 'm', hart + 1);
        }
    }
    g->next_listed = hart;
    gdb_puts(g, s->len ? s->str : "l");
}

static void say_supported(GdbTarget *g, const char *args)
{
    g_autoptr(GString) s = g_string_new(NULL);

    g->knows_swbreak = strstr(args, "swbreak+");
    g->knows_errors = strstr(args, "error-message+");
    g_string_printf(s, "PacketSize=%x;QStartNoAckMode+;"
                    "qXfer:features:read+;qXfer:threads:read+;"
                    "ReverseStep+;ReverseContinue+;vContSupported+;"
                    "Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+;"
                    "qXfer:btrace:read+;qXfer:btrace-conf:read+%s%s",
                    RSP_MAX_DATA, g->knows_swbreak ? ";swbreak+;hwbreak+" : "",
                    gdb_libraries_known(g) ? ";qXfer:libraries-svr4:read+"
                                           : "");
    gdb_put(g, s);
}

static void read_features(GdbTarget *g, const char *args)
{
    g_autoptr(GString) text = gdb_text_features(g);

    if (g_str_has_prefix(args, "target.xml:")) {
        gdb_put_part(g, text, args + strlen("target.xml:"));
    } else {
        gdb_error(g, "the annex must be target.xml");
    }
}

static void read_threads(GdbTarget *g, const char *args)
{
    g_autoptr(GString) text = gdb_text_threads(g);

    gdb_put_part(g, text, args);
}

static void run_command(GdbTarget *g, const char *args)
{
    g_autofree char *text = rsp_get_text(args);

    if (text) {
        gdb_monitor(g, text);
    } else {
        gdb_puts(g, "E01");
    }
}

/* Queries and settings; what is not known gets an empty answer. */
static void query(GdbTarget *g, const char *packet)
{
    static const struct {
        const char *prefix;
        void (*answer)(GdbTarget *g, const char *args);
    } table[] = {
        { "qSupported", say_supported },
        { "qXfer:features:read:", read_features },
        { "qXfer:threads:read::", read_threads },
        { "qXfer:btrace:read:", gdb_history_read },
        { "qXfer:btrace-conf:read::", gdb_history_read_conf },
        { "Qbtrace:", gdb_history_set },
        { "Qbtrace-conf:", gdb_history_configure },
        { "qRcmd,", run_command },
        { "qXfer:libraries-svr4:read::", gdb_libraries_read },
        { "qOffsets", gdb_libraries_offset },
    };
    static const char *const lldb_asks[] = {
        "QThreadSuffixSupported", "QListThreadsInStopReply", "qHostInfo",
        "qProcessInfo", "qVAttachOrWaitSupported",
    };
    g_autofree char *thread = g_strdup_printf("QC%x", g->general + 1);

    for (size_t i = 0; i < G_N_ELEMENTS(lldb_asks); i++) {
        g->is_lldb |= g_str_has_prefix(packet, lldb_asks[i]);
    }

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        if (g_str_has_prefix(packet, table[i].prefix)) {
            table[i].answer(g, packet + strlen(table[i].prefix));
            return;
        }
    }
    if (g_str_equal(packet, "qC")) {
        gdb_puts(g, thread);
    } else if (g_str_equal(packet, "qfThreadInfo")) {
        list_threads(g, true);
    } else if (g_str_equal(packet, "qsThreadInfo")) {
        list_threads(g, false);
    } else if (g_str_has_prefix(packet, "qAttached")) {
        gdb_puts(g, "1");
    } else if (g_str_equal(packet, "QStartNoAckMode")) {
        gdb_puts(g, "OK");
        g->next = GDB_TARGET_NO_ACK;
    } else {
        gdb_puts(g, "");
    }
}

static void v_packet(GdbTarget *g, const char *packet)
{
    if (g_str_equal(packet, "vCont?")) {
        gdb_puts(g, "vCont;c;C;s;S");
    } else if (g_str_has_prefix(packet, "vCont;")) {
        gdb_vcont(g, packet + strlen("vCont"));
    } else if (g_str_has_prefix(packet, "vKill")) {
        gdb_puts(g, "OK");
        g->next = GDB_TARGET_KILLED;
    } else if (g_str_has_prefix(packet, "vRun") ||
               g_str_has_prefix(packet, "vAttach")) {
        gdb_error(g, "this is a trace: nothing can be run or attached to");
    } else {
        gdb_puts(g, "");
    }
}

/* s, c, S and C, with a signal or an address to go on at */
static void resume(GdbTarget *g, const char *packet)
{
    bool step = g_ascii_tolower(*packet) == 's';

    if (g_ascii_islower(*packet) && packet[1]) {
        gdb_error(g, "the past cannot be changed: go on without an address");
    } else if (step) {
        gdb_step(g, mover(g), false, g->mover < 0);
    } else {
        gdb_continue(g, mover(g), false, g->mover < 0);
    }
}

static void go_back(GdbTarget *g, const char *packet)
{
    if (g_str_equal(packet, "bs")) {
        gdb_step(g, mover(g), true, g->mover < 0);
    } else if (g_str_equal(packet, "bc")) {
        gdb_continue(g, mover(g), true, g->mover < 0);
    } else {
        gdb_puts(g, "");
    }
}

static void answer(GdbTarget *g, const char *packet)
{
    switch (*packet) {
    case '?':
        gdb_put_stop(g, g->general, GDB_STOP_THERE);
        break;
    case 'b':
        go_back(g, packet);
        break;
    case 'c':
    case 'C':
    case 's':
    case 'S':
        resume(g, packet);
        break;
    case 'D':
        gdb_puts(g, "OK");
        g->next = GDB_TARGET_DETACHED;
        break;
    case 'g':
        read_registers(g);
        break;
    case 'G':
    case 'M':
    case 'P':
        gdb_error(g, "the past cannot be changed");
        break;
    case 'H':
        select_thread(g, packet + 1);
        break;
    case 'k':
        /* lldb says so whenever it leaves; others may come after it. */
        g->next = g->is_lldb ? GDB_TARGET_DETACHED : GDB_TARGET_KILLED;
        break;
    case 'm':
        read_memory(g, packet + 1);
        break;
    case 'p':
        read_register(g, packet + 1);
        break;
    case 'q':
    case 'Q':
        query(g, packet);
        break;
    case 'T':
        is_alive(g, packet + 1);
        break;
    case 'v':
        v_packet(g, packet);
        break;
    case 'z':
    case 'Z':
        if ((packet[1] == '0' || packet[1] == '1') && packet[2] == ',') {
            gdb_breakpoint(g, *packet == 'Z', packet + 3);
            break;
        }
        if (packet[1] >= '2' && packet[1] <= '4' && packet[2] == ',') {
            gdb_watchpoint(g, *packet == 'Z', packet[1], packet + 3);
            break;
        }
        /* fall through */
    default:
        gdb_puts(g, "");
    }
}

GdbTargetNext gdb_target_packet(GdbTarget *g, const char *data, size_t len,
                                const GdbTargetOps *ops, void *opaque)
{
    g_autofree char *packet = g_strndup(data, len);

    g->ops = ops;
    g->opaque = opaque;
    g->next = GDB_TARGET_GO_ON;
    gdb_wait_begin(g);
    g->may_talk = strchr("bcCsS", *packet) ||
                  g_str_has_prefix(packet, "vCont;");
    answer(g, packet);
    g->ops = NULL;
    return g->next;
}
