/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/octree.h>
#include <pliant/registry.h>

#include "scheme/octree/octree.h"

static void defaults(void *def) { *(PliOctreeDef *)def = pli_octree_default(); }

static const PliAttribute rows[] = {
    { "filename", PLI_FILE, .help = "mesh file: a closed surface or tetrahedra to fill with particles" },
    { "mesh", PLI_LINK, .help = "loader or topology, instead of filename" },
    { "position", PLI_POINTS, .role = PLI_OUT,
      .help = "m, rest positions: particles of all levels, coarsest first, then wall points, which BoxROI or SphereROI "
              "choose to clamp faces, then three directions" },
    { "resolution", PLI_INT, .slide = { 0.5, 2.5, false }, PLI_FIELD(PliOctreeDef, resolution),
      .help = "finest cells along the longest side" },
    { "levels", PLI_INT, PLI_FIELD(PliOctreeDef, levels),
      .help = "levels of the octree, 1 .. 8; coarsest cells are 2^(levels - 1) times as large as the finest" },
    { "startLevel", PLI_INT, PLI_FIELD(PliOctreeDef, start_level), .help = "uniform level to start at" },
    { "operators", PLI_OPTION, .options = "consistent paper", PLI_FIELD(PliOctreeDef, operators),
      .help = "forces of the Lame equation, or the printed operators, which converge to something else" },
    { "speedChange", PLI_REAL, PLI_FIELD(PliOctreeDef, speed_change),
      .help =
          "m/s a particle may change its speed by in one substep before the step shortens; -1: half of the speed of "
          "sound; 0: off" },
};

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliOctreeDef d = *(const PliOctreeDef *)def;
    d.mesh = in->mesh[0];
    return pli_octree_create(host, &d, err);
}

static PliStatus retune(PliBody *body, const void *def, PliError *err)
{
    const PliOctreeDef *d = def;
    PliStatus status = pli_octree_check(d, err);
    if (status == PLI_OK) status = pli_body_retune(body, &d->base, err);
    return status == PLI_OK ? pli_octree_limit_speed(body, d) : status;
}

const PliSchemeInfo pli_octree_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "octree",
    .component = "OctreeModel",
    .help = "deformable body of particles in an octree, which split and merge",
    .def_size = sizeof(PliOctreeDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_SOLID_OR_SURFACE,
              .least = 1,
              .most = 1,
              .file = "filename",
              .link = "mesh",
              .cells = "resolution",
              .missing = "no mesh: give filename=\"...\" or mesh=\"@loader\" with a closed surface or tetrahedra" },
    .adaptive = true,
    .refuses = "linearSolver order newton iterations tolerance rayleighStiffness " // implicit steps
               "denseRegions poissonRegions",
    .create = create,
    .retune = retune,
};
