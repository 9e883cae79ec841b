/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/tetlod/activeset.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// ---- creation --------------------------------------------------------------------------------------------------------------

typedef struct Block {
    void **array;
    size_t count, size;
} Block;
enum { BLOCKS = 56 };

static int blocks_of(PliActiveSet *s, Block out[BLOCKS])
{
    const size_t n = s->h->point_count, t = s->h->tet_count, e = s->entry_capacity;
    const size_t words = n / 64 + 1, tet_words = t / 64 + 1, k = s->cycle_capacity;
#define LIST(field, length)                                                                                            \
    {                                                                                                                  \
        (void **)&s->field, (length), sizeof *s->field                                                                 \
    }
    const Block all[] = {
        LIST(state, n),
        LIST(valid, n),
        LIST(row_first, n + 1),
        LIST(row_count, n),
        LIST(column, e),
        LIST(weight, e),
        LIST(slot, n),
        LIST(row_revision, n),
        LIST(mass, n),
        LIST(pending, n),
        LIST(queue, n),
        LIST(own, t),
        LIST(zone, t),
        LIST(covering, t),
        LIST(covered, t),
        LIST(volume, t),
        LIST(touch, n),
        LIST(active, n),
        LIST(slave, n),
        LIST(element, t),
        LIST(active_bits, words),
        LIST(slave_bits, words),
        LIST(element_bits, tet_words),
        LIST(changed, n),
        LIST(changed_from, n),
        LIST(changed_mass, n),
        LIST(affected, n),
        LIST(patch, n),
        LIST(patch_mass, n),
        LIST(dirty, t),
        LIST(dirty_volume, t),
        LIST(node_mark, n),
        LIST(tet_mark, t),
        LIST(patch_mark, n),
        LIST(order, n),
        LIST(low, n),
        LIST(followed, n),
        LIST(stack, n),
        LIST(frame_node, n),
        LIST(component, n),
        LIST(on_stack, n),
        LIST(frame_corner, n),
        LIST(sum, n),
        LIST(sum_column, n),
        LIST(sum_stamp, n),
        LIST(suspect, 2 * n + 64),
        LIST(cycle, n),
        LIST(cycle_node, k),
        LIST(cycle_next, k),
        LIST(cycle_size, k),
        LIST(cycle_source, k * PLI_CYCLE_ROW),
        LIST(cycle_weight, k * PLI_CYCLE_ROW),
        LIST(free_cycle, k),
        LIST(dense, 2 * (size_t)PLI_CYCLE_MAX * PLI_CYCLE_MAX),
    };
#undef LIST
    _Static_assert(sizeof all / sizeof *all <= BLOCKS, "room for every array");
    memcpy(out, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

static void free_blocks(PliActiveSet *s)
{
    Block block[BLOCKS];
    const int count = blocks_of(s, block);
    for (int i = 0; i < count; ++i) {
        pli_free(&s->host, *block[i].array, block[i].count, block[i].size);
        *block[i].array = NULL;
    }
}

void pli_activeset_destroy(PliActiveSet *s)
{
    if (!s) return;
    free_blocks(s);
    PliHost host = s->host;
    PLI_FREE(&host, s, 1);
}

/// Slots half as wide again as any uniform level needs.
static PliStatus size_slots(PliActiveSet *s)
{
    const PliIndex n = s->h->point_count;
    PliIndex *most = PLI_NEW(&s->host, n, PliIndex);
    if (!most) return PLI_OUT_OF_MEMORY;
    for (PliIndex i = 0; i <= n; ++i)
        s->row_first[i] = (PliIndex)(i * (s->entry_capacity / n < 48 ? s->entry_capacity / n / 2 : 24));
    PliStatus status = PLI_OK;
    for (int l = 0; l < s->h->level_count && status == PLI_OK; ++l) {
        status = pli_activeset_reset(s, l);
        for (PliIndex i = 0; i < n && status == PLI_OK; ++i) {
            status = pli_activeset_need(s, i);
            if (s->row_count[i] > most[i]) most[i] = s->row_count[i];
        }
    }
    size_t total = 0;
    for (PliIndex i = 0; i < n && status == PLI_OK; ++i) {
        s->row_first[i] = (PliIndex)total;
        total += most[i] < 8 ? 12 : (most[i] + most[i] / 2 + 3) / 4 * 4;
        if (total > s->entry_capacity) status = PLI_OVER_CAPACITY;
    }
    s->row_first[n] = (PliIndex)total;
    memset(s->row_count, 0, n * sizeof *s->row_count); // what the slots hold is not a row any more
    memset(s->valid, 0, n);
    PLI_FREE(&s->host, most, n);
    return status;
}

static PliStatus allocate_blocks(PliActiveSet *s)
{
    Block block[BLOCKS];
    const int count = blocks_of(s, block);
    for (int i = 0; i < count; ++i) {
        *block[i].array = pli_alloc(&s->host, block[i].count, block[i].size);
        if (!*block[i].array) return PLI_OUT_OF_MEMORY;
    }
    return PLI_OK;
}

/// True when the set that was just made fails because an active node carries no mass: which one, and where.
static bool refuse_light_node(const PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        if (s->state[p] != PLI_ACTIVE || s->mass[p] > 0) continue;
        const double *x = h->x + 3 * (size_t)p;
        const int l = h->level[p];
        pli_refuse(err, PLI_BAD_MESH,
                   "tetlod: level %d: node %u at (%.4g %.4g %.4g) would carry no mass: level %d has nothing near it; "
                   "make the levels "
                   "with pliant mesh, or leave level %d out",
                   l, p - h->point_first[l], x[0], x[1], x[2], l + 1, l);
        return true;
    }
    return false;
}

PliActiveSet *pli_activeset_create(const PliHost *host, const PliLevels *levels, const PliActiveSetDef *def,
                                   PliError *err)
{
    if (def->ramp < 0 || def->ramp > 15) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: ramp must be 0 to 15 rings, not %d", def->ramp);
        return NULL;
    }
    if (def->start_level < 0 || def->start_level >= levels->level_count) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: start level %d does not exist, there are %d", def->start_level,
                   levels->level_count);
        return NULL;
    }
    PliActiveSet *s = PLI_NEW(host, 1, PliActiveSet);
    PliStatus status = s ? PLI_OVER_CAPACITY : PLI_OUT_OF_MEMORY;
    bool named = false;
    if (s) {
        s->host = *host;
        s->h = levels;
        s->def = *def;
        s->revision = 1;
        s->cycle_capacity = levels->point_count / 4 + PLI_CYCLE_MAX;
    }
    // rows of uniform sets average 3 entries a level and those of mixed sets half as much again; small bodies have the longest rows,
    // and repaired levels longer ones still
    for (size_t wider = levels->wide_count ? 4 : 1; wider <= 16 && status == PLI_OVER_CAPACITY; wider *= 2) {
        free_blocks(s);
        s->entry_capacity = wider * ((size_t)levels->point_count * (16 + 8 * (size_t)levels->level_count) + (1 << 16));
        status = allocate_blocks(s);
        if (status == PLI_OK) status = size_slots(s);
        if (status == PLI_OK) status = pli_activeset_reset(s, def->start_level);
        if (status == PLI_OVER_CAPACITY && (named = refuse_light_node(s, err))) break;
    }
    if (status == PLI_OK) return s;
    if (status == PLI_OUT_OF_MEMORY)
        pli_refuse(err, status, "tetlod: no memory for the active set of %u nodes", levels->point_count);
    else if (!named)
        pli_refuse(err, PLI_BAD_MESH,
                   "tetlod: the levels do not fit together: coarse nodes follow too many finer ones for the memory of "
                   "%u nodes; "
                   "leave a level out, or make the levels with pliant mesh",
                   levels->point_count);
    pli_activeset_destroy(s);
    return NULL;
}

// ---- states and zones --------------------------------------------------------------------------------------------------------

static void mark_dirty(PliActiveSet *s, PliIndex tet)
{
    if (s->tet_mark[tet]) return;
    s->tet_mark[tet] = 1;
    s->dirty[s->dirty_count] = tet;
    s->dirty_volume[s->dirty_count++] = s->volume[tet];
}

/// A tetrahedron enters or leaves the zone of its level, and with it what it covers one level up.
static void update_zone(PliActiveSet *s, PliIndex tet)
{
    const PliLevels *h = s->h;
    mark_dirty(s, tet);
    const uint8_t zone = s->own[tet] > 0 || s->covering[tet] > 0;
    if (zone == s->zone[tet]) return;
    s->zone[tet] = zone;
    for (PliIndex e = h->cover_first[tet]; e < h->cover_first[tet + 1]; ++e) {
        const PliIndex u = h->cover[e];
        s->covered[u] += zone ? h->cover_share[e] : -h->cover_share[e];
        s->covering[u] += zone ? 1u : -1u;
        update_zone(s, u); // at most as deep as there are levels
    }
}

static bool owns(const PliActiveSet *s, uint8_t state)
{
    return s->def.paper ? state == PLI_ACTIVE : state != PLI_BELOW;
}

static void set_state(PliActiveSet *s, PliIndex node, uint8_t state)
{
    const bool before = owns(s, s->state[node]), after = owns(s, state);
    s->state[node] = state;
    if (before == after) return;
    const PliLevels *h = s->h;
    for (PliIndex k = h->star_first[node]; k < h->star_first[node + 1]; ++k) {
        const PliIndex tet = h->star[k];
        s->own[tet] = (uint8_t)(s->own[tet] + (after ? 1 : -1));
        if (s->def.paper || s->def.ramp > 0)
            mark_dirty(s, tet); // paper: nothing is covered; ramp: zones are found again as a whole
        else
            update_zone(s, tet);
    }
}

/// Zones with a ramp: 1 - j/(ramp+1) in ring j around what belongs to the level, and never less than finer ones need.
static void find_ramped_zones(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    const uint8_t full = (uint8_t)(s->def.ramp + 1);
    memset(s->covered, 0, h->tet_count * sizeof *s->covered);
    memset(s->zone, 0, h->tet_count);
    for (int l = h->level_count - 1; l >= 0; --l) {
        const PliIndex t0 = h->tet_first[l], t1 = h->tet_first[l + 1], p0 = h->point_first[l],
                       p1 = h->point_first[l + 1];
        uint8_t *most = s->frame_corner; // per node: largest zone around it
        for (PliIndex t = t0; t < t1; ++t)
            if (s->own[t] > 0) s->zone[t] = full;
        for (int ring = 0; ring < s->def.ramp; ++ring) {
            memset(most + p0, 0, p1 - p0);
            for (PliIndex t = t0; t < t1; ++t)
                for (int c = 0; c < 4; ++c) {
                    const PliIndex p = h->tets[4 * (size_t)t + c];
                    if (s->zone[t] > most[p]) most[p] = s->zone[t];
                }
            for (PliIndex t = t0; t < t1; ++t)
                for (int c = 0; c < 4; ++c) {
                    const uint8_t around = most[h->tets[4 * (size_t)t + c]];
                    if (around > 0 && around - 1 > s->zone[t]) s->zone[t] = (uint8_t)(around - 1);
                }
        }
        if (l + 1 < h->level_count)
            for (PliIndex t = h->tet_first[l + 1]; t < h->tet_first[l + 2]; ++t)
                for (PliIndex e = h->cover_first[t]; s->zone[t] > 0 && e < h->cover_first[t + 1]; ++e) {
                    const PliIndex u = h->cover[e];
                    if (s->zone[u] < s->zone[t]) s->zone[u] = s->zone[t];
                    s->covered[u] += s->zone[t] * h->cover_share[e];
                }
    }
}

static double volume_now(const PliActiveSet *s, PliIndex tet)
{
    const PliLevels *h = s->h;
    if (s->def.paper) return s->own[tet] > 0 ? h->tet_volume[tet] : 0.0;
    const int64_t whole = s->zone[tet] * h->tet_share[tet], left = whole - s->covered[tet];
    const int64_t parts = s->def.ramp + 1;
    if (left <= (parts * h->tet_share[tet]) >> 33) return 0.0; // slivers of 1e-10 of the element
    if (tet >= h->tet_first[h->level_count - 1] && s->zone[tet] == parts)
        return h->tet_volume[tet]; // without the rounding to units
    return (double)left * (h->unit / (double)parts);
}

static void set_bit(uint64_t *bits, PliIndex i, bool on)
{
    const uint64_t mask = 1ull << (i & 63);
    if (on)
        bits[i >> 6] |= mask;
    else
        bits[i >> 6] &= ~mask;
}

static void update_node_bits(PliActiveSet *s, PliIndex node)
{
    const bool active = s->state[node] == PLI_ACTIVE;
    set_bit(s->active_bits, node, active);
    set_bit(s->slave_bits, node, !active && s->touch[node] > 0);
}

static void update_volumes(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    if (s->def.ramp > 0 && !s->def.paper) {
        find_ramped_zones(s);
        for (PliIndex t = 0; t < h->tet_count; ++t)
            if (volume_now(s, t) != s->volume[t]) mark_dirty(s, t);
    }
    for (PliIndex i = 0; i < s->dirty_count; ++i) {
        const PliIndex tet = s->dirty[i];
        const bool before = s->volume[tet] > 0.0;
        s->volume[tet] = volume_now(s, tet);
        const bool after = s->volume[tet] > 0.0;
        if (before == after) continue;
        set_bit(s->element_bits, tet, after);
        for (int c = 0; c < 4; ++c) {
            const PliIndex p = h->tets[4 * (size_t)tet + c];
            s->touch[p] = (uint16_t)(s->touch[p] + (after ? 1 : -1));
            update_node_bits(s, p);
        }
    }
    for (PliIndex i = 0; i < s->changed_count; ++i) update_node_bits(s, s->changed[i]);
    s->lists_are_stale = true;
}

static PliIndex list_bits(const uint64_t *bits, size_t words, PliIndex *out)
{
    PliIndex n = 0;
    for (size_t w = 0; w < words; ++w)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            out[n++] = (PliIndex)(64 * w + (size_t)__builtin_ctzll(left));
    return n;
}

void pli_activeset_list(PliActiveSet *s)
{
    if (!s->lists_are_stale) return;
    const size_t words = s->h->point_count / 64 + 1, tet_words = s->h->tet_count / 64 + 1;
    s->active_count = list_bits(s->active_bits, words, s->active);
    s->slave_count = list_bits(s->slave_bits, words, s->slave);
    s->element_count = list_bits(s->element_bits, tet_words, s->element);
    s->lists_are_stale = false;
}

PliIndex pli_activeset_ancestor(const PliActiveSet *s, PliIndex node)
{
    while (s->state[node] == PLI_BELOW) node = s->h->parent[node];
    return node;
}

// ---- splits and merges -------------------------------------------------------------------------------------------------------

void pli_activeset_begin(PliActiveSet *s)
{
    for (PliIndex i = 0; i < s->affected_count; ++i) s->node_mark[s->affected[i]] = 0;
    for (PliIndex i = 0; i < s->dirty_count; ++i) s->tet_mark[s->dirty[i]] = 0;
    for (PliIndex i = 0; i < s->patch_count; ++i) s->patch_mark[s->patch[i]] = 0;
    s->affected_count = s->dirty_count = s->changed_count = s->patch_count = 0;
}

PliIndex pli_activeset_blocker(const PliActiveSet *s, PliIndex node)
{
    // after the split everything joined to it by a finest edge may be one level coarser, not two
    const PliLevels *h = s->h;
    for (PliIndex k = h->adjacent_first[node]; k < h->adjacent_first[node + 1]; ++k)
        if (s->state[h->adjacent[k]] == PLI_BELOW) return pli_activeset_ancestor(s, h->adjacent[k]);
    return PLI_NONE;
}

bool pli_activeset_may_split(const PliActiveSet *s, PliIndex node)
{
    return s->state[node] == PLI_ACTIVE && s->h->child_first[node] < s->h->child_first[node + 1] &&
           pli_activeset_blocker(s, node) == PLI_NONE;
}

bool pli_activeset_may_merge(const PliActiveSet *s, PliIndex node)
{
    const PliLevels *h = s->h;
    if (s->state[node] != PLI_REFINED) return false;
    for (PliIndex c = h->child_first[node]; c < h->child_first[node + 1]; ++c) {
        const PliIndex child = h->child[c];
        if (s->state[child] != PLI_ACTIVE) return false;
        for (PliIndex k = h->adjacent_first[child]; k < h->adjacent_first[child + 1]; ++k)
            if (s->state[h->adjacent[k]] == PLI_REFINED) return false;
    }
    return true;
}

static void add_affected(PliActiveSet *s, PliIndex node)
{
    if (s->node_mark[node]) return;
    s->node_mark[node] = 1;
    s->affected[s->affected_count++] = node;
}

/// Whatever was tied, untied or changed in a stage has another row now.
static void note_suspects(PliActiveSet *s)
{
    for (PliIndex i = 0; i < s->suspect_count; ++i) {
        const PliIndex node = s->suspect[i];
        add_affected(s, node);
        if (s->cycle[node] == PLI_NONE) continue;
        for (PliIndex k = s->cycle_next[s->cycle[node]]; k != s->cycle[node]; k = s->cycle_next[k])
            add_affected(s, s->cycle_node[k]);
    }
}

/// Nodes that start and nodes that stop are two stages: in between, a node that is about to stop holds exactly the mass it will
/// hand over through its new row. Momentum is settled with that mass.
static void change_states(PliActiveSet *s, const PliIndex *node, PliIndex count, uint8_t state)
{
    const PliIndex first = s->changed_count;
    pli_activeset_stage_begin(s);
    for (PliIndex i = 0; i < count; ++i) {
        s->changed[s->changed_count] = node[i];
        s->changed_from[s->changed_count] = s->state[node[i]];
        s->changed_mass[s->changed_count++] = s->mass[node[i]];
        pli_activeset_add_patch(s, node[i], s->state[node[i]] == PLI_ACTIVE);
        pli_activeset_stage_leave(s, node[i]);
    }
    for (PliIndex i = first; i < s->changed_count; ++i) {
        set_state(s, s->changed[i], state);
        pli_activeset_stage_enter(s, s->changed[i]);
    }
    pli_activeset_stage_end(s);
    note_suspects(s);
}

bool pli_activeset_split(PliActiveSet *s, PliIndex node)
{
    if (!pli_activeset_may_split(s, node)) return false;
    const PliLevels *h = s->h;
    change_states(s, h->child + h->child_first[node], h->child_first[node + 1] - h->child_first[node], PLI_ACTIVE);
    change_states(s, &node, 1, PLI_REFINED);
    return true;
}

bool pli_activeset_merge(PliActiveSet *s, PliIndex node)
{
    if (!pli_activeset_may_merge(s, node)) return false;
    const PliLevels *h = s->h;
    change_states(s, &node, 1, PLI_ACTIVE);
    change_states(s, h->child + h->child_first[node], h->child_first[node + 1] - h->child_first[node], PLI_BELOW);
    return true;
}

// ---- commit --------------------------------------------------------------------------------------------------------------------

void pli_activeset_affect(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    for (PliIndex i = 0; i < s->affected_count; ++i) { // begins with those whose sources changed
        const PliIndex node = s->affected[i];
        for (PliIndex k = h->user_first[node]; k < h->user_first[node + 1]; ++k) {
            const PliIndex user = h->user[k];
            // what follows a node without a valid row has none either, except in a cycle, which looks past its other members
            if (s->node_mark[user] || (!s->valid[user] && s->cycle[user] == PLI_NONE) || s->state[user] == PLI_ACTIVE)
                continue;
            const bool follows_up = s->state[user] == PLI_BELOW, is_finer = h->level[user] > h->level[node];
            if (follows_up == is_finer) add_affected(s, user);
        }
    }
}

static PliStatus make_rows(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    for (PliIndex i = 0; i < s->affected_count; ++i) {
        s->valid[s->affected[i]] = 0;
        s->row_revision[s->affected[i]] = s->revision;
    }
    PliStatus status = PLI_OK;
    for (PliIndex i = 0; i < s->changed_count && status == PLI_OK; ++i) status = pli_activeset_need(s, s->changed[i]);
    for (PliIndex i = 0; i < s->affected_count && status == PLI_OK; ++i)
        if (s->touch[s->affected[i]] > 0) status = pli_activeset_need(s, s->affected[i]);
    for (PliIndex i = 0; i < s->dirty_count && status == PLI_OK; ++i) {
        if (s->volume[s->dirty[i]] == 0.0) continue;
        for (int c = 0; c < 4 && status == PLI_OK; ++c)
            status = pli_activeset_need(s, h->tets[4 * (size_t)s->dirty[i] + c]);
    }
    return status;
}

/// An event must not leave a node with less than this share of a quarter of the tetrahedra around it: all substeps would follow it.
/// What had less before may keep it.
static const double LEAST_SHARE = 0.03;

static bool is_too_light(const PliActiveSet *s, PliIndex i)
{
    const PliLevels *h = s->h;
    const PliIndex node = s->patch[i];
    if (s->state[node] != PLI_ACTIVE) return false;
    if (s->mass[node] <= 0) return true;
    if (s->mass[node] >= s->patch_mass[i] && s->patch_mass[i] > 0) return false;
    double around = 0.0;
    for (PliIndex k = h->star_first[node]; k < h->star_first[node + 1]; ++k) around += h->tet_volume[h->star[k]];
    return (double)s->mass[node] * h->unit < 0.25 * LEAST_SHARE * around;
}

PliStatus pli_activeset_commit(PliActiveSet *s)
{
    update_volumes(s);
    if (s->is_damaged) return PLI_OVER_CAPACITY;
    for (PliIndex i = 0; i < s->patch_count; ++i)
        if (is_too_light(s, i)) return PLI_OVER_CAPACITY;
    return make_rows(s);
}

void pli_activeset_undo(PliActiveSet *s)
{
    const bool committed = s->dirty_count > 0 || s->affected_count > 0;
    PliIndex started = 0; // the two stages backwards: first what stopped starts again
    while (started < s->changed_count && s->state[s->changed[started]] == PLI_ACTIVE) ++started;
    for (int stage = 0; stage < 2; ++stage) {
        const PliIndex first = stage == 0 ? started : 0, last = stage == 0 ? s->changed_count : started;
        pli_activeset_stage_begin(s);
        for (PliIndex i = first; i < last; ++i) pli_activeset_stage_leave(s, s->changed[i]);
        for (PliIndex i = first; i < last; ++i) {
            set_state(s, s->changed[i], s->changed_from[i]);
            pli_activeset_stage_enter(s, s->changed[i]);
        }
        pli_activeset_stage_end(s);
        note_suspects(s);
    }
    if (s->is_damaged) pli_activeset_rebuild_flow(s);
    update_volumes(s);
    if (committed) {
        pli_activeset_affect(s);
        (void)make_rows(s); // these rows fitted before the event, and slots never shrink
    }
    pli_activeset_begin(s);
}

PliStatus pli_activeset_rebuild(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    const PliIndex n = h->point_count, tets = h->tet_count;
    pli_activeset_begin(s);
    memset(s->own, 0, tets);
    memset(s->zone, 0, tets);
    memset(s->covering, 0, tets * sizeof *s->covering);
    memset(s->covered, 0, tets * sizeof *s->covered);
    memset(s->volume, 0, tets * sizeof *s->volume);
    memset(s->touch, 0, n * sizeof *s->touch);
    memset(s->valid, 0, n);
    memset(s->element_bits, 0, (tets / 64 + 1) * sizeof *s->element_bits);
    for (PliIndex p = 0; p < n; ++p) {
        const uint8_t state = s->state[p];
        s->state[p] = s->def.paper ? PLI_REFINED : PLI_BELOW; // a state that owns nothing
        set_state(s, p, state);
        s->row_revision[p] = s->revision;
    }
    pli_activeset_rebuild_flow(s);
    for (PliIndex t = 0; t < tets; ++t) mark_dirty(s, t);
    update_volumes(s);
    for (PliIndex p = 0; p < n; ++p) update_node_bits(s, p);
    PliStatus status = s->is_damaged ? PLI_OVER_CAPACITY : make_rows(s);
    for (PliIndex p = 0; p < n; ++p)
        if (s->state[p] == PLI_ACTIVE && s->mass[p] <= 0) status = PLI_OVER_CAPACITY;
    pli_activeset_begin(s);
    pli_activeset_list(s);
    return status;
}

PliStatus pli_activeset_reset(PliActiveSet *s, int level)
{
    const PliLevels *h = s->h;
    for (PliIndex p = 0; p < h->point_count; ++p)
        s->state[p] = h->level[p] < level ? PLI_REFINED : h->level[p] == level ? PLI_ACTIVE : PLI_BELOW;
    return pli_activeset_rebuild(s);
}
