/*
 * Instruction flow: the pages of the lines that a walk passes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-line.h"

void flow_line_keep_page(Walk *w, uint64_t vpage, const CodePage *page)
{
    FlowPath *path = &w->path;

    for (unsigned i = 0; i < path->nr_pages; i++) {
        if (path->pages[i].vpage == vpage) {
            return;
        }
    }
    if (path->nr_pages == FLOW_PATH_PAGES) {
        w->keep = false;
        return;
    }
    path->pages[path->nr_pages++] = (FlowPathPage) {
        .vpage = vpage,
        .page = page,
        .version = page->version,
    };
}

bool flow_line_turn_page(Walk *w)
{
    Flow *f = w->f;

    if (G_UNLIKELY(f->image->crowded)) {
        flow_flush(f);          /* Runs point to pages. */
        image_trim(f->image);
        w->keep = false;
    }
    w->vpage = w->pc >> CODE_PAGE_BITS;
    w->page = image_page(f->image, f->priv, w->pc);
    if (w->page && w->keep) {
        flow_line_keep_page(w, w->vpage, w->page);
    }
    return w->page;
}
