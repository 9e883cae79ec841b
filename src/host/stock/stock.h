/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_STOCK_H
#define PLI_STOCK_H

// The stock components of SOFA the host has, each in the file named after its family.

#include "host/graph/component.h"

extern const PliOps pli_loader_ops;                                                        // stock_loader.c
extern const PliOps pli_topology_ops, pli_grid_ops;                                        // stock_topology.c
extern const PliOps pli_state_ops, pli_visual_ops;                                         // stock_state.c
extern const PliOps pli_uniform_mass_ops, pli_diagonal_mass_ops, pli_mesh_matrix_mass_ops; // stock_mass.c
extern const PliOps pli_box_roi_ops, pli_sphere_roi_ops;                                   // stock_roi.c
extern const PliOps pli_fixed_ops, pli_partial_fixed_ops, pli_linear_movement_ops;         // stock_constraint.c
extern const PliOps pli_tetra_fem_ops, pli_tetra_corotational_ops;                         // stock_tetra_fem.c
extern const PliOps pli_constant_force_ops, pli_rest_springs_ops, pli_plane_force_ops,
    pli_sphere_force_ops;                                                  // stock_force.c
extern const PliOps pli_euler_implicit_ops, pli_euler_explicit_ops;        // stock_ode.c
extern const PliOps pli_cg_ops, pli_direct_ops;                            // stock_linear.c
extern const PliOps pli_identity_mapping_ops, pli_barycentric_mapping_ops; // stock_mapping.c
extern const PliOps pli_tetra2triangle_ops, pli_hexa2tetra_ops;
extern const PliOps pli_write_state_ops, pli_vtk_exporter_ops; // stock_export.c

#endif
