/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ELASTIC_STATE_H
#define PLI_ELASTIC_STATE_H

// What the files of the elastic kernel share: the packs, and the table of functions each vector unit fills.

#include "kernel/elastic.h"

enum { PACK = 8, PACK_BLOCK = 64 }; ///< elements per pack; packs per block of a parallel loop or of a partial sum

/// Eight tetrahedra side by side. 96 bytes per element, 104 with damping: what one force evaluation has to stream.
typedef struct PliTetPack {
    double grad[9][PACK];     ///< of corners 1, 2, 3
    double weight[PACK];      ///< volume x stiffness, m3; 0 in the lanes that fill up the last pack
    PliIndex corner[4][PACK]; ///< corner-major, so that a gather reads consecutive indices
    double viscous[PACK];     ///< weight x share of the material's damping
} PliTetPack;

/// Where the corner forces of a pack go: a point, or SLOT_BIT + a slot.
typedef struct PliTargetPack {
    PliIndex corner[4][PACK];
} PliTargetPack;
#define SLOT_BIT 0x80000000u
#define SHARED (PLI_NONE - 1)

/// dP/dF in the principal frame F = U diag(s) V^T, the same form for every isotropic law:
/// with M = U^T dF V, the diagonal of M goes through the symmetric `diagonal`, and each pair (i, j) through
/// M'ij = same Mij + swap Mji. Scaled by -weight. Tetrahedra keep grad V instead of V, which saves two products.
typedef struct PliTangentPack {
    double u[9][PACK];
    double v[9][PACK];                   ///< samples: V; tetrahedra: grad V, rows are corners 1, 2, 3
    double diagonal[6][PACK];            ///< 00 11 22 12 02 01
    double same[3][PACK], swap[3][PACK]; ///< pairs 12, 02, 01
} PliTangentPack;

typedef struct PliSamplePack {
    double f0[9][PACK], s0[6][PACK];
    double weight[PACK]; ///< volume x stiffness
    double volume[PACK]; ///< of s0, which stiffness does not scale
    double bulk[PACK];   ///< volume x factor of lambda in the extra volumetric energy
    double f[9][PACK];   ///< F at the last linearize, only with bulk
} PliSamplePack;

/// Constants of the law. neo-Hookean: mu and lambda are the reparametrised ones of Smith et al. 2018, section 3.4.
typedef struct PliLame {
    double mu, lambda;
    double alpha, rest_energy;         ///< neo-Hookean
    double viscous_mu, viscous_lambda; ///< Pa s, from the true Lame constants
    double bulk;                       ///< the true lambda
} PliLame;

/// Those of a pack of samples, where Poisson's ratio is not the same everywhere.
typedef struct PliLamePack {
    double mu[PACK], lambda[PACK], alpha[PACK], rest_energy[PACK], viscous_mu[PACK], viscous_lambda[PACK];
    double poisson[PACK];
} PliLamePack;

typedef struct PliElasticKernel PliElasticKernel;
enum { PLI_PAIR_SAMPLES = 4 };

typedef struct PliInverted {
    PliIndex count, first;
} PliInverted;

struct PliElastic {
    PliHost host;
    PliElasticDef def;
    PliLame lame;
    const PliElasticKernel *kernel;
    bool project, threaded;

    PliIndex tet_count, tet_packs, tet_points;
    PliTetPack *pack;
    PliTangentPack *tangent;
    double *linear_x;    ///< [point_capacity, 3], where tangents belong to ...
    bool linear_project; ///< ... and without negative eigenvalues
    bool tangents_made;  ///< not yet: whoever assembles makes them on the way, in a cache and not in memory
    double *stiffness;   ///< per tet, for stresses
    // only with more than one worker: a chunk of packs adds straight to the points it alone touches, and to slots, one per
    // corner, for the points it shares with other chunks
    PliIndex chunk_packs;
    PliTargetPack *target;
    double *slot;         ///< [4 tet_capacity, 3], -0.0 between passes: -0.0 + h is h to the last bit
    PliIndex *owner;      ///< per point: its chunk, or SHARED, or PLI_NONE
    PliIndex *slot_first; ///< per point + 1, slots of one point follow each other in the order of elements
    PliIndex *slot_next;
    PliIndex *shared; ///< points with slots
    PliIndex shared_count;
    bool slots_listed;

    PliIndex sample_count, sample_packs, sample_points, sample_width;
    PliSamplePack *sample;
    PliTangentPack *sample_tangent;
    PliIndex *sample_first, *sample_point; ///< entries
    double *sample_grad;
    uint8_t *sample_alike;    ///< per pack: its eight samples list the same points; NULL: never
    double *sample_lanes;     ///< gradients of such packs, [points, 3, PACK], from 3 times their first entry on
    double *sample_stress;    ///< [sample_capacity, 9], -V P of the last evaluation
    bool sample_bulk;         ///< some sample has an extra volumetric energy
    PliLamePack *sample_lame; ///< per pack of samples; NULL: there is no room for ratios of their own
    bool sample_poisson;      ///< samples have them
    PliIndex *entry_first, *entry_list, *entry_sample; ///< entries of each point, only with more than one worker
    bool entries_listed;

    PliInverted noted; ///< of the last pass of forces ...
    bool has_noted;    ///< ... which took note
    double *partial;   ///< one per block
    double *matrix;    ///< element matrix handed to callbacks
    double *matrix_half;
    bool linearized;
};

/// Blocks are made from positions even where tangents are kept: cheaper, and so that their bits do not depend on who asked before.
static inline bool pli_elastic_turns(const PliElastic *e)
{
    return e->def.material.law == PLI_COROT && e->linear_project;
}

/// One evaluation over a range of elements or packs. Forces are added to f lane after lane; slotted: to the targets.
struct PliElasticKernel {
    /// note (may be NULL, as below): those inside out are added; of whole groups of lanes.
    void (*tet_force)(const PliElastic *e, PliIndex first, PliIndex last, const double *x, const double *v, double *f,
                      bool slotted, PliInverted *note);
    void (*tet_dforce)(const PliElastic *e, PliIndex first, PliIndex last, const double *dx, double k, double *df,
                       bool slotted);
    void (*tet_linearize)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x);
    /// k K of the eight elements of a pack, for the pairs of corners 00 11 22 33 10 20 30 21 31 32.
    void (*tet_blocks)(const PliElastic *e, PliIndex pack, double k, double (*out)[9][PACK]);
    /// The same from positions, with no tangents kept.
    void (*tet_blocks_at)(const PliElastic *e, PliIndex pack, double k, const double *x, double (*out)[9][PACK]);
    double (*tet_energy)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x);
    void (*tet_lump)(const PliElastic *e, const double *x, double *stiffness, double *viscous);
    void (*tet_rest_response)(const PliElastic *e, const double *u, double *f);
    PliIndex (*tet_inverted)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x,
                             PliIndex *first);
    void (*sample_force)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x, const double *v,
                         PliInverted *note);
    /// f += P g of a pack whose samples are alike, lane after lane.
    void (*sample_scatter)(const PliElastic *e, PliIndex pack, double *f);
    void (*sample_dforce)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *dx, double k);
    /// block[groups r + c] += (sum over k, l of grad_a[k] C[ik, jl] grad_b[l]) for all pairs of groups that have one.
    /// Up to PLI_PAIR_SAMPLES samples of the same points at once, gradients one after the other.
    void (*sample_pairs)(const double (*C)[81], const double *grad, PliIndex samples, PliIndex groups,
                         double *const *block, size_t stride);
    void (*sample_linearize)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x);
    double (*sample_energy)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x);
    PliIndex (*sample_inverted)(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x,
                                PliIndex *first);
    /// P of the gradients of a pack, each with the bits of pli_law_stress. Both are aligned to 64 bytes.
    void (*law_stress)(PliLaw law, const PliLame *m, const double F[9][PACK], double P[9][PACK]);
};
extern const PliElasticKernel pli_elastic_plain;
const PliElasticKernel *pli_elastic_avx2(void);   ///< NULL when this build has none
const PliElasticKernel *pli_elastic_avx512(void); ///< NULL when this build has none

/// P of one deformation gradient, plain lane, stiffness factor 1.
void pli_law_stress(PliLaw law, const PliLame *m, const double F[9], double P[9]);

/// Rotation of any 3x3 matrix, also singular or inverted ones: det R = +1 and tr(R^T F) is largest. Slow and certain.
void pli_polar_robust(const double F[9], double R[9]);

PliLame pli_lame(const PliMaterial *m);

#endif
