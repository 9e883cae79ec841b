/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What need not be looked at again. A detail follows the functions around it with weights of about one, so one that would move less than
// the threshold cannot have come there before the body around it has moved by what it lacked; a quarter of that is waited for. Ways are
// those less a rigid motion, from one decision to the next.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"

static const double STILL = 0.25;
enum { MOST_KEPT = 7 }; ///< decisions that may keep anything, until one looks at everything

PliStatus pli_wavelet_still_create(PliWavelet *s)
{
    const PliHost *host = &s->host;
    bool good = (s->seen = PLI_NEW(host, 3 * (size_t)s->count, float));
    if (s->def.law != PLI_WAVELET_NONLINEAR) return good ? PLI_OK : PLI_OUT_OF_MEMORY;
    good = (s->way = PLI_NEW(host, s->count, float)) && good;
    good = (s->drift = PLI_NEW(host, s->count, float)) && good;
    good = (s->wait = PLI_NEW(host, s->count, uint8_t)) && good;
    for (int k = 0; k < s->level_count; ++k)
        good = (s->swing[k] = PLI_NEW(host, s->level[k].lattice->cell_count, float)) && good;
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_wavelet_still_destroy(PliWavelet *s)
{
    PLI_FREE(&s->host, s->seen, 3 * (size_t)s->count);
    PLI_FREE(&s->host, s->way, s->count);
    PLI_FREE(&s->host, s->drift, s->count);
    PLI_FREE(&s->host, s->wait, s->count);
    for (int k = 0; k < s->level_count; ++k)
        if (s->swing[k]) PLI_FREE(&s->host, s->swing[k], s->level[k].lattice->cell_count);
}

void pli_wavelet_still_reset(PliWavelet *s)
{
    for (size_t i = 0; i < 3 * (size_t)s->count; ++i) s->seen[i] = NAN;
    s->room = 0.0;
    s->kept = MOST_KEPT;
}

static void turned_back(const PliWavelet *s, const double *x, PliIndex a, double u[3])
{
    const double *R = s->rotation;
    double p[3];
    v3_copy(p, x + 3 * (size_t)a);
    if (s->dof_level[a] == 0) v3_sub(p, p, s->shift);
    for (int d = 0; d < 3; ++d) u[d] = R[d] * p[0] + R[3 + d] * p[1] + R[6 + d] * p[2];
}

static double distance(const double u[3], const float seen[3])
{
    const double there[3] = { seen[0], seen[1], seen[2] };
    return v3_distance(u, there);
}

bool pli_wavelet_is_still(const PliWavelet *s, const double *x)
{
    bool still = s->room > 0.0 && s->judged_revision == s->revision;
    for (PliIndex i = 0; i < s->active_count && still; ++i) {
        double u[3];
        turned_back(s, x, s->active[i], u);
        still = distance(u, s->seen + 3 * (size_t)s->active[i]) < s->room;
    }
    return still;
}

/// How far a function has moved since the last decision, which this one is now; infinitely where it was not there, or is gone.
static float see(PliWavelet *s, const double *x, PliIndex a)
{
    const bool is_on = s->dof_level[a] == 0 || s->state[a] != PLI_PASSIVE;
    float *seen = s->seen + 3 * (size_t)a;
    double u[3], way = INFINITY;
    if (!is_on) {
        way = isnan(seen[0]) ? 0.0 : INFINITY;
        seen[0] = NAN;
        return (float)way;
    }
    turned_back(s, x, a, u);
    if (!isnan(seen[0])) way = distance(u, seen);
    for (int c = 0; c < 3; ++c) seen[c] = (float)u[c];
    return (float)way;
}

static float larger(float a, float b) { return a > b ? a : b; }

/// Per cell of every level: the most that a function in it has moved.
static void find_swing(PliWavelet *s, const double *x)
{
    const int last = s->level_count - 1;
    for (int k = 0; k <= last; ++k) {
        const PliWaveletLevel *l = &s->level[k];
        memset(s->swing[k], 0, l->lattice->cell_count * sizeof *s->swing[k]);
        for (PliIndex a = k ? s->level[k - 1].lattice->vertex_count : 0; a < l->lattice->vertex_count; ++a) {
            const float way = see(s, x, a);
            for (PliIndex e = l->support_first[a]; e < l->support_first[a + 1] && way > 0.0f; ++e)
                s->swing[k][l->support[e]] = larger(s->swing[k][l->support[e]], way);
        }
    }
    for (int k = 0; k < last; ++k) // cells are part of the coarser one, and what moves in them moves in that
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c)
            for (PliIndex d = s->level[k].child_first[c]; d < s->level[k].child_first[c + 1]; ++d)
                s->swing[k + 1][d] = larger(s->swing[k + 1][d], s->swing[k][c]);
    for (int k = last - 1; k >= 0; --k)
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c)
            for (PliIndex d = s->level[k].child_first[c]; d < s->level[k].child_first[c + 1]; ++d)
                s->swing[k][c] = larger(s->swing[k][c], s->swing[k + 1][d]);
}

void pli_wavelet_ask(PliWavelet *s, const double *x, double theta, bool all)
{
    if (!s->way) { // linear laws: looks are cheap
        for (PliIndex i = 0; i < s->active_count; ++i) (void)see(s, x, s->active[i]);
        for (PliIndex c = 0; c < s->info.candidates; ++c) s->candidate[s->listed[c]] = PLI_ASKED;
        return;
    }
    find_swing(s, x);
    all = all || s->kept >= MOST_KEPT;
    s->kept = all ? 0 : s->kept + 1;
    for (PliIndex c = 0; c < s->info.candidates; ++c) {
        const PliIndex a = s->listed[c];
        const int k = s->dof_level[a];
        const PliWaveletLevel *l = &s->level[k];
        float most = 0.0f;
        for (PliIndex e = l->support_first[a]; e < l->support_first[a + 1]; ++e)
            most = larger(most, s->swing[k][l->support[e]]);
        s->drift[a] += most;
        const double lacks = theta - s->way[a];
        const bool waits = !all && (s->drift[a] < STILL * lacks || (s->wait[a] > 0 && s->drift[a] < lacks));
        if (s->wait[a] > 0) s->wait[a]--;
        s->candidate[a] = waits ? PLI_LISTED : PLI_ASKED;
    }
}

void pli_wavelet_forget_ways(PliWavelet *s)
{
    for (PliIndex a = 0; s->drift && a < s->count; ++a)
        if (!s->candidate[a]) s->drift[a] = INFINITY;
}

PliIndex pli_wavelet_waits(double score) { return (PliIndex)fmin(MOST_KEPT, 0.5 / fmax(score, 1e-3)); }

double pli_wavelet_way(PliWavelet *s, PliIndex a, double theta)
{
    double u[3];
    if (s->candidate[a] == PLI_LISTED) return s->way[a];
    pli_wavelet_yield(s, a, s->residual + 3 * (size_t)a, u);
    const double way = v3_norm(u);
    if (s->way) s->way[a] = (float)way, s->drift[a] = 0.0f, s->wait[a] = (uint8_t)pli_wavelet_waits(way / theta);
    return way;
}

double pli_wavelet_room(const PliWavelet *s, PliIndex a, double way, double theta)
{
    return STILL * (theta - way) - (s->drift ? s->drift[a] : 0.0);
}
