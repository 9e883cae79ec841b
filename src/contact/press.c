/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contact of an implicit step: at its end no point is inside a tool, no point is pulled, and friction is Coulomb's.
// Augmented Lagrangian: a pressing point is tethered with a stiffness above that of the body around it, on top of a multiplier, the
// force it had when it was last known. Where the solution breaks a law (it pulls, comes inside, slips or slides too hard) the set of
// pressing and sliding points changes and the step is solved again; where the tethers still carry force, that goes to the
// multipliers and the same matrix answers again. What remains is below a thousandth of the pressure, and as multipliers are
// kept from step to step nothing of it remains when the tool is held.
// Rejected: the tether alone (penalty). As stiff as matrix and eye allowed, a ball pressed deeper than its radius sank in until
// its centre was past the skin, and the far side of it carried the skin: a third of the force, with the wrong sign.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "contact/contact.h"

static const double STIFFER = 30.0;    ///< tethers against the body around their point, at first ...
static const double STIFFEST = 3000.0; ///< ... and at most
static const double SLOW = 0.25;       ///< what a round may leave of what tethers carry before they are stiffened
static const double DEPTH = 1e-6;     ///< sizes of the body: how far inside points may be left, in the mean by pressure
static const double ROUNDING = 1e-12; ///< sizes of the body: no tether is off by more, and nothing happens
static const double TOLERANCE = 1e-3; ///< of the pressure: what may act against the laws ...
static const double PATIENCE = 4.0;   ///< ... after as many rounds; then a third more with each
static const int CIRCLING = 10;       ///< rounds after which a set is thought to come back
static const double RUBBING = 0.05;   ///< how much an error of friction counts: its rounds are slow, its law is coarse
static const double FAST = 0.1;       ///< radii a point may move in a step before its way is followed
static const double RECOVERY = 1.0;  ///< sizes of the body per second: how fast points that begin inside are pushed out
static const double OVERSHOOT = 0.1; ///< of the slope: how much of it may be left with the other sign
static const double LEAST_SHARE = 0.05; ///< of the way to the next solution
static const double EASE = 0.1;         ///< of their depth at most, in a stage of a step of several

// ---- what pressed ------------------------------------------------------------------------------------------------------------------

const PliGrip *pli_contact_grip(const PliContact *c, PliIndex point, int tool)
{
    PliIndex first = 0, last = c->grip_count;
    while (first < last) {
        const PliIndex middle = first + (last - first) / 2;
        const PliGrip *g = &c->grip[middle];
        if (g->point == point && g->tool == tool) return g;
        if (g->point < point || (g->point == point && g->tool < tool))
            first = middle + 1;
        else
            last = middle;
    }
    return NULL;
}

void pli_contact_forget(PliContact *c) { c->grip_count = 0; }

static bool comes_before(const PliContact *c, PliIndex i, const PliGrip *g)
{
    return c->point[i] < g->point || (c->point[i] == g->point && c->tool_of[i] < g->tool);
}

void pli_contact_book(PliContact *c)
{
    c->grip_count = 0;
    for (PliIndex i = 0; i < c->count; ++i) {
        const PliPress *s = &c->press[i];
        double arm[3], impulse[3] = { 0.0, 0.0, 0.0 };
        for (int d = 0; d < 3; ++d) arm[d] = s->arm[d] + c->stage.length * (s->start[d] + s->change[d]); // at its end
        v3_madd(impulse, -c->stage.length, s->force);
        pli_contact_give(c, c->tool_of[i], arm, impulse);
        if (!(s->law[0] > 0.0)) continue;
        PliIndex at = c->grip_count++;
        for (; at > 0 && comes_before(c, i, &c->grip[at - 1]); --at) c->grip[at] = c->grip[at - 1]; // came late
        PliGrip *g = &c->grip[at];
        g->point = c->point[i], g->tool = c->tool_of[i], g->pressure = s->law[0];
        v3_copy(g->friction, s->law + 1);
    }
}

// ---- the start of a step -----------------------------------------------------------------------------------------------------------

/// Distance now and the normal to take. A point that moves far against the tool goes its way until it touches or is as near as it
/// gets: the normal of its start is of no use for a ball that flies by, and that of its end for one that flew through.
static double foresee_gap(const PliTool *tool, double t, const double p[3], const double u[3], double h, double n[3])
{
    const double now = pli_tool_distance(tool, t, p, n), way = h * v3_norm(u);
    if (now <= 0.0 || tool->shape == PLI_TOOL_PLANE || way <= FAST * tool->radius || now > way) return now;
    enum { STEPS = 32 };
    double at[3], s = 0.0, gap = now;
    for (int k = 0; k < STEPS && gap > 1e-6 * tool->radius && s < 1.0; ++k) {
        if (v3_dot(u, n) >= 0.0) break; // as near as it gets
        s = fmin(1.0, s + gap / way);
        v3_copy(at, p);
        v3_madd(at, s * h, u); // the tool stays: u is against it
        gap = pli_tool_distance(tool, t, at, n);
    }
    return gap - s * h * v3_dot(u, n);
}

/// How near a point may come, not above 0. What a tool does to a point in a stage moves it over its reach only: where that is the shorter
/// time, a point that came would have to leave faster than it came in order to be out at the end. It may come inside then, and
/// stay there; the stages that are as long as their reach bring it out, slowly.
static double nearest_end(const PliContact *c, double gap, double rate)
{
    const double h = c->stage.length, reach = c->stage.reach;
    if (h == c->dt) return -fmax(0.0, -gap - h * RECOVERY * c->size);
    if (h > reach) return fmin(0.0, gap + (h - reach) * rate);
    return -fmax(0.0, -gap - fmin(EASE * -gap, h * RECOVERY * c->size));
}

static void predict(PliContact *c, PliIndex i, const double *x, const double *v)
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    PliPress *s = &c->press[i];
    double p[3];
    *s = (PliPress){ .is_constraint = tool->stiffness == 0.0, .share = 1.0 };
    pli_contact_point(c, i, x, p);
    pli_contact_velocity(c, i, v, s->start);
    pli_contact_arm(c, i, c->stage.start, p, s->arm);
    const double h = c->stage.length, reach = c->stage.reach;
    const double gap = foresee_gap(tool, c->stage.start, p, s->start, h, s->normal), rate = v3_dot(s->start, s->normal);
    s->end = gap + h * rate;
    if (s->is_constraint) {
        s->end -= nearest_end(c, gap, rate);
        s->stiffness = c->stiffer * (c->modulus * sqrt(c->area[i]) + 1.0 / (h * reach * c->compliance[i]));
    } else {
        s->stiffness = tool->stiffness * c->area[i];
    }
    const PliGrip *g = pli_contact_grip(c, c->point[i], c->tool_of[i]);
    if (g && s->is_constraint) s->pressure = g->pressure;
    if (g && tool->friction > 0.0) {
        v3_copy(s->friction, g->friction);
        v3_madd(s->friction, -v3_dot(s->friction, s->normal), s->normal);
    }
}

/// The force on a point whose velocity changes by `change` until the end of the step, as if it pressed and stuck.
static void stick(const PliContact *c, PliIndex i, const double change[3], double *pressure, double friction[3])
{
    const PliPress *s = &c->press[i];
    const double reach = c->stage.reach, across = v3_dot(change, s->normal);
    *pressure = s->pressure - s->stiffness * (s->end + reach * across);
    friction[0] = friction[1] = friction[2] = 0.0;
    if (!(c->tool[c->tool_of[i]].friction > 0.0) || s->is_smooth) return;
    double slip[3];
    v3_add(slip, s->start, change);
    v3_madd(slip, -v3_dot(slip, s->normal), s->normal);
    v3_copy(friction, s->friction);
    v3_madd(friction, -reach * s->stiffness, slip);
}

/// What of it the laws allow. @return the share of friction that is left
static double allow(const PliContact *c, PliIndex i, double pressure, double friction[3], double *allowed)
{
    *allowed = fmax(0.0, pressure);
    const double most = c->tool[c->tool_of[i]].friction * *allowed, size = v3_norm(friction);
    const double share = size > most ? most / size : 1.0;
    v3_scale(friction, share);
    return share;
}

void pli_contact_predict(PliContact *c, const double *x, const double *v)
{
    c->stiffer = fmax(STIFFER, c->stiffer);
    c->early = c->count;
    pli_contact_predict_late(c, 0, x, v);
}

void pli_contact_predict_late(PliContact *c, PliIndex first, const double *x, const double *v)
{
    static const double none[3] = { 0.0, 0.0, 0.0 };
    c->carried = 0.0, c->rounds = 0;
    for (PliIndex i = first; i < c->count; ++i) {
        PliPress *s = &c->press[i];
        double pressure, friction[3], allowed;
        predict(c, i, x, v);
        stick(c, i, none, &pressure, friction);
        s->is_pressing = pressure > 0.0;
        s->share = allow(c, i, pressure, friction, &allowed);
    }
}

// ---- the matrix and the load -------------------------------------------------------------------------------------------------------

bool pli_contact_tether(const PliContact *c, PliIndex i, double matrix[6])
{
    const PliPress *s = &c->press[i];
    if (!s->is_pressing || s->is_barred) return false;
    const double *n = s->normal, h2 = c->stage.length * c->stage.reach;
    const bool rubs = c->tool[c->tool_of[i]].friction > 0.0 && !s->is_smooth;
    const double along = rubs ? h2 * s->share * s->stiffness : 0.0;
    const double across = h2 * s->stiffness - along;
    matrix[0] = along + across * n[0] * n[0], matrix[1] = along + across * n[1] * n[1],
    matrix[2] = along + across * n[2] * n[2];
    matrix[3] = across * n[1] * n[2], matrix[4] = across * n[0] * n[2], matrix[5] = across * n[0] * n[1];
    return true;
}

void pli_contact_bar(PliContact *c, PliIndex i) { c->press[i].is_barred = true; }

/// The force the tether stands for. @return whether there is one
static bool apply(const PliContact *c, PliIndex i, const double change[3], double force[3])
{
    const PliPress *s = &c->press[i];
    force[0] = force[1] = force[2] = 0.0;
    if (!s->is_pressing || s->is_barred) return false;
    double pressure, friction[3];
    stick(c, i, change, &pressure, friction);
    v3_madd(force, pressure, s->normal);
    v3_madd(force, s->share, friction);
    return true;
}

bool pli_contact_pressing(const PliContact *c, PliIndex i, double force[3])
{
    static const double none[3] = { 0.0, 0.0, 0.0 };
    return apply(c, i, none, force);
}

void pli_contact_add_pressing(const PliContact *c, double *f)
{
    for (PliIndex i = 0; i < c->count; ++i) {
        double force[3];
        if (!pli_contact_pressing(c, i, force)) continue;
        for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e)
            v3_madd(f + 3 * (size_t)c->column[e], c->weight[e], force);
    }
}

// ---- the end -----------------------------------------------------------------------------------------------------------------------

/// The force that the laws ask for at a change of velocity.
static double lawful(const PliContact *c, PliIndex i, const double change[3], double friction[3], double *pressure)
{
    double normal;
    stick(c, i, change, &normal, friction);
    return allow(c, i, normal, friction, pressure);
}

/// Work of what is out of balance on the way from the change that was judged last to that of the last solve, a share of it gone. Without
/// friction it is the slope of a convex function, the energy of the step.
static double slope(const PliContact *c, double share)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < c->count; ++i) {
        const PliPress *s = &c->press[i];
        if (s->is_barred) continue;
        double way[3], there[3], force[3], pressure;
        v3_sub(way, s->change, s->at);
        v3_copy(there, s->at);
        v3_madd(there, share, way);
        (void)lawful(c, i, there, force, &pressure);
        v3_madd(force, pressure, s->normal);
        for (int d = 0; d < 3; ++d) sum += ((1.0 - share) * s->balance[d] + share * s->force[d] - force[d]) * way[d];
    }
    return sum;
}

// Newton's method on forces with a kink goes round in circles where points outnumber what they hang on: each solve lets go of points
// that the next one needs. Along the way from one solution to the next the work out of balance changes its sign where the step has
// least energy; going only so far, no set comes back.
static double find_share(const PliContact *c)
{
    enum { CUTS = 6 };
    if (c->rounds < 2) return 1.0;
    const double begin = slope(c, 0.0), end = slope(c, 1.0);
    if (!(begin < 0.0) || end <= -OVERSHOOT * begin) return 1.0;
    double low = 0.0, high = 1.0, at_low = begin, at_high = end, share = 1.0;
    for (int k = 0; k < CUTS; ++k) {
        share = low + (high - low) * fmin(0.9, fmax(0.1, at_low / (at_low - at_high)));
        const double at = slope(c, share);
        if (fabs(at) <= OVERSHOOT * -begin) break;
        if (at < 0.0)
            low = share, at_low = at;
        else
            high = share, at_high = at;
    }
    return fmax(LEAST_SHARE, share);
}

typedef struct Balance {
    double pressure; ///< N, all of it
    double wrong;    ///< N, applied and not what the laws ask for
    double way;      ///< m, by which that would move a tether, the most of any
    double carried;  ///< J, pressure times the distance that tethers give way by beyond multipliers
} Balance;

static void look(PliContact *c, PliIndex i, const double *dv)
{
    PliPress *s = &c->press[i];
    s->change[0] = s->change[1] = s->change[2] = 0.0;
    for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e)
        v3_madd(s->change, c->weight[e], dv + 3 * (size_t)c->column[e]);
    (void)apply(c, i, s->change, s->force);
}

static void judge(PliContact *c, PliIndex i, double share, Balance *sum)
{
    PliPress *s = &c->press[i];
    double off[3];
    for (int d = 0; d < 3; ++d) {
        s->at[d] = share == 1.0 ? s->change[d] : s->at[d] + share * (s->change[d] - s->at[d]);
        s->balance[d] = share == 1.0 ? s->force[d] : s->balance[d] + share * (s->force[d] - s->balance[d]);
    }
    s->next_share = lawful(c, i, s->at, s->law + 1, &s->law[0]);
    const double pressed = v3_dot(s->balance, s->normal);
    v3_sub(off, s->law + 1, s->balance);
    v3_madd(off, pressed, s->normal);
    sum->pressure += s->law[0];
    const double wrong = fabs(s->law[0] - pressed), rubs = v3_norm(off);
    sum->wrong += wrong + RUBBING * rubs;
    sum->way = fmax(sum->way, (wrong + rubs) / s->stiffness);
    if (!s->is_constraint) return;
    double given = fabs(s->law[0] - s->pressure);
    if (s->next_share == 1.0 && s->law[0] > 0.0) given += RUBBING * v3_distance(s->law + 1, s->friction);
    sum->carried += s->law[0] * given / s->stiffness;
}

/// N, of a point that presses and is pulled; 0: it is not.
static double pull_at(const PliContact *c, PliIndex i)
{
    const PliPress *s = &c->press[i];
    if (!s->is_pressing || s->is_barred || s->law[0] > 0.0) return 0.0;
    double pressure, friction[3];
    stick(c, i, s->at, &pressure, friction);
    return fmax(0.0, -pressure);
}

// With friction there is no energy that falls from set to set: where a corner stands between tools, the set that holds it pulls at it, and
// the one that lets go of it lets it through. After some rounds only the one that is pulled most is let go, and slides freely for
// the rest of the step when it comes back.
static void change_set(PliContact *c)
{
    PliIndex most = PLI_NONE;
    for (PliIndex i = 0; i < c->count && c->rounds > CIRCLING; ++i)
        if (pull_at(c, i) > (most == PLI_NONE ? 0.0 : pull_at(c, most))) most = i;
    for (PliIndex i = 0; i < c->count; ++i) {
        PliPress *s = &c->press[i];
        const bool stays = most != PLI_NONE && i != most && pull_at(c, i) > 0.0;
        s->is_smooth = s->is_smooth || (c->rounds > CIRCLING && !s->is_pressing && s->law[0] > 0.0);
        s->is_pressing = s->law[0] > 0.0 || stays;
        s->share = s->next_share;
    }
    c->carried = 0.0;
}

static void update_multipliers(PliContact *c)
{
    for (PliIndex i = 0; i < c->count; ++i) {
        PliPress *s = &c->press[i];
        if (!s->is_constraint) continue;
        s->pressure = s->law[0];
        if (s->share == 1.0 && s->next_share == 1.0) v3_copy(s->friction, s->law + 1);
    }
}

// A round leaves k / (k + t) of what tethers of stiffness t carry on a body of stiffness k: what it left tells how stiff they should be.
static bool stiffen(PliContact *c, double left)
{
    if (left <= SLOW || c->stiffer >= STIFFEST) return false;
    const double factor = fmin(fmin(10.0, 10.0 * left / fmax(0.1, 1.0 - left)), STIFFEST / c->stiffer);
    c->stiffer *= factor;
    for (PliIndex i = 0; i < c->count; ++i)
        if (c->press[i].is_constraint) c->press[i].stiffness *= factor;
    return true;
}

void pli_contact_unsettle(PliContact *c) { c->carried = 0.0, c->rounds = 0; }

PliSettled pli_contact_settle(PliContact *c, const double *dv, bool solved)
{
    Balance sum = { 0 };
    for (PliIndex i = 0; i < c->count; ++i)
        if (!c->press[i].is_barred) look(c, i, dv);
    c->rounds++;
    const double share = find_share(c);
    for (PliIndex i = 0; i < c->count; ++i)
        if (!c->press[i].is_barred) judge(c, i, share, &sum);
    if (share == 1.0 && sum.way <= ROUNDING * c->size && sum.carried <= DEPTH * c->size * sum.pressure)
        return PLI_SETTLED;
    // points that outnumber what they hang on share their forces in many ways, and rounds may wander among them
    const double most = TOLERANCE * pow(4.0 / 3.0, fmax(0.0, c->rounds - 1 - PATIENCE)) * sum.pressure;
    if (share < 1.0 || sum.wrong > most) {
        change_set(c);
        return PLI_SETTLE_MATRIX;
    }
    if (sum.carried <= DEPTH * c->size * sum.pressure) return PLI_SETTLED;
    update_multipliers(c);
    const bool stiffened = solved && c->carried > 0.0 && stiffen(c, sum.carried / c->carried);
    c->carried = stiffened ? 0.0 : sum.carried;
    return stiffened ? PLI_SETTLE_MATRIX : PLI_SETTLE_LOAD;
}
