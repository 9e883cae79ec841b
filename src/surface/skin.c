/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "surface/skin.h"

#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"

static void rest_areas(PliSkin *s, const double *points)
{
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *c = s->tris + 3 * (size_t)t;
        double a[3], b[3], n[3];
        v3_sub(a, points + 3 * (size_t)c[1], points + 3 * (size_t)c[0]);
        v3_sub(b, points + 3 * (size_t)c[2], points + 3 * (size_t)c[0]);
        v3_cross(n, a, b);
        for (int k = 0; k < 3; ++k) s->area[c[k]] += v3_norm(n) / 6.0;
    }
}

static void list_dofs(PliSkin *s)
{
    const PliRows rows = pli_transfer_rows(s->base);
    s->used_dofs = 0;
    for (PliIndex k = 0; k < rows.first[rows.out_count]; ++k) s->dense[rows.column[k]] = 1.0;
    for (PliIndex i = 0; i < s->dof_count; ++i) {
        if (s->dense[i] != 0.0) s->dof[s->used_dofs++] = i;
        s->dense[i] = 0.0;
    }
}

PliSkin *pli_skin_create(const PliHost *host, PliIndex dof_count, const double *points, PliIndex point_count,
                         const PliIndex *tris, PliIndex tri_count, PliTransfer *base)
{
    PliSkin *s = PLI_NEW(host, 1, PliSkin);
    if (!s) {
        pli_transfer_destroy(base);
        return NULL;
    }
    s->host = *host;
    s->point_count = point_count, s->tri_count = tri_count, s->dof_count = dof_count;
    s->base = s->finest = base;
    const size_t n = point_count;
    s->tris = PLI_NEW(host, 3 * (size_t)tri_count, PliIndex);
    s->entries = PLI_NEW(host, n, PliIndex);
    s->stamp = PLI_NEW(host, n, uint64_t);
    s->offset = PLI_NEW(host, 3 * n, double);
    s->off = PLI_NEW(host, n, PliIndex);
    s->is_off = PLI_NEW(host, n, uint8_t);
    s->position = PLI_NEW(host, 3 * n, double);
    s->area = PLI_NEW(host, n, double);
    s->level = PLI_NEW(host, n, uint8_t);
    s->dense = PLI_NEW(host, dof_count, double);
    s->touched = PLI_NEW(host, dof_count, PliIndex);
    s->dof = PLI_NEW(host, dof_count, PliIndex);
    s->rest = PLI_NEW(host, 3 * n, double);
    s->before = PLI_NEW(host, 3 * n, double);
    s->wake = PLI_NEW(host, n, double);
    s->kept = PLI_NEW(host, n, PliIndex);
    s->is_kept = PLI_NEW(host, n, uint8_t);
    if (s->rest) memcpy(s->rest, points, 3 * n * sizeof *points);
    if (!s->tris || !s->entries || !s->stamp || !s->offset || !s->off || !s->is_off || !s->position || !s->area ||
        !s->level || !s->dense || !s->touched || !s->dof || !s->rest || !s->before || !s->wake || !s->kept ||
        !s->is_kept || pli_nearest_init(&s->near, host, s->rest, point_count) != PLI_OK) {
        pli_skin_destroy(s);
        return NULL;
    }
    memcpy(s->tris, tris, 3 * (size_t)tri_count * sizeof *tris);
    rest_areas(s, points);
    list_dofs(s);
    return s;
}

void pli_skin_hang(PliSkin *s, int level)
{
    PliTransfer *base = level >= 0 && level < PLI_SKIN_LEVELS && s->at[level] ? s->at[level] : s->finest;
    if (base == s->base) return;
    s->base = base;
    s->sparse = level, s->sparse_end = base != s->finest ? level + 1 : 0;
    list_dofs(s);
    pli_skin_forget_rows(s);
    pli_skin_wake(s); // other points may touch
}

/// Radius of a round tool over the spacing of the points that it touches, at least: it sinks in by a sixteenth of the spacing.
static const double ROUND = 2.0;

void pli_skin_choose_touching(PliSkin *s, double radius)
{
    const PliThin *wanted = NULL;
    for (int l = s->sparse; l < s->sparse_end && !wanted; ++l)
        if (s->thin[l].count && radius >= ROUND * s->thin[l].spacing) wanted = &s->thin[l];
    if (wanted != s->touching) pli_skin_wake(s);
    s->touching = wanted;
}

void pli_skin_destroy(PliSkin *s)
{
    if (!s) return;
    PliHost host = s->host;
    const size_t n = s->point_count, slots = n * PLI_SKIN_ROW;
    PLI_FREE(&host, s->tris, 3 * (size_t)s->tri_count);
    PLI_FREE(&host, s->column, slots);
    PLI_FREE(&host, s->weight, slots);
    PLI_FREE(&host, s->entries, n);
    PLI_FREE(&host, s->stamp, n);
    PLI_FREE(&host, s->offset, 3 * n);
    PLI_FREE(&host, s->off, n);
    PLI_FREE(&host, s->is_off, n);
    PLI_FREE(&host, s->position, 3 * n);
    PLI_FREE(&host, s->area, n);
    PLI_FREE(&host, s->level, n);
    PLI_FREE(&host, s->dense, s->dof_count);
    PLI_FREE(&host, s->touched, s->dof_count);
    PLI_FREE(&host, s->dof, s->dof_count);
    pli_nearest_free(&s->near);
    PLI_FREE(&host, s->rest, 3 * n);
    PLI_FREE(&host, s->before, 3 * n);
    PLI_FREE(&host, s->wake, n);
    PLI_FREE(&host, s->kept, n);
    PLI_FREE(&host, s->is_kept, n);
    pli_transfer_destroy(s->packed);
    pli_transfer_destroy(s->finest);
    for (int l = 0; l < PLI_SKIN_LEVELS; ++l) {
        pli_transfer_destroy(s->at[l]);
        pli_thin_free(&host, &s->thin[l]);
    }
    PLI_FREE(&host, s, 1);
}

void pli_skin_wake(PliSkin *s)
{
    s->motion = 0.0;
    memset(s->wake, 0, s->point_count * sizeof *s->wake);
}

void pli_skin_forget_rows(PliSkin *s)
{
    memset(s->stamp, 0, s->point_count * sizeof *s->stamp);
    s->packed_revision = s->composed_revision = 0;
}

void pli_skin_reset(PliSkin *s)
{
    memset(s->offset, 0, 3 * (size_t)s->point_count * sizeof *s->offset);
    memset(s->stamp, 0, s->point_count * sizeof *s->stamp);
    pli_skin_wake(s);
    memset(s->is_kept, 0, s->point_count);
    s->kept_count = 0;
    s->packed_revision = s->composed_revision = 0;
    pli_skin_list_offsets(s);
    s->largest_offset = 0.0;
    s->is_shown = s->is_touched = false; // nobody has seen the new one
}

bool pli_skin_reserve(PliSkin *s, bool packed)
{
    const size_t slots = (size_t)s->point_count * PLI_SKIN_ROW;
    if (!s->column) s->column = PLI_NEW(&s->host, slots, PliIndex);
    if (!s->weight) s->weight = PLI_NEW(&s->host, slots, double);
    if (packed && !s->packed) s->packed = pli_transfer_create(&s->host, s->point_count, slots);
    return s->column && s->weight && (!packed || s->packed);
}

// the PLI_SKIN_ROW largest of the touched weights, in the order they were touched, rescaled to their full sum
static PliIndex keep_largest(PliSkin *s, PliIndex count)
{
    double sum = 0.0, kept = 0.0;
    for (PliIndex k = 0; k < count; ++k) sum += s->dense[s->touched[k]];
    while (count > PLI_SKIN_ROW) {
        PliIndex least = 0;
        for (PliIndex k = 1; k < count; ++k)
            if (fabs(s->dense[s->touched[k]]) < fabs(s->dense[s->touched[least]])) least = k;
        s->dense[s->touched[least]] = 0.0;
        memmove(s->touched + least, s->touched + least + 1, (count - least - 1) * sizeof *s->touched);
        --count;
    }
    for (PliIndex k = 0; k < count; ++k) kept += s->dense[s->touched[k]];
    for (PliIndex k = 0; k < count; ++k) s->dense[s->touched[k]] *= sum / kept;
    s->overflow++;
    return count;
}

void pli_skin_compose(PliSkin *s, PliIndex i, PliRows w, const uint64_t *changed, uint64_t now)
{
    const PliRows base = pli_transfer_rows(s->base);
    bool fresh = s->stamp[i] != 0 && (changed || s->stamp[i] == now);
    for (PliIndex k = base.first[i]; fresh && changed && k < base.first[i + 1]; ++k)
        if (changed[base.column[k]] > s->stamp[i]) fresh = false;
    s->stamp[i] = now;
    if (fresh) return;
    PliIndex count = 0;
    for (PliIndex k = base.first[i]; k < base.first[i + 1]; ++k) {
        const PliIndex row = base.column[k];
        for (PliIndex e = w.first[row]; e < w.first[row + 1]; ++e) {
            const PliIndex c = w.column[e];
            if (s->dense[c] == 0.0) s->touched[count++] = c;
            s->dense[c] += base.weight[k] * w.weight[e];
            if (s->dense[c] == 0.0) s->dense[c] = 1e-300; // cancelled exactly: keep it marked as touched
        }
    }
    if (count > PLI_SKIN_ROW) count = keep_largest(s, count);
    PliIndex *column = s->column + (size_t)i * PLI_SKIN_ROW;
    double *weight = s->weight + (size_t)i * PLI_SKIN_ROW;
    for (PliIndex k = 0; k < count; ++k) {
        column[k] = s->touched[k];
        weight[k] = s->dense[s->touched[k]];
        s->dense[s->touched[k]] = 0.0;
    }
    s->entries[i] = count;
}

void pli_skin_compose_all(PliSkin *s, PliRows w, const uint64_t *changed, uint64_t now, const uint8_t *dof_level)
{
    if (s->composed_revision == now || !pli_skin_reserve(s, false)) return;
    s->composed_revision = now;
    for (PliIndex i = 0; i < s->point_count; ++i) {
        pli_skin_compose(s, i, w, changed, now);
        uint8_t level = 0;
        double most = -1.0;
        for (PliIndex k = 0; k < s->entries[i]; ++k) {
            const size_t e = (size_t)i * PLI_SKIN_ROW + k;
            if (fabs(s->weight[e]) > most) most = fabs(s->weight[e]), level = dof_level[s->column[e]];
        }
        s->level[i] = level;
    }
}

void pli_skin_point(const PliSkin *s, PliIndex i, const double *x, double p[3])
{
    v3_copy(p, s->offset + 3 * (size_t)i);
    const size_t row = (size_t)i * PLI_SKIN_ROW;
    for (PliIndex k = 0; k < s->entries[i]; ++k) v3_madd(p, s->weight[row + k], x + 3 * (size_t)s->column[row + k]);
}

PliRows pli_skin_rows(PliSkin *s, uint64_t now)
{
    if (s->composed_revision == 0 || !pli_skin_reserve(s, true)) return (PliRows){ 0 };
    if (s->packed_revision != now) {
        pli_transfer_clear(s->packed, s->dof_count);
        for (PliIndex i = 0; i < s->point_count; ++i) {
            const size_t row = (size_t)i * PLI_SKIN_ROW;
            (void)pli_transfer_push(s->packed, s->column + row, s->weight + row, s->entries[i]);
        }
        s->packed_revision = now;
    }
    return pli_transfer_rows(s->packed);
}

static void list_offset(PliSkin *s, PliIndex i)
{
    if (s->is_off[i]) return;
    s->is_off[i] = 1;
    s->off[s->off_count++] = i;
}

void pli_skin_list_offsets(PliSkin *s)
{
    s->off_count = 0;
    memset(s->is_off, 0, s->point_count);
    for (PliIndex i = 0; i < s->point_count; ++i)
        if (v3_dot(s->offset + 3 * (size_t)i, s->offset + 3 * (size_t)i) > 0.0) list_offset(s, i);
}

double pli_skin_absorb(PliSkin *s)
{
    double hidden = 0.0;
    for (PliIndex n = 0; n < s->kept_count; ++n) {
        const size_t i = 3 * (size_t)s->kept[n];
        double jump[3];
        v3_sub(jump, s->before + i, s->position + i);
        v3_add(s->offset + i, s->offset + i, jump);
        list_offset(s, s->kept[n]);
        hidden = pli_max(hidden, v3_norm(jump));
        s->largest_offset = fmax(s->largest_offset, v3_norm(s->offset + i));
    }
    return hidden;
}

double pli_skin_forget_kept(PliSkin *s)
{
    double jump = 0.0;
    for (PliIndex n = 0; n < s->kept_count; ++n) {
        const size_t i = 3 * (size_t)s->kept[n];
        jump = pli_max(jump, v3_distance(s->before + i, s->position + i));
        s->is_kept[s->kept[n]] = 0;
    }
    s->kept_count = 0;
    return jump;
}

void pli_skin_fade(PliSkin *s, double factor)
{
    if (s->largest_offset == 0.0) return;
    s->largest_offset *= factor;
    if (s->largest_offset < 1e-300) s->largest_offset = factor = 0.0;
    for (PliIndex k = 0; k < s->off_count; ++k) v3_scale(s->offset + 3 * (size_t)s->off[k], factor);
    if (factor == 0.0) pli_skin_list_offsets(s);
}
