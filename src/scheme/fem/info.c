/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/registry.h>

PliFemDef pli_fem_default(void) { return (PliFemDef){ .base = pli_body_default() }; }

static void defaults(void *def) { *(PliFemDef *)def = pli_fem_default(); }

static const PliAttribute rows[] = {
    { "filename", PLI_FILE, .help = "tetrahedral mesh file (msh, vtk, vtu, mesh)" },
    { "mesh", PLI_LINK,
      .help = "loader or topology with position and tetrahedra (or hexahedra, which are split), instead of filename" },
    { "position", PLI_POINTS, .role = PLI_IN_OUT,
      .help = "m, rest positions of all coefficients; with src, of the mesh" },
    { "tetrahedra", PLI_INDICES, .role = PLI_IN_OUT, .width = 4,
      .help = "tetrahedra of position, when there is no filename (src=\"@loader\" fills both)" },
    { "sparseContact", PLI_BOOL, PLI_FIELD(PliFemDef, sparse_contact),
      .help =
          "tools that are flat or large touch about as many points of a fine skin as nodes carry it, instead of every "
          "point: what bodies with an accuracy do" },
};

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliFemDef d = *(const PliFemDef *)def;
    d.mesh = in->mesh[0];
    return pli_fem_create(host, &d, err);
}

/// The volume, so that exports have it: points are the coefficients, in the order of the mesh.
static size_t output(const PliBody *body, const PliInputs *in, const char *name, double *real, PliIndex *index)
{
    (void)name, (void)real;
    const PliMesh *mesh = in->mesh[0];
    const size_t count = pli_body_dof_count(body) == mesh->point_count ? 4 * (size_t)mesh->tet_count : 0;
    if (index) memcpy(index, mesh->tets, count * sizeof *index);
    return count;
}

const PliSchemeInfo pli_fem_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "fem",
    .component = "FemModel",
    .help = "deformable body of uniform finite elements on one tetrahedral mesh",
    .def_size = sizeof(PliFemDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_TETS,
              .least = 1,
              .most = 1,
              .file = "filename",
              .link = "mesh",
              .own = "tetrahedra",
              .missing = "no mesh: give filename=\"...\", mesh=\"@loader\", or src=\"@loader\" with tetrahedra" },
    .refuses = "spread poissonRegions", // nothing is passive; elements have one ratio
    .create = create,
    .output = output,
};
