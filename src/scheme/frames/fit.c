/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/frames/fit.h"

#include <math.h>

const double PLI_FIT_CORNER[4][3] = { { 1, 1, 1 }, { 1, -1, -1 }, { -1, 1, -1 }, { -1, -1, 1 } };

void pli_fit_frame(const PliFit *f, PliFitFrame *r)
{
    const double w = 1.0 / f->m[0];
    double *c = r->centre;
    r->weight = f->m[0];
    for (int a = 0; a < 3; ++a) c[a] = f->m[1 + a] * w;
    const double xx = f->m[4] * w - c[0] * c[0], yy = f->m[5] * w - c[1] * c[1], zz = f->m[6] * w - c[2] * c[2];
    const double yz = f->m[7] * w - c[1] * c[2], xz = f->m[8] * w - c[0] * c[2], xy = f->m[9] * w - c[0] * c[1];
    const double floor = 1e-12 * (xx + yy + zz); // positive by the extent of the voxels; rounding must not undo it
    r->l[0] = sqrt(fmax(xx, floor));
    r->l[1] = xy / r->l[0];
    r->l[2] = sqrt(fmax(yy - r->l[1] * r->l[1], floor));
    r->l[3] = xz / r->l[0];
    r->l[4] = (yz - r->l[3] * r->l[1]) / r->l[2];
    r->l[5] = sqrt(fmax(zz - r->l[3] * r->l[3] - r->l[4] * r->l[4], floor));
}

void pli_fit_solve(const PliFitFrame *r, const double v[4], double q[4])
{
    const double w = 1.0 / r->weight, *l = r->l;
    q[0] = v[0] * w;
    const double b[3] = { v[1] * w - r->centre[0] * q[0], v[2] * w - r->centre[1] * q[0],
                          v[3] * w - r->centre[2] * q[0] };
    q[1] = b[0] / l[0];
    q[2] = (b[1] - l[1] * q[1]) / l[2];
    q[3] = (b[2] - l[3] * q[1] - l[4] * q[2]) / l[5];
}

void pli_fit_point(const PliFitFrame *r, int k, double p[3])
{
    const double *s = PLI_FIT_CORNER[k], *l = r->l;
    p[0] = r->centre[0] + l[0] * s[0];
    p[1] = r->centre[1] + l[1] * s[0] + l[2] * s[1];
    p[2] = r->centre[2] + l[3] * s[0] + l[4] * s[1] + l[5] * s[2];
}
