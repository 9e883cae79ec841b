/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/registry.h>

#include "base/vec.h"
#include "scheme/springs/springs.h"

static void defaults(void *def) { *(PliSpringsDef *)def = pli_springs_default(); }

static const PliAttribute rows[] = {
    { "filename", PLI_FILE, .help = "mesh file: triangles, or tetrahedra whose boundary is taken" },
    { "mesh", PLI_LINK, .help = "loader or topology, instead of filename" },
    { "position", PLI_POINTS, .role = PLI_OUT,
      .help = "m, rest positions of the vertices of the finest level; those of a level are the first ones" },
    { "basePoints", PLI_INT, .slide = { 0.5, 4.0, false }, PLI_FIELD(PliSpringsDef, base_points),
      .help = "points of the base mesh that is made from a closed surface, whose shape finer levels take up; 0: the "
              "mesh itself is "
              "the base" },
    { "detailLevels", PLI_INT, .slide = { 0.0, 4.0, true }, PLI_FIELD(PliSpringsDef, levels),
      .help = "subdivisions of the base, 0 .. 7" },
    { "open", PLI_BOOL, PLI_FIELD(PliSpringsDef, open),
      .help = "1 accepts a surface with a border, cloth for example" },
    { "volume", PLI_BOOL, PLI_FIELD(PliSpringsDef, volume),
      .help = "0: a closed surface does not resist changes of its volume; it may stay dented or turn inside out" },
    { "thickness", PLI_REAL, PLI_FIELD(PliSpringsDef, thickness),
      .help = "m, of the membrane that the springs stand for; 0: volume over area; an open surface needs one" },
};

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliSpringsDef d = *(const PliSpringsDef *)def;
    d.mesh = in->mesh_count ? in->mesh[0] : NULL;
    return pli_springs_create(host, &d, err);
}

/// As many as the finest level has: those there are not are points.
static PliIndex spring_lines(const PliBody *body, const double *x, PliLine *line, PliIndex capacity)
{
    const PliSprings *s = pli_body_self((PliBody *)body);
    for (PliIndex i = 0; i < s->cut->spring_capacity && i < capacity; ++i) {
        const bool there = i < s->cut->spring_count;
        const PliIndex *e = s->cut->spring + 2 * (size_t)(there ? i : 0);
        v3_copy(line[i].from, x + 3 * (size_t)e[0]);
        v3_copy(line[i].to, x + 3 * (size_t)e[there]);
        line[i].colour = PLI_LINE_PLAIN;
    }
    return s->cut->spring_capacity;
}

static const PliOverlay overlays[] = {
    { "Springs", "springs that are simulated", spring_lines },
};

const PliSchemeInfo pli_springs_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "springs",
    .component = "SpringsModel",
    .help = "surface of masses and springs, refined locally by surface wavelets",
    .def_size = sizeof(PliSpringsDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_SOLID_OR_SURFACE,
              .least = 1,
              .most = 1,
              .file = "filename",
              .link = "mesh",
              .base = "basePoints",
              .missing = "a surface is needed: filename or mesh" },
    .adaptive = true,
    .refuses =
        "law multirate spread stiffRegions denseRegions poissonRegions", // linear springs that tick together; vertices follow by analysis
    .create = create,
    .overlays = overlays,
    .overlay_count = 1,
};
