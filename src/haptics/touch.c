/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// From a body and a tool to the plane a hand feels: where the surface is, which way it pushes, and how far it gives way.
//
// The compliance is the body's own over one step: c = f . A^-1 f with A = M / dt^2 - df/dx and f a unit force on the points the tool
// touches. A few conjugate gradient steps on the body's own operators find it for any scheme; for any u, (f . u)^2 / (u . A u) is at
// most c, so that stopping early makes the plane stiffer than the body, which takes energy out of a hand, and never softer, which
// would put some in.
// The force is the tool's without the inertia of what moves with it: a step later that would push the other way, and the hand with it.
#include <math.h>
#include <string.h>

#include <pliant/haptics.h>
#include <pliant/stages.h>

#include "base/memory.h"
#include "base/vec.h"
#include "contact/contact.h"

enum { ROUNDS = 12 };
static const double NEAR = 0.02;       ///< of the tool's radius: points that much further away count no more
static const double LITTLE = 0.02;     ///< N, below which the shape says where the surface points, not the force
static const double EXACT = 1e-3;      ///< of the compliance, at which iterations stop
static const double PLANE_SIZE = 0.05; ///< of the body: what a plane has for a radius

struct PliTouch {
    PliHost host;
    PliBody *body;
    PliIndex dof_count, skin_count;
    double size;                            ///< m, of the body
    double *skin, *share;                   ///< per skin point: where it is, and how much of a touch it carries
    double *area;                           ///< m2, at rest
    double *f, *u, *r, *z, *p, *q, *v_last; ///< dof_count Vec3 each
    uint64_t revision;
    bool begun;
    double stiffness;
};

static double size_of(const double *x, PliIndex count)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (PliIndex i = 0; i < count; ++i)
        for (int c = 0; c < 3; ++c) {
            low[c] = fmin(low[c], x[3 * (size_t)i + c]);
            high[c] = fmax(high[c], x[3 * (size_t)i + c]);
        }
    return v3_distance(low, high);
}

/// A third of the triangles around each point; of points without any the smallest, so that they count at all.
static void find_areas(PliTouch *t)
{
    PliIndex count;
    const PliIndex *tri = pli_body_skin_tris(t->body, &count);
    double least = INFINITY;
    for (PliIndex k = 0; k < count; ++k) {
        const double *a = t->skin + 3 * (size_t)tri[3 * k], *b = t->skin + 3 * (size_t)tri[3 * k + 1],
                     *c = t->skin + 3 * (size_t)tri[3 * k + 2];
        double u[3], w[3], n[3];
        v3_sub(u, b, a);
        v3_sub(w, c, a);
        v3_cross(n, u, w);
        for (int i = 0; i < 3; ++i) t->area[tri[3 * k + i]] += v3_norm(n) / 6.0;
    }
    for (PliIndex i = 0; i < t->skin_count; ++i)
        if (t->area[i] > 0.0) least = fmin(least, t->area[i]);
    for (PliIndex i = 0; i < t->skin_count; ++i)
        if (!(t->area[i] > 0.0)) t->area[i] = isfinite(least) ? least : 1.0;
}

PliTouch *pli_touch_create(const PliHost *host, PliBody *body, PliError *err)
{
    PliTouch *t = PLI_NEW(host, 1, PliTouch);
    if (!t) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the touch of a body");
        return NULL;
    }
    t->host = *host;
    t->body = body;
    t->dof_count = pli_body_dof_count(body);
    t->skin_count = pli_body_skin_count(body);
    const size_t n = 3 * (size_t)t->dof_count;
    double **const array[] = { &t->f, &t->u, &t->r, &t->z, &t->p, &t->q, &t->v_last };
    bool good = true;
    for (size_t i = 0; i < sizeof array / sizeof *array; ++i) good = (*array[i] = PLI_NEW(host, n, double)) && good;
    t->skin = PLI_NEW(host, 3 * (size_t)t->skin_count, double);
    t->area = PLI_NEW(host, t->skin_count, double);
    t->share = PLI_NEW(host, t->skin_count, double);
    if (t->skin_count == 0) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "a body without a skin cannot be touched");
    } else if (!good || !t->skin || !t->share || !t->area) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the touch of a body of %u coefficients", t->dof_count);
    } else {
        pli_body_skin_positions(body, pli_body_rest(body), t->skin);
        t->size = size_of(t->skin, t->skin_count);
        find_areas(t);
        return t;
    }
    pli_touch_destroy(t);
    return NULL;
}

void pli_touch_destroy(PliTouch *t)
{
    if (!t) return;
    const PliHost host = t->host;
    const size_t n = 3 * (size_t)t->dof_count;
    double *const array[] = { t->f, t->u, t->r, t->z, t->p, t->q, t->v_last };
    for (size_t i = 0; i < sizeof array / sizeof *array; ++i) PLI_FREE(&host, array[i], n);
    PLI_FREE(&host, t->skin, 3 * (size_t)t->skin_count);
    PLI_FREE(&host, t->share, t->skin_count);
    PLI_FREE(&host, t->area, t->skin_count);
    PLI_FREE(&host, t, 1);
}

double pli_touch_stiffness(const PliTouch *t) { return t->stiffness; }

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// ---- where the tool touches ----------------------------------------------------------------------------------------------------

/// Gaps of all points, and shares of those near the smallest. @return the smallest, and the mean direction out of the body there
static double look_around(PliTouch *t, const PliTool *tool, double near, double normal[3])
{
    double least = INFINITY, n[3];
    for (PliIndex i = 0; i < t->skin_count; ++i) {
        t->share[i] = pli_tool_distance(tool, 0.0, t->skin + 3 * (size_t)i, n);
        least = fmin(least, t->share[i]);
    }
    normal[0] = normal[1] = normal[2] = 0.0;
    for (PliIndex i = 0; i < t->skin_count; ++i) {
        const double close = 1.0 - (t->share[i] - least) / near;
        t->share[i] = close > 0.0 ? close * close * t->area[i] : 0.0;
        if (t->share[i] == 0.0) continue;
        (void)pli_tool_distance(tool, 0.0, t->skin + 3 * (size_t)i, n);
        v3_madd(normal, -t->share[i], n);
    }
    return least;
}

static void unit_force(PliTouch *t, const double normal[3])
{
    const PliRows rows = pli_body_skin_rows(t->body);
    double all = 0.0;
    memset(t->f, 0, 3 * (size_t)t->dof_count * sizeof *t->f);
    for (PliIndex i = 0; i < t->skin_count; ++i) all += t->share[i];
    for (PliIndex i = 0; i < t->skin_count; ++i) {
        if (t->share[i] == 0.0) continue;
        for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k)
            v3_madd(t->f + 3 * (size_t)rows.column[k], t->share[i] / all * rows.weight[k], normal);
    }
    pli_body_project(t->body, t->f);
}

// ---- how far it gives way ------------------------------------------------------------------------------------------------------

static void apply(PliTouch *t, double dt, const double *d, double *out)
{
    memset(out, 0, 3 * (size_t)t->dof_count * sizeof *out);
    pli_body_add_mass(t->body, d, 1.0 / (dt * dt), out);
    pli_body_add_dforce(t->body, d, -1.0, out);
    pli_body_project(t->body, out);
}

/// z = r over the mass, the preconditioner; coefficients without mass, which the scheme moves, take what is usual.
static void over_mass(PliTouch *t)
{
    const size_t n = 3 * (size_t)t->dof_count;
    double light = 0.0, heavy = 0.0;
    pli_body_acceleration(t->body, t->r, t->z);
    for (size_t i = 0; i < n; ++i)
        if (isfinite(t->z[i])) light += fabs(t->z[i]), heavy += fabs(t->r[i]);
    for (size_t i = 0; i < n; ++i)
        if (!isfinite(t->z[i])) t->z[i] = heavy > 0.0 ? t->r[i] * light / heavy : 0.0;
    pli_body_project(t->body, t->z);
}

/// m/N, a flat punch a third as wide as the tool on a half-space: when the body does not tell.
static double guess(const PliTouch *t, double width)
{
    const PliMaterial *m = &pli_body_def(t->body)->material;
    return (1.0 - m->poisson * m->poisson) / (2.0 * m->young * width / 3.0);
}

/// Makes u better for A u = f, from what it is. @return a compliance not above that of the body, 0: none was found
static double give_way(PliTouch *t, double dt)
{
    const size_t n = 3 * (size_t)t->dof_count;
    pli_body_project(t->body, t->u);
    apply(t, dt, t->u, t->q);
    for (size_t i = 0; i < n; ++i) t->r[i] = t->f[i] - t->q[i];
    double rz = 0.0;
    for (int k = 0; k < ROUNDS; ++k) {
        over_mass(t);
        const double next = dot(t->r, t->z, n);
        if (!(next > 0.0)) break;
        for (size_t i = 0; i < n; ++i) t->p[i] = t->z[i] + (k ? next / rz : 0.0) * t->p[i];
        rz = next;
        apply(t, dt, t->p, t->q);
        const double pq = dot(t->p, t->q, n);
        if (!(pq > 0.0)) break; // compressed beyond stability: what there is will do
        const double step = rz / pq;
        for (size_t i = 0; i < n; ++i) {
            t->u[i] += step * t->p[i];
            t->r[i] -= step * t->q[i];
        }
        if (step * rz <= EXACT * fabs(dot(t->f, t->u, n))) break;
    }
    const double fu = dot(t->f, t->u, n), energy = fu - dot(t->u, t->r, n);
    return fu > 0.0 && energy > 0.0 ? fu * fu / energy : 0.0;
}

/// N, along the normal: inertia of what moves as the touched points do.
static double inertia(PliTouch *t, const double *v, double dt)
{
    const size_t n = 3 * (size_t)t->dof_count;
    const double fu = dot(t->f, t->u, n);
    if (!(fu > 0.0)) return 0.0;
    for (size_t i = 0; i < n; ++i) t->z[i] = (v[i] - t->v_last[i]) / dt;
    memset(t->q, 0, n * sizeof *t->q);
    pli_body_add_mass(t->body, t->z, 1.0, t->q);
    return dot(t->u, t->q, n) / fu;
}

void pli_touch_model(PliTouch *t, const double *x, const double *v, const PliTool *tool, double dt,
                     PliHapticModel *model)
{
    const size_t n = 3 * (size_t)t->dof_count;
    const PliActive active = pli_body_active(t->body);
    PliTool now = *tool;
    v3_madd(now.position, dt, tool->velocity);
    if (now.shape == PLI_TOOL_CAPSULE) v3_madd(now.other, dt, tool->velocity);
    *model = (PliHapticModel){ .revision = active.revision, .period = dt };
    if (!t->begun || t->revision != active.revision) memset(t->u, 0, n * sizeof *t->u); // other coefficients
    if (!t->begun) memcpy(t->v_last, v, n * sizeof *v);
    t->begun = true;
    t->revision = active.revision;
    t->stiffness = 0.0;
    pli_body_skin_positions(t->body, x, t->skin);
    const double width = now.shape == PLI_TOOL_PLANE ? PLANE_SIZE * t->size : now.radius;
    double out[3], normal[3];
    const double gap = look_around(t, &now, NEAR * width, out), force = v3_norm(tool->force);
    const double reach = width + 4.0 * dt * v3_norm(tool->velocity);
    if (gap <= reach || force > 0.0) {
        const double length = v3_norm(out);
        for (int c = 0; c < 3; ++c) normal[c] = tool->force[c] + (length > 0.0 ? LITTLE * out[c] / length : 0.0);
        const double size = v3_norm(normal);
        if (size > 0.0 && isfinite(size)) {
            v3_scale(normal, 1.0 / size);
            unit_force(t, normal);
            pli_body_add_force(t->body, x, NULL, t->z); // the tangent at x
            const double found = give_way(t, dt), compliance = found > 0.0 ? found : guess(t, width);
            PliHapticPlane *plane = &model->plane[0];
            *plane = (PliHapticPlane){ .compliance = compliance, .present = true };
            v3_copy(plane->normal, normal);
            const double pressed = fmax(0.0, v3_dot(tool->force, normal) + (force > 0.0 ? inertia(t, v, dt) : 0.0));
            plane->offset = v3_dot(normal, now.position) + (force > 0.0 ? compliance * pressed : -fmax(0.0, gap));
            t->stiffness = 1.0 / compliance;
        }
    }
    memcpy(t->v_last, v, n * sizeof *v);
}
