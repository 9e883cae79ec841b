/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Rows of W, on demand, and values without rows.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "scheme/tetlod/activeset.h"

// ---- one row -------------------------------------------------------------------------------------------------------------

static PliIndex sum_begin(PliActiveSet *s)
{
    if (++s->stamp == 0) { // wrapped: old stamps could look current
        memset(s->sum_stamp, 0, s->h->point_count * sizeof *s->sum_stamp);
        s->stamp = 1;
    }
    return 0;
}

static PliIndex sum_add(PliActiveSet *s, PliIndex count, double factor, PliIndex node)
{
    const PliIndex first = s->row_first[node], last = first + s->row_count[node];
    for (PliIndex k = first; k < last; ++k) {
        const PliIndex c = s->column[k];
        if (s->sum_stamp[c] != s->stamp) {
            s->sum_stamp[c] = s->stamp;
            s->sum[c] = 0.0;
            s->sum_column[count++] = c;
        }
        s->sum[c] += factor * s->weight[k];
    }
    return count;
}

/// Puts rows close together again; those that are not valid give their place up.
static void tighten(PliActiveSet *s)
{
    PliIndex end = 0;
    for (PliIndex i = 0; i < s->h->point_count; ++i) {
        const PliIndex from = s->row_first[i], used = s->valid[i] ? s->row_count[i] : 0;
        memmove(s->column + end, s->column + from, used * sizeof *s->column);
        memmove(s->weight + end, s->weight + from, used * sizeof *s->weight);
        s->row_first[i] = end;
        s->row_count[i] = used;
        end += used;
    }
    s->row_first[s->h->point_count] = end;
}

/// Widens slots so that `node` can hold `count` entries, and those that are nearly full with it: what grows once grows again,
/// and moving all rows is not a thing to do at every event.
static PliStatus repack(PliActiveSet *s, PliIndex node, PliIndex count)
{
    const PliIndex n = s->h->point_count;
    s->repacks++;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const PliIndex least = attempt < 2 ? 16 : 0;
        size_t total = 0;
        for (PliIndex i = 0; i < n; ++i) {
            const PliIndex old = s->row_first[i + 1] - s->row_first[i], used = i == node ? count : s->row_count[i];
            PliIndex wanted = used + used / 4 > old || i == node ? (used + used / 2 + 3) / 4 * 4 : old;
            if (wanted < least) wanted = least;
            s->slot[i] = wanted > old ? wanted : old;
            total += s->slot[i];
        }
        if (total <= s->entry_capacity) {
            // half of what is free goes to all slots alike, so that this does not have to be done again soon
            const PliIndex more = (PliIndex)((s->entry_capacity - total) / (2 * (size_t)n));
            for (PliIndex i = 0; i < n; ++i) s->slot[i] += more < 16 ? more : 16;
            break;
        }
        if (attempt == 2) return PLI_OVER_CAPACITY;
        if (attempt == 0) tighten(s);
    }
    // slots only grow, so moving from the last to the first never overwrites what is still to move
    size_t total = 0;
    for (PliIndex i = 0; i < n; ++i) total += s->slot[i];
    PliIndex end = (PliIndex)total;
    for (PliIndex i = n; i-- > 0;) {
        const PliIndex from = s->row_first[i], to = end - s->slot[i], used = s->row_count[i];
        memmove(s->column + to, s->column + from, used * sizeof *s->column);
        memmove(s->weight + to, s->weight + from, used * sizeof *s->weight);
        for (PliIndex k = to + used; k < end; ++k) s->column[k] = used ? s->column[to] : 0, s->weight[k] = 0.0;
        s->row_first[i + 1] = end;
        end = to;
    }
    return PLI_OK;
}

static PliStatus sum_store(PliActiveSet *s, PliIndex count, PliIndex node)
{
    // ascending columns and no zeros: one row has one form, whatever way it was computed
    PliIndex used = 0;
    for (PliIndex k = 0; k < count; ++k) {
        const PliIndex c = s->sum_column[k];
        if (fabs(s->sum[c]) < 1e-16) continue;
        PliIndex j = used++;
        for (; j > 0 && s->sum_column[j - 1] > c; --j) s->sum_column[j] = s->sum_column[j - 1];
        s->sum_column[j] = c;
    }
    if (used > s->row_first[node + 1] - s->row_first[node]) {
        const PliStatus status = repack(s, node, used);
        if (status != PLI_OK) return status;
    }
    const PliIndex first = s->row_first[node];
    for (PliIndex k = 0; k < used; ++k) {
        s->column[first + k] = s->sum_column[k];
        s->weight[first + k] = s->sum[s->sum_column[k]];
    }
    for (PliIndex k = first + used; k < s->row_first[node + 1]; ++k)
        s->column[k] = s->sum_column[0], s->weight[k] = 0.0;
    s->row_count[node] = used;
    s->valid[node] = 1;
    return PLI_OK;
}

static PliStatus store_identity(PliActiveSet *s, PliIndex node)
{
    sum_begin(s);
    s->sum[node] = 1.0;
    s->sum_column[0] = node;
    return sum_store(s, 1, node);
}

PliStatus pli_activeset_need(PliActiveSet *s, PliIndex node)
{
    if (s->valid[node]) return PLI_OK;
    if (s->state[node] == PLI_ACTIVE) return store_identity(s, node);
    const double *w;
    const PliIndex *from, n = pli_activeset_sources(s, node, &from, &w);
    for (PliIndex k = 0; k < n; ++k) { // a chain is a few levels deep, and has no cycles
        const PliStatus status = w[k] == 0.0 ? PLI_OK : pli_activeset_need(s, from[k]);
        if (status != PLI_OK) return status;
    }
    PliIndex count = sum_begin(s);
    for (PliIndex k = 0; k < n; ++k)
        if (w[k] != 0.0) count = sum_add(s, count, w[k], from[k]);
    return sum_store(s, count, node);
}

// ---- values without rows -----------------------------------------------------------------------------------------------------

void pli_activeset_follow_begin(PliActiveSet *s)
{
    if (++s->follow_stamp != 0) return;
    memset(s->followed, 0, s->h->point_count * sizeof *s->followed);
    s->follow_stamp = 1;
}

const double *pli_activeset_follow(PliActiveSet *s, PliIndex node, double *a)
{
    double *out = a + 3 * (size_t)node;
    if (s->state[node] == PLI_ACTIVE || s->followed[node] == s->follow_stamp) return out;
    const double *w;
    const PliIndex *from, n = pli_activeset_sources(s, node, &from, &w);
    double sum[3] = { 0.0, 0.0, 0.0 };
    for (PliIndex k = 0; k < n; ++k) {
        if (w[k] == 0.0) continue;
        const double *p = pli_activeset_follow(s, from[k], a);
        sum[0] += w[k] * p[0], sum[1] += w[k] * p[1], sum[2] += w[k] * p[2];
    }
    out[0] = sum[0], out[1] = sum[1], out[2] = sum[2];
    s->followed[node] = s->follow_stamp;
    return out;
}

void pli_activeset_spread(PliActiveSet *s, double *a)
{
    pli_activeset_follow_begin(s);
    for (PliIndex p = 0; p < s->h->point_count; ++p) (void)pli_activeset_follow(s, p, a);
}

PliRows pli_activeset_rows(PliActiveSet *s)
{
    for (PliIndex p = 0; p < s->h->point_count; ++p) (void)pli_activeset_need(s, p);
    return pli_activeset_valid_rows(s);
}
