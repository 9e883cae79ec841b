/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ELASTIC_H
#define PLI_ELASTIC_H

// The elastic kernel over samples: F = sum_a x_a (x) grad N_a, P(F) by the material's law, f_a -= V P grad N_a.
// Arrays in, arrays out; no hierarchy. Points are numbered by the caller (compact numbers of what is live).
// Sums have one order whatever the worker count and vector unit: the same bits.

#include <pliant/scheme.h>

struct PliTetRest {
    double grad[9]; ///< gradients of corners 1, 2, 3, shape [3, 3]; corner 0 is minus their sum
    double volume;  ///< m3, > 0
};
/// Rest data of each tetrahedron. PLI_BAD_MESH when one is flat or inverted; *bad is its index.
PliStatus pli_tet_rest(const PliIndex *tets, PliIndex count, const double *x0, PliTetRest *rest, PliIndex *bad);

typedef struct PliElastic PliElastic;
typedef struct PliElasticDef {
    PliMaterial material;
    PliSimd simd;
    PliIndex point_capacity, tet_capacity;
    PliIndex sample_capacity;     ///< see PliCut
    size_t sample_entry_capacity; ///< total basis functions over all samples
    PliIndex sample_width;        ///< most basis functions in one sample; 0: 256
    bool
        sample_cells; ///< samples mostly come eight by eight with the same points: their gradients are kept lane by lane, too
    bool sample_poisson; ///< samples may have Poisson's ratios of their own
    bool explicit_only;  ///< keeps no memory for tangents: linearize and what needs it must not be called
} PliElasticDef;
PliElastic *pli_elastic_create(const PliHost *host, const PliElasticDef *def, PliError *err);
void pli_elastic_destroy(PliElastic *e);
void pli_elastic_set_material(PliElastic *e, const PliMaterial *m);
/// From the next linearize on, eigenvalues of dP/dF below zero are taken as zero, so that -K is positive semi-definite (a
/// prestress s0 is kept as it is). Costs a second 3x3 eigenproblem per element and linearize, nothing in dforce. Default off.
void pli_elastic_set_project(PliElastic *e, bool project);

/// Replaces the live tetrahedra (never allocates). corner has shape [count, 4] in the caller's point numbers; rest and
/// volume are indexed by the caller's element number which[i] (rest) and by i (volume: the weight left to that element).
/// stiffness (may be NULL) multiplies the material's Young modulus, per i.
PliStatus pli_elastic_set_tets(PliElastic *e, PliIndex point_count, PliIndex count, const PliIndex *corner,
                               const PliIndex *which, const PliTetRest *rest, const double *volume,
                               const double *stiffness);
/// Tetrahedra of the list given last have their share[which[i]] of the material's damping in force evaluations, instead of all.
void pli_elastic_set_tet_damping(PliElastic *e, const PliIndex *which, const double *share);
/// Replaces the general samples. Sample s owns entries first[s] .. first[s+1] of point and grad (shape [.., 3]).
/// f0 (shape [count, 9], may be NULL) is added to F: what passive coefficients contribute. s0 (shape [count, 6] symmetric
/// xx yy zz yz xz xy, may be NULL) is added to the second Piola-Kirchhoff stress.
PliStatus pli_elastic_set_samples(PliElastic *e, PliIndex point_count, PliIndex count, const PliIndex *first,
                                  const PliIndex *point, const double *grad, const double *volume,
                                  const double *stiffness, const double *f0, const double *s0);

/// Poisson's ratio of each sample of the list given last; NULL: the material's. Needs PliElasticDef.sample_poisson.
void pli_elastic_set_sample_poisson(PliElastic *e, const double *poisson);
/// Replaces the stress offsets of all samples, the rest stays.
void pli_elastic_set_sample_s0(PliElastic *e, const double *s0);
/// Adds the energy bulk[s] lambda V tr(E)^2 / 2 to sample s of the list given last (lambda: the material's first Lame constant;
/// any sign; NULL: none). With -a on the samples of a region and +a on one at its centre that has no stiffness of its own, the
/// region resists changes of its mean volume fully and of their distribution by 1 - a: the remedy of Poisson locking.
void pli_elastic_set_sample_bulk(PliElastic *e, const double *bulk);

/// f += elastic (and, with v, viscous) forces on points [0, point_count).
void pli_elastic_add_force(PliElastic *e, const double *x, const double *v, double *f);
/// -V P of every sample at the last add_force (shape [sample_count, 9], row-major), until the next call: what schemes that judge
/// passive coefficients pull through gradients of their own.
const double *pli_elastic_sample_stress(const PliElastic *e);
/// Only tets [first, last) of the list given to set_tets, serial, added straight to f: element ticks of the multirate integrator.
void pli_elastic_add_force_range(PliElastic *e, PliIndex first, PliIndex last, const double *x, const double *v,
                                 double *f);
/// Caches what dforce and element matrices need at x: dP/dF in the principal frame of each element. Elastic part only; of a
/// corotational element whose rotation is undefined (two opposite stretches) the tangent is bounded.
void pli_elastic_linearize(PliElastic *e, const double *x);
/// df += k K dx, K = df/dx at the last linearize. New tets or samples need a new linearize.
void pli_elastic_add_dforce(PliElastic *e, const double *dx, double k, double *df);
/// Calls fn with the dense element matrix K_e (row-major, 3n x 3n, K = df/dx) of every element, ascending: tets, then samples.
void pli_elastic_element_matrices(const PliElastic *e, PliElementFn *fn, void *user);
/// value += k K_e of every tetrahedron for the pairs of corners 10 20 30 21 31 32: `place` has their six blocks of nine numbers
/// (| PLI_PLACE_MIRRORED: the transposed). Blocks of a corner with itself are not placed: rows of K_e sum to zero.
#define PLI_PLACE_MIRRORED 0x80000000u
enum { PLI_CORNER_PAIRS = 6 };
void pli_elastic_add_tet_blocks(const PliElastic *e, double k, const PliIndex *place, double *value);
/// The same for samples only, straight into blocks of groups of four points: += k K for every pair of groups `place` gives room
/// for, `stride` doubles per row, unknown 4 c + p for component c of point p. Samples must list their points in whole groups.
void pli_elastic_add_pairs(const PliElastic *e, double k, PliBlockPlaceFn *place, void *user, size_t stride);
/// Calls fn with the groups of four points of every sample; repeats of the sample before are left out.
void pli_elastic_sample_groups(const PliElastic *e, PliBlocksFn *fn, void *user);
/// blocks += k times the diagonal blocks of K of `group` consecutive points each: [points / group, 3 group, 3 group], unknown
/// c * group + p within a block. Samples only.
void pli_elastic_add_group_blocks(const PliElastic *e, double k, PliIndex group, double *blocks);
double pli_elastic_energy(const PliElastic *e, const double *x);
double pli_elastic_density(const PliElastic *e, const double F[9]); ///< energy of one deformation gradient, J/m3
/// Number of elements with det F <= 0 or not a number, and the first of them in the caller's list (PLI_NONE if none);
/// samples are numbered after the tets.
PliIndex pli_elastic_inverted(const PliElastic *e, const double *x, PliIndex *first);
/// The same of the last pli_elastic_add_force. False: it did not look, as it does for samples without threads only.
bool pli_elastic_noted_inverted(const PliElastic *e, PliIndex *count, PliIndex *first);
/// Stiffness of every tetrahedron lumped at its corners, N/m: += wave modulus x volume |grad N|^2 x how much stiffer than at rest it may
/// be at x, squared where nothing damps, (NULL: at rest). viscous (may be NULL) the same times its share of the damping.
void pli_elastic_add_lumped(const PliElastic *e, const double *x, double *stiffness, double *viscous);
/// f += stiffness at rest times u, of the tetrahedra: linear elasticity, whatever the law.
void pli_elastic_add_rest_response(const PliElastic *e, const double *u, double *f);
/// Von Mises stress of tet i of the list at x, Pa; and the deformation gradient (row-major).
double pli_elastic_tet_von_mises(const PliElastic *e, PliIndex i, const double *x);
void pli_tet_gradient(const PliIndex corner[4], const PliTetRest *rest, const double *x, double F[9]);
double pli_wave_modulus(const PliMaterial *m); ///< Pa, of pressure waves: lambda + 2 mu
/// Largest explicit step of each tet from its smallest altitude and wave speed, s (undamped).
double pli_tet_critical_step(const PliTetRest *rest, const PliMaterial *m);

#endif
