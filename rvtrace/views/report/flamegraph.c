/*
 * Flame graphs: a profile as a self-contained SVG
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "views/report/flamegraph.h"
#include "flamegraph.js.h"

/* All in pixels */
#define MARGIN          12
#define HEAD            84          /* title, subtitle, legend */
#define FOOT            34          /* details of the frame pointed at */
#define FRAME_HEIGHT    18
#define FRAME_GAP       1
#define FONT_SIZE       11
#define GLYPH_WIDTH     (FONT_SIZE * 0.602)     /* of a monospaced font */
#define TEXT_PAD        4

/* Colours by kind: a hue to begin with, and how far names spread around it */
typedef struct Palette {
    const char *what;               /* for the legend; NULL: not in it */
    int hue, spread;
    int saturation, lightness;      /* percent */
} Palette;

static const Palette palettes[] = {
    [FRAME_GROUP] = { NULL, 215, 6, 14, 80 },
    [FRAME_USER] = { "user", 110, 34, 52, 68 },
    [FRAME_SUPERVISOR] = { "supervisor", 32, 18, 88, 68 },
    [FRAME_MACHINE] = { "machine", 208, 16, 66, 73 },
    [FRAME_GUEST] = { "guest", 278, 20, 54, 77 },
    [FRAME_TRAP] = { "trap", 350, 8, 62, 76 },
};

typedef struct Drawing {
    Profile *profile;
    const FlameOptions *opts;
    FILE *f;
    GPtrArray *children;
    uint64_t total;
    unsigned depth;                 /* levels, the root is one */
    double scale;                   /* pixels for a unit of weight */
} Drawing;

char *flamegraph_escape(const char *text, size_t max_chars)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(GString) s = g_string_new(NULL);
    size_t n = g_utf8_strlen(valid, -1);
    bool cut = n > max_chars;

    if (cut) {
        n = max_chars > 2 ? max_chars - 2 : 0;
    }
    for (const char *p = valid; n; n--, p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);

        /* XML 1.0 has no way at all to write the control characters. */
        if (c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0xfffe ||
            c == 0xffff) {
            c = 0xfffd;
        }
        g_string_append_unichar(s, c);
    }
    if (cut) {
        g_string_append(s, "..");
    }
    return g_markup_escape_text(s->str, s->len);
}

/* FNV-1a: the same name has the same colour on every machine. */
static uint32_t name_hash(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name; name++) {
        h = (h ^ (unsigned char)*name) * 16777619u;
    }
    return h ^ h >> 15;
}

static unsigned channel(double p, double q, double t)
{
    double v;

    t -= floor(t);
    if (t < 1.0 / 6) {
        v = p + (q - p) * 6 * t;
    } else if (t < 0.5) {
        v = q;
    } else if (t < 2.0 / 3) {
        v = p + (q - p) * (2.0 / 3 - t) * 6;
    } else {
        v = p;
    }
    return lround(v * 255);
}

static uint32_t hsl(int hue, int saturation, int lightness)
{
    double h = hue / 360.0, s = saturation / 100.0, l = lightness / 100.0;
    double q = l < 0.5 ? l * (1 + s) : l + s - l * s;
    double p = 2 * l - q;

    return channel(p, q, h + 1.0 / 3) << 16 | channel(p, q, h) << 8 |
           channel(p, q, h - 1.0 / 3);
}

static uint32_t frame_colour(const ProfileFrame *frame)
{
    const Palette *c = &palettes[frame->kind];
    uint32_t h = name_hash(frame->name);
    int hue = c->hue - c->spread + (int)(h % (2 * c->spread + 1));
    int lightness = c->lightness - 4 + (int)((h >> 16) % 9);

    return hsl((hue + 360) % 360, c->saturation, lightness);
}

char *flamegraph_commas(uint64_t n)
{
    g_autofree char *digits = g_strdup_printf("%" PRIu64, n);
    size_t len = strlen(digits);
    GString *s = g_string_new(NULL);

    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) {
            g_string_append_c(s, ',');
        }
        g_string_append_c(s, digits[i]);
    }
    return g_string_free(s, FALSE);
}

/* printf of a double would use the locale's decimal comma. */
static void put_number(FILE *f, const char *attribute, double value)
{
    char buf[G_ASCII_DTOSTR_BUF_SIZE];

    fprintf(f, " %s=\"%s\"", attribute,
            g_ascii_formatd(buf, sizeof(buf), "%.2f", value));
}

static unsigned visible_depth(const Drawing *d, unsigned node)
{
    const GArray *below = d->children->pdata[node];
    unsigned depth = 0;

    for (guint i = 0; below && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);

        if (profile_node(d->profile, child)->total * d->scale >=
            d->opts->min_width) {
            /* Not within MAX(), which may call it twice. */
            unsigned below_child = visible_depth(d, child);

            depth = MAX(depth, below_child);
        }
    }
    return depth + 1;
}

static void put_frame(const Drawing *d, unsigned node, unsigned level,
                      double x, double width)
{
    const ProfileNode *n = profile_node(d->profile, node);
    const ProfileFrame *frame = profile_frame(d->profile, n->frame);
    g_autofree char *name = flamegraph_escape(frame->name, SIZE_MAX);
    g_autofree char *count = flamegraph_commas(n->total);
    char percent[G_ASCII_DTOSTR_BUF_SIZE];
    unsigned row = d->opts->icicle ? level : d->depth - 1 - level;
    double y = HEAD + row * FRAME_HEIGHT;
    double room = (width - 2 * TEXT_PAD) / GLYPH_WIDTH;

    g_ascii_formatd(percent, sizeof(percent), "%.2f",
                    d->total ? n->total * 100.0 / d->total : 0);
    fprintf(d->f, "<g><title>%s (%s %s, %s%%)</title><rect", name, count,
            d->opts->unit ?: n->total == 1 ? "instruction" : "instructions",
            percent);
    put_number(d->f, "x", x);
    put_number(d->f, "y", y);
    put_number(d->f, "width", MAX(width - 0.4, 0.1));
    fprintf(d->f, " height=\"%d\" fill=\"#%06x\"/>",
            FRAME_HEIGHT - FRAME_GAP, frame_colour(frame));
    if (room >= 3) {
        g_autofree char *label = flamegraph_escape(frame->name, room);

        fprintf(d->f, "<text");
        put_number(d->f, "x", x + TEXT_PAD);
        put_number(d->f, "y", y + FRAME_HEIGHT - 6);
        fprintf(d->f, ">%s</text>", label);
    }
    fprintf(d->f, "</g>\n");
}

static void put_frames(const Drawing *d, unsigned node, unsigned level,
                       double x)
{
    const GArray *below = d->children->pdata[node];
    double width = profile_node(d->profile, node)->total * d->scale;

    put_frame(d, node, level, x, width);
    for (guint i = 0; below && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);
        double w = profile_node(d->profile, child)->total * d->scale;

        if (w >= d->opts->min_width) {
            put_frames(d, child, level + 1, x);
        }
        x += w;
    }
}

static void put_legend(const Drawing *d)
{
    bool used[ARRAY_SIZE(palettes)] = { false };
    unsigned x = MARGIN;

    for (guint i = 0; i < d->profile->nodes->len; i++) {
        const ProfileNode *n = profile_node(d->profile, i);

        used[profile_frame(d->profile, n->frame)->kind] |= n->total > 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(palettes); i++) {
        const Palette *c = &palettes[i];

        if (!c->what || !used[i]) {
            continue;
        }
        fprintf(d->f, "<rect x=\"%u\" y=\"%d\" width=\"12\" height=\"12\" "
                "fill=\"#%06x\"/><text x=\"%u\" y=\"%d\" class=\"ui\">%s"
                "</text>\n", x, HEAD - 25,
                hsl(c->hue, c->saturation, c->lightness), x + 17, HEAD - 15,
                c->what);
        x += 17 + 7 * strlen(c->what) + 22;
    }
}

static void put_head(const Drawing *d, unsigned height)
{
    const FlameOptions *o = d->opts;

    fprintf(d->f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
            "height=\"%u\" viewBox=\"0 0 %u %u\">\n"
            "<style>\n"
            "text { font: %dpx 'DejaVu Sans Mono', Menlo, Consolas, "
            "'Liberation Mono', monospace; fill: #1b1b1b }\n"
            "#frames text { pointer-events: none }\n"
            "#frames g { cursor: pointer }\n"
            "#frames g:hover rect, #frames g:focus rect "
            "{ stroke: #222; stroke-width: 1 }\n"
            "#frames g:focus { outline: none }\n"
            "#frames .hit rect { fill: #e533e5 }\n"
            "#frames .parent { opacity: 0.55 }\n"
            ".hidden { display: none }\n"
            "text.ui { font: 12px sans-serif; fill: #444 }\n"
            "text.title { font: bold 19px sans-serif; fill: #222 }\n"
            "text.button { cursor: pointer; fill: #1a5fb4 }\n"
            ".paper { fill: #fcfcfa }\n"
            ":root { background: #fcfcfa }\n"
            "@media (prefers-color-scheme: dark) {\n"
            ".paper { fill: #15181c }\n"
            ":root { background: #15181c }\n"
            "#frames rect { opacity: 0.85 }\n"
            "#frames g:hover rect, #frames g:focus rect { stroke: #fff }\n"
            "text.ui { fill: #b3bcc7 }\n"
            "text.title { fill: #e6e8eb }\n"
            "text.button { fill: #7fb2f0 }\n"
            "}\n"
            "</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n",
            o->width, height, o->width, height, FONT_SIZE);
}

/* Above and below the frames, and over them where the window is less high */
static void put_texts(const Drawing *d, unsigned height)
{
    const FlameOptions *o = d->opts;
    g_autofree char *title = flamegraph_escape(o->title, SIZE_MAX);
    g_autofree char *subtitle = flamegraph_escape(o->subtitle ? o->subtitle :
                                                  "", SIZE_MAX);

    fprintf(d->f,
            "<g id=\"head\"><rect width=\"100%%\" height=\"%d\" "
            "class=\"paper\"/>\n"
            "<text x=\"%u\" y=\"28\" class=\"title middle\" "
            "text-anchor=\"middle\">%s</text>\n"
            "<text x=\"%u\" y=\"48\" class=\"ui middle\" "
            "text-anchor=\"middle\">%s</text>\n",
            HEAD - 8, o->width / 2, title, o->width / 2, subtitle);
    put_legend(d);
    fprintf(d->f,
            "<text id=\"reset\" x=\"%u\" y=\"%d\" "
            "class=\"ui button right hidden\" "
            "text-anchor=\"end\">Reset zoom</text>\n"
            "<text id=\"search\" x=\"%u\" y=\"%d\" "
            "class=\"ui button right\" text-anchor=\"end\">Search</text></g>\n"
            "<g id=\"foot\"><rect y=\"%u\" width=\"100%%\" height=\"%d\" "
            "class=\"paper\"/>\n"
            "<text id=\"details\" x=\"%u\" y=\"%u\" class=\"ui\"> </text>\n"
            "<text id=\"matched\" x=\"%u\" y=\"%u\" class=\"ui right\" "
            "text-anchor=\"end\"> </text></g>\n",
            o->width - MARGIN - 62, HEAD - 15, o->width - MARGIN, HEAD - 15,
            height - FOOT + 4, FOOT - 4, MARGIN, height - 12,
            o->width - MARGIN, height - 12);
}

void flamegraph_write(Profile *p, const FlameOptions *opts, FILE *f)
{
    Drawing d = { .profile = p, .opts = opts, .f = f };
    unsigned height;

    d.total = profile_sum(p);
    d.children = profile_children(p);
    d.scale = d.total ? (opts->width - 2.0 * MARGIN) / d.total : 0;
    d.depth = visible_depth(&d, PROFILE_ROOT);
    height = HEAD + d.depth * FRAME_HEIGHT + FOOT;

    put_head(&d, height);
    fprintf(f, "<g id=\"frames\" class=\"%s\">\n",
            opts->icicle ? "icicle" : "flames");
    put_frames(&d, PROFILE_ROOT, 0, MARGIN);
    fprintf(f, "</g>\n");
    put_texts(&d, height);
    fprintf(f, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
            flamegraph_js);
    g_ptr_array_unref(d.children);
}
