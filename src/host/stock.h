/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_STOCK_H
#define PLI_STOCK_H

// The stock components of SOFA the host has, each in the file named after its family.

#include "host/component.h"

extern const PliOps pli_loader_ops;         // stock_loader.c
extern const PliOps pli_topology_ops;       // stock_topology.c
extern const PliOps pli_grid_ops;
extern const PliOps pli_state_ops;          // stock_state.c
extern const PliOps pli_uniform_mass_ops;   // stock_mass.c
extern const PliOps pli_box_roi_ops;        // stock_roi.c
extern const PliOps pli_fixed_ops;          // stock_constraint.c
extern const PliOps pli_tetra_fem_ops;      // stock_tetra_fem.c
extern const PliOps pli_euler_implicit_ops; // stock_ode.c
extern const PliOps pli_cg_ops;             // stock_linear.c

#endif
