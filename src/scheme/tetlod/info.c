/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/registry.h>

PliTetLodDef pli_tetlod_default(void)
{
    PliTetLodDef def = { .base = pli_body_default(), .coupling = PLI_VARIATIONAL };
    def.base.integrator = PLI_INTEGRATE_USUAL;
    return def;
}

static void defaults(void *def) { *(PliTetLodDef *)def = pli_tetlod_default(); }

static const PliAttribute rows[] = {
    { "filenames", PLI_FILES, .help = "tetrahedral mesh files of the levels, coarse to fine, 1 .. 8" },
    { "levels", PLI_LINKS,
      .help = "loaders or topologies with position and tetrahedra (or hexahedra, which are split), coarse to fine, "
              "instead of filenames" },
    { "position", PLI_POINTS, .role = PLI_OUT, .help = "m, rest positions of all coefficients, all levels" },
    { "coupling", PLI_OPTION, .options = "variational paper", PLI_FIELD(PliTetLodDef, coupling),
      .help = "how levels meet" },
    { "ramp", PLI_INT, PLI_FIELD(PliTetLodDef, ramp),
      .help = "rings over which element weights fade at a level switch" },
    { "fitWeights", PLI_BOOL, PLI_FIELD(PliTetLodDef, fit_weights),
      .help = "remove ghost forces at interior nodes by a least-squares fit" },
    { "filter", PLI_BOOL, PLI_FIELD(PliTetLodDef, filter), .help = "semi-implicit filter in increment form" },
    { "speedChange", PLI_REAL, PLI_FIELD(PliTetLodDef, speed_change),
      .help = "m/s a node may change its speed in one substep; 0: off" },
    { "startLevel", PLI_INT, PLI_FIELD(PliTetLodDef, start_level),
      .help = "uniform level to start at, 0 is the coarsest" },
    { "cache", PLI_NEW_FILE, PLI_FIELD(PliTetLodDef, cache),
      .help = "file that keeps the hierarchy between runs; relative to the scene" },
};

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliTetLodDef d = *(const PliTetLodDef *)def;
    d.levels = in->mesh;
    d.level_count = in->mesh_count;
    return pli_tetlod_create(host, &d, err);
}

const PliSchemeInfo pli_tetlod_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "tetlod",
    .component = "TetLodModel",
    .help = "deformable body on tetrahedral levels of detail that refine and coarsen while it moves",
    .def_size = sizeof(PliTetLodDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_TETS,
              .least = 1,
              .most = 8,
              .file = "filenames",
              .link = "levels",
              .missing = "no levels: give filenames=\"coarse.msh ... fine.msh\" or levels=\"@loader0 ... @loaderN\"" },
    .adaptive = true,
    .refuses =
        "fallbackFilenames fallbackLevels fallbackLaw denseRegions poissonRegions", // it has levels; masses are volumes
    .accurate = true,
    .create = create,
};
