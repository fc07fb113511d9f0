/*
 * rvtrace: where the code of a trace is in the source, for views that write it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/lines.h"
#include "commands/views/options.h"

struct Lines {
    SourcePlaces *places;
    SourceTree *sources;
};

Lines *lines_new(const Job *job)
{
    Lines *lines = g_new0(Lines, 1);

    lines->places = source_places_new(job->names.sysroots);
    lines->sources = source_options_tree(job);
    return lines;
}

void lines_free(Lines *lines)
{
    source_places_free(lines->places);
    source_tree_free(lines->sources);
    g_free(lines);
}

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

LineFinder lines_finder(Lines *lines)
{
    return (LineFinder) { find_line, lines };
}
