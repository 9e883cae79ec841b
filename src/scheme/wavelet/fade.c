/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Transitions of details. Linear and angular momentum stay what they were:
//
// - A velocity that is set (a detail led to zero, or dropped) would change the momentum of every function that shares mass with it.
//   The coming step pushes them back by M dv, as a constraint on that one detail would. Forces on details move no centre of mass.
// - They do turn the body: a force f on a detail q has the moment q x f, since details turn with the body. All that transitions
//   push by, fading forces and what leads details to zero, is taken back by a couple on level 0.
//
// The step changes angular momentum by the sum of x0 x impulse, x0 the places before it, so that is what is balanced.
#include <math.h>
#include <string.h>

#include "adapt/handover.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"

static double smooth(double t) { return t <= 0.0 ? 0.0 : t >= 1.0 ? 1.0 : t * t * (3.0 - 2.0 * t); }

static void add_twist(PliWavelet *s, const double p[3], const double impulse[3])
{
    double t[3];
    v3_cross(t, p, impulse);
    v3_add(s->twist, s->twist, t);
}

void pli_wavelet_begin_fades(PliWavelet *s, const double *impulse, const double *x, const double *v)
{
    if (s->pushes) memset(s->push, 0, 3 * (size_t)s->count * sizeof *s->push);
    s->pushes = false;
    memset(s->twist, 0, sizeof s->twist);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const size_t a = s->active[i];
        if (!s->driven[i]) continue;
        double before[3];
        v3_copy(before, x + 3 * a);
        v3_madd(before, -s->v_dt, v + 3 * a);
        add_twist(s, before, impulse + 3 * (size_t)i);
    }
}

/// The velocity of an active function becomes w, and nobody's momentum changes.
static void set_velocity(PliWavelet *s, PliIndex a, double *v, const double w[3])
{
    double change[3];
    v3_sub(change, v + 3 * (size_t)a, w);
    v3_copy(v + 3 * (size_t)a, w);
    const PliIndex i = s->position[a];
    if (i == PLI_NONE || (change[0] == 0.0 && change[1] == 0.0 && change[2] == 0.0)) return;
    for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
        v3_madd(s->push + 3 * (size_t)s->active[s->mass_column[k]], s->mass_value[k], change);
    s->pushes = true;
}

static void fading_force(const PliWavelet *s, PliIndex a, double f[3])
{
    m3_apply(f, s->rotation, s->start + 3 * (size_t)a);
    v3_scale(f, -(1.0 - smooth(s->clock[a] / s->def.fade)));
}

/// The couple on level 0 that takes back what turns the body. With something held the clamp takes it.
static void take_twist_back(PliWavelet *s, const double *x)
{
    const PliIndex n = s->base_count;
    if (s->held || (s->twist[0] == 0.0 && s->twist[1] == 0.0 && s->twist[2] == 0.0)) return;
    const double back[3] = { -s->twist[0], -s->twist[1], -s->twist[2] };
    const PliEventPatch patch = { s->active, s->cut_load, n }; // level 0 comes first, and is always on
    double *turn = s->motion;
    for (PliIndex b = 0; b < n; ++b) memset(turn + 3 * (size_t)s->active[b], 0, 3 * sizeof *turn);
    if (!pli_handover_spin(&patch, back, x, turn)) return;
    for (PliIndex b = 0; b < n; ++b)
        v3_madd(s->push + 3 * (size_t)s->active[b], s->cut_load[b], turn + 3 * (size_t)s->active[b]);
    s->pushes = true;
}

/// Those that have come to zero wait for the next change of the cut, which costs a factorisation.
void pli_wavelet_advance_fades(PliWavelet *s, double *x, double *v, double dt)
{
    static const double still[3] = { 0.0, 0.0, 0.0 };
    const bool any = s->fading > 0;
    if (any) s->fading = s->faded = 0;
    for (PliIndex i = 0; any && i < s->count; ++i) {
        const size_t a = i;
        if (s->state[a] == PLI_ACTIVE || s->state[a] == PLI_PASSIVE) continue;
        if (s->clock[a] >= s->def.fade && s->state[a] == PLI_FADING_IN) {
            s->state[a] = PLI_ACTIVE;
            continue;
        }
        if (s->clock[a] >= s->def.fade) {
            memset(x + 3 * a, 0, 3 * sizeof *x);
            set_velocity(s, i, v, still);
            s->faded++;
            s->fading++;
            continue;
        }
        s->clock[a] += dt;
        s->fading++;
        if (s->state[a] == PLI_FADING_IN) {
            double f[3];
            fading_force(s, i, f);
            v3_scale(f, dt);
            add_twist(s, x + 3 * a, f);
            continue;
        }
        double goal[3];
        m3_apply(goal, s->rotation, s->start + 3 * a);
        v3_scale(goal, 1.0 - smooth(s->clock[a] / s->def.fade));
        v3_sub(goal, goal, x + 3 * a);
        v3_scale(goal, 1.0 / dt);
        set_velocity(s, i, v, goal);
    }
    take_twist_back(s, x);
}

void pli_wavelet_drop_faded(PliWavelet *s)
{
    for (PliIndex a = 0; a < s->count; ++a)
        if (s->state[a] == PLI_FADING_OUT && s->clock[a] >= s->def.fade) s->state[a] = PLI_PASSIVE, s->fading--;
    s->faded = 0;
}

void pli_wavelet_add_offsets(void *self, double *f)
{
    PliWavelet *s = self;
    for (PliIndex i = 0; i < s->active_count && s->fading > 0; ++i) {
        double force[3];
        if (s->state[s->active[i]] != PLI_FADING_IN) continue;
        fading_force(s, s->active[i], force);
        v3_add(f + 3 * (size_t)i, f + 3 * (size_t)i, force);
    }
    if (!s->pushes) return;
    for (PliIndex i = 0; i < s->active_count; ++i)
        v3_madd(f + 3 * (size_t)i, 1.0 / s->v_dt, s->push + 3 * (size_t)s->active[i]);
    memset(s->push, 0, 3 * (size_t)s->count * sizeof *s->push); // once
    s->pushes = false;
}

void pli_wavelet_switch_on(PliWavelet *s, PliIndex a, double *x, double *v)
{
    const bool plain = s->def.transition == PLI_WAVELET_PLAIN;
    s->state[a] = plain ? PLI_ACTIVE : PLI_FADING_IN;
    s->clock[a] = 0.0;
    v3_copy(s->start + 3 * (size_t)a, s->residual + 3 * (size_t)a);
    memset(x + 3 * (size_t)a, 0, 3 * sizeof *x);
    memset(v + 3 * (size_t)a, 0, 3 * sizeof *v);
    memset(s->v_before + 3 * (size_t)a, 0, 3 * sizeof *v);
    s->fading += !plain;
    s->info.activated++;
}

/// At once: what the detail carries goes to the functions it shares mass with, and its spin to all.
static void drop(PliWavelet *s, PliIndex a, double *x, double *v)
{
    static const double still[3] = { 0.0, 0.0, 0.0 };
    const PliIndex i = s->position[a];
    double carried[3];
    v3_copy(carried, s->push + 3 * (size_t)a);
    for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
        v3_madd(carried, s->mass_value[k], v + 3 * (size_t)s->active[s->mass_column[k]]);
    v3_scale(carried, -1.0);
    add_twist(s, x + 3 * (size_t)a, carried);
    set_velocity(s, a, v, still);
    memset(x + 3 * (size_t)a, 0, 3 * sizeof *x);
    s->state[a] = PLI_PASSIVE;
}

void pli_wavelet_switch_off(PliWavelet *s, PliIndex a, double *x, double *v)
{
    s->info.deactivated++;
    if (s->def.transition == PLI_WAVELET_PLAIN) {
        drop(s, a, x, v);
        return;
    }
    if (s->state[a] != PLI_FADING_IN) s->fading++;
    s->state[a] = PLI_FADING_OUT;
    s->clock[a] = 0.0;
    const double *R = s->rotation, *p = x + 3 * (size_t)a;
    for (int d = 0; d < 3; ++d) s->start[3 * (size_t)a + (size_t)d] = R[d] * p[0] + R[3 + d] * p[1] + R[6 + d] * p[2];
}
