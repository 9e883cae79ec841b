/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/frames.h>
#include <pliant/registry.h>

#include "base/memory.h"
#include "base/vec.h"

PliFramesDef pli_frames_default(void)
{
    PliFramesDef d = {
        .base = pli_body_default(),
        .resolution = 32,
        .frame_count = 16,
        .lloyd_iterations = 10,
        .shape = PLI_FRAMES_LINEAR,
        .support = 1.6,
        .material_aware = true,
        .linearity = 1e-4,
        .mass_blend = 1e-3,
        .merge = true,
        .merge_linearity = 0.02,
        .metric = PLI_METRIC_KINETIC,
        .polish = 60,
    };
    d.base.integrator = PLI_IMPLICIT;
    d.base.order = 2;
    d.base.linear_solver = PLI_SOLVE_AUTO;
    d.base.cg_tolerance = 1e-7;
    d.base.cg_iterations = 400;
    d.base.criterion.kind = PLI_BY_VELOCITY;
    d.base.criterion.threshold = 1e-4;
    d.base.criterion.coarsen = 0.25;
    d.base.criterion.hold = 10;
    d.base.criterion.interval = 0.0;
    return d;
}

static void defaults(void *def) { *(PliFramesDef *)def = pli_frames_default(); }

static const PliAttribute rows[] = {
    { "filename", PLI_FILE, .help = "mesh file: a closed surface, or tetrahedra" },
    { "mesh", PLI_LINK, .help = "loader or topology with triangles, quads or tetrahedra, instead of filename" },
    { "anchors", PLI_POINTS,
      .help = "m, frames at given places, for ends that are held or loaded; the others spread between them" },
    { "anchorLevels", PLI_INDICES, .help = "level of each anchor; default: the first is the root (0), the others 1" },
    { "levelFrames", PLI_INDICES,
      .help = "frames up to and including each level, rising from 1 to frames; default: a geometric series" },
    { "stiffnessFactors", PLI_REALS, .help = "on youngModulus, one for each tetrahedron" },
    { "densityFactors", PLI_REALS, .help = "on density, one for each tetrahedron" },
    { "position", PLI_POINTS, .role = PLI_OUT,
      .help = "m, rest values of all coefficients: three columns and an origin a frame" },
    { "places", PLI_POINTS, .role = PLI_OUT,
      .help = "m, where the frame of each coefficient is: BoxROI or SphereROI on it choose whole frames to hold" },
    { "anchorDofs", PLI_INDICES, .role = PLI_OUT,
      .help = "coefficients of the anchored frames, four each, in the order of anchors" },
    { "frames", PLI_INT, .slide = { 0.25, 4.0, false }, PLI_FIELD(PliFramesDef, frame_count),
      .help = "number of frames" },
    { "levelCount", PLI_INT, PLI_FIELD(PliFramesDef, level_count),
      .help = "levels of the frames, 1 .. 8; 0: from their number" },
    { "resolution", PLI_INT, .slide = { 0.5, 2.0, false }, PLI_FIELD(PliFramesDef, resolution),
      .help = "voxels along the longest side, when voxelSize is 0" },
    { "voxelSize", PLI_REAL, PLI_FIELD(PliFramesDef, voxel_size), .help = "m, edge of a voxel; 0: from resolution" },
    { "lloydIterations", PLI_INT, PLI_FIELD(PliFramesDef, lloyd_iterations),
      .help = "passes that spread the frames evenly" },
    { "shape", PLI_OPTION, .options = "linear smooth", PLI_FIELD(PliFramesDef, shape),
      .help = "weights of the frames: linear for slender bodies, smooth for blobs" },
    { "support", PLI_REAL, PLI_FIELD(PliFramesDef, support),
      .help = "smooth weights: radius over the distance to neighbouring frames, 1 .. 3" },
    { "materialAware", PLI_BOOL, PLI_FIELD(PliFramesDef, material_aware),
      .help = "distances between frames grow where the material is soft" },
    { "regions", PLI_INT, PLI_FIELD(PliFramesDef, regions), .help = "most integration regions; 0: eight a frame" },
    { "linearity", PLI_REAL, PLI_FIELD(PliFramesDef, linearity),
      .help = "regions split until this share of the gradients is not linear" },
    { "antilock", PLI_OPTION, .options = "auto on off", PLI_FIELD(PliFramesDef, antilock),
      .help = "softer volume change inside regions, against locking in bending" },
    { "massBlend", PLI_REAL, PLI_FIELD(PliFramesDef, mass_blend),
      .help = "share of lumped mass in the mass matrix, in (0, 1]" },
    { "merge", PLI_BOOL, PLI_FIELD(PliFramesDef, merge), .help = "merge integration regions while running" },
    { "mergeLinearity", PLI_REAL, PLI_FIELD(PliFramesDef, merge_linearity),
      .help = "as linearity, for merged regions" },
    { "metric", PLI_OPTION, .options = "kinetic camera region minimum", PLI_FIELD(PliFramesDef, metric),
      .help = "what weighs the motion a frame would add: kinetic energy, fading away from point (camera), outside "
              "radius (region), or the least" },
    { "referenceEnergy", PLI_REAL, PLI_FIELD(PliFramesDef, reference_energy),
      .help = "J, the threshold is a fraction of it; 0: the peak kinetic energy so far" },
    { "growth", PLI_REAL, PLI_FIELD(PliFramesDef, growth),
      .help =
          "s until one more frame may be active, from one at the start (registration: coarse to fine); 0: no limit" },
    { "polish", PLI_INT, PLI_FIELD(PliFramesDef, polish),
      .help = "bodies of up to so many frames relax to equilibrium at rest; 0: none" },
};

// ---- lists of the definition -----------------------------------------------------------------------------------------------------

enum { MAX_LEVELS = 8 };

static PliStatus read_anchors(const PliInputs *in, const PliHost *host, PliFramesDef *def, uint8_t **anchor_level,
                              PliError *err)
{
    const PliValue anchors = pli_input(in, "anchors"), levels = pli_input(in, "anchorLevels");
    def->anchors = anchors.real;
    def->anchor_count = (PliIndex)anchors.count;
    if (levels.count == 0) return PLI_OK;
    if (levels.count != anchors.count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "anchorLevels has %zu values for %zu anchors", levels.count,
                          anchors.count);
    *anchor_level = PLI_NEW(host, anchors.count, uint8_t);
    if (!*anchor_level) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu anchors", anchors.count);
    for (size_t i = 0; i < levels.count; ++i)
        (*anchor_level)[i] = levels.index[i] < 255 ? (uint8_t)levels.index[i] : 255;
    def->anchor_level = *anchor_level;
    return PLI_OK;
}

static PliStatus read_level_frames(const PliInputs *in, PliFramesDef *def, PliError *err)
{
    const PliValue frames = pli_input(in, "levelFrames");
    const size_t n = frames.count;
    if (n == 0) return PLI_OK;
    if (n > MAX_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "levelFrames has %zu levels; at most %d are possible", n, MAX_LEVELS);
    if (pli_input(in, "levelCount").set && def->level_count != (int)n)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "levelFrames has %zu levels and levelCount is %d", n,
                          def->level_count);
    def->level_count = (int)n;
    for (size_t k = 0; k < n; ++k) def->level_frames[k] = frames.index[k];
    if (!pli_input(in, "frames").set) def->frame_count = frames.index[n - 1];
    return PLI_OK;
}

static PliStatus read_factors(const PliInputs *in, const char *name, const double **factors, PliError *err)
{
    const PliValue value = pli_input(in, name);
    if (value.count == 0) return PLI_OK;
    if (value.count != in->mesh[0]->tet_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has %zu values for %u tetrahedra", name, value.count,
                          in->mesh[0]->tet_count);
    *factors = value.real;
    return PLI_OK;
}

static PliBody *create(const PliHost *host, const void *def, const PliInputs *in, PliError *err)
{
    PliFramesDef d = *(const PliFramesDef *)def;
    uint8_t *anchor_level = NULL;
    d.mesh = in->mesh[0];
    PliStatus status = read_anchors(in, host, &d, &anchor_level, err);
    if (!status) status = read_level_frames(in, &d, err);
    if (!status) status = read_factors(in, "stiffnessFactors", &d.tet_stiffness, err);
    if (!status) status = read_factors(in, "densityFactors", &d.tet_density, err);
    PliBody *body = status ? NULL : pli_frames_create(host, &d, err);
    PLI_FREE(host, anchor_level, d.anchor_count);
    return body;
}

// ---- what is published and drawn -------------------------------------------------------------------------------------------------

/// Where the frame of each coefficient is, and which coefficients the anchors have: how a scene names frames.
static size_t output(const PliBody *body, const PliInputs *in, const char *name, double *real, PliIndex *index)
{
    const PliIndex dofs = pli_body_dof_count(body), held = 4 * (PliIndex)pli_input(in, "anchors").count;
    const double *rest = pli_body_rest(body);
    for (size_t i = 0; real && i < dofs; ++i) v3_copy(real + 3 * i, rest + 12 * (i / 4) + 9);
    for (PliIndex i = 0; index && i < held; ++i) index[i] = 4 * pli_frames_anchor(body, i / 4) + i % 4;
    return strcmp(name, "places") == 0 ? 3 * (size_t)dofs : held;
}

/// Columns of the active frames, from their origins. Their own length is the size of their region, which would hide the picture.
static PliIndex axes(const PliBody *body, const double *x, PliLine *line, PliIndex capacity)
{
    const PliActive active = pli_body_active(body);
    PliIndex count = 0;
    for (PliIndex i = 0; i < active.count; ++i) {
        if (active.dof[i] % 4 != 3) continue;
        const double *frame = x + 12 * (size_t)(active.dof[i] / 4), *origin = frame + 9;
        for (int c = 0; c < 3; ++c, ++count) {
            if (count >= capacity) continue;
            line[count].colour = (PliLineColour)(PLI_LINE_X + c);
            v3_copy(line[count].from, origin);
            for (int k = 0; k < 3; ++k) line[count].to[k] = origin[k] + 0.35 * frame[3 * c + k];
        }
    }
    return count;
}

static const PliOverlay overlays[] = {
    { "Frames", "Axes of the active frames, stretched and sheared as they are", axes },
};

const PliSchemeInfo pli_frames_scheme = {
    .abi = PLI_SCHEME_ABI,
    .name = "frames",
    .component = "FramesModel",
    .help = "deformable body of affine frames that switch on and off by velocity",
    .def_size = sizeof(PliFramesDef),
    .defaults = defaults,
    .attributes = PLI_GROUP(rows),
    .mesh = { .kind = PLI_MESH_SOLID_OR_SURFACE,
              .least = 1,
              .most = 1,
              .file = "filename",
              .link = "mesh",
              .cells = "resolution",
              .missing = "no mesh: give filename=\"...\" or mesh=\"@loader\", a closed surface or tetrahedra" },
    .adaptive = true,
    .refuses = "courant multirate poissonRegions", // explicit steps; samples have one ratio
    .create = create,
    .output = output,
    .overlays = overlays,
    .overlay_count = 1,
    .anchors = "anchors",
};
