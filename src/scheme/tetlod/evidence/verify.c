/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cases with known answers for tetlod: what every active set keeps, what a homogeneous strain leaves, what events and the
// coupling of levels do to momentum and energy.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/fold.h"
#include "base/vec.h"
#include "scheme/tetlod/evidence/rig.h"
#include "evidence/verify.h"
#include "scheme/tetlod/tetlod.h"

// ---- invariants of every active set --------------------------------------------------------------------------------------------

enum { SEQUENCES = 10000, EVENTS_EACH = 10 };

typedef struct Tally {
    long splits, merges, refused, undone, broken;
    double affine, mass, unequal; ///< largest errors
    char first[120];              ///< what was wrong first
} Tally;

/// How far rows miss the nodes they stand for (1 m = size of the body), and masses their sum.
static void measure_set(PliActiveSet *s, Tally *n)
{
    const PliLevels *h = s->h;
    const double size = cbrt(h->volume);
    const PliRows rows = pli_activeset_rows(s);
    double mass = 0.0;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        double x[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = rows.first[p]; k < rows.first[p + 1]; ++k)
            v3_madd(x, rows.weight[k], h->x + 3 * (size_t)rows.column[k]);
        n->affine = pli_max(n->affine, v3_distance(x, h->x + 3 * (size_t)p) / size);
        if (s->state[p] == PLI_ACTIVE) mass += (double)s->mass[p] * h->unit;
    }
    n->mass = pli_max(n->mass, fabs(mass / h->volume - 1.0));
}

/// Largest difference of a weight of W to those of a set made from the states alone.
static double difference_to_rebuild(PliActiveSet *s, PliActiveSet *fresh)
{
    const PliLevels *h = s->h;
    memcpy(fresh->state, s->state, h->point_count);
    if (pli_activeset_rebuild(fresh) != PLI_OK) return INFINITY;
    (void)pli_activeset_rows(s);
    (void)pli_activeset_rows(fresh);
    double most = 0.0;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        if (s->row_count[p] != fresh->row_count[p]) return INFINITY;
        for (PliIndex k = 0; k < s->row_count[p]; ++k) {
            if (s->column[s->row_first[p] + k] != fresh->column[fresh->row_first[p] + k]) return INFINITY;
            most = pli_max(most, fabs(s->weight[s->row_first[p] + k] - fresh->weight[fresh->row_first[p] + k]));
        }
    }
    for (PliIndex t = 0; t < h->tet_count; ++t)
        if (s->volume[t] != fresh->volume[t]) return INFINITY;
    return most;
}

static void count_event(PliRandomEvent e, Tally *n)
{
    n->splits += e == PLI_RANDOM_SPLIT, n->merges += e == PLI_RANDOM_MERGE;
    n->undone += e == PLI_RANDOM_UNDONE, n->refused += e == PLI_RANDOM_REFUSED;
}

static void run_sequences(const PliLevels *h, PliActiveSet *s, PliActiveSet *fresh, Tally *n)
{
    uint64_t random = 42;
    for (int q = 0; q < SEQUENCES; ++q) {
        if (q % 100 == 0) (void)pli_activeset_reset(s, (int)(pli_random(&random) % (uint64_t)h->level_count));
        const double chance = 0.3 + 0.4 * pli_random_unit(&random);
        for (int e = 0; e < EVENTS_EACH; ++e) count_event(pli_rig_random_event(s, &random, chance), n);
        pli_activeset_begin(s);
        PliError err = { PLI_OK, "" };
        measure_set(s, n);
        n->unequal = pli_max(n->unequal, difference_to_rebuild(s, fresh));
        if (pli_activeset_is_valid(s, &err)) continue;
        if (n->broken++ == 0) snprintf(n->first, sizeof n->first, "sequence %d: %.90s", q, err.text);
    }
}

static void random_sequences(PliVerifyResult *r, const PliIndex cells[3], bool ball)
{
    PliTetLodRig g = { 0 };
    PliError err = { PLI_OK, "" };
    Tally n = { 0 };
    const PliActiveSetDef def = { 0 };
    PliLevels *h = NULL;
    PliActiveSet *set = NULL, *fresh = NULL;
    bool ok = true;
    for (int k = 0; k < 3 && ok; ++k) ok = pli_rig_add_box(&g, cells[k], 1.0, ball, &err);
    if (ok) h = pli_levels_create(&g.host, (const PliMesh *const *)g.mesh, g.level_count, NULL, &err);
    if (h) set = pli_activeset_create(&g.host, h, &def, &err), fresh = pli_activeset_create(&g.host, h, &def, &err);
    if (!set || !fresh) {
        pli_verify_broken(r, "%s", err.text);
    } else {
        run_sequences(h, set, fresh, &n);
        if (n.broken)
            pli_verify_note(r, "%s", n.first);
        else
            pli_verify_note(r,
                            "%d sequences, %ld splits, %ld merges, %ld undone, %ld refused; W affine to %.1g, mass to "
                            "%.1g, W - rebuilt W %.1g",
                            SEQUENCES, n.splits, n.merges, n.undone, n.refused, n.affine, n.mass, n.unequal);
        const bool enough = n.splits > SEQUENCES && n.merges > SEQUENCES;
        pli_verify_within(r, 0.0,
                          (double)n.broken + (n.affine > 1e-10) + (n.mass > 1e-12) + (n.unequal > 0.0) + !enough, 0.0);
    }
    pli_activeset_destroy(fresh);
    pli_activeset_destroy(set);
    pli_levels_destroy(h);
    pli_rig_close(&g);
}

static void sequences_box(PliVerifyResult *r) { random_sequences(r, (const PliIndex[]){ 1, 2, 4 }, false); }
static void sequences_sphere(PliVerifyResult *r) { random_sequences(r, (const PliIndex[]){ 2, 3, 5 }, true); }

// ---- a homogeneous strain ------------------------------------------------------------------------------------------------------

/// A cube with a fine corner.
static bool open_corner(PliTetLodRig *g, PliTetLodDef def, const PliIndex cells[3], double radius, PliVerifyResult *r)
{
    PliError err = { PLI_OK, "" };
    memset(g, 0, sizeof *g);
    bool ok = true;
    for (int k = 0; k < 3 && ok; ++k) ok = pli_rig_add_box(g, cells[k], 1.0, false, &err);
    def.base.criterion.kind = PLI_BY_REGION;
    def.base.criterion.radius = radius;
    for (int d = 0; d < 3; ++d) def.base.criterion.point[d] = 0.1;
    if (!ok || !pli_rig_open(g, def, &err)) {
        pli_verify_broken(r, "%s", err.text);
        pli_rig_close(g);
        return false;
    }
    (void)pli_body_adapt(g->body, &g->state, 0.01);
    return true;
}

/// Nodes whose basis function does not reach the surface: they should feel nothing in a homogeneous stress.
static PliIndex mark_interior(const PliTetLod *t, uint8_t *interior)
{
    const PliActiveSet *s = t->set;
    PliIndex count = 0;
    for (PliIndex i = 0; i < s->active_count; ++i) interior[s->active[i]] = !t->h->on_surface[s->active[i]];
    for (PliIndex i = 0; t->coupling == PLI_VARIATIONAL && i < s->slave_count; ++i) {
        const PliIndex slave = s->slave[i];
        if (!t->h->on_surface[slave]) continue;
        for (PliIndex k = 0; k < s->row_count[slave]; ++k) interior[s->column[s->row_first[slave] + k]] = 0;
    }
    for (PliIndex i = 0; i < s->active_count; ++i) count += interior[s->active[i]];
    return count;
}

/// Largest force on an interior node at 10 % strain, over stress x size^2 of the node.
static double ghost_force(PliVerifyResult *r, PliCoupling coupling, int ramp, bool fit)
{
    PliTetLodRig g;
    PliTetLodDef def = pli_rig_def();
    def.coupling = coupling;
    def.ramp = ramp;
    def.fit_weights = fit;
    if (!open_corner(&g, def, (const PliIndex[]){ 3, 6, 11 }, 0.45, r)) return NAN;
    const PliTetLod *t = pli_body_self(g.body);
    static const double F[9] = { 1.08, 0.05, 0.0, -0.02, 0.95, 0.04, 0.03, 0.0, 1.06 };
    uint8_t *interior = PLI_NEW(&g.host, g.count, uint8_t);
    double most = NAN;
    if (interior) {
        memset(interior, 0, g.count);
        for (size_t i = 0; i < g.count; ++i) m3_apply(g.x + 3 * i, F, g.rest + 3 * i);
        memset(g.v, 0, 3 * g.count * sizeof *g.v);
        pli_body_add_force(g.body, g.x, NULL, g.v);
        const double stress = 0.1 * pli_body_def(g.body)->material.young;
        if (mark_interior(t, interior) > 20 && t->set->slave_count > 50) most = 0.0;
        for (size_t i = 0; i < g.count; ++i)
            if (interior[i]) most = pli_max(most, v3_norm(g.v + 3 * i) / (stress * t->h->size[i] * t->h->size[i]));
    }
    PLI_FREE(&g.host, interior, g.count);
    pli_rig_close(&g);
    return most;
}

static void affine_paper(PliVerifyResult *r)
{
    const double f = ghost_force(r, PLI_PAPER, 0, false);
    if (isnan(f)) return;
    pli_verify_note(r, "largest force on an interior node over stress x size^2, three levels, 10 %% strain");
    pli_verify_at_most(r, 1e-10, f);
}

static void affine_ramp(PliVerifyResult *r)
{
    static const int width[] = { 0, 1, 2, 3, 5 };
    double f[5];
    for (int k = 0; k < 5; ++k) f[k] = ghost_force(r, PLI_VARIATIONAL, width[k], false);
    pli_verify_note(r,
                    "share of the hard switch left by a ramp of 5 rings; forces over stress x size^2 at 0, 1, 2, 3, 5 "
                    "rings: %.3f %.3f %.3f %.3f %.3f",
                    f[0], f[1], f[2], f[3], f[4]);
    pli_verify_at_most(r, 0.7, f[4] / f[0]);
}

static void affine_fit(PliVerifyResult *r)
{
    const double f = ghost_force(r, PLI_VARIATIONAL, 0, true);
    if (isnan(f)) return;
    pli_verify_note(r, "the same with fitted element weights");
    pli_verify_at_most(r, 1e-8, f);
}

// ---- momentum and energy -----------------------------------------------------------------------------------------------------------

/// Turning, moving and bending all at once.
static void set_moving(PliTetLodRig *g)
{
    for (size_t i = 0; i < g->count; ++i) {
        const double *x = g->x + 3 * i;
        double *v = g->v + 3 * i;
        v[0] = -2.0 * (x[1] - 0.5) + 0.4;
        v[1] = 2.0 * (x[0] - 0.5) + 0.6 * sin(4.0 * x[2]);
        v[2] = 0.6 * sin(5.0 * x[0] * x[1]);
    }
}

typedef struct Course {
    PliLaw law;
    bool multirate, fit;
    PliCoupling coupling;
    double speed;   ///< m/s, of the whole body
    double gravity; ///< m/s2
    int steps;
} Course;

typedef struct Flight {
    double linear, angular, mass; ///< largest relative drift
    double start;                 ///< J, of the motion about the centre of mass
    double gained; ///< most that events had added in all at any time, over start: evaluated before and after them
    double last;   ///< the same at the end
    PliStats stats;
    bool finite;
} Flight;

static double total(const PliEnergy *e) { return e->elastic + e->kinetic + e->gravity; }

/// A free body that splits and merges as it turns and vibrates.
static bool fly(PliVerifyResult *r, const Course *c, Flight *f)
{
    PliTetLodRig g = { 0 };
    PliError err = { PLI_OK, "" };
    PliTetLodDef def = pli_rig_def();
    def.base.multirate = c->multirate ? PLI_RATES_OWN : PLI_RATES_AUTO;
    def.base.material.law = c->law;
    def.base.gravity[1] = c->gravity;
    def.fit_weights = c->fit;
    def.coupling = c->coupling;
    def.base.criterion.threshold = 0.03;
    def.base.criterion.coarsen = 0.9; // as restless as can be
    def.base.criterion.hold = 0;
    bool ok = pli_rig_add_box(&g, 2, 1.0, false, &err) && pli_rig_add_box(&g, 4, 1.0, false, &err) &&
              pli_rig_add_box(&g, 7, 1.0, false, &err);
    if (!ok || !pli_rig_open(&g, def, &err)) {
        pli_verify_broken(r, "%s", err.text);
        pli_rig_close(&g);
        return false;
    }
    *f = (Flight){ .finite = true };
    set_moving(&g);
    for (size_t i = 0; i < g.count; ++i) g.v[3 * i] += c->speed;
    const PliEnergy first = pli_body_energy(g.body, g.x, g.v);
    f->start = first.kinetic - 0.5 * v3_dot(first.momentum, first.momentum) / first.mass;
    for (int k = 0; k < c->steps && f->finite; ++k) {
        const PliEnergy before = pli_body_energy(g.body, g.x, g.v);
        const bool changed = pli_body_adapt(g.body, &g.state, 0.01);
        const PliEnergy after = pli_body_energy(g.body, g.x, g.v);
        if (changed) f->last += (total(&after) - total(&before)) / f->start;
        f->gained = pli_max(f->gained, f->last);
        f->finite = pli_body_advance(g.body, &g.state, 0.01).finite;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        const double fall[3] = { 0.0, first.mass * c->gravity * 0.01 * (k + 1), 0.0 };
        double expected[3];
        v3_add(expected, first.momentum, fall);
        f->linear = pli_max(f->linear, v3_distance(now.momentum, expected) / v3_norm(first.momentum));
        f->angular = pli_max(f->angular, v3_distance(now.angular, first.angular) / v3_norm(first.angular));
        f->mass = pli_max(f->mass, fabs(now.mass / first.mass - 1.0));
    }
    f->stats = pli_body_stats(g.body);
    pli_rig_close(&g);
    return true;
}

static void momentum(PliVerifyResult *r, bool multirate, bool angular)
{
    double worst = 0.0, mass = 0.0;
    uint64_t splits = UINT64_MAX, merges = UINT64_MAX;
    for (int law = 0; law < PLI_LAW_COUNT; ++law) {
        Flight f;
        const Course course = { .law = (PliLaw)law, .multirate = multirate, .steps = 300 };
        if (!fly(r, &course, &f)) return;
        worst = pli_max(worst, f.finite ? (angular ? f.angular : f.linear) : NAN);
        mass = pli_max(mass, f.mass);
        splits = f.stats.refined < splits ? f.stats.refined : splits;
        merges = f.stats.coarsened < merges ? f.stats.coarsened : merges;
    }
    pli_verify_note(
        r, "largest relative drift over 300 steps, three laws, with at least %llu splits and %llu merges; mass %.1g",
        (unsigned long long)splits, (unsigned long long)merges, mass);
    pli_verify_at_most(r, 1e-10, splits >= 50 && merges >= 50 && mass <= 1e-12 ? worst : NAN);
}

static void linear_single(PliVerifyResult *r) { momentum(r, false, false); }
static void angular_single(PliVerifyResult *r) { momentum(r, false, true); }
static void linear_multirate(PliVerifyResult *r) { momentum(r, true, false); }
static void angular_multirate(PliVerifyResult *r) { momentum(r, true, true); }

static void event_energy_of(PliVerifyResult *r, const Course *course)
{
    Flight f;
    if (!fly(r, course, &f)) return;
    const double ledger = (f.stats.energy_added + f.stats.energy_forced - f.stats.energy_removed) / f.start;
    pli_verify_note(r,
                    "most that %llu splits and %llu merges had added in all at any time, over the first energy; in the "
                    "end %.3f, ledger %.3f",
                    (unsigned long long)f.stats.refined, (unsigned long long)f.stats.coarsened, f.last, ledger);
    const bool counted = fabs(ledger - f.last) <= 0.02 * fabs(f.last) + 1e-6;
    pli_verify_at_most(r, 1e-3,
                       f.finite && f.stats.refined >= 50 && f.stats.coarsened >= 50 && counted ? f.gained : NAN);
}

static void event_energy(PliVerifyResult *r) { event_energy_of(r, &(Course){ .steps = 1000 }); }
static void event_energy_fit(PliVerifyResult *r) { event_energy_of(r, &(Course){ .fit = true, .steps = 300 }); }
static void event_energy_paper(PliVerifyResult *r)
{
    event_energy_of(r, &(Course){ .coupling = PLI_PAPER, .steps = 300 });
}

/// Who flies along must see no more: at rest, at 10 m/s, in free fall. (What is removed differs: merges move the centre of mass a
/// little, and keeping the angular momentum about a fixed point then costs a spin that grows with the speed.)
static void boost(PliVerifyResult *r)
{
    static const Course course[3] = { { .steps = 300 },
                                      { .speed = 10.0, .steps = 300 },
                                      { .gravity = -9.81, .steps = 300 } };
    Flight f[3];
    double most = 0.0;
    bool enough = true;
    for (int k = 0; k < 3; ++k) {
        if (!fly(r, &course[k], &f[k])) return;
        most = pli_max(most, f[k].gained);
        enough = enough && f[k].finite && f[k].stats.refined >= 50 && f[k].stats.coarsened >= 50;
    }
    pli_verify_note(r,
                    "at rest, at 10 m/s and in free fall %.2g, %.2g, %.2g over the energy of the vibration; in the end "
                    "%.3f, %.3f, %.3f",
                    f[0].gained, f[1].gained, f[2].gained, f[0].last, f[1].last, f[2].last);
    pli_verify_at_most(r, 1e-3, enough ? most : NAN);
}

/// Total energy averaged over the last tenth against the first, 100,000 substeps of a free mixed body: the energy of a symplectic
/// step oscillates within a step, so a drift is one of its mean.
static void drift(PliVerifyResult *r, bool multirate)
{
    enum { SUBSTEPS = 100000 };
    PliTetLodRig g;
    PliTetLodDef def = pli_rig_def();
    def.base.multirate = multirate ? PLI_RATES_OWN : PLI_RATES_AUTO;
    if (!open_corner(&g, def, (const PliIndex[]){ 2, 4, 7 }, 0.5, r)) return;
    pli_rig_freeze(&g);
    const PliStats stats = pli_body_stats(g.body);
    set_moving(&g);
    double early = 0.0, late = 0.0, most = 0.0;
    int earlies = 0, lates = 0;
    long done = 0;
    const double start = pli_body_energy(g.body, g.x, g.v).kinetic;
    bool finite = true;
    while (done < SUBSTEPS && finite) {
        const PliStepInfo info = pli_body_step(g.body, &g.state, 0.05);
        finite = info.finite;
        done += info.substeps;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        const double change = (now.elastic + now.kinetic) / start - 1.0;
        most = pli_max(most, fabs(change));
        if (done < SUBSTEPS / 10) early += change, earlies++;
        if (done > SUBSTEPS - SUBSTEPS / 10) late += change, lates++;
    }
    pli_verify_note(r, "%d substeps, nodes on three levels %u %u %u, %u slaves; largest deviation at any time %.2g",
                    SUBSTEPS, stats.per_level[0], stats.per_level[1], stats.per_level[2], stats.slaves, most);
    pli_verify_at_most(r, 5e-3, finite && stats.slaves > 15 ? fabs(late / lates - early / earlies) : NAN);
    pli_rig_close(&g);
}

static void drift_single(PliVerifyResult *r) { drift(r, false); }
static void drift_multirate(PliVerifyResult *r) { drift(r, true); }

// ---- the paper's coupling ------------------------------------------------------------------------------------------------------------

/// Largest energy over the first, and the last one, of a clamped mixed cube in `periods` of its slowest vibration. Stops at 100.
static double clamped_energy(PliVerifyResult *r, PliCoupling coupling, bool damped, double periods, double *reached,
                             double *end)
{
    PliTetLodRig g;
    PliTetLodDef def = pli_rig_def();
    PliError err = { PLI_OK, "" };
    def.coupling = coupling;
    if (!open_corner(&g, def, (const PliIndex[]){ 2, 3, 5 }, 0.6, r)) return NAN;
    pli_rig_freeze(&g);
    PliBodyDef base = *pli_body_def(g.body);
    if (!damped) base.material.damping = 0.0; // creation forces what the coupling needs, a later change does not
    if (pli_body_retune(g.body, &base, &err) != PLI_OK || !pli_rig_clamp(&g, 1, 1e-9, &err)) {
        pli_verify_broken(r, "%s", err.text);
        pli_rig_close(&g);
        return NAN;
    }
    for (size_t i = 0; i < g.count; ++i)
        g.v[3 * i] = 0.3 * g.rest[3 * i + 1], g.v[3 * i + 1] = 0.1 * sin(3.0 * g.rest[3 * i]) * g.rest[3 * i + 1];
    // 8.8 lengths over sqrt(E / rho): the slowest vibration of a cube clamped on one face, nu 0.3
    const double period = 8.8 / sqrt(base.material.young / base.material.density),
                 start = pli_body_energy(g.body, g.x, g.v).kinetic;
    double most = 0.0, time = 0.0;
    while (time < periods * period && most < 100.0) {
        if (!pli_body_step(g.body, &g.state, 0.02).finite) {
            most = 100.0;
            break;
        }
        time += 0.02;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        *end = (now.kinetic + now.elastic) / start;
        most = pli_max(most, *end);
    }
    *reached = time / period;
    pli_rig_close(&g);
    return most;
}

static void paper_grows(PliVerifyResult *r)
{
    double when = 0.0, end = 0.0;
    const double most = clamped_energy(r, PLI_PAPER, false, 60.0, &when, &end);
    if (isnan(most)) return;
    pli_verify_note(r,
                    "growth of the energy without damping, mixed clamped cube, within %.1f periods: the paper's "
                    "coupling is unstable",
                    when);
    pli_verify_at_least(r, 10.0, most);
}

static void paper_damped(PliVerifyResult *r)
{
    double when = 0.0, end = 0.0;
    const double most = clamped_energy(r, PLI_PAPER, true, 200.0, &when, &end);
    if (isnan(most)) return;
    pli_verify_note(
        r, "energy left after %.0f periods with the damping that is forced; at most %.2f of the first on the way", when,
        most);
    pli_verify_at_most(r, 1.0, end);
}

static void variational_undamped(PliVerifyResult *r)
{
    double when = 0.0, end = 0.0;
    const double most = clamped_energy(r, PLI_VARIATIONAL, false, 200.0, &when, &end);
    if (isnan(most)) return;
    pli_verify_note(r, "the same cube, variational coupling, no damping, %.0f periods", when);
    pli_verify_at_most(r, 1.05, most);
}

const PliVerifyCase pli_verify_tetlod_cases[] = {
    { "tetlod", "random splits and merges, box: violations", sequences_box },
    { "tetlod", "random splits and merges, sphere: violations", sequences_sphere },
    { "tetlod", "affine state, paper coupling", affine_paper },
    { "tetlod", "affine state, ramps", affine_ramp },
    { "tetlod", "affine state, fitted weights", affine_fit },
    { "tetlod", "linear momentum", linear_single },
    { "tetlod", "angular momentum", angular_single },
    { "tetlod", "linear momentum, multirate", linear_multirate },
    { "tetlod", "angular momentum, multirate", angular_multirate },
    { "tetlod", "energy drift, mixed levels", drift_single },
    { "tetlod", "energy drift, mixed levels, multirate", drift_multirate },
    { "tetlod", "energy added by events", event_energy },
    { "tetlod", "energy added by events, fitted weights", event_energy_fit },
    { "tetlod", "energy added by events, paper coupling", event_energy_paper },
    { "tetlod", "energy added by events, in motion", boost },
    { "tetlod", "paper coupling, undamped grows", paper_grows },
    { "tetlod", "paper coupling, damped is stable", paper_damped },
    { "tetlod", "variational coupling, undamped is stable", variational_undamped },
    { NULL, NULL, NULL },
};
