/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contact rows of a host kept inside explicit substeps: projected Gauss-Seidel on the positions after every drift, with the
// lumped masses as compliance and the friction cone of each contact. One correction at the end of many substeps, the other
// way to obey a host's contacts, makes contact nodes shake until the body breaks.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "body/forms.h"

// scratch of a row: compliance 1/kg, multiplier of this substep kg m, (normals) the depth still allowed, m, and the multipliers of
// the substeps before it in the present round of rates: friction is lawful over a round, see contact.h
enum { COMPLIANCE, MULTIPLIER, ALLOWED, EARLIER, SCRATCH };

static double row_dot(const PliBody *b, const PliContactRows *rows, PliIndex r, const double *a)
{
    double sum = 0.0;
    for (PliIndex k = rows->first[r]; k < rows->first[r + 1]; ++k) {
        const PliIndex at = b->live.position[rows->dof[k]];
        if (at < b->system.active_count) sum += v3_dot(rows->value + 3 * (size_t)k, a + 3 * (size_t)at);
    }
    return sum;
}

// x and v follow a change of the row's multiplier
static void row_push(const PliBody *b, const PliContactRows *rows, PliIndex r, double change, double h, double *x,
                     double *v)
{
    for (PliIndex k = rows->first[r]; k < rows->first[r + 1]; ++k) {
        const PliIndex at = b->live.position[rows->dof[k]];
        if (at >= b->system.active_count) continue;
        const double w = change * b->live.inv_mass[at];
        v3_madd(x + 3 * (size_t)at, w, rows->value + 3 * (size_t)k);
        v3_madd(v + 3 * (size_t)at, w / h, rows->value + 3 * (size_t)k);
    }
}

void pli_body_rows_begin(PliBody *b)
{
    PliContactRows *rows = b->rows;
    rows->force = 0.0;
    const PliIndex count = rows->contact_count * (PliIndex)rows->rows_per_contact;
    for (PliIndex r = 0; r < count; ++r) {
        double *w = rows->work + SCRATCH * (size_t)r;
        w[COMPLIANCE] = 0.0;
        for (PliIndex k = rows->first[r]; k < rows->first[r + 1]; ++k) {
            const PliIndex at = b->live.position[rows->dof[k]];
            const double *n = rows->value + 3 * (size_t)k;
            if (at < b->system.active_count) w[COMPLIANCE] += b->live.inv_mass[at] * v3_dot(n, n);
        }
        w[ALLOWED] = fmax(0.0, -(rows->offset[r] + row_dot(b, rows, r, b->live.x)));
    }
}

static void correct_friction(const PliBody *b, PliContactRows *rows, PliIndex normal, double h, double *x, double *v)
{
    double old[2], wanted[3] = { 0.0, 0.0, 0.0 }, before[3] = { 0.0, 0.0, 0.0 };
    for (int d = 0; d < 2; ++d) {
        const PliIndex r = normal + 1 + (PliIndex)d;
        const double *w = rows->work + SCRATCH * (size_t)r;
        const double slip = h * (row_dot(b, rows, r, v) + rows->offset[r] / b->step_length);
        old[d] = w[MULTIPLIER], before[d] = w[EARLIER];
        wanted[d] = w[COMPLIANCE] > 0.0 ? old[d] - slip / w[COMPLIANCE] : 0.0;
    }
    const double *pressed = rows->work + SCRATCH * (size_t)normal;
    const double scale = pli_cone_share(before, wanted, rows->friction * (pressed[EARLIER] + pressed[MULTIPLIER]));
    for (int d = 0; d < 2; ++d) {
        const PliIndex r = normal + 1 + (PliIndex)d;
        rows->work[SCRATCH * (size_t)r + MULTIPLIER] = scale * wanted[d];
        row_push(b, rows, r, scale * wanted[d] - old[d], h, x, v);
    }
}

void pli_body_rows_correct(PliBody *b, double t, double h, double *x, double *v)
{
    PliContactRows *rows = b->rows;
    const int per = rows->rows_per_contact;
    const double left = fmax(0.0, 1.0 - t / b->step_length);
    for (PliIndex r = 0; r < rows->contact_count * (PliIndex)per; ++r) {
        double *w = rows->work + SCRATCH * (size_t)r;
        w[EARLIER] = b->system.tick == 0 ? 0.0 : w[EARLIER] + w[MULTIPLIER];
        w[MULTIPLIER] = 0.0;
    }
    for (int sweep = 0; sweep < rows->sweeps; ++sweep) {
        for (PliIndex i = 0; i < rows->contact_count; ++i) {
            const PliIndex r = i * (PliIndex)per;
            double *w = rows->work + SCRATCH * (size_t)r;
            if (w[COMPLIANCE] == 0.0) continue; // hangs on fixed coefficients only
            const double gap = rows->offset[r] + row_dot(b, rows, r, x) + left * w[ALLOWED];
            const double now = fmax(0.0, w[MULTIPLIER] - gap / w[COMPLIANCE]);
            row_push(b, rows, r, now - w[MULTIPLIER], h, x, v);
            w[MULTIPLIER] = now;
            if (per == 3) correct_friction(b, rows, r, h, x, v);
        }
    }
    for (PliIndex i = 0; i < rows->contact_count; ++i)
        rows->force += rows->work[SCRATCH * (size_t)i * (size_t)per + MULTIPLIER] / (h * b->step_length);
}

PliStepInfo pli_body_advance_under(PliBody *b, const PliState *s, double dt, PliContactRows *rows)
{
    if (b->forms) {
        const bool is_awake = b->forms->acting == b->forms->fallback;
        PliBody *fallback = pli_forms_fallback(b);
        rows->force = 0.0;
        // rows are of the fallback, which acts from the next step on
        if (!is_awake) return (PliStepInfo){ .finite = true, .bad_element = PLI_NONE, .bad_dof = PLI_NONE };
        const PliState t = pli_forms_state(b, s);
        return pli_body_advance_under(fallback, &t, dt, rows);
    }
    b->rows = rows;
    b->was_under = true;
    const PliStepInfo info = pli_body_advance(b, s, dt);
    b->rows = NULL;
    return info;
}
