/*
 * Reports: all that is known of a run as one HTML file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/html/html-activity.h"
#include "views/html/html-profile.h"
#include "base/json.h"
/* Made from the files of the same name; the scripts are one, in this order */
#include "html-report.css.h"
#include "html-report.html.h"
#include "html-report.js.h"
#include "html-time.js.h"
#include "html-range.js.h"
#include "html-rows.js.h"
#include "html-link.js.h"
#include "html-stacks.js.h"
#include "html-functions.js.h"
#include "html-code.js.h"

static void put_facts(GString *s, const HtmlReport *r)
{
    g_string_append(s, "\"facts\":[");
    for (unsigned i = 0; i < r->nr_facts; i++) {
        const HtmlFact *fact = &r->facts[i];

        json_comma(s);
        g_string_append_c(s, '[');
        json_string(s, fact->label, HTML_MAX_NAME);
        g_string_append_c(s, ',');
        json_string(s, fact->value, HTML_MAX_NAME);
        g_string_append_c(s, ',');
        json_string(s, fact->note, HTML_MAX_NAME);
        g_string_append_printf(s, ",%d]", fact->mood);
    }
    g_string_append_c(s, ']');
}

static void put_row(GString *s, const char *const *row)
{
    json_comma(s);
    g_string_append_c(s, '[');
    for (; *row; row++) {
        json_comma(s);
        json_string(s, *row, HTML_MAX_NAME);
    }
    g_string_append_c(s, ']');
}

static void put_tables(GString *s, const HtmlReport *r)
{
    g_string_append(s, "\"tables\":[");
    for (unsigned i = 0; i < r->nr_tables; i++) {
        const HtmlTable *t = &r->tables[i];

        json_comma(s);
        g_string_append(s, "{\"title\":");
        json_string(s, t->title, HTML_MAX_NAME);
        g_string_append(s, ",\"rows\":[");
        put_row(s, t->columns);
        for (guint j = 0; j < t->rows->len; j++) {
            put_row(s, t->rows->pdata[j]);
        }
        g_string_append(s, "]}");
    }
    g_string_append_c(s, ']');
}

static void put_line(GString *s, const HtmlCodeLine *l)
{
    json_comma(s);
    g_string_append_printf(s, "[%u,\"%" PRIx64 "\",%" PRIu64 ",", l->line,
                           l->address, l->count);
    json_string(s, l->text, HTML_MAX_NAME);
    if (l->branch) {
        g_string_append_printf(s, ",%" PRIu64 ",%" PRIu64, l->taken,
                               l->not_taken);
    } else if (l->note) {
        g_string_append(s, ",-1,-1");
    }
    if (l->note) {
        g_string_append_c(s, ',');
        json_string(s, l->note, HTML_MAX_NAME);
    }
    g_string_append_c(s, ']');
}

static void put_code(GString *s, const HtmlReport *r)
{
    g_string_append(s, "\"code\":[");
    for (unsigned i = 0; i < r->nr_code; i++) {
        const HtmlCode *c = &r->code[i];

        json_comma(s);
        g_string_append(s, "{\"name\":");
        json_string(s, c->function, HTML_MAX_NAME);
        g_string_append(s, ",\"object\":");
        json_string(s, c->object, HTML_MAX_NAME);
        g_string_append(s, ",\"file\":");
        json_string(s, c->file, HTML_MAX_NAME);
        g_string_append_printf(s, ",\"insns\":%" PRIu64 ",\"lines\":[",
                               c->insns);
        for (unsigned j = 0; j < c->nr_lines; j++) {
            put_line(s, &c->lines[j]);
        }
        g_string_append(s, "]}");
    }
    g_string_append_c(s, ']');
}

static GString *make_json(const HtmlReport *r)
{
    GString *s = g_string_new("{\"title\":");
    HtmlAxis axis = html_axis(r);

    json_string(s, r->title, HTML_MAX_NAME);
    g_string_append(s, ",\"unit\":");
    json_string(s, r->unit, HTML_MAX_NAME);
    g_string_append_printf(s, ",\"selected\":%d", r->selected);
    g_string_append_c(s, ',');
    put_facts(s, r);
    g_string_append_c(s, ',');
    html_put_activity(s, r, &axis);
    g_string_append_c(s, ',');
    html_put_profile(s, r, &axis);
    g_string_append_c(s, ',');
    put_code(s, r);
    g_string_append_c(s, ',');
    put_tables(s, r);
    g_string_append_c(s, '}');
    return s;
}

void html_report_write(const HtmlReport *report, FILE *f)
{
    g_autoptr(GString) json = make_json(report);
    g_autofree char *title = g_utf8_make_valid(report->title, -1);
    g_autofree char *escaped = g_markup_escape_text(title, -1);

    fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\""
            "default-src 'none'; script-src 'unsafe-inline'; "
            "style-src 'unsafe-inline'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n"
            "<title>%s</title>\n<style>\n%s</style>\n</head>\n%s"
            "<script type=\"application/json\" id=\"data\">%s</script>\n"
            "<script>\n(function () {\n'use strict';\n%s%s%s%s%s%s%s%s})();\n"
            "</script>\n</html>\n",
            escaped, html_report_css, html_report_html, json->str,
            html_report_js, html_time_js, html_range_js, html_rows_js,
            html_link_js, html_stacks_js, html_functions_js, html_code_js);
}
