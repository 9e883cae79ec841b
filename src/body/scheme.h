/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SCHEME_H
#define PLI_SCHEME_H

// What a scheme is, seen from the body: a fixed set of coefficients and elements, and at every moment a *cut* that says
// which coefficients are active, which follow them, which elements are live with which weight. The body compacts a cut
// into small arrays (PliLive) and steps those; nothing it does in a substep is longer than what is live.

#include <pliant/stages.h>
#include "kernel/elastic.h"
#include "solver/system.h"

/// Filled by a scheme when its active set changes; arrays stay the scheme's and are read at once.
typedef struct PliCut {
    const PliIndex *active; ///< ascending
    PliIndex active_count;
    const double *mass; ///< lumped, kg, per active coefficient (explicit steps, and implicit ones without a matrix)
    const double
        *load; ///< integral of density x basis function, kg, per active coefficient: gravity; NULL: the same as mass
    /// Consistent mass as a symmetric matrix of scalars over active *positions* (0 .. active_count), or NULL: lumped.
    const PliIndex *mass_first, *mass_column;
    const double *mass_value;

    const PliIndex *slave; ///< passive coefficients that live elements touch, any order
    PliIndex slave_count;
    const PliIndex *slave_first;  ///< slave_count + 1
    const PliIndex *slave_column; ///< active dof numbers
    const double *slave_weight;

    const PliIndex *element; ///< live tetrahedra, ascending, into PliSchemeStatic.tets
    const double *volume;    ///< m3, weight of each live element
    PliIndex element_count;

    /// General samples (frames, lattices), in dof numbers, active or slave; see pli_elastic_set_samples.
    PliIndex sample_count;
    const PliIndex *sample_first, *sample_dof;
    const double *sample_grad, *sample_volume, *sample_stiffness, *sample_f0, *sample_s0;
    const double *sample_bulk; ///< see pli_elastic_set_sample_bulk, or NULL

    const PliConstant *constant; ///< stiffness at rest, valid until the next cut, or NULL
    const uint8_t
        *driven; ///< per active coefficient: the scheme moves it, by the velocity it writes in adapt; NULL: none
} PliCut;

/// What never changes after creation.
typedef struct PliSchemeStatic {
    PliIndex dof_count;
    const double *rest; ///< dof_count Vec3
    const uint8_t *dof_level;
    int level_count;
    PliIndex group;         ///< consecutive dofs that belong together (frames: 4), see PliSystem; 0: none
    bool constant;          ///< cuts have PliCut.constant
    PliIndex point_entries; ///< active coefficients a point hangs on, on average; 0: as groups or tetrahedra have them
    double mass;            ///< kg, when it is not the sum of the loads (bases that do not sum to one); 0: it is
    const uint64_t *row_revision; ///< per dof: cut revision at which its row of W last changed; NULL: unknown
    const PliIndex *tets;         ///< all levels, in dof numbers
    const PliTetRest *tet_rest;
    PliIndex tet_count;
    // capacities of whatever a cut may hold
    PliIndex active_capacity, slave_capacity, element_capacity, sample_capacity;
    size_t slave_entry_capacity, sample_entry_capacity, mass_entry_capacity;
    // the body's own finest surface, used as skin until another is attached (may be NULL)
    const double *surface_points;
    PliIndex surface_point_count;
    const PliIndex *surface_tris;
    PliIndex surface_tri_count;
} PliSchemeStatic;

typedef struct PliSchemeOps {
    PliScheme scheme;
    void (*destroy)(void *self, const PliHost *host);
    /// First cut, and the one a reset returns to.
    void (*reset)(void *self);
    void (*cut)(void *self, PliCut *cut);
    /// Decides and applies splits and merges; x and v (full length) are handed over for every coefficient that becomes
    /// active, with mass, momentum and energy rules of doc/schemes. Returns true when the cut changed. NULL: not adaptive.
    bool (*adapt)(void *self, PliBody *body, double *x, double *v, double dt);
    /// W for all passive coefficients (full length), for hosts that look at them.
    void (*spread)(void *self, double *x);
    /// Rows of W (all dofs from active ones). Valid until the cut changes.
    PliRows (*transfer)(void *self);
    // Optional, for schemes with many more coefficients than are live at a time: the skin then costs no more than its own points.
    /// Writes the values of the listed passive dofs (and of whatever they follow) from the active ones in x.
    void (*follow)(void *self, const PliIndex *dof, PliIndex count, double *x);
    /// Rows of which only the listed ones have to be right.
    PliRows (*transfer_rows)(void *self, const PliIndex *dof, PliIndex count);
    /// f += forces of the scheme's own on active coefficients (by active position), held during the coming step. May be NULL.
    void (*add_force)(void *self, double *f);
    PliIndex (*place)(const void *self, PliIndex dof); ///< see pli_body_dof_place; NULL: every coefficient is a place
    bool judges_forces;                                ///< see pli_body_judges_forces
    bool
        announces; ///< adapt calls pli_body_before_event before each; otherwise the body expects a change everywhere each time
    /// Point -> coefficients at the finest level: fills up to `capacity` columns, returns how many. Used to attach skins.
    PliIndex (*locate)(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity);
    /// Told when the host chooses the coefficients it moves itself (dof_count flags); a scheme keeps them active. May be NULL.
    void (*pin)(void *self, const uint8_t *fixed);
    bool (*is_valid)(const void *self, PliError *err); ///< whole-structure check, for tests
} PliSchemeOps;

/// What the integrator holds, for schemes that judge or hand over: forces, energies and steps of the current cut.

/// Makes a body around a scheme object; takes ownership of `self` (also on failure).
PliBody *pli_body_create(const PliHost *host, const PliBodyDef *def, const PliSchemeOps *ops, void *self,
                         const PliSchemeStatic *statics, PliError *err);
void *pli_body_self(PliBody *body);
/// Compacts the scheme's present cut again (after it changed inside adapt). Never allocates, but for the pattern of a direct solver.
void pli_body_recut(PliBody *body);
uint64_t pli_body_revision(const PliBody *body);
/// Remembers what the skin shows within `radius` of `centre` (at rest), so that an event there does not move it. x as given to
/// adapt; passive entries are written.
void pli_body_before_event(PliBody *body, double *x, const double centre[3], double radius);
/// The live system of the present cut (compact numbers) and the map from compact points to dofs.
PliSystem *pli_body_system(PliBody *body, const PliIndex **dof);
/// f += forces of the host (f_ext, external) and of the tools, on all coefficients of the finest level, not reduced. Inside adapt.
void pli_body_add_external_forces(PliBody *body, const double *x, const double *v, double dt, double *f);
const uint8_t *pli_body_fixed(const PliBody *body); ///< per dof: 1 where it does not accelerate
void pli_body_fixed_values(const PliBody *body, const double **x,
                           const double **v); ///< inside adapt: where the host has the fixed ones (dof_count Vec3)
bool pli_body_is_live(const PliBody *body, PliIndex dof); ///< active or slave in the present cut
/// Inside adapt: a fixed coefficient becomes live at p, where what it followed carried it. It goes from there back to its place,
/// in some tenths of a second: put there at once it would kick its neighbours, or the event would be refused for its energy.
void pli_body_lead_astray(PliBody *body, PliIndex dof, const double p[3]);
const PliState *pli_body_state(const PliBody *body); ///< the host's, inside adapt
const PliTool *pli_body_tools(const PliBody *body, int *count);
/// Options of explicit steps: the semi-implicit filter in increment form, and the change of speed that halves substeps (0: off).
/// Once, right after creation: allocates.
PliStatus pli_body_set_explicit(PliBody *body, bool filter, double speed_change);
PliStats *pli_body_stats_mutable(PliBody *body); ///< schemes count events, energies, refusals here

#endif
