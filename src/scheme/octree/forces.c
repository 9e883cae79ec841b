/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The operator as the body sees it. Points of a cut are those of the operator: active cells, axes, held walls.
#include <string.h>

#include "base/vec.h"
#include "scheme/octree/octree.h"

static PliStatus recut(void *self, const PliCut *cut, const PliLiveView *live)
{
    (void)self, (void)cut, (void)live; // made with the cut
    return PLI_OK;
}

static void retune(void *self, const PliBodyDef *def)
{
    PliOctree *s = self;
    s->def.base = *def;
    const PliMaterial *was = &s->op.material, *is = &def->material;
    if (was->law == is->law && was->young == is->young && was->poisson == is->poisson && was->density == is->density &&
        was->damping == is->damping)
        return; // a plan may stay
    pli_octree_operator_set_material(&s->op, &def->material);
    pli_octree_operator_set_material(&s->next, &def->material);
    pli_octree_forget_plan(s);
    s->op_is_made = false;
}

static void add_force(void *self, const double *x, const double *v, double *f)
{
    PliOctree *s = self;
    pli_octree_add_force(&s->op, x, v, f);
}

/// The mean rotation of the particles: K is that at rest, turned by it.
static void linearize(void *self, const double *x, bool definite)
{
    PliOctree *s = self;
    const PliOctreeOperator *o = &s->op;
    double centre[3] = { 0, 0, 0 }, rest[3] = { 0, 0, 0 }, mass = 0.0, F[9] = { 0 };
    (void)definite;
    for (PliIndex i = 0; i < o->count; ++i) {
        mass += o->mass[i];
        v3_madd(centre, o->mass[i], x + 3 * (size_t)i);
        v3_madd(rest, o->mass[i], o->rest + 3 * (size_t)i);
    }
    v3_scale(centre, 1.0 / mass);
    v3_scale(rest, 1.0 / mass);
    for (PliIndex i = 0; i < o->count; ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                F[3 * a + b] += o->mass[i] * (x[3 * (size_t)i + (size_t)a] - centre[a]) *
                                (o->rest[3 * (size_t)i + (size_t)b] - rest[b]);
    pli_polar_robust(F, s->turn);
}

static void add_dforce(void *self, const double *dx, double k, double *df)
{
    PliOctree *s = self;
    pli_octree_add_linear(&s->op, s->op.is_paper ? NULL : s->turn, dx, k, df);
}

/// One column of K after the other, by the operator itself: for studies, not for solvers.
static void blocks(void *self, PliBlockFn *fn, void *user)
{
    PliOctree *s = self;
    const PliIndex n = s->op.count + s->op.extra + s->op.wall_count;
    double *d = s->scratch, *f = s->scratch + 3 * (size_t)n;
    memset(d, 0, 3 * (size_t)n * sizeof *d);
    for (PliIndex j = 0; j < n; ++j) {
        for (int c = 0; c < 3; ++c) {
            memset(f, 0, 3 * (size_t)n * sizeof *f);
            d[3 * (size_t)j + (size_t)c] = 1.0;
            add_dforce(self, d, 1.0, f);
            d[3 * (size_t)j + (size_t)c] = 0.0;
            for (PliIndex i = 0; i < n; ++i) {
                const double *fi = f + 3 * (size_t)i;
                if (fi[0] == 0.0 && fi[1] == 0.0 && fi[2] == 0.0) continue;
                double k9[9] = { 0 };
                for (int r = 0; r < 3; ++r) k9[3 * r + c] = fi[r];
                fn(i, j, k9, user);
            }
        }
    }
}

static double energy(void *self, const double *x)
{
    PliOctree *s = self;
    return pli_octree_energy(&s->op, x);
}

static int rate_count(void *self)
{
    PliOctree *s = self;
    return s->def.base.multirate == PLI_RATES_OWN && s->op.group_count > 1 ? s->op.group_count : 1;
}

static double critical_step(void *self)
{
    PliOctree *s = self;
    return pli_octree_critical_step(&s->op, rate_count(s) > 1);
}

static void add_force_at_rate(void *self, int rate, const double *x, const double *v, double *f)
{
    PliOctree *s = self;
    pli_octree_add_force_group(&s->op, rate, x, v, f);
}

static PliIndex element_count(void *self)
{
    const PliOctree *s = self;
    const PliOctreeOperator *o = &s->op;
    return o->is_paper ? o->entry_count : o->tet_count + o->sample_count + o->membrane_count + o->bar_count;
}

static PliIndex inverted(void *self, const double *x, PliIndex *first)
{
    PliOctree *s = self;
    *first = PLI_NONE;
    return s->op.is_paper ? 0 : pli_elastic_inverted(s->op.elastic, x, first);
}

/// Of the tetrahedra, at the particle in their corner.
static void add_von_mises(void *self, const double *x, double *sum)
{
    PliOctree *s = self;
    const PliOctreeOperator *o = &s->op;
    for (PliIndex e = 0; !o->is_paper && e < o->tet_count; ++e) {
        const PliIndex tet = o->which[e];
        double *at = sum + 3 * (size_t)o->corner[4 * (size_t)tet];
        at[0] += o->tet_rest[tet].volume * pli_elastic_tet_von_mises(o->elastic, e, x);
        at[1] +=
            o->tet_rest[tet].volume / pli_octree_factor(o, o->cell[o->corner[4 * (size_t)tet]]); // the matter alone
    }
}

const PliForceOps pli_octree_force_ops = {
    .recut = recut,
    .retune = retune,
    .add_force = add_force,
    .linearize = linearize,
    .add_dforce = add_dforce,
    .blocks = blocks,
    .energy = energy,
    .critical_step = critical_step,
    .rate_count = rate_count,
    .add_force_at_rate = add_force_at_rate,
    .element_count = element_count,
    .inverted = inverted,
    .add_von_mises = add_von_mises,
};
