/*
 * etrace-pcs TRACE SIDEBAND [HART]: the addresses of the instructions that a
 * traced hart retired, in order, one hexadecimal number a line
 *
 * TRACE is what a chardev or a RAM sink has got, SIDEBAND the stream beside
 * it, which has the encoder's parameters and the code. The decoder is the
 * specification's own (etrace-refdecoder.c), so that what it finds can be
 * compared with what a plugin has seen. Only what is asked for is there:
 * instruction trace that nothing was lost of, without Zcmp and Zcmt.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-insn.h"
#include "hw/trace/etrace/encap.h"
#include "hw/trace/etrace/sideband.h"

#define PAGE_MASK   (~(uint64_t)(ETRACE_SB_PAGE_SIZE - 1))

typedef struct CodePage {
    uint64_t pa;
    uint8_t known[ETRACE_SB_PAGE_SIZE / 2];     /* a bool per half-word */
    uint8_t bytes[ETRACE_SB_PAGE_SIZE];
} CodePage;

/* A page in an address space */
typedef struct Map {
    ETraceSbSpace space;
    uint64_t va;
    uint64_t pa;
} Map;

typedef struct Pcs {
    unsigned hart;

    const uint8_t *trace;
    size_t at, end;             /* what is next, and where the session ends */
    uint64_t packets;           /* of the hart that were consumed */

    const uint8_t *sideband;
    size_t sideband_size;
    uint64_t change, placed;    /* ids of the last CHANGE, and PLACE */
    bool has_params;
    ETraceSbParams params;
    GHashTable *pages;          /* by pa */
    GHashTable *maps;
    ETraceSbSpace space[2];     /* by virt */
    uint64_t tvec[ETRACE_PRIV_VS + 1];

    RefDecoder decoder;
    const ETracePacket *pkt;    /* that is being decoded */
    bool sync;                  /* it says where the hart is: */
    uint64_t sync_address;
    /* The last instructions that were asked for */
    RefInstr instr[8];
    uint64_t instr_pc[8];
    unsigned next_instr;
} Pcs;

static void G_GNUC_PRINTF(1, 2) G_NORETURN fail(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "etrace-pcs: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

/*
 * Code
 */

static guint map_hash(gconstpointer p)
{
    const Map *m = p;

    return (m->va ^ m->space.atp ^ m->space.gatp) * 0x9e3779b97f4a7c15ull >> 32;
}

static gboolean map_equal(gconstpointer a, gconstpointer b)
{
    const Map *m = a, *n = b;

    return m->va == n->va && m->space.virt == n->space.virt &&
           m->space.atp == n->space.atp && m->space.gatp == n->space.gatp;
}

static bool is_bare(const Pcs *s, const ETraceSbSpace *space)
{
    unsigned mode = s->params.params.iaddress_width == 32 ? 31 : 60;

    return !space->virt && !(space->atp >> mode);
}

/* Where @va is for a hart with privilege @priv; false: that is not known */
static bool translate(const Pcs *s, uint64_t va, uint8_t priv, uint64_t *pa)
{
    Map key = { .va = va & PAGE_MASK };
    const Map *map;

    *pa = va;
    if (priv == ETRACE_PRIV_M) {
        return true;
    }
    key.space = s->space[priv == ETRACE_PRIV_VU || priv == ETRACE_PRIV_VS];
    if (is_bare(s, &key.space)) {
        return true;
    }
    map = g_hash_table_lookup(s->maps, &key);
    if (!map) {
        return false;
    }
    *pa = map->pa + (va - key.va);
    return true;
}

static bool fetch(const Pcs *s, uint64_t va, uint8_t priv, uint16_t *half)
{
    const CodePage *page;
    uint64_t pa, base;

    if (!translate(s, va, priv, &pa)) {
        return false;
    }
    base = pa & PAGE_MASK;
    page = g_hash_table_lookup(s->pages, &base);
    if (!page || !page->known[(pa - base) / 2]) {
        return false;
    }
    *half = etrace_sb_get(&page->bytes[pa - base], 2);
    return true;
}

static const RefInstr *get_instr(void *opaque, uint64_t pc)
{
    Pcs *s = opaque;
    /* A synchronization says with which privilege its instruction runs. */
    uint8_t priv = s->sync && pc == s->sync_address ? s->pkt->privilege
                                                    : s->decoder.privilege;
    unsigned n = s->next_instr % ARRAY_SIZE(s->instr);
    uint16_t low, high = 0;

    if (!fetch(s, pc, priv, &low) ||
        ((low & 3) == 3 && !fetch(s, pc + 2, priv, &high))) {
        /* It may be what ran before the privilege changed. */
        for (unsigned i = 0; i < ARRAY_SIZE(s->instr); i++) {
            if (s->instr[i].size && s->instr_pc[i] == pc) {
                return &s->instr[i];
            }
        }
        return NULL;
    }
    s->next_instr++;
    s->instr_pc[n] = pc;
    s->instr[n] = etrace_insn(low | (uint32_t)high << 16, pc,
                              s->params.params.iaddress_width);
    return &s->instr[n];
}

static void report_pc(void *opaque, uint64_t pc)
{
    printf("%" PRIx64 "\n", pc);
}

static void report_trap(void *opaque, const ETracePacket *pkt)
{
}

static void report_epc(void *opaque, uint64_t epc)
{
}

static uint64_t trap_handler(void *opaque, const ETracePacket *pkt)
{
    Pcs *s = opaque;
    uint64_t tvec = s->tvec[pkt->privilege];
    bool vectored = (tvec & 3) == 1 && pkt->interrupt;

    return (tvec & ~3ull) + (vectored ? 4 * pkt->ecause : 0);
}

static const RefDecoderOps decoder_ops = {
    .get_instr = get_instr,
    .report_pc = report_pc,
    .report_trap = report_trap,
    .report_epc = report_epc,
    .trap_handler = trap_handler,
};

/*
 * Packets
 */

static void decode(Pcs *s, const ETraceEncapPacket *encap)
{
    ETracePacket pkt;

    if (!etrace_packet_unpack(&s->decoder.discovery_response, encap->payload,
                              encap->len, &pkt)) {
        fail("packet %" PRIu64 " of hart %u cannot be read", s->packets,
             s->hart);
    }
    s->pkt = &pkt;
    s->sync = pkt.format == ETRACE_FORMAT_SYNC &&
              pkt.subformat <= ETRACE_SYNC_TRAP;
    s->sync_address = pkt.address;
    if (pkt.subformat == ETRACE_SYNC_TRAP &&
        !etrace_packet_trap_has_address(&s->decoder.discovery_response,
                                        &pkt)) {
        s->sync_address = trap_handler(s, &pkt);
    }
    if (!ref_decoder_process(&s->decoder, &pkt)) {
        fail("packet %" PRIu64 " of hart %u: %s (at 0x%" PRIx64 ")",
             s->packets, s->hart, s->decoder.error, s->decoder.pc);
    }
}

/* Consume packets until @packets of the hart have been. */
static void decode_up_to(Pcs *s, uint64_t packets)
{
    const ETraceParams *params = &s->params.params;

    while (s->packets < packets && s->at < s->end) {
        ETraceEncapPacket encap;
        ETraceEncapStatus status = etrace_encap_parse(params, s->trace + s->at,
                                                      s->end - s->at, &encap);

        if (status == ETRACE_ENCAP_MORE) {
            fail("the trace ends within a packet");
        }
        if (status == ETRACE_ENCAP_PACKET && !encap.data &&
            (!params->src_bits || encap.src_id == params->src_id)) {
            s->packets++;
            decode(s, &encap);
        }
        s->at += encap.size;
    }
}

/*
 * Records
 */

static void begin_session(Pcs *s, const ETraceSbSession *session)
{
    s->end = MIN(session->trace_offset, s->end);
    if (s->has_params) {
        decode_up_to(s, UINT64_MAX);
    }
    s->at = session->trace_offset;
    s->packets = 0;
    s->change = 0;
    s->placed = 0;
    s->has_params = false;
    g_hash_table_remove_all(s->pages);
    g_hash_table_remove_all(s->maps);
    memset(s->space, 0, sizeof(s->space));
}

/*
 * Where in the hart's packets is the last change of code? At its first PLACE of
 * that, or a later one, which may be behind the record @at.
 */
static uint64_t place_of_change(const Pcs *s, size_t at)
{
    ETraceSbHeader header;
    ETraceSbPlace place;

    while (etrace_sb_unpack_header(s->sideband + at, s->sideband_size - at,
                                   &header)) {
        const uint8_t *p = s->sideband + at + ETRACE_SB_HEADER_SIZE;

        if (header.type == ETRACE_SB_PLACE && header.hart == s->hart &&
            etrace_sb_unpack_place(p, header.len, &place) &&
            place.id >= s->change) {
            return place.packets;
        }
        at += ETRACE_SB_HEADER_SIZE + header.len;
    }
    return UINT64_MAX;
}

static void add_code(Pcs *s, size_t at, uint64_t pa, const uint8_t *bytes,
                     size_t n)
{
    uint64_t base = pa & PAGE_MASK;
    CodePage *page = g_hash_table_lookup(s->pages, &base);

    if (!page) {
        page = g_new0(CodePage, 1);
        page->pa = base;
        g_hash_table_insert(s->pages, &page->pa, page);
    }
    for (size_t i = 0; i < n; i += 2) {
        size_t ofs = pa - base + i;

        if (page->known[ofs / 2] && s->placed < s->change &&
            memcmp(page->bytes + ofs, bytes + i, 2)) {
            decode_up_to(s, place_of_change(s, at));
        }
    }
    memcpy(page->bytes + (pa - base), bytes, n);
    memset(page->known + (pa - base) / 2, true, n / 2);
}

static bool apply_of_hart(Pcs *s, const ETraceSbHeader *header,
                          const uint8_t *p)
{
    ETraceSbPlace place;
    ETraceSbSpace space;
    ETraceSbTvec tvec;
    ETraceSbMap map;
    Map mapped;
    uint64_t val;

    switch (header->type) {
    case ETRACE_SB_PARAMS:
        if (!etrace_sb_unpack_params(p, header->len, &s->params) ||
            !etrace_params_valid(&s->params.params) ||
            s->params.params.return_stack_size > 7) {
            return false;
        }
        if (s->params.isa & (ETRACE_SB_ISA_ZCMP | ETRACE_SB_ISA_ZCMT)) {
            fail("hart %u has Zcmp or Zcmt", s->hart);
        }
        s->has_params = true;
        ref_decoder_init(&s->decoder, &s->params.params, &decoder_ops, s);
        return true;
    case ETRACE_SB_FENCE:
        if (!etrace_sb_unpack_u64(p, header->len, &val)) {
            return false;
        }
        decode_up_to(s, val);
        return true;
    case ETRACE_SB_PLACE:
        if (!etrace_sb_unpack_place(p, header->len, &place)) {
            return false;
        }
        decode_up_to(s, place.packets);
        s->placed = place.id;
        return true;
    case ETRACE_SB_SPACE:
        if (!etrace_sb_unpack_space(p, header->len, &space)) {
            return false;
        }
        s->space[space.virt] = space;
        return true;
    case ETRACE_SB_MAP:
        if (!etrace_sb_unpack_map(p, header->len, &map)) {
            return false;
        }
        mapped = (Map) { s->space[map.virt], map.va, map.pa };
        g_hash_table_add(s->maps, g_memdup2(&mapped, sizeof(mapped)));
        return true;
    case ETRACE_SB_TVEC:
        if (!etrace_sb_unpack_tvec(p, header->len, &tvec) ||
            tvec.priv >= ARRAY_SIZE(s->tvec)) {
            return false;
        }
        s->tvec[tvec.priv] = tvec.value;
        return true;
    case ETRACE_SB_RESET:
        memset(s->space, 0, sizeof(s->space));
        /* fall through */
    case ETRACE_SB_FORGET:
        g_hash_table_remove_all(s->maps);
        return true;
    default:
        return true;
    }
}

static bool apply(Pcs *s, size_t at, const ETraceSbHeader *header,
                  const uint8_t *p)
{
    ETraceSbSession session;
    const uint8_t *bytes;
    uint64_t pa;
    size_t n;

    switch (header->type) {
    case ETRACE_SB_SESSION:
        if (!etrace_sb_unpack_session(p, header->len, &session) ||
            session.major != ETRACE_SB_VERSION_MAJOR) {
            return false;
        }
        begin_session(s, &session);
        return true;
    case ETRACE_SB_CODE:
        if (!etrace_sb_unpack_code(p, header->len, &pa, &bytes, &n)) {
            return false;
        }
        add_code(s, at, pa, bytes, n);
        return true;
    case ETRACE_SB_CHANGE:
        return etrace_sb_unpack_u64(p, header->len, &s->change);
    default:
        return header->hart != s->hart || apply_of_hart(s, header, p);
    }
}

static uint8_t *load(const char *file, size_t *size)
{
    g_autoptr(GError) err = NULL;
    gchar *data;

    if (!g_file_get_contents(file, &data, size, &err)) {
        fail("%s", err->message);
    }
    return (uint8_t *)data;
}

int main(int argc, char **argv)
{
    Pcs s = { };
    size_t trace_size;
    ETraceSbHeader header;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: etrace-pcs TRACE SIDEBAND [HART]\n");
        return 2;
    }
    s.hart = argc == 4 ? atoi(argv[3]) : 0;
    s.trace = load(argv[1], &trace_size);
    s.sideband = load(argv[2], &s.sideband_size);
    s.pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    s.maps = g_hash_table_new_full(map_hash, map_equal, g_free, NULL);
    for (size_t at = 0; at < s.sideband_size;
         at += ETRACE_SB_HEADER_SIZE + header.len) {
        s.end = trace_size;
        if (!etrace_sb_unpack_header(s.sideband + at, s.sideband_size - at,
                                     &header) ||
            !apply(&s, at, &header, s.sideband + at + ETRACE_SB_HEADER_SIZE)) {
            fail("the record at byte %zu of the sideband cannot be read", at);
        }
    }
    if (!s.has_params) {
        fail("hart %u is not traced", s.hart);
    }
    s.end = trace_size;
    decode_up_to(&s, UINT64_MAX);
    g_hash_table_destroy(s.pages);
    g_hash_table_destroy(s.maps);
    g_free((void *)s.trace);
    g_free((void *)s.sideband);
    return 0;
}
