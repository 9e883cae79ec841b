/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Semi-implicit filter of Debunne 2001, equation (11), in increment form: dv = (I - h^2 J/m)^-1 f h/m, with J = df/dx of a point at
// rest while its neighbours stand still. As printed, the filter multiplies the velocity itself: that is absolute drag, it brakes a
// free fall and stops every oscillation. The increment form has no drag, but is mass scaling: at the critical step the lowest
// frequency falls to 0.7 .. 0.8 of its value.
#include "base/memory.h"
#include "base/vec.h"
#include "body/body.h"

PliStatus pli_body_set_explicit(PliBody *b, bool filter, double speed_change)
{
    b->system.speed_change = speed_change;
    if (!filter || b->filter) return PLI_OK;
    const size_t n = 9 * (size_t)b->statics.active_capacity;
    b->filter_stiffness = PLI_NEW(&b->host, n, double);
    b->filter = PLI_NEW(&b->host, n, double);
    b->bytes += 2 * n * sizeof(double);
    b->system.filter = b->filter;
    return b->filter && b->filter_stiffness ? PLI_OK : PLI_OUT_OF_MEMORY;
}

static void add_own_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    if (row != column) return;
    double *own = (double *)user + 9 * (size_t)row;
    for (int i = 0; i < 9; ++i) own[i] += k9[i];
}

void pli_body_update_filter(PliBody *b, double h)
{
    const PliSystem *s = &b->system;
    if (!b->filter || (b->filter_revision == b->revision && b->filter_step == h)) return;
    if (b->filter_revision != b->revision) {
        const PliIndex points = s->active_count + s->slave_count;
        for (PliIndex i = 0; i < points; ++i)
            v3_copy(b->live.f + 3 * (size_t)i, b->statics.rest + 3 * (size_t)b->live.dof[i]);
        s->force->linearize(s->force_self, b->live.f, false);
        for (size_t i = 0; i < 9 * (size_t)s->active_count; ++i) b->filter_stiffness[i] = 0.0;
        pli_system_stiffness_blocks(s, add_own_block, b->filter_stiffness);
    }
    b->filter_revision = b->revision;
    b->filter_step = h;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double a[9];
        for (int k = 0; k < 9; ++k)
            a[k] = (k % 4 == 0 ? 1.0 : 0.0) - h * h * s->inv_mass[i] * b->filter_stiffness[9 * (size_t)i + k];
        m3_inverse(b->filter + 9 * (size_t)i, a);
    }
}
