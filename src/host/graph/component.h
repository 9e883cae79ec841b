/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPONENT_H
#define PLI_COMPONENT_H

// What a component can do. Everything is optional; the table in profile.c says which struct belongs to which name.

#include <pliant/contact.h>
#include <pliant/registry.h>
#include <pliant/stages.h>

#include "host/graph/scene.h"
#include "host/graph/mechanics.h"

typedef struct PliOps {
    size_t size; ///< bytes of the component's own struct
    // life
    PliStatus (*parse)(PliObject *o, PliError *err); ///< all links are known, nothing is initialised: loaders read here
    PliStatus (*init)(PliObject *o, PliError *err);  ///< in the order of the graph
    PliStatus (*ready)(PliObject *o, PliError *err); ///< after every init, children first
    PliStatus (*update)(PliObject *o, PliError *err); ///< engines: inputs have changed, refill the outputs
    void (*destroy)(PliObject *o);
    // force fields and masses, on the arrays of one state
    void (*add_force)(PliObject *o, const double *x, const double *v, double *f);
    void (*add_mbk)(PliObject *o, const double *dx, PliFactors factors, double *df); ///< df += (m M + b B + k K) dx
    void (*pattern)(PliObject *o, PliMechanics *m, PliMech *state);                  ///< which blocks add_matrix writes
    void (*add_matrix)(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors);
    void (*acceleration)(PliObject *o, const double *f, double *a); ///< masses: a = M^-1 f
    bool (*coupled)(PliObject *o); ///< masses: M is no diagonal, so that a solve is needed; NULL: diagonal
    double (*potential)(PliObject *o, const double *x);
    double (*kinetic)(PliObject *o, const double *v);
    // projective constraints
    void (*project_response)(PliObject *o, double *d);
    void (*project_velocity)(PliObject *o, double *v, double time);
    void (*project_position)(PliObject *o, double *x, double time);
    void (*mask)(PliObject *o,
                 unsigned char *fixed); ///< marks fixed scalars of the state, for assembled matrices and bodies
    uint64_t (*revision)(PliObject *o); ///< grows when the pattern of add_matrix changes; NULL: never
    void (*von_mises)(PliObject *o, const double *x, double *per_point); ///< Pa, mean over the elements of a point
    // mappings: child = rows * parent
    PliRows (*rows)(PliObject *o);
    PliRows (*force_rows)(PliObject *o); ///< the same for forces, where a body reduces them itself; NULL: rows
    void (*apply)(PliObject *o, const double *in, double *out); ///< positions, when they are not just rows
    PliStatus (*child_points)(PliObject *o, PliIndex *count, const double **points,
                              PliError *err); ///< for a state that was given none
    // solvers
    PliStatus (*solve)(PliObject *o, double dt, PliError *err);
    PliStatus (*linear)(PliObject *o, PliMechanics *m, PliFactors factors, const double *b, double *x, PliError *err);
    // events
    PliStatus (*begin)(PliObject *o, double dt, PliError *err); ///< before the step, time not yet advanced
    PliStatus (*end)(PliObject *o, double dt, PliError *err);   ///< after the step, at the new time
    PliStatus (*start)(PliObject *o, PliError *err);            ///< once, before the first step
    PliStatus (*finish)(PliObject *o, PliError *err);           ///< once, after the last step
} PliOps;

/// Room for any definition.
typedef union PliDefaults {
    double number;
    const void *pointer;
    char bytes[PLI_DEF_BYTES];
} PliDefaults;

struct PliClass {
    const char *name;
    const char *alias;  ///< older or other names, separated by blanks, or NULL
    const char *plugin; ///< SOFA module that has it; "Pliant": ours
    PliSupport support;
    unsigned roles;
    const char *help;
    const char *reason; ///< why unsupported or approximated
    const PliAttributeGroup *groups[6];
    const PliOps *ops;           ///< NULL: nothing to do (visual-only)
    void (*defaults)(void *def); ///< ours: the definition the rows take their defaults from
    const PliSchemeInfo *scheme; ///< models: how the body is made
};

static inline bool pli_class_is_ours(const PliClass *c)
{
    return c->plugin && c->plugin[0] == 'P' && c->plugin[1] == 'l';
}

// one array in profile.c
const PliClass *pli_profile_find(const char *name); ///< by name or alias
const PliClass *pli_profile_at(int i);              ///< NULL behind the last
int pli_profile_count(void);
const PliAttribute *pli_class_attribute(const PliClass *c, const char *name); ///< aliases are followed
const PliAttribute *pli_class_row(const PliClass *c, int i); ///< flat over the groups, NULL behind the last
const char *pli_profile_nearest(const char *name);           ///< did you mean; NULL when nothing is close
const char *pli_class_nearest(const PliClass *c, const char *name);
bool pli_profile_knows_plugin(const char *name);
const char *pli_profile_reason(const char *name); ///< why a component that is not in the table is refused

/// Links a mapping's child to its parent: `input` or the state above, `output` or the state (or visual model) of the node.
PliStatus pli_mapping_connect(PliObject *o, PliMech **in, PliMech **out, PliError *err);
PliStatus pli_state_resize(PliMech *s, PliIndex count, PliError *err); ///< keeps what fits; at init only
/// A visual model's points follow their mapping only when somebody looks.
void pli_visual_update(PliMech *visual);

/// The state a component in this node acts on, or NULL.
PliMech *pli_state_of(PliObject *o);
/// The same for whoever makes arrays of its size or reads its points at init: NULL and a sentence when it has none yet.
PliMech *pli_state_counted(PliObject *o, PliError *err);
PliMech *pli_state_self(PliObject *state); ///< o has PLI_ROLE_STATE or PLI_ROLE_VISUAL

// topologies and loaders, as seen by others
enum {
    PLI_NEEDS_EDGES = 1,
    PLI_NEEDS_TRIS = 2,
    PLI_NEEDS_QUADS = 4,
    PLI_NEEDS_TETS = 8,
    PLI_NEEDS_HEXES = 16,
    PLI_NEEDS_POINTS = 32,
    PLI_NEEDS_CELLS = 31
};
/// The topology a component means: of its node or, when `up`, the nodes above. A node may have several (a grid and the
/// tetrahedra made of it): the last that has what is needed, or else the last. NULL: none.
PliObject *pli_topology_near(PliNode *node, unsigned needs, bool up);
/// The same after the component's own `topology` link.
PliObject *pli_topology_of(PliObject *o, unsigned needs);
const PliIndex *pli_topology_cells(PliObject *topology, PliCellKind kind,
                                   size_t *count); ///< flat, never NULL with count > 0
const double *pli_topology_points(PliObject *topology, PliIndex *count);
bool pli_grid_size(PliObject *topology, PliIndex n[3]); ///< points along each axis; false: no grid
/// Six tetrahedra each; `mirror` alternates them over a grid, `keep_sign` then keeps volumes positive. Valid as long as the scene.
PliStatus pli_split_hexes(PliObject *topology, const PliIndex *hexes, size_t count, bool mirror, bool keep_sign,
                          PliIndex **tets);
/// Tetrahedra, or hexahedra split in six as TetrahedronFEMForceField splits them. Valid as long as the scene.
PliStatus pli_topology_tets(PliObject *topology, const PliIndex **tets, size_t *count, PliError *err);

#endif
