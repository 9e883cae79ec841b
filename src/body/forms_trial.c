/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which form of a body acts: the price of both, the trial of the own form beside the fallback, and the change from one to the other.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "body/forms.h"

/// Times the accuracy that the two may be apart: the fallback is off, too, and of two that keep it, each in its own way, squares add up.
static const double APART = 1.4;
/// Share of the fallback's work below which the own form is worth a trial: trials cost, and prices are rough.
static const double CHEAP = 0.8;
/// Prices in evaluations of one tetrahedron, about 30 ns where they were measured (comparison scenes, within a factor 2 of the times): a
/// point in a substep, an element of another law, and a pair of active points in an implicit step, of a matrix made in every step or kept.
static const double POINT = 0.3, OTHER_ELEMENT = 4.0, NEW_PAIR = 10.0, KEPT_PAIR = 1.0;
/// The trial: steps before anything is judged, times the accuracy at which it is given up, s that the displacement must not have grown
/// (by GROWTH) before it passes, and the most it lasts.
enum { FIRST_STEPS = 10 };
static const double HOPELESS = 5.0, SETTLED = 0.2, LONGEST = 1.5, GROWTH = 1.02;
/// Beyond what was tried: times the largest displacement, and the part of the body's size that a touching tool has moved.
static const double FARTHER = 1.25, MOVED = 0.05;

void pli_forms_forget_trial(PliForms *f)
{
    f->tries = f->passed = f->over = f->acted = false;
    f->reason = PLI_FORM_WAITS;
    f->clock = f->time = f->grown = f->largest = f->square = f->error = f->work = 0.0;
    f->steps = 0;
    f->touched = 0;
    f->changes = 0;
}

static void end_trial(PliForms *f, PliFormReason reason)
{
    f->over = true;
    f->tries = f->passed = false;
    f->reason = reason;
}

void pli_forms_leave(PliForms *f)
{
    if (f->tries || f->passed) end_trial(f, PLI_FORM_LEFT);
}

// ---- prices ----------------------------------------------------------------------------------------------------------------

/// Work of a step, in evaluations of one tetrahedron.
static double price(PliBody *b, double dt)
{
    const PliForceOps *force = b->system.force;
    const double points = b->system.active_count + b->system.slave_count;
    const double elements = force->element_count ? force->element_count(b->system.force_self) : 0.0;
    if (!b->choice.implicit) {
        const double substep = b->stats.substep > 0.0 ? b->stats.substep : pli_body_longest_substep(b, b->statics.rest);
        const double one = b->elastic ? pli_elastic_force_work(b->elastic) : OTHER_ELEMENT * elements;
        return ceil(dt / substep) * (one + POINT * points);
    }
    const double active = b->system.active_count;
    return (b->elastic ? NEW_PAIR : KEPT_PAIR) * active * active;
}

// ---- changing over ---------------------------------------------------------------------------------------------------------

/// The skin of `to` shows what that of `from` shows; the difference fades.
static void hand_skin(PliForms *f, PliBody *from, const double *from_x, PliBody *to, const double *to_x)
{
    PliSkin *skin = to->skin;
    if (!skin) return;
    memset(skin->offset, 0, 3 * (size_t)skin->point_count * sizeof *skin->offset);
    skin->largest_offset = 0.0;
    pli_body_skin_positions(from, from_x, f->shown);
    pli_body_skin_positions(to, to_x, f->seen);
    for (PliIndex i = 0; i < skin->point_count; ++i) {
        double *offset = skin->offset + 3 * (size_t)i;
        v3_sub(offset, f->shown + 3 * (size_t)i, f->seen + 3 * (size_t)i);
        skin->largest_offset = fmax(skin->largest_offset, v3_norm(offset));
    }
    pli_skin_list_offsets(skin);
    to->stats.largest_hidden = fmax(to->stats.largest_hidden, skin->largest_offset);
    pli_skin_wake(skin);
    to->looks = 0;
}

/// The own form goes on as it is: it has been stepped beside the fallback.
static void go_own(PliBody *b, const PliState *s)
{
    PliForms *f = b->forms;
    memset(&f->own->stats.steps, 0, sizeof f->own->stats.steps);
    f->own->stats.refined = f->own->stats.coarsened = f->own->stats.refused = f->own->stats.forced = 0;
    hand_skin(f, f->fallback, s->x, f->own, s->x + 3 * (size_t)f->shift);
    for (int t = 0; t < b->tool_count; ++t) v3_copy(f->tool[t], b->tools[t].position);
    f->acting = f->own;
    f->acted = true;
    f->switches++;
}

/// Coefficients of the fallback start where the own form carries them, but for those the host holds.
static void go_back(PliBody *b, const PliState *s)
{
    PliForms *f = b->forms;
    const PliRows rows = pli_transfer_rows(f->follow);
    double *own_x = s->x + 3 * (size_t)f->shift, *own_v = s->v + 3 * (size_t)f->shift;
    pli_body_spread(f->own, own_x);
    pli_body_spread_velocity(f->own, own_v);
    for (PliIndex i = 0; i < f->shift; ++i) {
        if (f->fallback->is_fixed[i]) continue;
        double *x = s->x + 3 * (size_t)i, *v = s->v + 3 * (size_t)i;
        memset(x, 0, 3 * sizeof *x), memset(v, 0, 3 * sizeof *v);
        for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k) {
            v3_madd(x, rows.weight[k], own_x + 3 * (size_t)rows.column[k]);
            v3_madd(v, rows.weight[k], own_v + 3 * (size_t)rows.column[k]);
        }
    }
    if (f->fallback->contact) pli_contact_forget(f->fallback->contact);
    hand_skin(f, f->own, own_x, f->fallback, s->x);
    f->acting = f->fallback;
    f->switches++;
}

/// Forces of the host act on coefficients of the fallback: there they are at home.
static bool host_acts(const PliForms *f, const PliState *s)
{
    bool pushed = false; // hosts lend zeros, too
    for (size_t i = 0; s->f_ext && !pushed && i < 3 * (size_t)f->shift; ++i) pushed = s->f_ext[i] != 0.0;
    return f->stay || s->points || s->external || pushed;
}

bool pli_forms_decide(PliBody *b, const PliState *s)
{
    PliForms *f = b->forms;
    const bool busy = host_acts(f, s);
    if (busy && !f->over) end_trial(f, PLI_FORM_HOST);
    if ((f->acting == f->own) == f->passed) return false;
    if (f->passed)
        go_own(b, s);
    else
        go_back(b, s);
    return true;
}

// ---- the trial -------------------------------------------------------------------------------------------------------------

/// m, largest displacement of a skin point from where it is at rest.
static double largest_displacement(const PliSkin *skin, const double *points)
{
    double most = 0.0;
    for (PliIndex i = 0; i < skin->point_count; ++i)
        most = fmax(most, v3_distance(points + 3 * (size_t)i, skin->rest + 3 * (size_t)i));
    return most;
}

/// m2, mean square over the area.
static double mean_square(const PliSkin *skin, const double *p, const double *q)
{
    double sum = 0.0, area = 0.0;
    for (PliIndex i = 0; i < skin->point_count; ++i) {
        const double d = v3_distance(p + 3 * (size_t)i, q + 3 * (size_t)i);
        sum += skin->area[i] * d * d;
        area += skin->area[i];
    }
    return area > 0.0 ? sum / area : 0.0;
}

static unsigned touching(const PliBody *b)
{
    unsigned bits = 0;
    for (int t = 0; t < b->tool_count; ++t)
        if (v3_norm(b->tools[t].force) > 0.0) bits |= 1u << t;
    return bits;
}

/// The own form makes the step that the fallback has made. Tools show what the form that acts has felt.
static bool step_beside(PliBody *b, const PliState *s, double dt)
{
    PliForms *f = b->forms;
    double felt[PLI_TOOL_MAX][2][3];
    PliState t = { .x = s->x + 3 * (size_t)f->shift, .v = s->v + 3 * (size_t)f->shift };
    for (int k = 0; k < b->tool_count; ++k)
        v3_copy(felt[k][0], b->tools[k].force), v3_copy(felt[k][1], b->tools[k].torque);
    const PliStepInfo info = pli_body_step(f->own, &t, dt);
    for (int k = 0; k < b->tool_count; ++k)
        v3_copy(b->tools[k].force, felt[k][0]), v3_copy(b->tools[k].torque, felt[k][1]);
    return info.status == PLI_OK && info.inverted == 0;
}

/// Reasons that need no trial, or end it: active sets grow.
static bool is_out(PliBody *b, double dt)
{
    PliForms *f = b->forms;
    const double own = price(f->own, dt), fallback = price(f->fallback, dt);
    f->work = own / fallback;
    if (!f->fallback->skin || f->fallback->fixed_count == 0)
        end_trial(f, PLI_FORM_FREE);
    else if (f->hollow)
        end_trial(f, PLI_FORM_HOLLOW);
    else if (!(own < CHEAP * fallback))
        end_trial(f, PLI_FORM_DEAR);
    return f->over;
}

static void try_own(PliBody *b, const PliState *s, double dt)
{
    PliForms *f = b->forms;
    const double asked = 0.01 * b->def.criterion.accuracy;
    pli_body_skin_positions(f->fallback, s->x, f->seen);
    const double now = largest_displacement(f->fallback->skin, f->seen);
    if (!f->tries && now <= 1e-9 * b->size) return; // both are at rest
    if (is_out(b, dt)) return;
    f->tries = true;
    if (!step_beside(b, s, dt)) {
        end_trial(f, PLI_FORM_BROKE);
        return;
    }
    const uint64_t changes = f->fallback->stats.refined + f->fallback->stats.coarsened;
    if (changes != f->changes) f->time = f->grown = f->square = 0.0; // it is compared with the resolution that stays
    f->changes = changes;
    f->clock += dt;
    f->time += dt;
    f->steps++;
    f->touched |= touching(b);
    if (now > GROWTH * f->largest) f->grown = f->time;
    f->largest = fmax(f->largest, now);
    pli_body_skin_positions(f->own, s->x + 3 * (size_t)f->shift, f->shown);
    const double square = mean_square(f->own->skin, f->shown, f->seen);
    f->square += dt * square;
    f->error = sqrt(f->square / f->time) / f->largest;
    if (f->steps < FIRST_STEPS) return;
    // where nothing damps phases go apart by more and more: it has to last
    const bool damped = b->def.material.damping > 0.0 || b->def.mass_damping > 0.0;
    if (sqrt(square) > HOPELESS * asked * f->largest) {
        f->error = sqrt(square) / f->largest;
        end_trial(f, PLI_FORM_WRONG);
    } else if ((damped && f->time - f->grown > SETTLED) || f->clock > LONGEST) {
        f->passed = f->error <= APART * asked;
        f->reason = PLI_FORM_OWN;
        if (!f->passed) end_trial(f, PLI_FORM_WRONG);
    }
}

/// Whether what happens now is still what was tried.
static void watch_own(PliBody *b, const PliState *s)
{
    PliForms *f = b->forms;
    const unsigned touch = touching(b);
    bool other = (touch & ~f->touched) != 0;
    for (int t = 0; t < b->tool_count; ++t)
        if (touch >> t & 1u) other = other || v3_distance(f->tool[t], b->tools[t].position) > MOVED * b->size;
    pli_body_skin_positions(f->own, s->x + 3 * (size_t)f->shift, f->seen);
    if (other || largest_displacement(f->own->skin, f->seen) > FARTHER * f->largest) end_trial(f, PLI_FORM_LEFT);
}

void pli_forms_watch(PliBody *b, const PliState *s, double dt)
{
    PliForms *f = b->forms;
    if (f->acting == f->own)
        watch_own(b, s);
    else if (!f->over && !f->passed && !host_acts(f, s))
        try_own(b, s, dt);
}

// ---- what there is to say --------------------------------------------------------------------------------------------------

void pli_body_form_text(const PliBody *b, char *text, size_t size)
{
    const PliForms *f = b->forms;
    if (size) text[0] = '\0';
    if (!f || !size) return;
    const PliStats s = pli_body_stats(f->fallback);
    char where[48] = "on mixed levels", why[112] = "";
    if (f->fallback->statics.level_count == 1) snprintf(where, sizeof where, "uniform at level 0");
    if (s.uniform_level > 0) snprintf(where, sizeof where, "uniform at level %d", s.uniform_level - 1);
    switch (f->reason) {
    case PLI_FORM_OWN:
        snprintf(text, size, "runs in its own form: %.2g %% off where it was tried, for %.2g of the work",
                 100.0 * f->error, f->work);
        return;
    case PLI_FORM_WAITS: snprintf(why, sizeof why, "its own form has not been tried yet"); break;
    case PLI_FORM_DEAR:
        if (f->work < 1.2)
            snprintf(why, sizeof why, "its own form would not cost clearly less");
        else
            snprintf(why, sizeof why, "its own form would cost %.2g times as much", f->work);
        break;
    case PLI_FORM_WRONG:
        snprintf(why, sizeof why, "its own form was %.2g %% off where it was tried", 100.0 * f->error);
        break;
    case PLI_FORM_FREE: snprintf(why, sizeof why, "nothing holds the body"); break;
    case PLI_FORM_HOLLOW: snprintf(why, sizeof why, "its own form has no inside"); break;
    case PLI_FORM_HOST: snprintf(why, sizeof why, "forces of the scene act on its points"); break;
    case PLI_FORM_LEFT: snprintf(why, sizeof why, "its own form has not been tried on what happens"); break;
    case PLI_FORM_BROKE: snprintf(why, sizeof why, "its own form failed where it was tried"); break;
    }
    snprintf(text, size, "runs on tetrahedra, %s: %s", where, why);
}
