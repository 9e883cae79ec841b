/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The transitions of Capell et al. 2002, section 5.4, as they are written. Around the full functions is a layer of simple ones, each an
// oscillator by itself: it has its own mass and stiffness, sees forces from outside, and nothing of the others. One that swings further than the
// threshold becomes full, and the details that hang on it become simple. A simple one comes and goes with a stiffness between its own and
// a very large one; between simple and full beta q is full and (1 - beta) q is simple.
//
// It is here to be compared with: `pliant verify wavelet`, cases paper_fall and paper_corner, show where it fails.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"

static const double STIFFEST = 1000.0; ///< of its own, what an oscillator has when it comes

static bool is_full(const PliWavelet *s, PliIndex a) { return s->state[a] == PLI_ACTIVE || s->state[a] == PLI_RISING; }

PliPaperWeights pli_wavelet_paper_weights(const PliWavelet *s, PliIndex a)
{
    const double t = fmin(1.0, s->clock[a] / s->def.fade);
    const double beta = s->state[a] == PLI_LEAVING || s->state[a] == PLI_SINKING ? 1.0 - t : t;
    switch (s->state[a]) {
    case PLI_COMING:
    case PLI_LEAVING: return (PliPaperWeights){ 0.0, beta + (1.0 - beta) * STIFFEST, 1.0 };
    case PLI_SIMPLE: return (PliPaperWeights){ 0.0, 1.0, 1.0 };
    case PLI_RISING:
    case PLI_SINKING: {
        const double own = beta * beta + (1.0 - beta) * (1.0 - beta);
        return (PliPaperWeights){ beta, own, own };
    }
    default: return (PliPaperWeights){ 1.0, 1.0, 1.0 };
    }
}

/// Transitions go on. @return whether there are any
static bool advance(PliWavelet *s, double *x, double *v, double dt)
{
    bool any = false;
    s->fading = 0;
    for (PliIndex a = s->level[0].lattice->vertex_count; a < s->count; ++a) {
        if (s->state[a] == PLI_PASSIVE || s->state[a] == PLI_ACTIVE || s->state[a] == PLI_SIMPLE) continue;
        any = true;
        s->clock[a] += dt;
        if (s->clock[a] < s->def.fade) {
            s->fading++;
            continue;
        }
        if (s->state[a] == PLI_LEAVING) {
            memset(x + 3 * (size_t)a, 0, 3 * sizeof *x);
            memset(v + 3 * (size_t)a, 0, 3 * sizeof *v);
        }
        s->state[a] = s->state[a] == PLI_RISING ? PLI_ACTIVE : s->state[a] == PLI_LEAVING ? PLI_PASSIVE : PLI_SIMPLE;
    }
    return any;
}

static void begin(PliWavelet *s, PliIndex a, uint8_t state)
{
    s->state[a] = state;
    s->clock[a] = 0.0;
    s->fading++;
}

/// parent: full details hang on it; candidate: it hangs on a full function, so that it is part of the layer.
static void find_layer(PliWavelet *s)
{
    memset(s->parent, 0, s->count);
    memset(s->candidate, 0, s->count);
    for (int k = 1; k < s->level_count; ++k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex before = k > 1 ? s->level[k - 2].lattice->vertex_count : 0;
        for (PliIndex a = s->level[k - 1].lattice->vertex_count; a < s->level[k].lattice->vertex_count; ++a)
            for (PliIndex e = r.first[a]; e < r.first[a + 1]; ++e) {
                if (is_full(s, a)) s->parent[r.column[e]] = 1;
                if (r.column[e] >= before && is_full(s, r.column[e])) s->candidate[a] = 1;
            }
    }
}

bool pli_wavelet_follow_paper(PliWavelet *s, PliBody *body, double *x, double *v, double dt, bool due)
{
    bool changed = advance(s, x, v, dt);
    if (!due) return changed;
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    const double theta = pli_wavelet_find_threshold(s, body, x, v);
    const PliIndex most = c->max_active;
    PliStats *stats = pli_body_stats_mutable(body);
    PliIndex on = s->active_count;
    find_layer(s);
    s->info.candidates = 0;
    for (PliIndex a = s->level[0].lattice->vertex_count; a < s->count; ++a) {
        const uint8_t was = s->state[a];
        const double way = v3_norm(x + 3 * (size_t)a), size = fmax(way, 0.05 * v3_norm(v + 3 * (size_t)a));
        s->info.candidates += was != PLI_ACTIVE && s->candidate[a];
        if (was == PLI_PASSIVE && s->candidate[a] && on < most && !s->fixed[a] && !(s->dropped && s->dropped[a])) {
            memset(x + 3 * (size_t)a, 0, 3 * sizeof *x);
            memset(v + 3 * (size_t)a, 0, 3 * sizeof *v);
            begin(s, a, PLI_COMING), on++;
        } else if (was == PLI_SIMPLE && way > theta) {
            begin(s, a, PLI_RISING), s->info.activated++, stats->refined++;
        } else if (was == PLI_SIMPLE && !s->candidate[a] && size < c->coarsen * theta) {
            begin(s, a, PLI_LEAVING);
        } else if (was == PLI_ACTIVE && !s->parent[a] && size < c->coarsen * theta) {
            begin(s, a, PLI_SINKING), s->info.deactivated++, stats->coarsened++;
        }
        changed = changed || s->state[a] != was;
    }
    return changed;
}
