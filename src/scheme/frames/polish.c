/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body that has collapsed to its root is near equilibrium, not in it: motion below the threshold was frozen. A few corrections
// of the full model towards equilibrium, once per collapse, take the rest away: implicit steps so long that inertia does not
// count, starting from no velocity, which is Newton's method on the static problem with whatever contact and load there is.
// A body that nothing holds goes on as it went: with its momentum and its angular momentum.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/frames/frames.h"

static double largest_move(const PliFrames *s, const double *a, const double *b)
{
    double most = 0.0;
    for (size_t k = 0; k < 3 * (size_t)s->dof_count; ++k) most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

static void activate_all(PliFrames *s)
{
    for (PliIndex i = 0; i < s->count; ++i)
        if (!s->dag->active[i]) pli_dag_activate(s->dag, i);
    pli_dag_refresh(s->dag);
}

static void collapse(PliFrames *s, const double *x)
{
    for (PliIndex i = s->count; i-- > 0;)
        if (pli_dag_may_deactivate(s->dag, i)) (void)pli_dag_deactivate(s->dag, i, x);
    pli_dag_refresh(s->dag);
}

static void recut(PliFrames *s, PliBody *body, const double *x)
{
    pli_frames_refresh_cut(s, x);
    const uint64_t next = pli_body_revision(body) + 1;
    for (PliIndex i = 0; i < s->dof_count; ++i) s->row_revision[i] = next;
    pli_body_recut(body);
}

static bool is_held(const PliFrames *s)
{
    for (PliIndex i = 0; i < s->dof_count; ++i)
        if (s->fixed[i]) return true;
    return false;
}

// columns of a frame are directions, its origin is a place
static void move_rigidly(const PliFrames *s, const PliRigidMotion *r, const double *x, double *v)
{
    for (PliIndex i = 0; i < s->dof_count; ++i) {
        double arm[3], *vi = v + 3 * (size_t)i;
        const bool is_place = i % 4 == 3;
        for (int k = 0; k < 3; ++k) arm[k] = x[3 * (size_t)i + (size_t)k] - (is_place ? r->centre[k] : 0.0);
        v3_cross(vi, r->spin, arm);
        if (is_place) v3_add(vi, vi, r->velocity);
    }
}

bool pli_frames_polish(PliFrames *s, PliBody *body, double *x, double *v, double dt)
{
    enum { PASSES = 8 };
    const PliState *state = pli_body_state(body);
    const double size = s->voxels->extent, tau = fmax(10.0, 1e3 * dt);
    const size_t bytes = 3 * (size_t)s->dof_count * sizeof *x;
    double *start = s->momentum, *before = s->v_before; // both are free between steps
    const bool held = is_held(s);
    const PliRigidMotion was = pli_frames_rigid_motion(s, x, v);
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    pli_body_before_event(body, x, origin, INFINITY);
    memcpy(start, x, bytes);
    activate_all(s);
    recut(s, body, x);
    bool good = false;
    double least = INFINITY;
    for (int pass = 0; pass < PASSES; ++pass) {
        memset(v, 0, bytes);
        memcpy(before, x, bytes);
        const PliStepInfo info = pli_body_advance_once(body, state, tau);
        const double move = largest_move(s, x, before);
        // no progress, or a move that would be seen: not an equilibrium nearby
        if (!info.finite || !(largest_move(s, x, start) <= 1e-3 * size) || (pass > 1 && move > least)) {
            if (pass > 1 && least < 1e-8 * size) good = true, memcpy(x, before, bytes);
            break;
        }
        least = fmin(least, move);
        if (move < 1e-11 * size) {
            good = true;
            break;
        }
        if (pass + 1 == PASSES) good = least < 1e-6 * size;
    }
    if (good) {
        s->info.polishes++;
        collapse(s, x);
    } else {
        memcpy(x, start, bytes); // leave everything active: the motion is not over
        memset(s->age, 0, s->count * sizeof *s->age);
    }
    recut(s, body, x);
    pli_dag_spread(s->dag, x);
    memset(v, 0, bytes);
    if (!held) {
        // the body has a slightly other shape and place now: what it carries on is momentum, not velocity
        PliRigidMotion now = pli_frames_rigid_motion(s, x, v);
        v3_copy(now.velocity, was.velocity);
        m3_apply(now.spin, now.inverse_inertia, was.angular);
        move_rigidly(s, &now, x, v);
    }
    s->predicted = 0;
    return good;
}
