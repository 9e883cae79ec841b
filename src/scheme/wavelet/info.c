/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/registry.h>
#include <pliant/wavelet.h>

static void defaults(void *def) { *(PliWaveletDef *)def = pli_wavelet_default(); }

static const PliAttribute rows[] = {
    { "filename", PLI_FILE,
      .help = "mesh file: hexahedra and tetrahedra are the lattice; with resolution, a closed surface or tetrahedra to "
              "put cubes around" },
    { "surface", PLI_FILE,
      .help = "closed surface inside the lattice (of filename, or the box): only what is inside it counts; with "
              "resolution, the mesh itself is meant" },
    { "mesh", PLI_LINK,
      .help = "loader or topology, instead of filename; without both, a box is made from min, max and cells" },
    { "cells", PLI_INDICES, .value = "2 2 2", .help = "cells of the box along x, y and z" },
    { "position", PLI_POINTS, .role = PLI_OUT,
      .help = "m, rest values of all coefficients: vertices of the lattice, details (0), control vertices of finer "
              "levels" },
    { "places", PLI_POINTS, .role = PLI_OUT,
      .help = "m, where each coefficient is: BoxROI or SphereROI on it choose what to hold, details included" },
    { "resolution", PLI_INT, .slide = { 0.5, 2.5, false }, PLI_FIELD(PliWaveletDef, resolution),
      .help = "cubes along the longest side of the mesh, around it; 0: the cells of the mesh are the lattice" },
    { "min", PLI_VEC3, PLI_FIELD(PliWaveletDef, box_min), .help = "m, without a mesh: lowest corner of a box" },
    { "max", PLI_VEC3, PLI_FIELD(PliWaveletDef, box_max), .help = "m, without a mesh: highest corner of the box" },
    { "sharpAngle", PLI_REAL, PLI_FIELD(PliWaveletDef, sharp_angle),
      .help = "degrees; edges of the boundary bent by more stay sharp; 180: none" },
    { "refine", PLI_INT, PLI_FIELD(PliWaveletDef, refine),
      .help = "subdivisions of the lattice before anything else, 0 .. 4" },
    { "detailLevels", PLI_INT, .slide = { 0.0, 3.0, true }, PLI_FIELD(PliWaveletDef, levels),
      .help = "levels of detail, 0 .. 4" },
    { "basis", PLI_OPTION, .options = "cc bswx trilinear", PLI_FIELD(PliWaveletDef, basis),
      .help = "Catmull-Clark, split and average (never singular), or trilinear" },
    { "smooth", PLI_BOOL, PLI_FIELD(PliWaveletDef, smooth),
      .help = "trilinear: skin, and points that are touched, pulled or held, are of the smooth limit of the control "
              "vertices" },
    { "elasticity", PLI_OPTION, .options = "quasiLinear linear nonlinear", PLI_FIELD(PliWaveletDef, law),
      .help = "linear about the shape turned with the body, linear about the rest shape, or the material law" },
    { "tangent", PLI_OPTION, .options = "true rest", PLI_FIELD(PliWaveletDef, tangent),
      .help = "nonlinear: steps are linearised with the true stiffness, or with that at rest, whose factor answers at "
              "once" },
    { "quadrature", PLI_OPTION, .options = "gauss paper", PLI_FIELD(PliWaveletDef, quadrature),
      .help = "linear laws: integrals at Gauss points, or over the tetrahedra of cells subdivided twice, which is too "
              "stiff" },
    { "transition", PLI_OPTION, .options = "offset plain paper", PLI_FIELD(PliWaveletDef, transition),
      .help = "how details switch: force and size fade, or at once, or as oscillators beside the body as the paper has "
              "them "
              "(linear laws)" },
    { "fade", PLI_REAL, PLI_FIELD(PliWaveletDef, fade), .help = "s, length of a transition" },
    { "memory", PLI_REAL, PLI_FIELD(PliWaveletDef, memory),
      .help = "s, over which the largest displacement, which the threshold is a part of, is forgotten" },
};

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliWaveletDef d = *(const PliWaveletDef *)def;
    const PliValue cells = pli_input(in, "cells");
    if (cells.count != 3) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "cells has %zu numbers; a box has them along x, y and z", cells.count);
        return NULL;
    }
    memcpy(d.box_cells, cells.index, sizeof d.box_cells);
    d.mesh = in->mesh_count ? in->mesh[0] : NULL;
    const PliAttribute *row = pli_scheme_attribute(in->info, "surface");
    PliMesh *surface = NULL;
    if (in->source->file_count(in->source->user, row) > 0) {
        const char *path = in->source->file(in->source->user, row, 0, err);
        if (!path || !(surface = pli_mesh_read(host, path, err))) return NULL;
    }
    d.surface = surface;
    PliBody *body = pli_wavelet_create(host, &d, err);
    pli_mesh_destroy(surface);
    return body;
}

static size_t output(const PliBody *body, const PliInputs *in, const char *name, double *real, PliIndex *index)
{
    (void)in, (void)name, (void)index;
    const size_t count = 3 * (size_t)pli_body_dof_count(body);
    if (real) memcpy(real, pli_wavelet_places(body), count * sizeof *real);
    return count;
}

const PliSchemeInfo pli_wavelet_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "wavelet",
    .component = "WaveletModel",
    .help = "deformable body of subdivision wavelets on a control lattice, whose details switch on and off",
    .def_size = sizeof(PliWaveletDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_LATTICE, .most = 1, .file = "filename", .link = "mesh", .around = "resolution" },
    .adaptive = true,
    .refuses = "courant multirate", // explicit steps
    .create = create,
    .output = output,
};
