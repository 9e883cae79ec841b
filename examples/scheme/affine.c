/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// One affine body: p(X) = o + sum_k xi_k(X) a_k, xi = (X - centre) / size. Four coefficients follow the mean affine motion of a
// mesh: three columns a_k (at rest: size e_k) and an origin o (at rest: the centre of mass). Their order is a_0, a_1, a_2, o.
// What it can do: swing, stretch, shear, bounce. What it cannot: bend. See doc/tutorials/write_a_scheme.md.
#include <pliant/registry.h>
#include <pliant/scheme.h>

#include <math.h>
#include <string.h>

typedef struct AffineDef {
    PliBodyDef base; // every definition begins with it
    const PliMesh *mesh;
    double stiffness;
} AffineDef;

typedef struct Affine {
    PliHost host;
    PliMesh *mesh; // a copy with its surface
    double centre[3], size;
    double rest[12], stiffness, volume;
    double mass[4], load[4];
    PliIndex mass_first[5], mass_column[16];
    double mass_value[16]; // consistent, over the four coefficients
    PliIndex sample_first[2], sample_dof[3], all[4], row_first[5];
    double grad[9], one[4];
    uint8_t level[4];
} Affine;

// ---- what the body asks ----------------------------------------------------------------------------------------------------

static void destroy(void *self, const PliHost *host)
{
    Affine *s = self;
    if (!s) return;
    pli_mesh_destroy(s->mesh);
    host->release(s, sizeof *s, host->user);
}

static void reset(void *self) { (void)self; }

static void cut(void *self, PliCut *c)
{
    Affine *s = self;
    c->active = s->all, c->active_count = 4;
    c->mass = s->mass, c->load = s->load;
    c->mass_first = s->mass_first, c->mass_column = s->mass_column, c->mass_value = s->mass_value;
    // one sample is exact: F = sum_k a_k grad xi_k is the same everywhere
    c->sample_count = 1;
    c->sample_first = s->sample_first, c->sample_dof = s->sample_dof, c->sample_grad = s->grad;
    c->sample_volume = &s->volume, c->sample_stiffness = &s->stiffness;
}

static PliRows transfer(void *self) // nothing is passive: the identity
{
    Affine *s = self;
    return (PliRows){ s->row_first, s->all, s->one, 4, 4 };
}

static PliIndex locate(void *self, const double p[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const Affine *s = self;
    if (capacity < 4) return 0;
    for (PliIndex k = 0; k < 4; ++k) {
        column[k] = k;
        weight[k] = k < 3 ? (p[k] - s->centre[k]) / s->size : 1.0;
    }
    return 4;
}

static PliIndex place(const void *self, PliIndex dof)
{
    (void)self;
    return dof == 3 ? dof : PLI_NONE;
}

static const PliSchemeOps ops = { .name = "affine",
                                  .destroy = destroy,
                                  .reset = reset,
                                  .cut = cut,
                                  .transfer = transfer,
                                  .locate = locate,
                                  .place = place };

// ---- creation --------------------------------------------------------------------------------------------------------------

static PliMesh *copy_mesh(const PliHost *host, const PliMesh *mesh)
{
    PliMesh *copy = pli_mesh_create(host);
    if (!copy || pli_mesh_resize_points(copy, mesh->point_count) ||
        pli_mesh_resize_cells(copy, PLI_TET, mesh->tet_count)) {
        pli_mesh_destroy(copy);
        return NULL;
    }
    memcpy(copy->x, mesh->x, 3 * (size_t)mesh->point_count * sizeof *mesh->x);
    memcpy(copy->tets, mesh->tets, 4 * (size_t)mesh->tet_count * sizeof *mesh->tets);
    if (pli_mesh_find_surface(copy) == PLI_OK) return copy;
    pli_mesh_destroy(copy);
    return NULL;
}

static double volume_of(const PliMesh *m, PliIndex t)
{
    const PliIndex *c = m->tets + 4 * (size_t)t;
    double e[3][3];
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) e[k][i] = m->x[3 * (size_t)c[k + 1] + i] - m->x[3 * (size_t)c[0] + i];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6.0;
}

/// Volume, centre, and the second moments about it: of a tetrahedron, V/20 (sum_i y_i sum_j y_j^T + sum_i y_i y_i^T).
static void integrate(Affine *s, double moment[9])
{
    const PliMesh *m = s->mesh;
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        const double v = volume_of(m, t);
        s->volume += v;
        for (int k = 0; k < 4; ++k)
            for (int i = 0; i < 3; ++i) s->centre[i] += 0.25 * v * m->x[3 * (size_t)m->tets[4 * (size_t)t + k] + i];
    }
    for (int i = 0; i < 3; ++i) s->centre[i] /= s->volume;
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        const double v = volume_of(m, t) / 20.0;
        double y[4][3], sum[3] = { 0.0, 0.0, 0.0 };
        for (int k = 0; k < 4; ++k)
            for (int i = 0; i < 3; ++i)
                sum[i] += y[k][i] = m->x[3 * (size_t)m->tets[4 * (size_t)t + k] + i] - s->centre[i];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double entry = sum[i] * sum[j];
                for (int k = 0; k < 4; ++k) entry += y[k][i] * y[k][j];
                moment[3 * i + j] += v * entry;
            }
    }
}

static void fill(Affine *s, const AffineDef *def)
{
    double moment[9] = { 0.0 };
    integrate(s, moment);
    s->size = cbrt(s->volume);
    s->stiffness = def->stiffness;
    const double density = def->base.material.density;
    for (PliIndex i = 0; i < 4; ++i) {
        s->all[i] = i, s->one[i] = 1.0, s->row_first[i] = i, s->mass_first[i] = 4 * i;
        for (PliIndex j = 0; j < 4; ++j) {
            s->mass_column[4 * i + j] = j;
            s->mass_value[4 * i + j] = i < 3 && j < 3     ? density * moment[3 * i + j] / (s->size * s->size)
                                       : i == 3 && j == 3 ? density * s->volume
                                                          : 0.0; // about the centre of mass
        }
        s->mass[i] = s->mass_value[5 * i];
    }
    s->row_first[4] = 4, s->mass_first[4] = 16;
    s->load[3] = density * s->volume; // the integrals of xi about the centre are 0
    s->sample_first[1] = 3;
    for (PliIndex k = 0; k < 3; ++k) {
        s->sample_dof[k] = k;
        s->grad[4 * k] = 1.0 / s->size;
        s->rest[4 * k] = s->size;
        s->rest[9 + k] = s->centre[k];
    }
}

static PliBody *create(const PliHost *host, const void *definition, const PliInputs *in, PliError *err)
{
    const AffineDef *def = definition;
    if (def->base.integrator != PLI_IMPLICIT)
        return pli_refuse(err, PLI_UNSUPPORTED, "affine: explicit integration is not available"), NULL;
    if (!(def->stiffness > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "affine: stiffness must be > 0, not %g", def->stiffness), NULL;
    if (pli_mesh_check_tets(in->mesh[0], 0.0, err) != PLI_OK) return NULL;
    Affine *s = host->alloc(sizeof *s, 64, host->user);
    if (s) {
        memset(s, 0, sizeof *s);
        s->host = *host;
        s->mesh = copy_mesh(host, in->mesh[0]);
    }
    if (!s || !s->mesh) {
        destroy(s, host);
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for an affine body"), NULL;
    }
    fill(s, def);
    const PliSchemeStatic fixed = { .dof_count = 4,
                                    .rest = s->rest,
                                    .dof_level = s->level,
                                    .level_count = 1,
                                    .block = 4,
                                    .point_entries = 4,
                                    .active_capacity = 4,
                                    .mass_entry_capacity = 16,
                                    .sample_capacity = 1,
                                    .sample_entry_capacity = 3,
                                    .surface_points = s->mesh->x,
                                    .surface_point_count = s->mesh->point_count,
                                    .surface_tris = s->mesh->tris,
                                    .surface_tri_count = s->mesh->tri_count };
    return pli_body_create(host, &def->base, &ops, s, &fixed, err);
}

// ---- what hosts know of it -------------------------------------------------------------------------------------------------

static void defaults(void *def)
{
    AffineDef d = { .base = pli_body_default(), .stiffness = 1.0 };
    d.base.integrator = PLI_IMPLICIT;
    d.base.linear_solver = PLI_SOLVE_AUTO;
    memcpy(def, &d, sizeof d);
}

static const PliAttribute rows[] = {
    { "filename", PLI_FILE, .help = "tetrahedral mesh file" },
    { "mesh", PLI_LINK, .help = "loader or topology with position and tetrahedra, instead of filename" },
    { "position", PLI_POINTS, .role = PLI_OUT, .help = "m, rest values: three columns and the origin" },
    { "stiffness", PLI_REAL, PLI_FIELD(AffineDef, stiffness), .help = "factor of youngModulus, > 0" },
};

#ifndef AFFINE_ABI
#define AFFINE_ABI PLI_SCHEME_ABI
#endif
static const PliSchemeInfo info = {
    .abi = AFFINE_ABI,
    .name = "affine",
    .component = "AffineModel",
    .help = "deformable body that moves by one affine map",
    .def_size = sizeof(AffineDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_TETS,
              .least = 1,
              .most = 1,
              .file = "filename",
              .link = "mesh",
              .missing = "no mesh: give filename=\"...\" or mesh=\"@loader\"" },
    .refuses = "courant multirate spread",
    .create = create,
};

PLI_API const PliSchemeInfo *const *pli_scheme_plugin(void);
const PliSchemeInfo *const *pli_scheme_plugin(void)
{
    static const PliSchemeInfo *const all[] = { &info, NULL };
    return all;
}
