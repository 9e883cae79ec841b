/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// From a body and a tool to the planes a hand feels: where the surface is, which way it pushes, and how far it gives way.
// There is one for each place where the tool comes nearest to the skin: one on a flat or bulging surface, two or three in a corner or
// along a rod. With one its direction is that of the force; with several the force is shared among their directions.
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
static const double NEAR = 0.02;   ///< of the tool's radius: points that much further away count no more
static const double LITTLE = 0.02; ///< N, below which the shape says where the surface points, not the force
static const double EXACT = 1e-3;  ///< of the compliance, at which iterations stop
static const double CORNER = 0.3;  ///< cosine between directions of touching points that are two sides, not one dent
static const double ANOTHER = 0.7; ///< cosine between directions of which one plane would not do for both
static const double PLANE_SIZE = 0.05; ///< of the body: what a plane has for a radius

struct PliTouch {
    PliHost host;
    PliBody *body;
    PliIndex dof_count, skin_count;
    double size;                 ///< m, of the body
    double *skin, *share;        ///< per skin point: where it is, and how much of a touch it carries
    double *area;                ///< m2, at rest
    PliIndex *next_first, *next; ///< per skin point: the points it shares a triangle with
    PliIndex next_count;
    double *gap, *away;                     ///< per skin point: m to the tool, and the direction out of it
    double *u[PLI_HAPTIC_PLANES];           ///< dof_count Vec3 each: how the body gives way to each plane
    double *f, *r, *z, *p, *q, *v_last;     ///< dof_count Vec3 each
    PliHapticPlane last[PLI_HAPTIC_PLANES]; ///< of the last model: planes keep their places
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

/// The other two corners of each triangle around a point; some come twice.
static PliStatus find_neighbours(PliTouch *t)
{
    PliIndex count;
    const PliIndex *tri = pli_body_skin_tris(t->body, &count);
    t->next_count = 6 * count;
    t->next_first = PLI_NEW(&t->host, (size_t)t->skin_count + 2, PliIndex);
    t->next = PLI_NEW(&t->host, t->next_count, PliIndex);
    if (!t->next_first || !t->next) return PLI_OUT_OF_MEMORY;
    for (PliIndex k = 0; k < 3 * count; ++k) t->next_first[tri[k] + 2] += 2;
    for (PliIndex i = 0; i <= t->skin_count; ++i) t->next_first[i + 1] += t->next_first[i];
    for (PliIndex k = 0; k < 3 * count; ++k)
        for (PliIndex c = 1; c < 3; ++c) t->next[t->next_first[tri[k] + 1]++] = tri[k / 3 * 3 + (k + c) % 3];
    return PLI_OK;
}

static PliStatus reserve(PliTouch *t)
{
    const size_t n = 3 * (size_t)t->dof_count;
    double **const array[] = { &t->f, &t->r, &t->z, &t->p, &t->q, &t->v_last };
    bool good = true;
    for (size_t i = 0; i < sizeof array / sizeof *array; ++i) good = (*array[i] = PLI_NEW(&t->host, n, double)) && good;
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) good = (t->u[i] = PLI_NEW(&t->host, n, double)) && good;
    t->skin = PLI_NEW(&t->host, 3 * (size_t)t->skin_count, double);
    t->away = PLI_NEW(&t->host, 3 * (size_t)t->skin_count, double);
    t->area = PLI_NEW(&t->host, t->skin_count, double);
    t->share = PLI_NEW(&t->host, t->skin_count, double);
    t->gap = PLI_NEW(&t->host, t->skin_count, double);
    good = good && t->skin && t->away && t->area && t->share && t->gap;
    return good ? find_neighbours(t) : PLI_OUT_OF_MEMORY;
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
    if (t->skin_count == 0) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "a body without a skin cannot be touched");
    } else if (reserve(t) != PLI_OK) {
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
    double *const array[] = { t->f, t->r, t->z, t->p, t->q, t->v_last };
    for (size_t i = 0; i < sizeof array / sizeof *array; ++i) PLI_FREE(&host, array[i], n);
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) PLI_FREE(&host, t->u[i], n);
    PLI_FREE(&host, t->skin, 3 * (size_t)t->skin_count);
    PLI_FREE(&host, t->away, 3 * (size_t)t->skin_count);
    PLI_FREE(&host, t->share, t->skin_count);
    PLI_FREE(&host, t->area, t->skin_count);
    PLI_FREE(&host, t->gap, t->skin_count);
    PLI_FREE(&host, t->next_first, (size_t)t->skin_count + 2);
    PLI_FREE(&host, t->next, t->next_count);
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

/// A place where the tool comes nearest to the skin.
typedef struct Spot {
    double gap, place[3];
    double away[3];   ///< out of the tool
    double normal[3]; ///< out of the body, unit length
    double arm[3];    ///< m, from the place of the tool
    double force;     ///< N, of the tool's that is its
} Spot;

static void measure_gaps(PliTouch *t, const PliTool *tool)
{
    for (PliIndex i = 0; i < t->skin_count; ++i)
        t->gap[i] = pli_tool_distance(tool, 0.0, t->skin + 3 * (size_t)i, t->away + 3 * (size_t)i);
}

static bool is_least_around(const PliTouch *t, PliIndex i)
{
    for (PliIndex k = t->next_first[i]; k < t->next_first[i + 1]; ++k)
        if (t->gap[t->next[k]] < t->gap[i]) return false;
    return true;
}

/// The same side of the tool, and near: one plane does for both.
static bool is_of(const PliTouch *t, const Spot *s, PliIndex i, double width)
{
    if (width == INFINITY) return true;
    return v3_dot(t->away + 3 * (size_t)i, s->away) > ANOTHER &&
           v3_distance(t->skin + 3 * (size_t)i, s->place) < 2.0 * width;
}

static Spot spot_at(const PliTouch *t, PliIndex i)
{
    Spot s = { .gap = t->gap[i] };
    v3_copy(s.place, t->skin + 3 * (size_t)i);
    v3_copy(s.away, t->away + 3 * (size_t)i);
    return s;
}

/// Places and directions of both sides: the mean of the touching points that are more like it than like the other.
static void centre_sides(const PliTouch *t, double touching, Spot spot[2])
{
    double sum[2][7] = { { 0.0 } };
    for (PliIndex i = 0; i < t->skin_count; ++i) {
        if (t->gap[i] > touching) continue;
        const double *away = t->away + 3 * (size_t)i;
        double *mine = sum[v3_dot(away, spot[1].away) > v3_dot(away, spot[0].away)];
        v3_madd(mine, t->area[i], t->skin + 3 * (size_t)i);
        v3_madd(mine + 3, t->area[i], away);
        mine[6] += t->area[i];
    }
    for (int k = 0; k < 2; ++k) {
        const double length = v3_norm(sum[k] + 3);
        if (!(length > 0.0)) continue;
        for (int c = 0; c < 3; ++c) spot[k].place[c] = sum[k][c] / sum[k][6], spot[k].away[c] = sum[k][3 + c] / length;
    }
}

/// The two touching points whose directions differ most, if one plane would not do for both. A ball in a corner touches the edge as well,
/// and its place is nearest to neither side.
static int find_sides(const PliTouch *t, double touching, Spot spot[2])
{
    double mean[3] = { 0.0, 0.0, 0.0 }, least = INFINITY;
    PliIndex side[2] = { PLI_NONE, PLI_NONE };
    for (PliIndex i = 0; i < t->skin_count; ++i)
        if (t->gap[i] <= touching) v3_madd(mean, t->area[i], t->away + 3 * (size_t)i);
    for (int k = 0; k < 2; ++k) {
        const double *from = k ? t->away + 3 * (size_t)side[0] : mean;
        least = INFINITY;
        for (PliIndex i = 0; i < t->skin_count; ++i) {
            const double like = v3_dot(t->away + 3 * (size_t)i, from);
            if (t->gap[i] <= touching && like < least) least = like, side[k] = i;
        }
        if (side[k] == PLI_NONE) return 0;
    }
    if (least > CORNER) return 0;
    for (int k = 0; k < 2; ++k) spot[k] = spot_at(t, side[k]);
    for (int pass = 0; pass < 2; ++pass) centre_sides(t, touching, spot);
    return 2;
}

/// Places where the gap is least around, nearest first, each with a direction or a place of its own.
static int find_spots(const PliTouch *t, double reach, double width, Spot spot[PLI_HAPTIC_PLANES])
{
    int count = width < INFINITY ? find_sides(t, NEAR * width, spot) : 0;
    while (count < PLI_HAPTIC_PLANES) {
        PliIndex best = PLI_NONE;
        for (PliIndex i = 0; i < t->skin_count; ++i) {
            if (t->gap[i] > reach || (best != PLI_NONE && t->gap[i] >= t->gap[best])) continue;
            bool known = count > 0 && !is_least_around(t, i);
            for (int k = 0; k < count && !known; ++k) known = is_of(t, &spot[k], i, width);
            if (!known) best = i;
        }
        if (best == PLI_NONE) break;
        spot[count++] = spot_at(t, best);
    }
    return count;
}

/// Shares of the points near the smallest gap of a spot, of all points if it is the only one; its direction and its lever.
static void look_around(PliTouch *t, const PliTool *tool, double width, bool alone, Spot *s)
{
    double all = 0.0, n[3] = { 0.0, 0.0, 0.0 }, arm[3] = { 0.0, 0.0, 0.0 };
    for (PliIndex i = 0; i < t->skin_count; ++i) {
        const double close = 1.0 - (t->gap[i] - s->gap) / (NEAR * width);
        t->share[i] = close > 0.0 && (alone || is_of(t, s, i, width)) ? close * close * t->area[i] : 0.0;
        if (t->share[i] == 0.0) continue;
        double d[3];
        v3_sub(d, t->skin + 3 * (size_t)i, tool->position);
        v3_madd(n, -t->share[i], t->away + 3 * (size_t)i);
        v3_madd(arm, t->share[i], d);
        all += t->share[i];
    }
    const double length = v3_norm(n);
    for (int c = 0; c < 3; ++c) {
        s->normal[c] = length > 0.0 ? n[c] / length : -s->away[c];
        s->arm[c] = all > 0.0 ? arm[c] / all : s->place[c] - tool->position[c];
    }
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
static double give_way(PliTouch *t, double dt, double *u)
{
    const size_t n = 3 * (size_t)t->dof_count;
    pli_body_project(t->body, u);
    apply(t, dt, u, t->q);
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
            u[i] += step * t->p[i];
            t->r[i] -= step * t->q[i];
        }
        if (step * rz <= EXACT * fabs(dot(t->f, u, n))) break;
    }
    const double fu = dot(t->f, u, n), energy = fu - dot(u, t->r, n);
    return fu > 0.0 && energy > 0.0 ? fu * fu / energy : 0.0;
}

/// N, along the normal: inertia of what moves as the touched points do.
static double inertia(PliTouch *t, const double *u, const double *v, double dt)
{
    const size_t n = 3 * (size_t)t->dof_count;
    const double fu = dot(t->f, u, n);
    if (!(fu > 0.0)) return 0.0;
    for (size_t i = 0; i < n; ++i) t->z[i] = (v[i] - t->v_last[i]) / dt;
    memset(t->q, 0, n * sizeof *t->q);
    pli_body_add_mass(t->body, t->z, 1.0, t->q);
    return dot(u, t->q, n) / fu;
}

/// Shares force and torque of the tool among the spots: forces of at least 0 along their directions that come nearest to both, and what
/// friction adds goes with them. The sum is the tool's force.
static void share_force(const PliTool *tool, double width, Spot *spot, int count)
{
    enum { ROUNDS_OF_SHARING = 200 };
    double row[PLI_HAPTIC_PLANES][6], left[6], sum = 0.0;
    for (int c = 0; c < 3; ++c) left[c] = tool->force[c], left[3 + c] = tool->torque[c] / width;
    for (int i = 0; i < count; ++i) {
        v3_copy(row[i], spot[i].normal);
        v3_cross(row[i] + 3, spot[i].arm, spot[i].normal);
        v3_scale(row[i] + 3, 1.0 / width);
        spot[i].force = 0.0;
    }
    for (int k = 0; k < ROUNDS_OF_SHARING; ++k)
        for (int i = 0; i < count; ++i) {
            double more = 0.0, size = 0.0;
            for (int c = 0; c < 6; ++c) more += row[i][c] * left[c], size += row[i][c] * row[i][c];
            more = fmax(more / size, -spot[i].force);
            spot[i].force += more;
            for (int c = 0; c < 6; ++c) left[c] -= more * row[i][c];
        }
    for (int i = 0; i < count; ++i) sum += spot[i].force;
    for (int i = 0; i < count && sum > LITTLE; ++i) {
        double f[3];
        if (!(spot[i].force > 0.0)) continue;
        for (int c = 0; c < 3; ++c) f[c] = spot[i].force * (spot[i].normal[c] + left[c] / sum);
        const double size = v3_norm(f);
        if (!(size > 0.0)) continue;
        for (int c = 0; c < 3; ++c) spot[i].normal[c] = f[c] / size;
        spot[i].force = size;
    }
}

/// The only spot: it points where the force does, and its lever makes the tool's torque.
static void take_force(const PliTool *tool, Spot *s)
{
    double n[3], line[3];
    s->force = v3_norm(tool->force);
    for (int c = 0; c < 3; ++c) n[c] = tool->force[c] + LITTLE * s->normal[c];
    const double size = v3_norm(n);
    if (!(size > 0.0)) return;
    for (int c = 0; c < 3; ++c) s->normal[c] = n[c] / size;
    if (!(s->force > LITTLE)) return;
    v3_cross(line, tool->force, tool->torque); // |F|^2 times the way to the line on which the force acts
    v3_scale(line, 1.0 / (s->force * s->force));
    v3_madd(line, v3_dot(s->arm, tool->force) / (s->force * s->force), tool->force);
    v3_copy(s->arm, line);
}

/// The place of a spot in the model: that of the plane of the last one that is most like it, else a free one.
static int find_place(const PliTouch *t, const PliHapticModel *model, const Spot *s)
{
    int place = -1;
    double best = ANOTHER;
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        const PliHapticPlane *was = &t->last[i];
        if (!was->present || model->plane[i].present) continue;
        const double like = v3_dot(was->normal, s->normal);
        if (like > best) best = like, place = i;
    }
    for (int i = 0; i < PLI_HAPTIC_PLANES && place < 0; ++i)
        if (!t->last[i].present && !model->plane[i].present) place = i;
    for (int i = 0; i < PLI_HAPTIC_PLANES && place < 0; ++i)
        if (!model->plane[i].present) place = i;
    return place;
}

static void add_plane(PliTouch *t, const PliTool *now, const double *v, double width, double dt, bool alone, Spot *s,
                      PliHapticModel *model)
{
    const int place = find_place(t, model, s);
    const size_t n = 3 * (size_t)t->dof_count;
    double normal[3];
    if (place < 0 || !isfinite(v3_norm(s->normal))) return;
    v3_copy(normal, s->normal);
    if (!alone) {
        Spot again = *s;
        look_around(t, now, width, false, &again);
    }
    if (!t->last[place].present) memset(t->u[place], 0, n * sizeof *t->u[place]);
    unit_force(t, normal);
    const double found = give_way(t, dt, t->u[place]), compliance = found > 0.0 ? found : guess(t, width);
    PliHapticPlane *plane = &model->plane[place];
    *plane = (PliHapticPlane){ .compliance = compliance, .present = true };
    v3_copy(plane->normal, normal);
    v3_copy(plane->arm, s->arm);
    const bool presses = s->force > 0.0;
    const double pressed = fmax(0.0, s->force + (presses ? inertia(t, t->u[place], v, dt) : 0.0));
    plane->offset = v3_dot(normal, now->position) + (presses ? compliance * pressed : -fmax(0.0, s->gap));
    if (t->stiffness == 0.0) t->stiffness = 1.0 / compliance;
}

void pli_touch_model(PliTouch *t, const double *x, const double *v, const PliTool *tool, double dt,
                     PliHapticModel *model)
{
    const size_t n = 3 * (size_t)t->dof_count;
    const PliActive active = pli_body_active(t->body);
    PliTool now = *tool;
    Spot spot[PLI_HAPTIC_PLANES];
    v3_madd(now.position, dt, tool->velocity);
    if (now.shape == PLI_TOOL_CAPSULE) v3_madd(now.other, dt, tool->velocity);
    *model = (PliHapticModel){ .revision = active.revision, .period = dt };
    for (int i = 0; i < PLI_HAPTIC_PLANES && (!t->begun || t->revision != active.revision); ++i)
        memset(t->u[i], 0, n * sizeof *t->u[i]); // other coefficients
    if (!t->begun) memcpy(t->v_last, v, n * sizeof *v);
    t->begun = true;
    t->revision = active.revision;
    t->stiffness = 0.0;
    pli_body_skin_positions(t->body, x, t->skin);
    measure_gaps(t, &now);
    const double width = now.shape == PLI_TOOL_PLANE ? PLANE_SIZE * t->size : now.radius;
    const double force = v3_norm(tool->force);
    const double reach = force > 0.0 ? INFINITY : width + 4.0 * dt * v3_norm(tool->velocity);
    int count = find_spots(t, reach, now.shape == PLI_TOOL_PLANE ? INFINITY : width, spot); // a plane has one side
    // further away than a radius only what presses is felt, and that is the nearest
    while (count > 1 && spot[count - 1].gap > width + 4.0 * dt * v3_norm(tool->velocity)) --count;
    if (count > 0) pli_body_add_force(t->body, x, NULL, t->z); // the tangent at x
    for (int i = 0; i < count; ++i) look_around(t, &now, width, count == 1, &spot[i]);
    if (count == 1)
        take_force(tool, &spot[0]);
    else if (count > 1)
        share_force(tool, width, spot, count);
    for (int i = 0; i < count; ++i) add_plane(t, &now, v, width, dt, count == 1, &spot[i], model);
    memcpy(t->last, model->plane, sizeof t->last);
    memcpy(t->v_last, v, n * sizeof *v);
}
