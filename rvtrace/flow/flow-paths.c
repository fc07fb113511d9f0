/*
 * Instruction flow: paths that were walked before
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-paths.h"

#define TABLE_BITS  15
#define TABLE_SIZE  (1u << TABLE_BITS)

/* Runs come from blocks. If all of them are full, all paths are dropped. */
#define BLOCK_RUNS  (1u << 14)
#define MAX_BLOCKS  24

struct FlowPaths {
    FlowPath table[TABLE_SIZE];
    FlowRun *blocks[MAX_BLOCKS];
    unsigned block, fill;       /* where the next runs go */
};

FlowPaths *flow_paths_new(void)
{
    return g_new0(FlowPaths, 1);
}

void flow_paths_free(FlowPaths *paths)
{
    for (unsigned i = 0; i < MAX_BLOCKS; i++) {
        g_free(paths->blocks[i]);
    }
    g_free(paths);
}

void flow_paths_forget(FlowPaths *paths)
{
    memset(paths->table, 0, sizeof(paths->table));
    paths->block = 0;
    paths->fill = 0;
}

static inline unsigned hash(uint64_t pc, uint64_t map, unsigned branches,
                            unsigned priv)
{
    uint64_t h = pc * 0x9e3779b97f4a7c15ull;

    h ^= (map + ((uint64_t)branches << 40) + priv) * 0xc2b2ae3d27d4eb4full;
    h ^= h >> 29;
    return (h * 0x9e3779b97f4a7c15ull) >> (64 - TABLE_BITS);
}

static inline uint64_t next_branches(const Flow *f, unsigned branches)
{
    return f->branch_map & ((1ull << branches) - 1);
}

/* Do its addresses mean the pages that they meant? */
static bool pages_stay(Flow *f, const FlowPath *path)
{
    for (unsigned i = 0; i < path->nr_pages; i++) {
        const FlowPathPage *p = &path->pages[i];
        const CodePage *page = image_page(f->image, f->priv,
                                          p->vpage << CODE_PAGE_BITS);

        if (page != p->page || page->version != p->version) {
            return false;
        }
    }
    return true;
}

static inline bool holds(Flow *f, FlowPath *path)
{
    if (G_UNLIKELY(path->epoch != f->image->epoch)) {
        if (!pages_stay(f, path)) {
            return false;
        }
        path->epoch = f->image->epoch;
    }
    return true;
}

const FlowPath *flow_paths_find(Flow *f, unsigned branches)
{
    uint64_t map = next_branches(f, branches);
    FlowPath *path = &f->paths->table[hash(f->pc, map, branches, f->priv)];

    if (path->pc != f->pc || path->map != map || !path->nr_pages ||
        path->branches != branches || path->priv != f->priv ||
        !holds(f, path)) {
        return NULL;
    }
    return path;
}

/* Room for @n runs, which stays until all paths are dropped */
static FlowRun *take_room(FlowPaths *paths, unsigned n)
{
    if (paths->fill + n > BLOCK_RUNS) {
        paths->fill = 0;
        if (++paths->block == MAX_BLOCKS) {
            flow_paths_forget(paths);
        }
    }
    if (!paths->blocks[paths->block]) {
        paths->blocks[paths->block] = g_new(FlowRun, BLOCK_RUNS);
    }
    paths->fill += n;
    return paths->blocks[paths->block] + paths->fill - n;
}

void flow_paths_add(Flow *f, FlowPath *path)
{
    FlowPaths *paths = f->paths;
    FlowRun *runs = take_room(paths, path->nr_runs);

    memcpy(runs, f->runs, path->nr_runs * sizeof(*runs));
    path->runs = runs;
    path->epoch = f->image->epoch;
    paths->table[hash(path->pc, path->map, path->branches, path->priv)] =
        *path;
}
