/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Where passive coefficients are: daughters in the frame that their active ancestor has from its neighbours, mothers where their active
// descendants balance. All of it is linear in the active coefficients, so it is W.
#include <math.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"
#include "scheme/octree/fit.h"
#include "scheme/octree/octree.h"

static bool shares_face(const PliOctreeTree *t, PliIndex a, PliIndex b)
{
    const PliOctreeCell *p = &t->cell[a], *q = &t->cell[b];
    const int sp = t->level_count - 1 - p->level, sq = t->level_count - 1 - q->level;
    int apart = 0;
    for (int k = 0; k < 3; ++k)
        apart += (p->at[k] + 1) << sp == q->at[k] << sq || (q->at[k] + 1) << sq == p->at[k] << sp;
    return apart == 1;
}

/// For neighbours that are chosen. @return how many directions they span
static int fit_frame(const PliOctree *s, PliOctreeFrame *f)
{
    const double *origin = s->rest + 3 * (size_t)f->cell;
    double points[3 * PLI_OCTREE_FRAME];
    for (PliIndex i = 0; i < f->count; ++i) v3_copy(points + 3 * (size_t)i, s->rest + 3 * (size_t)f->neighbour[i]);
    const int rank = pli_octree_fit_frame(origin, points, f->count, f->grad);
    f->is_thin = rank < 3;
    memset(f->missing, 0, sizeof f->missing);
    if (!f->is_thin) return rank;
    for (int k = 0; k < 3; ++k) f->missing[4 * k] = 1.0;
    for (PliIndex i = 0; i < f->count; ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                f->missing[3 * a + b] -= (points[3 * i + (PliIndex)a] - origin[a]) * f->grad[3 * i + (PliIndex)b];
    return rank;
}

static void make_frame(const PliOctree *s, PliIndex cell, PliOctreeFrame *f)
{
    const PliOctreeTree *t = s->tree;
    int rank = 0;
    f->cell = cell;
    for (int all = 0; all < 2 && rank < 3; ++all) {
        // lists have the order of events: the frame must not
        PliIndex last = 0;
        f->count = 0;
        for (bool more = true; more && f->count < PLI_OCTREE_FRAME;) {
            PliIndex next = PLI_NONE;
            for (PliIndex i = 0; i < s->active.length[cell]; ++i) {
                const PliIndex n = pli_octree_neighbour(&s->active, cell, i);
                if (n >= last && n < next && (all || shares_face(t, cell, n))) next = n;
            }
            more = next != PLI_NONE;
            if (!more) break;
            f->neighbour[f->count++] = next;
            last = next + 1;
        }
        rank = fit_frame(s, f);
    }
}

const PliOctreeFrame *pli_octree_frame(const PliOctree *s, PliIndex cell)
{
    if (s->frame_is_stale[cell]) make_frame(s, cell, &s->frame[cell]);
    s->frame_is_stale[cell] = 0;
    return &s->frame[cell];
}

PliOctreeFrame pli_octree_event_frame(const PliOctree *s, PliIndex cell)
{
    PliOctreeFrame f = *pli_octree_frame(s, cell);
    bool held = false;
    for (int side = 0; side < 6; ++side) {
        const PliIndex w = s->tree->cell[cell].wall[side];
        if (w == PLI_NONE || !s->is_held[w] || f.count == PLI_OCTREE_FRAME) continue;
        f.neighbour[f.count++] = s->wall_first + w;
        held = true;
    }
    if (held) (void)fit_frame(s, &f);
    return f;
}

void pli_octree_frame_gradient(const PliOctree *s, const PliOctreeFrame *f, const double *x, double F[9])
{
    const double *origin = x + 3 * (size_t)f->cell;
    memset(F, 0, 9 * sizeof *F);
    for (PliIndex i = 0; i < f->count; ++i) {
        const double *p = x + 3 * (size_t)f->neighbour[i];
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) F[3 * a + b] += (p[a] - origin[a]) * f->grad[3 * i + (PliIndex)b];
    }
    if (!f->is_thin) return;
    for (PliIndex k = 0; k < s->axis_count; ++k) {
        const double *axis = x + 3 * (size_t)(s->axis_first + k);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) F[3 * a + b] += axis[a] * f->missing[3 * k + (PliIndex)b];
    }
}

// F on what neighbours span, and a rotation on what they do not
static void turn_missing(const PliOctreeFrame *f, double F[9])
{
    double spanned[9], R[9], part[9];
    m3_mul(part, F, f->missing);
    for (int i = 0; i < 9; ++i) spanned[i] = F[i] - part[i];
    // each time half of the angle between the two is left
    for (int k = 0; k < 20; ++k) {
        pli_polar_robust(F, R);
        m3_mul(part, R, f->missing);
        for (int i = 0; i < 9; ++i) F[i] = spanned[i] + part[i];
    }
}

void pli_octree_frame_turned(const PliOctree *s, const PliOctreeFrame *f, const double *x, double F[9])
{
    pli_octree_frame_gradient(s, f, x, F);
    if (f->is_thin) turn_missing(f, F);
}

void pli_octree_frame_rate(const PliOctree *s, const PliOctreeFrame *f, const double *x, const double *v, double F[9])
{
    double at[9], rate[9], up[9], down[9], most = 0.0;
    pli_octree_frame_gradient(s, f, v, F);
    if (!f->is_thin) return;
    memcpy(rate, F, sizeof rate);
    pli_octree_frame_gradient(s, f, x, at);
    for (int i = 0; i < 9; ++i) most = fabs(rate[i]) > most ? fabs(rate[i]) : most;
    if (!(most > 0.0)) return;
    // central difference over a change of shape of 1e-4: good to 1e-8
    const double t = 1e-4 / most;
    for (int i = 0; i < 9; ++i) up[i] = at[i] + t * rate[i], down[i] = at[i] - t * rate[i];
    turn_missing(f, up);
    turn_missing(f, down);
    for (int i = 0; i < 9; ++i) F[i] = (up[i] - down[i]) / (2.0 * t);
}

// ---- values ----------------------------------------------------------------------------------------------------------------

static void set_walls(const PliOctree *s, PliIndex cell, const double F[9], double *x)
{
    const PliOctreeTree *t = s->tree;
    for (int side = 0; side < 6; ++side) {
        const PliIndex w = t->cell[cell].wall[side];
        if (w == PLI_NONE || s->is_held[w]) continue; // held ones are where the host has them
        double d[3], *out = x + 3 * (size_t)(s->wall_first + w);
        v3_sub(d, t->wall_rest + 3 * (size_t)w, t->rest + 3 * (size_t)cell);
        m3_apply(out, F, d);
        v3_add(out, out, x + 3 * (size_t)cell);
    }
}

/// Down to a level; walls with the finest.
static void set_daughters(const PliOctree *s, PliIndex cell, const double F[9], int last, double *x)
{
    if (last + 1 == s->tree->level_count)
        set_walls(s, cell, F, x);
    else if (s->tree->cell[cell].level >= last)
        return;
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = s->tree->cell[cell].child[k];
        if (c == PLI_NONE) continue;
        double *out = x + 3 * (size_t)c;
        m3_apply(out, F, s->place + 3 * (size_t)c);
        v3_add(out, out, x + 3 * (size_t)cell);
        set_daughters(s, c, F, last, x);
    }
}

/// Cells above the active ones.
static void set_mothers(const PliOctree *s, bool with_walls, double *x)
{
    const PliOctreeTree *t = s->tree;
    for (PliIndex c = t->level_first[t->level_count - 1]; c-- > 0;) {
        if (pli_octree_cover(&s->active, c) != PLI_NONE) continue;
        double sum[3] = { 0, 0, 0 };
        for (int k = 0; k < 8; ++k)
            if (t->cell[c].child[k] != PLI_NONE)
                v3_madd(sum, t->volume[t->cell[c].child[k]] / t->volume[c], x + 3 * (size_t)t->cell[c].child[k]);
        v3_copy(x + 3 * (size_t)c, sum);
        for (int side = 0; side < 6 && with_walls; ++side) {
            const PliIndex w = t->cell[c].wall[side];
            if (w == PLI_NONE || s->is_held[w]) continue;
            double mean[3] = { 0, 0, 0 };
            for (int k = 0; k < 8; ++k) {
                const PliIndex child = t->cell[c].child[k],
                               below = child == PLI_NONE ? PLI_NONE : t->cell[child].wall[side];
                if (below != PLI_NONE)
                    v3_madd(mean, t->wall_area[below] / t->wall_area[w], x + 3 * (size_t)(s->wall_first + below));
            }
            v3_copy(x + 3 * (size_t)(s->wall_first + w), mean);
        }
    }
}

static bool has_walls(const PliOctreeTree *t, PliIndex cell)
{
    for (int side = 0; side < 6; ++side)
        if (t->cell[cell].wall[side] != PLI_NONE) return true;
    return false;
}

void pli_octree_spread(void *self, double *x)
{
    const PliOctree *s = self;
    for (PliIndex i = 0; i < s->op.count; ++i) {
        double F[9];
        if (!pli_octree_has_children(s->tree, s->op.cell[i]) && !has_walls(s->tree, s->op.cell[i])) continue;
        pli_octree_frame_gradient(s, pli_octree_frame(s, s->op.cell[i]), x, F);
        set_daughters(s, s->op.cell[i], F, s->tree->level_count - 1, x);
    }
    set_mothers(s, true, x);
}

void pli_octree_spread_judged(const PliOctree *s, double *x)
{
    const int last = s->tree->level_count - 2;
    for (PliIndex i = 0; i < s->op.count && s->tree->cell[s->op.cell[i]].level < last; ++i) { // they ascend by level
        double F[9];
        pli_octree_frame_gradient(s, pli_octree_frame(s, s->op.cell[i]), x, F);
        set_daughters(s, s->op.cell[i], F, last, x);
    }
    set_mothers(s, false, x);
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

static void add_weight(PliOctree *s, PliIndex dof, double weight)
{
    if (s->sum[dof] == 0.0) s->touched[s->touched_count++] = dof;
    s->sum[dof] += weight;
    if (s->sum[dof] == 0.0) s->sum[dof] = 1e-300; // stays touched
}

/// scale times the place `offset` away from an active cell, in its frame
static void add_framed(PliOctree *s, PliIndex cell, const double offset[3], double scale)
{
    const PliOctreeFrame *f = pli_octree_frame(s, cell);
    double own = 1.0;
    for (PliIndex i = 0; i < f->count; ++i) {
        const double w = v3_dot(f->grad + 3 * (size_t)i, offset);
        add_weight(s, f->neighbour[i], scale * w);
        own -= w;
    }
    add_weight(s, cell, scale * own);
    for (PliIndex k = 0; f->is_thin && k < s->axis_count; ++k)
        add_weight(s, s->axis_first + k, scale * v3_dot(f->missing + 3 * k, offset));
}

static void add_dof(PliOctree *s, PliIndex dof, double scale)
{
    const PliOctreeTree *t = s->tree;
    if (dof >= s->axis_first) {
        add_weight(s, dof, scale);
        return;
    }
    const PliIndex w = dof >= s->wall_first ? dof - s->wall_first : PLI_NONE,
                   cell = w == PLI_NONE ? dof : t->wall_cell[w];
    if (w == PLI_NONE && s->active.is_active[cell]) {
        add_weight(s, cell, scale);
        return;
    }
    double offset[3] = { 0, 0, 0 };
    if (w != PLI_NONE) v3_sub(offset, t->wall_rest + 3 * (size_t)w, t->rest + 3 * (size_t)cell);
    for (PliIndex c = cell; c != PLI_NONE; c = t->cell[c].parent) {
        if (s->active.is_active[c]) {
            add_framed(s, c, offset, scale);
            return;
        }
        v3_add(offset, offset, s->place + 3 * (size_t)c);
    }
    for (int k = 0; k < 8; ++k) {
        const PliIndex child = t->cell[cell].child[k];
        if (child == PLI_NONE) continue;
        if (w == PLI_NONE) {
            add_dof(s, child, scale * t->volume[child] / t->volume[cell]);
        } else {
            const PliIndex below = t->cell[child].wall[t->wall_side[w]];
            if (below != PLI_NONE) add_dof(s, s->wall_first + below, scale * t->wall_area[below] / t->wall_area[w]);
        }
    }
}

void pli_octree_follow(void *self, const PliIndex *dof, PliIndex count, double *x)
{
    PliOctree *s = self;
    for (PliIndex i = 0; i < count; ++i) {
        if (dof[i] >= s->axis_first || (dof[i] < s->wall_first && s->active.is_active[dof[i]])) continue;
        double sum[3] = { 0, 0, 0 };
        s->touched_count = 0;
        add_dof(s, dof[i], 1.0);
        for (PliIndex k = 0; k < s->touched_count; ++k) {
            v3_madd(sum, s->sum[s->touched[k]], x + 3 * (size_t)s->touched[k]);
            s->sum[s->touched[k]] = 0.0;
        }
        v3_copy(x + 3 * (size_t)dof[i], sum);
    }
}

static void push_row(PliOctree *s, PliIndex dof, PliIndex *used)
{
    s->touched_count = 0;
    add_dof(s, dof, 1.0);
    for (PliIndex k = 0; k < s->touched_count; ++k) {
        const PliIndex column = s->touched[k];
        if (*used < s->row_capacity) s->row_column[*used] = column, s->row_weight[*used] = s->sum[column], ++*used;
        s->sum[column] = 0.0;
    }
}

static PliRows rows_view(const PliOctree *s)
{
    return (PliRows){ s->row_first, s->row_column, s->row_weight, s->dof_count, s->dof_count };
}

PliRows pli_octree_rows(void *self)
{
    PliOctree *s = self;
    if (s->rows_revision == s->revision) return rows_view(s);
    PliIndex used = 0;
    for (PliIndex d = 0; d < s->dof_count; ++d) {
        s->row_first[d] = used;
        push_row(s, d, &used);
    }
    s->row_first[s->dof_count] = used;
    s->rows_revision = s->revision;
    return rows_view(s);
}

PliRows pli_octree_rows_of(void *self, const PliIndex *dof, PliIndex count)
{
    PliOctree *s = self;
    if (s->rows_revision == s->revision) return rows_view(s);
    // by ascending dof, so that where one row ends and the next begins are the same number; rows between them are not looked at
    PliIndex used = 0;
    for (PliIndex next = pli_least_from(dof, count, 0); next != PLI_NONE; next = pli_least_from(dof, count, next + 1)) {
        s->row_first[next] = used;
        push_row(s, next, &used);
        s->row_first[next + 1] = used;
    }
    s->rows_revision = 0;
    return rows_view(s);
}

// ---- points ----------------------------------------------------------------------------------------------------------------

PliIndex pli_octree_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const PliOctree *s = self;
    const PliOctreeTree *t = s->tree;
    const PliIndex cell = pli_octree_tree_find(t, point);
    const PliOctreeCell *c = &t->cell[cell];
    double points[3 * 26], g[3 * 26], offset[3], missing[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    PliIndex count = 0, used = 0;
    for (int n = 0; n < 27; ++n) {
        const int32_t at[3] = { c->at[0] + n % 3 - 1, c->at[1] + n / 3 % 3 - 1, c->at[2] + n / 9 - 1 };
        const PliIndex near = n == 13 ? PLI_NONE : pli_octree_tree_at(t, c->level, at);
        if (near == PLI_NONE || count + 2 + s->axis_count > capacity) continue;
        column[count] = near;
        v3_copy(points + 3 * (size_t)count++, t->rest + 3 * (size_t)near);
    }
    if (capacity < 1) return 0;
    v3_sub(offset, point, t->rest + 3 * (size_t)cell);
    const int rank = pli_octree_fit_frame(t->rest + 3 * (size_t)cell, points, count, g);
    double own = 1.0;
    for (PliIndex i = 0; i < count; ++i) {
        weight[i] = v3_dot(g + 3 * (size_t)i, offset);
        own -= weight[i];
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                missing[3 * a + b] -=
                    (points[3 * i + (PliIndex)a] - t->rest[3 * (size_t)cell + (size_t)a]) * g[3 * i + (PliIndex)b];
    }
    used = count;
    column[used] = cell;
    weight[used++] = own;
    for (PliIndex k = 0; rank < 3 && k < s->axis_count; ++k) {
        column[used] = s->axis_first + k;
        weight[used++] = v3_dot(missing + 3 * k, offset);
    }
    return used;
}
