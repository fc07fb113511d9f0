/*
 * rvtrace: callgrind: exact costs for callgrind_annotate and KCachegrind
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/pgo/callgrind.h"
#include "views/report/source-place.h"

/* Where the code is from, by debug info, and where that source is here */
typedef struct Lines {
    SourcePlaces *places;
    SourceTree *sources;
} Lines;

static bool find_line(void *opaque, const Object *object, uint64_t addr,
                      const char **file, unsigned *line)
{
    const Lines *lines = opaque;
    SourcePlace place = source_place_find(lines->places, object, addr);

    if (!place.file) {
        return false;
    }
    *file = source_path(lines->sources, place.file) ?: place.file;
    *line = place.line;
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Job *job = p->r->job;
    g_autoptr(SourcePlaces) places = source_places_new(job->names.sysroots);
    g_autoptr(SourceTree) sources = source_options_tree(job);
    Lines lines = { places, sources };

    profile_sum(p->stacks);
    callgrind_write(p->counts, p->stacks, &(CallgrindOptions) {
        .command = job->traces[0],
        .line = find_line,
        .opaque = &lines,
    }, o->f);
    return CLI_OK;
}

const View view_callgrind = {
    .name = "callgrind",
    .summary = "write exact costs for callgrind_annotate and KCachegrind",
    .about = "Write how often each instruction, call and jump was executed, "
             "for\ncallgrind_annotate and KCachegrind.",
    .needs = RESULT_COUNTS | RESULT_PROFILE,
    .groups = { &layers_group, &sources_group },
    .write = write_view,
};
