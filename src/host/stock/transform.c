/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/transform.h"
#include "base/vec.h"

void pli_euler_matrix(const double degrees[3], double r[9])
{
    const double to_radians = 3.14159265358979323846 / 180.0;
    double c[3], s[3];
    for (int i = 0; i < 3; ++i) c[i] = cos(degrees[i] * to_radians), s[i] = sin(degrees[i] * to_radians);
    const double x[9] = { 1, 0, 0, 0, c[0], -s[0], 0, s[0], c[0] };
    const double y[9] = { c[1], 0, s[1], 0, 1, 0, -s[1], 0, c[1] };
    const double z[9] = { c[2], -s[2], 0, s[2], c[2], 0, 0, 0, 1 };
    double yx[9];
    m3_mul(yx, y, x);
    m3_mul(r, z, yx);
}

void pli_transform_points(double *x, PliIndex count, const double scale[3], const double degrees[3],
                          const double translation[3])
{
    bool scales = scale[0] != 1.0 || scale[1] != 1.0 || scale[2] != 1.0;
    bool turns = degrees[0] != 0.0 || degrees[1] != 0.0 || degrees[2] != 0.0;
    bool moves = translation[0] != 0.0 || translation[1] != 0.0 || translation[2] != 0.0;
    double r[9];
    if (turns) pli_euler_matrix(degrees, r);
    for (PliIndex i = 0; i < count; ++i) {
        double *p = x + 3 * (size_t)i;
        if (scales) p[0] *= scale[0], p[1] *= scale[1], p[2] *= scale[2];
        if (turns) {
            double q[3];
            m3_apply(q, r, p);
            v3_copy(p, q);
        }
        if (moves) v3_add(p, p, translation);
    }
}
