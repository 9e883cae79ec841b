/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OWN_H
#define PLI_OWN_H

// Our components in the embedded host: the same names, attributes and rules as in the SOFA plugin. They translate and call the
// public API; there is no physics here.

#include "host/graph/component.h"

typedef enum PliRoute { PLI_ROUTE_NONE, PLI_ROUTE_OWNED, PLI_ROUTE_STAGES } PliRoute;

/// What every model component has: the body and what is around it.
typedef struct PliModel {
    PliObject *object;
    PliBody *body;
    PliMech *state; ///< known when everything is initialised
    PliRoute route; ///< who steps it: AdaptiveSolver, or a stock solver through the stages
    PliTool *tool;
    PliObject **tool_object;
    int tool_count, tool_capacity;
    PliStepInfo info;            ///< of the last step
    PliSkinForce *skin_force[8]; ///< forces on the skin
    int skin_force_count;
    PliExternalFn
        *external; ///< forces of other components, known by who steps it; schemes that judge forces look at them
    void *external_user;
    PliPointForcesFn *points;                    ///< forces on the skin, NULL: none
    struct PliGrab *grab;                        ///< NULL: nobody held it yet
    void (*choose_external)(struct PliModel *m); ///< when it was grabbed or let go; NULL: who steps it looks by itself
    bool diverged;
    PliDefaults made; ///< the definition the scene gave
} PliModel;
typedef struct PliGrab PliGrab;

PliModel *pli_model_self(PliObject *o); ///< o has PLI_ROLE_MODEL
/// The model a component means: its `model` link, or the first of its node and the nodes above. Refuses when there is none.
PliModel *pli_model_of(PliObject *o, PliError *err);
/// Attributes of a group that the scene sets, written to the fields of a definition.
PliStatus pli_model_fill(PliObject *o, const PliAttributeGroup *group, void *def, PliError *err);
/// What a loader or topology holds; borrowed from it.
PliMeshArrays pli_object_arrays(PliObject *source); // mesh.c
/// Points and cells of a loader or topology; refused where it has none of those needed.
PliMesh *pli_mesh_from_object(const PliHost *host, PliObject *source, PliMeshKind kind, PliError *err); // mesh.c
/// Says in the findings which tetrahedra of a mesh are slivers, where the worst one is and how many steps it costs.
void pli_note_slivers(PliObject *o, const PliMesh *mesh, const char *which); // slivers.c
/// Says what the body does about them.
void pli_note_rates(PliObject *o, const PliBody *body); // slivers.c
/// A body is stepped one way only.
PliStatus pli_model_claim(PliModel *m, PliRoute route, PliError *err);
/// Puts a tool at its place when a step begins; called for every tool of a model.
void pli_tool_place(PliObject *o, double time, double dt, PliTool *tool);
/// A hand takes the tool: it goes to `target`, at ten radii a second at most. NULL: back to its path. Planes stay where they are.
void pli_tool_steer(PliObject *o, const double target[3]);
/// The same without that limit, for a hand that is a device: in one step the tool is at `target`.
void pli_tool_lead(PliObject *o, const double target[3]);
void pli_tool_path(PliObject *o, double time, double p[3]); ///< where the scene has it

extern const PliOps pli_model_ops;                                                        // model.c, of every scheme
extern const PliOps pli_adaptive_solver_ops;                                              // solver.c
extern const PliOps pli_adaptive_force_ops, pli_adaptive_mass_ops, pli_adaptive_mask_ops; // stage.c
extern const PliOps pli_adaptive_mapping_ops, pli_adaptive_surface_ops;                   // surface.c
extern const PliOps pli_sphere_tool_ops, pli_plane_tool_ops;                              // tool.c
extern const PliOps pli_piece_contact_ops, pli_skin_target_ops;                           // skin_forces.c
extern const PliOps pli_state_monitor_ops, pli_step_times_ops;                            // monitor.c
extern const PliOps pli_comparison_monitor_ops;                                           // compare_monitor.c
extern const PliAttributeGroup pli_comparison_attributes;

// definitions the attribute rows take their defaults from
void pli_tool_defaults(void *def);
void pli_pieces_defaults(void *def);
void pli_target_defaults(void *def);

#endif
