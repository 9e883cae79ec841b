/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/frames/evidence/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

// ---- meshes --------------------------------------------------------------------------------------------------------------------

typedef struct Face {
    PliIndex corner[3], tet;
} Face;

static int by_corners(const void *a, const void *b)
{
    const Face *f = a, *g = b;
    for (int c = 0; c < 3; ++c)
        if (f->corner[c] != g->corner[c]) return f->corner[c] < g->corner[c] ? -1 : 1;
    return 0;
}

static PliIndex top_of(PliIndex *up, PliIndex i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

// Keeps the largest part whose tetrahedra hang together by faces: what hangs on by a point or an edge would swing about it.
static PliStatus keep_largest(const PliHost *host, PliMesh *m, PliIndex *tets)
{
    const size_t n = *tets;
    Face *face = PLI_NEW(host, 4 * n, Face);
    PliIndex *up = PLI_NEW(host, n, PliIndex), *size = PLI_NEW(host, n, PliIndex), largest = 0, kept = 0;
    if (face && up && size) {
        for (size_t t = 0; t < n; ++t) {
            up[t] = (PliIndex)t;
            for (size_t k = 0; k < 4; ++k) {
                Face *f = &face[4 * t + k];
                f->tet = (PliIndex)t;
                for (size_t c = 0; c < 3; ++c) f->corner[c] = m->tets[4 * t + (k + 1 + c) % 4];
                for (int c = 0; c < 3; ++c) { // three numbers in order
                    const int i = c == 1 ? 1 : 0;
                    const PliIndex a = f->corner[i], b = f->corner[i + 1];
                    f->corner[i] = a < b ? a : b, f->corner[i + 1] = a < b ? b : a;
                }
            }
        }
        qsort(face, 4 * n, sizeof *face, by_corners);
        for (size_t k = 1; k < 4 * n; ++k)
            if (by_corners(&face[k - 1], &face[k]) == 0) up[top_of(up, face[k].tet)] = top_of(up, face[k - 1].tet);
        for (PliIndex t = 0; t < n; ++t) size[top_of(up, t)]++;
        for (PliIndex t = 0; t < n; ++t)
            if (size[t] > size[largest]) largest = t;
        for (PliIndex t = 0; t < n; ++t)
            if (top_of(up, t) == largest)
                memmove(m->tets + 4 * (size_t)kept++, m->tets + 4 * (size_t)t, 4 * sizeof *m->tets);
        *tets = kept;
    }
    const PliStatus status = face && up && size ? PLI_OK : PLI_OUT_OF_MEMORY;
    PLI_FREE(host, face, 4 * n);
    PLI_FREE(host, up, n);
    PLI_FREE(host, size, n);
    return status;
}

PliMesh *pli_mesh_carve(const PliHost *host, const PliBoxDef *box, PliInsideFn *inside, const void *user, PliError *err)
{
    PliMesh *m = pli_mesh_box(host, box, err);
    if (!m) return NULL;
    PliIndex tets = 0, points = 0, *number = PLI_NEW(host, m->point_count, PliIndex);
    if (!number) {
        pli_mesh_destroy(m);
        return NULL;
    }
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        const PliIndex *k = m->tets + 4 * (size_t)t;
        double c[3] = { 0.0, 0.0, 0.0 };
        for (int i = 0; i < 4; ++i) v3_madd(c, 0.25, m->x + 3 * (size_t)k[i]);
        if (inside(c, user)) memmove(m->tets + 4 * (size_t)tets++, k, 4 * sizeof *k);
    }
    PliStatus status = keep_largest(host, m, &tets);
    for (size_t k = 0; k < 4 * (size_t)tets; ++k) number[m->tets[k]] = 1;
    for (PliIndex i = 0; i < m->point_count; ++i) {
        if (!number[i]) continue;
        v3_copy(m->x + 3 * (size_t)points, m->x + 3 * (size_t)i);
        number[i] = points++;
    }
    for (size_t k = 0; k < 4 * (size_t)tets; ++k) m->tets[k] = number[m->tets[k]];
    PLI_FREE(host, number, m->point_count);
    if (status == PLI_OK) status = pli_mesh_resize_cells(m, PLI_TET, tets);
    if (status == PLI_OK) status = pli_mesh_resize_points(m, points);
    if (status == PLI_OK) status = pli_mesh_resize_cells(m, PLI_TRI, 0);
    if (status != PLI_OK || tets == 0) {
        pli_refuse(err, PLI_BAD_MESH, "nothing of the box is inside");
        pli_mesh_destroy(m);
        return NULL;
    }
    return m;
}

/// Capsules; a body of several parts.
typedef struct Parts {
    double a[16][3], b[16][3], radius[16];
    int count;
} Parts;

static void part(Parts *p, double ax, double ay, double az, double bx, double by, double bz, double r)
{
    const double a[3] = { ax, ay, az }, b[3] = { bx, by, bz };
    v3_copy(p->a[p->count], a);
    v3_copy(p->b[p->count], b);
    p->radius[p->count++] = r;
}

static bool in_parts(const double q[3], const void *user)
{
    const Parts *p = user;
    for (int k = 0; k < p->count; ++k) {
        double axis[3], d[3];
        v3_sub(axis, p->b[k], p->a[k]);
        v3_sub(d, q, p->a[k]);
        const double length = v3_dot(axis, axis);
        double t = length > 0.0 ? v3_dot(d, axis) / length : 0.0;
        t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
        v3_madd(d, -t, axis);
        if (v3_dot(d, d) < p->radius[k] * p->radius[k]) return true;
    }
    return false;
}

// A creature with body, head, arms, legs and tail, about 1 m tall, standing at the origin.
static Parts creature(void)
{
    Parts p = { .count = 0 };
    part(&p, 0, 0.40, 0, 0, 0.62, 0, 0.16);           // trunk
    part(&p, 0, 0.82, 0, 0, 0.88, 0.03, 0.11);        // head
    part(&p, 0, 0.65, 0, 0, 0.80, 0, 0.07);           // neck
    part(&p, 0.12, 0.62, 0, 0.42, 0.52, 0.05, 0.065); // arms
    part(&p, -0.12, 0.62, 0, -0.42, 0.52, 0.05, 0.065);
    part(&p, 0.42, 0.52, 0.05, 0.48, 0.70, 0.12, 0.05);
    part(&p, -0.42, 0.52, 0.05, -0.48, 0.70, 0.12, 0.05);
    part(&p, 0.08, 0.38, 0, 0.17, 0.08, 0, 0.08); // legs
    part(&p, -0.08, 0.38, 0, -0.17, 0.08, 0, 0.08);
    part(&p, 0.17, 0.07, 0, 0.18, 0.06, 0.14, 0.06); // feet
    part(&p, -0.17, 0.07, 0, -0.18, 0.06, 0.14, 0.06);
    part(&p, 0, 0.36, -0.10, 0, 0.25, -0.42, 0.06); // tail
    return p;
}

// Adds a moved copy of `from` to `to`.
static PliStatus append(PliMesh *to, const PliMesh *from, const double shift[3], double turn, double size)
{
    const PliIndex points = to->point_count, tets = to->tet_count;
    PliStatus status = pli_mesh_resize_points(to, points + from->point_count);
    if (status == PLI_OK) status = pli_mesh_resize_cells(to, PLI_TET, tets + from->tet_count);
    if (status != PLI_OK) return status;
    const double c = cos(turn), s = sin(turn);
    for (PliIndex i = 0; i < from->point_count; ++i) {
        const double *p = from->x + 3 * (size_t)i;
        double *q = to->x + 3 * (size_t)(points + i);
        q[0] = shift[0] + size * (c * p[0] + s * p[2]);
        q[1] = shift[1] + size * p[1];
        q[2] = shift[2] + size * (c * p[2] - s * p[0]);
    }
    for (size_t k = 0; k < 4 * (size_t)from->tet_count; ++k) to->tets[4 * (size_t)tets + k] = from->tets[k] + points;
    return PLI_OK;
}

// ---- the scenes ------------------------------------------------------------------------------------------------------------------

static void wall(PliFrameScene *s, double px, double py, double pz, double nx, double ny, double nz)
{
    const double p[3] = { px, py, pz }, n[3] = { nx, ny, nz };
    v3_copy(s->wall_point[s->walls], p);
    v3_copy(s->wall_normal[s->walls], n);
    v3_scale(s->wall_normal[s->walls++], 1.0 / v3_norm(n));
}

static void anchor(PliFrameScene *s, double x, double y, double z, int level)
{
    const PliIndex i = s->def.anchor_count++;
    s->anchor[3 * i] = x, s->anchor[3 * i + 1] = y, s->anchor[3 * i + 2] = z;
    s->anchor_level[i] = (uint8_t)level;
}

static void hang_until_release(PliFrameScene *s, int k)
{
    const bool on = k < s->steps / 2;
    s->load[1] = on ? -4.0 : 0.0;
}

static void gravity_until_release(PliFrameScene *s, int k) { s->gravity[1] = k < s->steps / 2 ? -9.81 : 0.0; }

// A slender beam clamped at one end: gravity bends it, it settles, is let go, and comes back.
static void cantilever(PliFrameScene *s, const PliHost *host, PliError *err)
{
    const PliBoxDef box = { { 0, 0, 0 }, { 2.0, 0.2, 0.2 }, { 20, 2, 2 }, 0.0, 1 };
    s->mesh = pli_mesh_box(host, &box, err);
    s->steps = 740, s->dt = 0.05;
    s->def.resolution = 80;
    s->def.frame_count = 15;
    s->def.base.material.young = 1.2e7;
    s->def.base.rayleigh_stiffness = 0.05;
    anchor(s, 0.0, 0.1, 0.1, 0);
    anchor(s, 2.0, 0.1, 0.1, 1);
    s->clamped = 1;
    s->before = gravity_until_release;
}

// A stiff trunk with ten soft branches; weights hang on their ends until the middle of the run.
static void branches(PliFrameScene *s, const PliHost *host, PliError *err)
{
    Parts p = { .count = 0 };
    part(&p, 0, 0.04, 0, 0, 1.0, 0, 0.06);
    double tip[10][3];
    for (int k = 0; k < 10; ++k) {
        const double a = 2.4 * k, h = 0.25 + 0.07 * k, length = 0.45 - 0.02 * k;
        const double end[3] = { length * cos(a), h + 0.05, length * sin(a) };
        part(&p, 0, h, 0, end[0], end[1], end[2], 0.028);
        v3_copy(tip[k], end);
    }
    const PliBoxDef box = { { -0.5, 0, -0.5 }, { 0.5, 1.05, 0.5 }, { 60, 63, 60 }, 0.0, 1 };
    s->mesh = pli_mesh_carve(host, &box, in_parts, &p, err);
    s->steps = 500, s->dt = 0.04;
    s->def.base.criterion.threshold = 1e-4;
    s->def.resolution = 64;
    s->def.frame_count = 36;
    s->def.base.material.young = 2e6;
    s->def.base.material.density = 400.0;
    s->def.base.rayleigh_stiffness = 0.03;
    anchor(s, 0, 0.02, 0, 0);
    for (int k = 0; k < 10; ++k) {
        anchor(s, tip[k][0], tip[k][1], tip[k][2], 2);
        v3_copy(s->place + 3 * s->places++, tip[k]);
    }
    s->clamped = 1;
    s->before = hang_until_release;
}

static void shoe_passes(PliFrameScene *s, int k)
{
    // comes down on a corner of the field, stays, goes up
    const double t = k * s->dt, y = t < 0.4 ? 0.85 - 0.8 * t : t < 1.0 ? 0.53 : 0.53 + 0.8 * (t - 1.0);
    s->shoe[0] = 0.55, s->shoe[1] = y, s->shoe[2] = 0.55;
    s->shoe_velocity[1] = t < 0.4 ? -0.8 : t < 1.0 ? 0.0 : 0.8;
}

// Thirteen mushrooms under one root; a sphere treads on some of them.
static void mushrooms(PliFrameScene *s, const PliHost *host, PliError *err)
{
    Parts p = { .count = 0 };
    part(&p, 0, 0.05, 0, 0, 0.25, 0, 0.05);
    part(&p, -0.03, 0.30, 0, 0.03, 0.30, 0, 0.10);
    const PliBoxDef box = { { -0.15, 0, -0.15 }, { 0.15, 0.42, 0.15 }, { 12, 17, 12 }, 0.0, 1 };
    PliMesh *one = pli_mesh_carve(host, &box, in_parts, &p, err);
    s->mesh = one ? pli_mesh_create(host) : NULL;
    for (int k = 0; k < 13 && s->mesh; ++k) {
        const double at[3] = { 0.3 * (k % 4), 0.0, 0.3 * (k / 4) };
        if (append(s->mesh, one, at, 0.3 * k, 1.0) != PLI_OK) break;
        anchor(s, at[0], 0.03, at[2], k ? 1 : 0);
    }
    pli_mesh_destroy(one);
    s->steps = 200, s->dt = 0.02;
    s->def.resolution = 60;
    s->def.frame_count = 156;
    s->def.level_count = 4;
    s->def.level_frames[0] = 1, s->def.level_frames[1] = 13, s->def.level_frames[2] = 52, s->def.level_frames[3] = 156;
    s->def.base.material.young = 5e4;
    s->def.base.rayleigh_stiffness = 0.05;
    s->clamped = 13;
    s->shoe_radius = 0.25;
    s->pressure = 1e6;
    s->before = shoe_passes;
}

static void falls(PliFrameScene *s, int k)
{
    (void)k;
    s->gravity[1] = -9.81;
}

static void hand_is_pulled(PliFrameScene *s, int k)
{
    const bool on = k >= 10 && k < 20;
    s->load[0] = on ? 6.0 : 0.0, s->load[1] = on ? 10.0 : 0.0;
}

// One soft arm on a body thirty times as stiff.
static void soft_arm(const double p[3], double *stiffness, double *density, void *user)
{
    (void)density, (void)user;
    if (p[0] < 0.16 || p[1] < 0.42) *stiffness *= 30.0;
}

// One creature of 250 frames held at its hip, its weight carried; a hand is pulled and let go.
static void single(PliFrameScene *s, const PliHost *host, PliError *err)
{
    const Parts p = creature();
    const PliBoxDef box = { { -0.6, 0, -0.6 }, { 0.6, 1.02, 0.3 }, { 48, 41, 36 }, 0.0, 1 };
    static const double hand[3] = { 0.48, 0.70, 0.12 };
    s->mesh = pli_mesh_carve(host, &box, in_parts, &p, err);
    s->steps = 900, s->dt = 0.02;
    s->def.resolution = 64;
    s->def.frame_count = 250;
    s->def.base.material.young = 3e5;
    s->def.base.rayleigh_stiffness = 0.05;
    s->def.base.criterion.threshold = 5e-3;
    anchor(s, 0.0, 0.51, 0.0, 0);
    s->clamped = 1;
    s->def.field = soft_arm;
    s->def.material_aware = false; // frames everywhere, not only where it is soft
    v3_copy(s->place, hand);
    s->places = 1;
    s->drag = 0.5;
    s->before = hand_is_pulled;
}

// Eighteen creatures in a box, one root.
static void salad(PliFrameScene *s, const PliHost *host, PliError *err)
{
    const Parts p = creature();
    const PliBoxDef box = { { -0.6, 0, -0.6 }, { 0.6, 1.02, 0.3 }, { 20, 17, 15 }, 0.0, 1 };
    PliMesh *one = pli_mesh_carve(host, &box, in_parts, &p, err);
    s->mesh = one ? pli_mesh_create(host) : NULL;
    uint64_t seed = 3;
    for (int k = 0; k < 18 && s->mesh; ++k) {
        const double at[3] = { 1.3 * (k % 3), 1.2 * (k / 9), 1.2 * (k / 3 % 3) };
        if (append(s->mesh, one, at, 0.6 * (pli_random_unit(&seed) - 0.5), 1.0) != PLI_OK) break;
    }
    pli_mesh_destroy(one);
    s->steps = 600, s->dt = 0.02;
    s->def.resolution = 80;
    s->def.frame_count = 18 * 30;
    s->def.level_count = 4;
    s->def.level_frames[0] = 1, s->def.level_frames[1] = 18, s->def.level_frames[2] = 18 * 8,
    s->def.level_frames[3] = 18 * 30;
    s->def.base.material.young = 3e5;
    s->def.base.rayleigh_stiffness = 0.05;
    s->def.base.criterion.threshold = 2e-3;
    wall(s, 0, -0.05, 0, 0, 1, 0);
    wall(s, -0.7, 0, 0, 1, 0.1, 0);
    wall(s, 3.3, 0, 0, -1, 0.1, 0);
    wall(s, 0, 0, -0.7, 0, 0.1, 1);
    wall(s, 0, 0, 3.1, 0, 0.1, -1);
    s->ball_radius = 0.3; // upper row against lower row
    s->pressure = 3e6;
    s->drag = 1.0;
    s->before = falls;
}

static void glass_goes(PliFrameScene *s, int k)
{
    s->gravity[1] = -9.81;
    s->walls_off = k >= s->quiet_to;
}

static bool in_ball(const double q[3], const void *user)
{
    const double r = *(const double *)user;
    return v3_dot(q, q) < r * r;
}

// Eight balls dropped into a glass; once they lie still the glass is taken away.
static void stack(PliFrameScene *s, const PliHost *host, PliError *err)
{
    const double r = 0.1;
    const PliBoxDef box = { { -r, -r, -r }, { r, r, r }, { 8, 8, 8 }, 0.0, 1 };
    PliMesh *one = pli_mesh_carve(host, &box, in_ball, &r, err);
    s->mesh = one ? pli_mesh_create(host) : NULL;
    for (int k = 0; k < 8 && s->mesh; ++k) {
        const double at[3] = { 0.06 * (k % 2 ? 1 : -1), 0.15 + 0.22 * k, 0.03 * (k % 3 - 1) };
        if (append(s->mesh, one, at, 0.0, 1.0) != PLI_OK) break;
    }
    pli_mesh_destroy(one);
    s->steps = 700, s->dt = 0.01;
    s->def.voxel_size = 0.02;
    s->def.frame_count = 50;
    s->def.base.material.young = 5e4;
    s->def.base.rayleigh_stiffness = 0.03;
    s->def.base.criterion.threshold = 5e-4;
    wall(s, 0, 0, 0, 0, 1, 0); // the ground stays
    for (int k = 0; k < 6; ++k) {
        const double c = cos(k * 1.0471975511965976), d = sin(k * 1.0471975511965976);
        wall(s, -0.2 * c, 0, -0.2 * d, c, 0.05, d);
    }
    s->ball_radius = r;
    s->pressure = 3e6;
    s->drag = 0.3;
    s->quiet_from = 350, s->quiet_to = 550;
    s->before = glass_goes;
}

typedef void MakeFn(PliFrameScene *s, const PliHost *host, PliError *err);

PliFrameScene *pli_frame_scene(const char *name, PliError *err)
{
    static const struct {
        const char *name;
        MakeFn *make;
    } all[] = { { "cantilever", cantilever }, { "branches", branches }, { "mushrooms", mushrooms },
                { "salad", salad },           { "single", single },     { "stack", stack } };
    const PliHost host = pli_host_default();
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        if (strcmp(name, all[k].name) != 0) continue;
        PliFrameScene *s = PLI_NEW(&host, 1, PliFrameScene);
        if (!s) return NULL;
        s->name = all[k].name;
        s->def = pli_frames_default();
        s->def.base.material.density = 1000.0;
        s->grip = 0.002;
        all[k].make(s, &host, err);
        if (!s->mesh) {
            pli_frame_scene_destroy(s);
            return NULL;
        }
        s->def.mesh = s->mesh;
        if (s->pressure > 0.0) s->def.polish = 0; // a pile that still slides has no equilibrium nearby
        s->def.anchors = s->anchor;
        s->def.anchor_level = s->anchor_level;
        return s;
    }
    pli_refuse(err, PLI_BAD_ARGUMENT, "there is no scene of frames called %s", name);
    return NULL;
}

void pli_frame_scene_destroy(PliFrameScene *s)
{
    if (!s) return;
    const PliHost host = pli_host_default();
    pli_mesh_destroy(s->mesh);
    PLI_FREE(&host, s, 1);
}

// ---- one body in a scene ------------------------------------------------------------------------------------------------------

static PliStatus find_pieces(PliFrameRun *run, const PliIndex *tris, PliIndex tri_count)
{
    for (PliIndex i = 0; i < run->points; ++i) run->piece[i] = i;
    for (int changed = 1; changed;) { // few rounds: numbers of a piece run together
        changed = 0;
        for (PliIndex t = 0; t < tri_count; ++t) {
            PliIndex least = PLI_NONE;
            for (int c = 0; c < 3; ++c)
                least = run->piece[tris[3 * t + c]] < least ? run->piece[tris[3 * t + c]] : least;
            for (int c = 0; c < 3; ++c)
                if (run->piece[tris[3 * t + c]] != least) run->piece[tris[3 * t + c]] = least, changed = 1;
        }
    }
    PliIndex *name = PLI_NEW(&run->host, run->points, PliIndex);
    if (!name) return PLI_OUT_OF_MEMORY;
    for (PliIndex i = 0; i < run->points; ++i) {
        if (run->piece[i] == i) name[i] = run->pieces++;
        run->piece[i] = name[run->piece[i]];
        run->piece_points[run->piece[i]]++;
    }
    PLI_FREE(&run->host, name, run->points);
    return PLI_OK;
}

// ---- contact ------------------------------------------------------------------------------------------------------------------

// A skin point `depth` inside something that lies in direction -n and moves with `u`: pressed out along n, slowed down along all.
// `stiff` is what the matrix of the step gets, at least the hardness.
static void touch(PliFrameRun *run, PliIndex i, double depth, const double n[3], double stiff, const double u[3])
{
    const PliIndex j = run->points_touching;
    PliPointForces *out = &run->touching;
    if (j == run->touch_capacity) return;
    const double grip = run->scene->grip * run->hardness;
    double v[3] = { 0.0, 0.0, 0.0 };
    const PliIndex from = run->row_first[i], count = run->row_first[i + 1] - from, at = run->touch_first[j];
    memcpy(run->touch_dof + at, run->row_column + from, count * sizeof *run->touch_dof);
    memcpy(run->touch_weight + at, run->row_weight + from, count * sizeof *run->touch_weight);
    for (PliIndex k = from; k < from + count; ++k)
        v3_madd(v, run->row_weight[k], run->velocity + 3 * (size_t)run->row_column[k]);
    double *f = run->touch_force + 3 * (size_t)j, *k6 = run->touch_stiffness + 6 * (size_t)j,
           *c6 = run->touch_damping + 6 * (size_t)j;
    for (int c = 0; c < 3; ++c) f[c] = run->hardness * depth * n[c] - grip * (v[c] - u[c]);
    k6[0] = stiff * n[0] * n[0], k6[1] = stiff * n[1] * n[1], k6[2] = stiff * n[2] * n[2];
    k6[3] = stiff * n[1] * n[2], k6[4] = stiff * n[0] * n[2], k6[5] = stiff * n[0] * n[1];
    for (int c = 0; c < 6; ++c) c6[c] = c < 3 ? grip : 0.0;
    run->touch_first[j + 1] = at + count;
    run->points_touching = out->count = j + 1;
}

// Pieces push each other like balls around their centres: each skin point is pressed out of the balls of the others, the reaction
// goes to all points of the other piece. Both sides press, each sees half of what is between them: twice as stiff in the matrix.
static void touch_balls(PliFrameRun *run)
{
    const PliFrameScene *s = run->scene;
    const PliIndex pieces = run->pieces;
    static const double still[3] = { 0.0, 0.0, 0.0 };
    double *reaction = run->centre + 3 * (size_t)pieces;
    memset(reaction, 0, 3 * (size_t)pieces * sizeof *reaction);
    for (PliIndex i = 0; i < run->points; ++i) {
        const double *p = run->at + 3 * (size_t)i;
        for (PliIndex q = 0; q < pieces; ++q) {
            if (!run->near[(size_t)run->piece[i] * pieces + q]) continue;
            double d[3];
            v3_sub(d, p, run->centre + 3 * (size_t)q);
            const double r = v3_norm(d);
            if (r >= s->ball_radius || r == 0.0) continue;
            v3_scale(d, 1.0 / r);
            touch(run, i, s->ball_radius - r, d, 2.0 * run->hardness, still);
            v3_madd(reaction + 3 * (size_t)q, -run->hardness * (s->ball_radius - r) / run->piece_points[q], d);
        }
    }
    memset(run->push, 0, 3 * run->dofs * sizeof *run->push);
    for (PliIndex i = 0; i < run->points; ++i) {
        const double *f = reaction + 3 * (size_t)run->piece[i];
        if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0) continue;
        for (PliIndex k = run->row_first[i]; k < run->row_first[i + 1]; ++k)
            v3_madd(run->push + 3 * (size_t)run->row_column[k], run->row_weight[k], f);
    }
}

// Everything around on the skin: what touches, with the stiffness of the touch.
static void touching(const double *x, const double *v, PliPointForces *out, void *user)
{
    PliFrameRun *run = user;
    const PliFrameScene *s = run->scene;
    const PliIndex pieces = run->pieces;
    run->velocity = v;
    run->points_touching = 0;
    run->touching = (PliPointForces){ 0,
                                      run->touch_first,
                                      run->touch_dof,
                                      run->touch_weight,
                                      run->touch_force,
                                      run->touch_stiffness,
                                      run->touch_damping,
                                      NULL };
    memset(run->centre, 0, 3 * (size_t)pieces * sizeof *run->centre);
    for (PliIndex i = 0; i < run->points; ++i) {
        double *p = run->at + 3 * (size_t)i;
        memset(p, 0, 3 * sizeof *p);
        for (PliIndex k = run->row_first[i]; k < run->row_first[i + 1]; ++k)
            v3_madd(p, run->row_weight[k], x + 3 * (size_t)run->row_column[k]);
        v3_madd(run->centre + 3 * (size_t)run->piece[i], 1.0 / run->piece_points[run->piece[i]], p);
    }
    static const double still[3] = { 0.0, 0.0, 0.0 };
    double *reach = run->reach; // largest distance of a point from the centre of its piece
    memset(reach, 0, pieces * sizeof *reach);
    for (PliIndex i = 0; i < run->points; ++i) {
        const double *p = run->at + 3 * (size_t)i;
        double d[3];
        reach[run->piece[i]] = fmax(reach[run->piece[i]], v3_distance(p, run->centre + 3 * (size_t)run->piece[i]));
        for (int w = 0; w < (s->walls_off ? 1 : s->walls); ++w) {
            v3_sub(d, p, s->wall_point[w]);
            const double depth = -v3_dot(d, s->wall_normal[w]);
            if (depth > 0.0) touch(run, i, depth, s->wall_normal[w], run->hardness, still);
        }
        if (s->shoe_radius <= 0.0) continue;
        v3_sub(d, p, s->shoe);
        const double r = v3_norm(d);
        if (r >= s->shoe_radius || r == 0.0) continue;
        v3_scale(d, 1.0 / r);
        touch(run, i, s->shoe_radius - r, d, run->hardness, s->shoe_velocity);
    }
    if (s->ball_radius > 0.0) {
        for (PliIndex a = 0; a < pieces; ++a)
            for (PliIndex b = 0; b < pieces; ++b)
                run->near[(size_t)a * pieces + b] =
                    a != b &&
                    v3_distance(run->centre + 3 * (size_t)a, run->centre + 3 * (size_t)b) < reach[a] + s->ball_radius;
        touch_balls(run);
    }
    *out = run->touching;
}

// The reaction between pieces, worked out together with what touches.
static void reactions(const double *x, const double *v, double t, double *f, void *user)
{
    (void)x, (void)v, (void)t;
    const PliFrameRun *run = user;
    for (size_t k = 0; k < 3 * run->dofs; ++k) f[k] += run->push[k];
}

bool pli_frame_run_open(PliFrameRun *run, PliFrameScene *scene, bool adapt, PliLinearSolver solver, PliError *err)
{
    memset(run, 0, sizeof *run);
    run->host = pli_host_default();
    run->scene = scene;
    PliFramesDef def = scene->def;
    def.base.adapt = adapt;
    def.base.linear_solver = solver;
    def.base.cg_tolerance = 1e-6;
    def.base.cg_iterations = 400;
    def.base.mass_damping = scene->drag;
    run->body = pli_frames_create(&run->host, &def, err);
    if (!run->body) return false;
    const PliHost *h = &run->host;
    run->dofs = pli_body_dof_count(run->body);
    run->points = pli_body_skin_count(run->body);
    run->x = PLI_NEW(h, 3 * run->dofs, double);
    run->v = PLI_NEW(h, 3 * run->dofs, double);
    run->f = PLI_NEW(h, 3 * run->dofs, double);
    run->row_first = PLI_NEW(h, (size_t)run->points + 1, PliIndex);
    run->row_capacity = PLI_LOCATE_MAX * (size_t)run->points;
    run->row_column = PLI_NEW(h, run->row_capacity, PliIndex);
    run->row_weight = PLI_NEW(h, run->row_capacity, double);
    run->piece = PLI_NEW(h, run->points, PliIndex);
    run->piece_points = PLI_NEW(h, run->points, PliIndex);
    run->at = PLI_NEW(h, 3 * (size_t)run->points, double);
    run->push = PLI_NEW(h, 3 * run->dofs, double);
    run->touch_capacity = run->points;
    run->touch_first = PLI_NEW(h, (size_t)run->points + 1, PliIndex);
    run->touch_dof = PLI_NEW(h, run->row_capacity, PliIndex);
    run->touch_weight = PLI_NEW(h, run->row_capacity, double);
    run->touch_force = PLI_NEW(h, 3 * (size_t)run->points, double);
    run->touch_stiffness = PLI_NEW(h, 6 * (size_t)run->points, double);
    run->touch_damping = PLI_NEW(h, 6 * (size_t)run->points, double);
    if (!run->x || !run->v || !run->f || !run->row_first || !run->row_column || !run->row_weight || !run->piece ||
        !run->piece_points || !run->at || !run->push || !run->touch_first || !run->touch_dof || !run->touch_weight ||
        !run->touch_force || !run->touch_stiffness || !run->touch_damping) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the scene");
        pli_frame_run_close(run);
        return false;
    }
    memcpy(run->x, pli_body_rest(run->body), 3 * run->dofs * sizeof *run->x);
    pli_body_skin_positions(run->body, run->x, run->at);
    for (PliIndex i = 0; i < run->points; ++i)
        run->row_first[i + 1] =
            run->row_first[i] + pli_body_locate(run->body, run->at + 3 * (size_t)i, run->row_column + run->row_first[i],
                                                run->row_weight + run->row_first[i], PLI_LOCATE_MAX);
    PliIndex tri_count;
    const PliIndex *tris = pli_body_skin_tris(run->body, &tri_count);
    (void)find_pieces(run, tris, tri_count);
    run->centre = PLI_NEW(h, 6 * (size_t)run->pieces, double);
    run->reach = PLI_NEW(h, run->pieces, double);
    run->near = PLI_NEW(h, (size_t)run->pieces * run->pieces, uint8_t);
    if (!run->centre || !run->reach || !run->near ||
        pli_body_reserve_points(run->body, scene->pressure > 0.0 ? run->points : 0, err) != PLI_OK) {
        pli_frame_run_close(run);
        return false;
    }
    double area = 0.0;
    for (PliIndex t = 0; t < tri_count; ++t) {
        double e[3], f[3], n[3];
        v3_sub(e, run->at + 3 * (size_t)tris[3 * t + 1], run->at + 3 * (size_t)tris[3 * t]);
        v3_sub(f, run->at + 3 * (size_t)tris[3 * t + 2], run->at + 3 * (size_t)tris[3 * t]);
        v3_cross(n, e, f);
        area += 0.5 * v3_norm(n);
    }
    run->hardness = scene->pressure * area / run->points;
    run->state = (PliState){ .x = run->x, .v = run->v };
    if (scene->pressure > 0.0) run->state.points = touching, run->state.points_user = run;
    if (scene->ball_radius > 0.0) run->state.external = reactions, run->state.external_user = run;
    PliIndex fixed[4 * 24];
    for (PliIndex i = 0; i < scene->clamped; ++i)
        for (PliIndex c = 0; c < 4; ++c) fixed[4 * i + c] = 4 * pli_frames_anchor(run->body, i) + c;
    if (scene->clamped) (void)pli_body_set_fixed(run->body, fixed, 4 * scene->clamped, err);
    return true;
}

void pli_frame_run_close(PliFrameRun *run)
{
    const PliHost *h = &run->host;
    PLI_FREE(h, run->x, 3 * run->dofs);
    PLI_FREE(h, run->v, 3 * run->dofs);
    PLI_FREE(h, run->f, 3 * run->dofs);
    PLI_FREE(h, run->row_first, (size_t)run->points + 1);
    PLI_FREE(h, run->row_column, run->row_capacity);
    PLI_FREE(h, run->row_weight, run->row_capacity);
    PLI_FREE(h, run->piece, run->points);
    PLI_FREE(h, run->piece_points, run->points);
    PLI_FREE(h, run->at, 3 * (size_t)run->points);
    PLI_FREE(h, run->push, 3 * run->dofs);
    PLI_FREE(h, run->touch_first, (size_t)run->points + 1);
    PLI_FREE(h, run->touch_dof, run->row_capacity);
    PLI_FREE(h, run->touch_weight, run->row_capacity);
    PLI_FREE(h, run->touch_force, 3 * (size_t)run->points);
    PLI_FREE(h, run->touch_stiffness, 6 * (size_t)run->points);
    PLI_FREE(h, run->touch_damping, 6 * (size_t)run->points);
    PLI_FREE(h, run->centre, 6 * (size_t)run->pieces);
    PLI_FREE(h, run->reach, run->pieces);
    PLI_FREE(h, run->near, (size_t)run->pieces * run->pieces);
    pli_body_destroy(run->body);
}

bool pli_frame_run_step(PliFrameRun *run, int k)
{
    PliFrameScene *s = run->scene;
    s->before(s, k);
    pli_body_set_gravity(run->body, s->gravity);
    run->state.f_ext = NULL;
    if (s->places) {
        memset(run->f, 0, 3 * run->dofs * sizeof *run->f);
        for (int p = 0; p < s->places; ++p) {
            PliIndex column[PLI_LOCATE_MAX];
            double weight[PLI_LOCATE_MAX];
            const PliIndex n = pli_body_locate(run->body, s->place + 3 * p, column, weight, PLI_LOCATE_MAX);
            for (PliIndex e = 0; e < n; ++e) v3_madd(run->f + 3 * (size_t)column[e], weight[e], s->load);
        }
        run->state.f_ext = run->f;
    }
    return pli_body_step(run->body, &run->state, s->dt).finite;
}
