/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/words.h"
#include "host/components/components.h"
#include "host/stock/stock.h"

#include <pthread.h>
#include <string.h>

// The profile: every component and attribute the embedded host knows, with its SOFA v26.06 default. The reader, `pliant list`,
// `pliant check`, the documentation and the tests all read these rows; there is no second list.

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))
#define GROUP(id, ...)                                                                                                 \
    static const PliAttribute id##_rows[] = { __VA_ARGS__ };                                                           \
    static const PliAttributeGroup id = { id##_rows, COUNT(id##_rows) };
#define IN(n, k, v, h)                                                                                                 \
    {                                                                                                                  \
        .name = n, .kind = k, .value = v, .help = h                                                                    \
    }
#define OPTION(n, v, o, h)                                                                                             \
    {                                                                                                                  \
        .name = n, .kind = PLI_OPTION, .value = v, .options = o, .help = h                                             \
    }
#define OUT(n, k, h)                                                                                                   \
    {                                                                                                                  \
        .name = n, .kind = k, .role = PLI_OUT, .help = h                                                               \
    }
#define VIS(n)                                                                                                         \
    {                                                                                                                  \
        .name = n, .kind = PLI_TEXT, .support = PLI_VISUAL_ONLY, .help = "display only"                                \
    }
#define APX(n, k, v, h, r)                                                                                             \
    {                                                                                                                  \
        .name = n, .kind = k, .support = PLI_APPROXIMATED, .value = v, .help = h, .reason = r                          \
    }
#define NOT(n, k, v, r)                                                                                                \
    {                                                                                                                  \
        .name = n, .kind = k, .support = PLI_NOT_SUPPORTED, .value = v, .help = "", .reason = r                        \
    }
#define SAME(n, as)                                                                                                    \
    {                                                                                                                  \
        .name = n, .role = PLI_ALIAS, .help = as                                                                       \
    }

static const char late[] = "outside what the embedded host does";
static const char hidden[] = "internal vector of SOFA; the host computes its own";

// ---- rows every component has ------------------------------------------------------------------------------------------
GROUP(base, IN("name", PLI_TEXT, NULL, "name, for links; default: class name and a number"),
      IN("template", PLI_TEXT, NULL, "degrees of freedom; Vec3 only"),
      IN("src", PLI_TEXT, NULL, "component whose equally named data is linked"),
      IN("printLog", PLI_TEXT, NULL, "accepted, has no effect"),
      IN("listening", PLI_TEXT, NULL, "accepted, has no effect"), IN("tags", PLI_TEXT, NULL, "accepted, has no effect"),
      IN("bbox", PLI_TEXT, NULL, "accepted, has no effect"), IN("help", PLI_TEXT, NULL, "comment"),
      IN("componentState", PLI_TEXT, NULL, "accepted, has no effect"))

// ---- graph, loop, plugins ------------------------------------------------------------------------------------------------
GROUP(node_rows, IN("dt", PLI_REAL, "0.01", "s, time step; counts on the root"),
      IN("gravity", PLI_VEC3, "0 -9.81 0", "m/s2; counts on the root, as SOFA copies the root's to every node"),
      IN("time", PLI_REAL, "0", "s, start time"),
      IN("activated", PLI_BOOL, "1", "0: the node and its children do nothing"), VIS("animate"),
      VIS("showBoundingTree"), VIS("showVisualModels"), VIS("showBehaviorModels"), VIS("showCollisionModels"),
      VIS("showMappings"), VIS("showForceFields"), VIS("showWireFrame"), VIS("showNormals"),
      VIS("showBoundingCollisionModels"), VIS("showInteractionForceFields"), VIS("showMechanicalMappings"),
      VIS("multiThreadSimulation"), VIS("depend"), NOT("sleeping", PLI_BOOL, "0", late), VIS("canChangeSleepingState"))
GROUP(plugin_rows, IN("pluginName", PLI_TEXT, NULL, "plugin; stock modules and Pliant are known"), VIS("suffixMap"),
      VIS("stopAfterFirstNameFound"), VIS("stopAfterFirstSuffixFound"), VIS("requireOne"), VIS("requireAll"),
      VIS("loadedPlugins"))
GROUP(loop_rows, VIS("parallelODESolving"), VIS("targetNode"), VIS("computeBoundingBox"))

// ---- loaders, topologies ---------------------------------------------------------------------------------------------------
GROUP(loader_rows, IN("filename", PLI_FILE, NULL, "mesh file"), IN("translation", PLI_VEC3, "0 0 0", "m, applied last"),
      IN("rotation", PLI_VEC3, "0 0 0", "degrees, about x, then y, then z"),
      IN("scale3d", PLI_VEC3, "1 1 1", "factors, applied first"), IN("scale", PLI_REAL, "1", "factor on scale3d"),
      IN("transformation", PLI_REALS, NULL, "4x4 matrix, replaces the other three"),
      IN("flipNormals", PLI_BOOL, "0", "reverse triangles and quads"),
      IN("triangulate", PLI_BOOL, "0", "split quads into triangles"), NOT("onlyAttachedPoints", PLI_BOOL, "0", late),
      OUT("position", PLI_POINTS, "m, points"), OUT("edges", PLI_INDICES, "2 indices each"),
      OUT("triangles", PLI_INDICES, "3 indices each"), OUT("quads", PLI_INDICES, "4 indices each"),
      OUT("tetrahedra", PLI_INDICES, "4 indices each"), OUT("hexahedra", PLI_INDICES, "8 indices each"),
      SAME("tetras", "tetrahedra"), SAME("hexas", "hexahedra"))
GROUP(gmsh_rows, IN("createSubelements", PLI_BOOL, "0", "add the edges, triangles and quads of larger cells"))
GROUP(obj_rows, IN("createSubelements", PLI_BOOL, "0", "add the edges, triangles and quads of larger cells"),
      VIS("handleSeams"), VIS("loadMaterial"), VIS("computeMaterialFaces"), VIS("defaultMaterial"), VIS("material"),
      VIS("materials"))
GROUP(stl_rows, IN("createSubelements", PLI_BOOL, "0", "add the edges, triangles and quads of larger cells"),
      VIS("headerSize"), VIS("forceBinary"),
      NOT("mergePositionUsingMap", PLI_BOOL, "1", "equal points of an STL file are always merged"))
GROUP(cell_rows, IN("position", PLI_POINTS, NULL, "m, points"), IN("edges", PLI_INDICES, NULL, "2 indices each"),
      IN("triangles", PLI_INDICES, NULL, "3 indices each"), IN("quads", PLI_INDICES, NULL, "4 indices each"),
      IN("tetrahedra", PLI_INDICES, NULL, "4 indices each"), IN("hexahedra", PLI_INDICES, NULL, "8 indices each"),
      SAME("points", "position"), SAME("lines", "edges"), SAME("tetras", "tetrahedra"), SAME("hexas", "hexahedra"),
      VIS("drawEdges"), VIS("drawTriangles"), VIS("drawQuads"), VIS("drawTetrahedra"), VIS("drawHexahedra"), VIS("uv"),
      VIS("texcoords"), VIS("computeAllBuffers"))
GROUP(mesh_topology_rows, IN("filename", PLI_FILE, NULL, "mesh file, read as by the loader of its type"))
GROUP(container_rows, IN("filename", PLI_FILE, NULL, "mesh file, read as by the loader of its type"),
      VIS("checkTopology"), VIS("checkConnexity"),
      IN("nbPoints", PLI_INT, "0", "number of points when there is no position"), VIS("createTriangleArray"),
      VIS("createQuadArray"))
GROUP(topology_map_rows, IN("input", PLI_LINK, NULL, "topology to start from; default: the one above"),
      IN("output", PLI_LINK, NULL, "topology to fill; default: the one of the node"))
GROUP(tetra2triangle_rows, IN("flipNormals", PLI_BOOL, "0", "reverse the triangles"),
      IN("noInitialTriangles", PLI_BOOL, "0", "1: leave the output empty"), VIS("noNewTriangles"),
      IN("modifier", PLI_LINK, NULL, "accepted: topologies do not change"))
GROUP(hexa2tetra_rows,
      IN("swapping", PLI_BOOL, "0", "1: mirror the split from cell to cell of a grid, so that neighbours meet"))
GROUP(modifier_rows, VIS("propagateToDOF"), VIS("removeIsolated"))
GROUP(geometry_rows, VIS("showIndicesScale"), VIS("showPointIndices"), VIS("tagMechanics"),
      IN("topology", PLI_LINK, NULL, "topology container"), VIS("showEdgeIndices"), VIS("drawEdges"),
      VIS("drawColorEdges"), VIS("showTriangleIndices"), VIS("drawTriangles"), VIS("drawColorTriangles"),
      VIS("drawNormals"), VIS("drawNormalLength"), VIS("recomputeTrianglesOrientation"), VIS("flipNormals"),
      VIS("showTetrahedraIndices"), VIS("drawTetrahedra"), VIS("drawScaleTetrahedra"), VIS("drawColorTetrahedra"),
      VIS("showTetrasIndices"), VIS("drawTetra"), VIS("drawTetrahedron"), VIS("showQuadIndices"), VIS("drawQuads"),
      VIS("showHexaIndices"), VIS("drawHexahedra"))
GROUP(grid_rows, IN("n", PLI_REALS, "2 2 2", "points along x, y, z"), IN("nx", PLI_INT, NULL, "points along x"),
      IN("ny", PLI_INT, NULL, "points along y"), IN("nz", PLI_INT, NULL, "points along z"),
      IN("min", PLI_VEC3, "0 0 0", "m, lower corner"), IN("max", PLI_VEC3, "1 1 1", "m, upper corner"),
      IN("p0", PLI_VEC3, NULL, "m, first point, instead of min"), IN("cellWidth", PLI_REAL, "0", "m, > 0 chooses n"),
      IN("scale", PLI_REAL, "1", "factor on xmin .. zmax"),
      IN("xmin", PLI_REAL, NULL, "m; all six together replace min and max"), IN("ymin", PLI_REAL, NULL, "m"),
      IN("zmin", PLI_REAL, NULL, "m"), IN("xmax", PLI_REAL, NULL, "m"), IN("ymax", PLI_REAL, NULL, "m"),
      IN("zmax", PLI_REAL, NULL, "m"), IN("computeHexaList", PLI_BOOL, "1", "make hexahedra"),
      IN("computeQuadList", PLI_BOOL, "1", "make quads"),
      IN("computeTriangleList", PLI_BOOL, "1", "make triangles of a flat grid"),
      IN("computeEdgeList", PLI_BOOL, "1", "make edges"), IN("computePointList", PLI_BOOL, "1", "make points"),
      VIS("createTexCoords"), VIS("drawEdges"), VIS("drawTriangles"), VIS("drawQuads"), VIS("drawTetrahedra"),
      VIS("drawHexahedra"), OUT("position", PLI_POINTS, "m, points"), OUT("edges", PLI_INDICES, "2 indices each"),
      OUT("triangles", PLI_INDICES, "3 indices each"), OUT("quads", PLI_INDICES, "4 indices each"),
      OUT("tetrahedra", PLI_INDICES, "none"), OUT("hexahedra", PLI_INDICES, "8 indices each"),
      SAME("hexas", "hexahedra"), SAME("points", "position"))

// ---- state, mass -------------------------------------------------------------------------------------------------------------
GROUP(state_rows, IN("position", PLI_POINTS, NULL, "m; default: the points of the topology in the node"),
      IN("rest_position", PLI_POINTS, NULL, "m; default: position after the transformation"),
      IN("velocity", PLI_POINTS, NULL, "m/s"), IN("reset_position", PLI_POINTS, NULL, "m; state of a reset"),
      IN("reset_velocity", PLI_POINTS, NULL, "m/s"),
      IN("translation", PLI_VEC3, "0 0 0", "m, after rotation and scale"),
      IN("rotation", PLI_VEC3, "0 0 0", "degrees, about x, then y, then z"),
      IN("scale3d", PLI_VEC3, "1 1 1", "factors, first"), IN("scale", PLI_REAL, "1", "factor, replaces scale3d"),
      IN("dx", PLI_REAL, "0", "m, translation along x"), IN("dy", PLI_REAL, "0", "m"), IN("dz", PLI_REAL, "0", "m"),
      IN("sx", PLI_REAL, "1", "scale along x"), IN("sy", PLI_REAL, "1", "scale along y"),
      IN("sz", PLI_REAL, "1", "scale along z"), IN("rx", PLI_REAL, "0", "degrees, rotation about x"),
      IN("ry", PLI_REAL, "0", "degrees"), IN("rz", PLI_REAL, "0", "degrees"),
      IN("translation2", PLI_VEC3, "0 0 0", "m, after the rest position was stored"),
      IN("rotation2", PLI_VEC3, "0 0 0", "degrees, after the rest position was stored"),
      IN("restScale", PLI_REAL, "1", "rest position = restScale x position"),
      IN("size", PLI_INT, "0", "number of points when nothing else gives it"),
      IN("useTopology", PLI_BOOL, "1", "take points from the topology of the node"),
      IN("topology", PLI_LINK, NULL, "topology to take points from"), VIS("showObject"), VIS("showObjectScale"),
      VIS("showIndices"), VIS("showIndicesScale"), VIS("showVectors"), VIS("showVectorsScale"), VIS("drawMode"),
      VIS("showColor"), VIS("reserve"), IN("force", PLI_POINTS, NULL, "N; computed, an initial value has no effect"),
      NOT("externalForce", PLI_POINTS, "", hidden),
      IN("derivX", PLI_POINTS, NULL, "m/s2; computed, an initial value has no effect"),
      IN("free_position", PLI_POINTS, NULL, "m; has no effect without FreeMotionAnimationLoop"),
      IN("free_velocity", PLI_POINTS, NULL, "m/s; has no effect without FreeMotionAnimationLoop"),
      NOT("constraint", PLI_TEXT, "", hidden), NOT("mappingJacobian", PLI_TEXT, "", hidden),
      IN("constraint_velocity", PLI_TEXT, NULL, "has no effect"))
GROUP(mass_rows, NOT("separateGravity", PLI_BOOL, "0", late),
      IN("rayleighMass", PLI_REAL, "0", "Rayleigh damping of this mass, 1/s"), VIS("showGravityCenter"),
      VIS("showAxisSizeFactor"), VIS("showInitialCenterOfGravity"), VIS("showX0"))
GROUP(uniform_mass_rows, IN("totalMass", PLI_REAL, NULL, "kg, shared equally; wins over vertexMass"),
      IN("vertexMass", PLI_REAL, NULL, "kg, each point"),
      IN("indices", PLI_INDICES, NULL, "points that have mass; default: all"),
      NOT("localRange", PLI_REALS, "-1 -1", late),
      NOT("filename", PLI_TEXT, "unused", "rigid mass files are for rigid bodies"), VIS("compute_mapping_inertia"),
      VIS("preserveTotalMass"), IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))

GROUP(element_mass_rows,
      IN("totalMass", PLI_REAL, NULL, "kg, shared by the volume around each point; wins over the others; default 1"),
      IN("massDensity", PLI_REALS, NULL, "kg/m3 (per m2, per m); one value, or one for each element"),
      IN("vertexMass", PLI_REALS, NULL, "kg, each point"),
      IN("topology", PLI_LINK, NULL, "default: the topology of the context"),
      IN("geometryState", PLI_LINK, NULL, "state that measures the elements"))
GROUP(diagonal_mass_rows, IN("computeMassOnRest", PLI_BOOL, "1", "measure elements at rest"),
      NOT("filename", PLI_TEXT, "", "mass files of old SOFA are not read"), SAME("fileMass", "filename"))
GROUP(mesh_matrix_mass_rows, IN("computeMassOnRest", PLI_BOOL, "0", "measure elements at rest"),
      IN("lumping", PLI_BOOL, "0", "1: diagonal mass"),
      NOT("edgeMass", PLI_REALS, "", "edge masses come from the elements"), VIS("printMass"), VIS("graph"))

// ---- regions, constraints ------------------------------------------------------------------------------------------------------
GROUP(roi_rows, IN("position", PLI_POINTS, NULL, "m; default: rest positions of the state, or the loader's points"),
      IN("edges", PLI_INDICES, NULL, "default: of the topology in the node"),
      IN("triangles", PLI_INDICES, NULL, "default: of the topology in the node"),
      IN("quads", PLI_INDICES, NULL, "default: of the topology in the node"),
      IN("tetrahedra", PLI_INDICES, NULL, "default: of the topology in the node"),
      IN("hexahedra", PLI_INDICES, NULL, "default: of the topology in the node"),
      IN("computeEdges", PLI_BOOL, "1", "fill edgeIndices"),
      IN("computeTriangles", PLI_BOOL, "1", "fill triangleIndices"),
      IN("computeQuads", PLI_BOOL, "1", "fill quadIndices"),
      IN("computeTetrahedra", PLI_BOOL, "1", "fill tetrahedronIndices"),
      IN("computeHexahedra", PLI_BOOL, "1", "fill hexahedronIndices"),
      IN("strict", PLI_BOOL, "1", "1: every corner inside; 0: the centre inside"),
      IN("doUpdate", PLI_BOOL, "1", "0: as at the start"), OUT("indices", PLI_INDICES, "points inside"),
      OUT("edgeIndices", PLI_INDICES, "edges inside"), OUT("triangleIndices", PLI_INDICES, "triangles inside"),
      OUT("quadIndices", PLI_INDICES, "quads inside"), OUT("tetrahedronIndices", PLI_INDICES, "tetrahedra inside"),
      OUT("hexahedronIndices", PLI_INDICES, "hexahedra inside"), OUT("pointsInROI", PLI_POINTS, "m, points inside"),
      OUT("edgesInROI", PLI_INDICES, "corners of edges inside"),
      OUT("trianglesInROI", PLI_INDICES, "corners of triangles inside"),
      OUT("quadsInROI", PLI_INDICES, "corners of quads inside"),
      OUT("tetrahedraInROI", PLI_INDICES, "corners of tetrahedra inside"),
      OUT("hexahedraInROI", PLI_INDICES, "corners of hexahedra inside"),
      OUT("nbIndices", PLI_INT, "number of points inside"), OUT("indicesOut", PLI_INDICES, "points outside"),
      OUT("pointsOutROI", PLI_POINTS, "m, points outside"), VIS("drawROI"), VIS("drawPoints"), VIS("drawEdges"),
      VIS("drawTriangles"), VIS("drawQuads"), VIS("drawTetrahedra"), VIS("drawHexahedra"), VIS("drawSize"),
      VIS("drawBoxes"), SAME("quad", "quads"), SAME("computeQuad", "computeQuads"), SAME("quadInROI", "quadsInROI"))
GROUP(box_rows,
      IN("box", PLI_REALS, NULL, "m, boxes of xmin ymin zmin xmax ymax zmax, bounds inside; default 0 0 0 1 1 1"),
      IN("orientedBox", PLI_REALS, NULL, "m, boxes of three points and a depth"))
GROUP(sphere_roi_rows, IN("centers", PLI_POINTS, NULL, "m"),
      IN("radii", PLI_REALS, NULL, "m; one, or one for each centre"), NOT("direction", PLI_VEC3, "0 0 0", late),
      NOT("normal", PLI_VEC3, "0 0 0", late), NOT("edgeAngle", PLI_REAL, "0", late),
      NOT("triAngle", PLI_REAL, "0", late), SAME("angle", "triAngle"), SAME("rest_position", "position"),
      SAME("pointIndices", "indices"), VIS("isVisible"), VIS("drawSphere"))
GROUP(fixed_rows, IN("indices", PLI_INDICES, "0", "points that do not move"),
      IN("fixAll", PLI_BOOL, "0", "1: every point"),
      IN("activate_projectVelocity", PLI_BOOL, "0", "1: their velocity is set to 0 too"), VIS("showObject"),
      VIS("drawSize"), NOT("endTime", PLI_REAL, "-1", late),
      IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))

GROUP(partial_rows, IN("indices", PLI_INDICES, "0", "points that are held"),
      IN("fixAll", PLI_BOOL, "0", "1: every point"), IN("fixedDirections", PLI_REALS, "1 1 1", "0 or 1 for x, y, z"),
      IN("projectVelocity", PLI_BOOL, "0", "1: the held part of the velocity is set to 0 too"),
      VIS("activate_projectVelocity"), VIS("showObject"), VIS("drawSize"), NOT("endTime", PLI_REAL, "-1", late),
      IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))
GROUP(movement_rows, IN("indices", PLI_INDICES, "0", "points that move"),
      IN("keyTimes", PLI_REALS, NULL,
         "s, ascending; outside them the points are free (SOFA with an assembled matrix then moves them wrongly)"),
      IN("movements", PLI_POINTS, NULL, "m, one displacement for each key time"),
      IN("relativeMovements", PLI_BOOL, "1", "0: movements are positions"), VIS("showMovement"),
      NOT("endTime", PLI_REAL, "-1", late),
      IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))

// ---- forces ----------------------------------------------------------------------------------------------------------------------
GROUP(force_rows, IN("rayleighStiffness", PLI_REAL, "0", "Rayleigh damping of this force, s"),
      IN("isCompliance", PLI_TEXT, NULL, "accepted, has no effect"))
GROUP(definite_rows, IN("definite", PLI_BOOL, "1",
                        "leave negative eigenvalues of the elements out of the stiffness: stable under compression and "
                        "contact; 0: the exact derivative"))
GROUP(tetra_fem_rows, IN("youngModulus", PLI_REALS, "5000", "Pa; one value, or one for each element"),
      IN("poissonRatio", PLI_REALS, "0.45", "one value, or one for each element"),
      OPTION("method", "large", "small large polar svd", "small displacements, or corotational by QR, polar or SVD"),
      IN("localStiffnessFactor", PLI_REALS, NULL, "factors on youngModulus, spread over the elements"),
      NOT("updateStiffnessMatrix", PLI_BOOL, "0", late),
      APX("computeGlobalMatrix", PLI_BOOL, "0", "SOFA's own assembly", "same forces, other rounding"),
      SAME("assembling", "computeGlobalMatrix"),
      NOT("plasticMaxThreshold", PLI_REAL, "0", "the embedded host has no plasticity"),
      NOT("plasticYieldThreshold", PLI_REAL, "0.0001", "the embedded host has no plasticity"),
      NOT("plasticCreep", PLI_REAL, "0.9", "the embedded host has no plasticity"),
      IN("topology", PLI_LINK, NULL, "default: the topology of the context"),
      IN("initialPoints", PLI_POINTS, NULL, "SOFA replaces it by the rest position"), VIS("gatherPt"),
      VIS("gatherBsize"), VIS("drawHeterogeneousTetra"), VIS("computeVonMisesStress"), VIS("vonMisesPerElement"),
      VIS("vonMisesPerNode"), VIS("vonMisesStressColors"), VIS("showStressColorMap"), VIS("showStressAlpha"),
      VIS("showVonMisesStressPerNode"), VIS("showVonMisesStressPerNodeColorMap"), VIS("showVonMisesStressPerElement"),
      VIS("showElementGapScale"), VIS("updateStiffness"))

GROUP(corotational_rows, IN("youngModulus", PLI_REALS, "5000", "Pa; one value, or one for each element"),
      IN("poissonRatio", PLI_REALS, "0.45", "one value, or one for each element"),
      OPTION("method", "large", "small large polar",
             "small displacements, or corotational by QR or polar decomposition"),
      IN("localStiffnessFactor", PLI_REALS, NULL, "factors on youngModulus, spread over the elements"),
      NOT("updateStiffnessMatrix", PLI_BOOL, "0", late),
      APX("computeGlobalMatrix", PLI_BOOL, "0", "SOFA's own assembly", "same forces, other rounding"),
      SAME("assembling", "computeGlobalMatrix"), IN("topology", PLI_LINK, NULL, "default: the topology of the context"),
      VIS("tetrahedronInfo"), VIS("drawing"), VIS("drawColor1"), VIS("drawColor2"), VIS("drawColor3"),
      VIS("drawColor4"), VIS("computeVonMisesStress"), VIS("vonMisesPerElement"), VIS("vonMisesPerNode"))
GROUP(constant_rows, IN("indices", PLI_INDICES, NULL, "points; default: all"),
      IN("forces", PLI_POINTS, NULL, "N, one for all or one for each index"),
      IN("totalForce", PLI_VEC3, NULL, "N, shared equally"),
      IN("indexFromEnd", PLI_BOOL, "0", "1: indices count from the last point"), VIS("showArrowSize"), VIS("showColor"),
      IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))
GROUP(springs_rows, IN("points", PLI_INDICES, NULL, "points; default: all"),
      IN("stiffness", PLI_REALS, "100", "N/m, one for all or one for each point"),
      IN("external_rest_shape", PLI_LINK, NULL, "state to be drawn to; default: the own rest position"),
      IN("external_points", PLI_INDICES, NULL, "points of that state"),
      IN("activeDirections", PLI_REALS, "1 1 1", "0 or 1 for x, y, z"),
      IN("recompute_indices", PLI_BOOL, "1", "accepted: indices do not change"), VIS("angularStiffness"),
      NOT("pivot_points", PLI_POINTS, "", "rigid bodies only"), VIS("drawSpring"), VIS("springColor"),
      IN("topology", PLI_LINK, NULL, "accepted, has no effect without topology changes"))
GROUP(plane_rows, IN("normal", PLI_VEC3, "0 1 0", "outward direction, used as given"),
      IN("d", PLI_REAL, "0", "m, plane is n.x = d"), IN("stiffness", PLI_REAL, "500", "N/m, each point"),
      IN("damping", PLI_REAL, "5", "Ns/m2: damping force is v times damping times depth"),
      IN("maxForce", PLI_REAL, "0", "N, > 0 limits the force"),
      IN("bilateral", PLI_BOOL, "0", "1: holds points from both sides"),
      IN("localRange", PLI_REALS, "-1 -1", "first and last point it acts on; -1: all"), VIS("showPlane"),
      VIS("planeColor"), VIS("showPlaneSize"))
GROUP(sphere_rows, IN("center", PLI_VEC3, "0 0 0", "m"), IN("radius", PLI_REAL, "1", "m; keeps points outside"),
      IN("stiffness", PLI_REAL, "500", "N/m, each point"),
      IN("damping", PLI_REAL, "5", "Ns/m2: damping force is v times damping times depth"),
      IN("bilateral", PLI_BOOL, "0", "1: holds points on the sphere"),
      IN("localRange", PLI_REALS, "-1 -1", "first and last point it acts on; -1: all"), VIS("color"), VIS("contacts"))

// ---- solvers ---------------------------------------------------------------------------------------------------------------------
GROUP(implicit_rows, IN("rayleighStiffness", PLI_REAL, "0", "Rayleigh damping by stiffness, s"),
      IN("rayleighMass", PLI_REAL, "0", "Rayleigh damping by mass, 1/s"),
      IN("vdamping", PLI_REAL, "0", "1/s, velocity decays by exp(-dt vdamping)"),
      IN("firstOrder", PLI_BOOL, "0", "1: v = M^-1 f, no inertia"),
      IN("trapezoidalScheme", PLI_BOOL, "0", "1: trapezoidal rule"),
      NOT("solveConstraint", PLI_BOOL, "0", "constraint solvers are outside the profile"), VIS("threadSafeVisitor"),
      VIS("computeResidual"), VIS("residual"),
      IN("linearSolver", PLI_LINK, NULL, "default: the linear solver of the node"), VIS("verbose"))
GROUP(cg_rows, IN("iterations", PLI_INT, "25", "most iterations"),
      IN("tolerance", PLI_REAL, "1e-5", "stop when |r| / |b| is at most this"),
      IN("threshold", PLI_REAL, "1e-5", "stop when |p.Ap| is at most this"),
      IN("warmStart", PLI_BOOL, "0", "1: start from the last solution"), VIS("graph"), VIS("verbose"),
      IN("linearSystem", PLI_LINK, NULL, "accepted, has no effect"), VIS("parallelInverseProduct"),
      VIS("factorizationInvalidation"))

GROUP(explicit_rows, IN("symplectic", PLI_BOOL, "1", "1: positions move with the new velocity"),
      VIS("threadSafeVisitor"),
      IN("linearSolver", PLI_LINK, NULL, "for masses that are not diagonal; default: the linear solver of the node"))
GROUP(direct_rows, IN("linearSystem", PLI_LINK, NULL, "accepted, has no effect"), VIS("parallelInverseProduct"),
      VIS("factorizationInvalidation"), VIS("savingMatrixToFile"), VIS("verbose"), VIS("ordering"),
      VIS("orderingMethod"), VIS("precomputeSymbolicDecomposition"), VIS("L_nnz"), VIS("Fact"), VIS("nbInstances"))

// ---- mappings, display, files ------------------------------------------------------------------------------------------------------
GROUP(mapping_rows, IN("input", PLI_LINK, NULL, "state to follow; default: the one above"),
      IN("output", PLI_LINK, NULL, "state that follows; default: the one of the node"),
      IN("mapForces", PLI_BOOL, "1", "0: nothing acts back on the input"),
      IN("mapMasses", PLI_BOOL, "1", "0: nothing acts back on the input"),
      IN("mapConstraints", PLI_BOOL, "1", "accepted: no Lagrangian constraints"),
      IN("isMechanical", PLI_BOOL, "1", "0: nothing acts back on the input"), VIS("mapMatrices"),
      NOT("applyRestPosition", PLI_BOOL, "0", late))
GROUP(barycentric_rows, IN("useRestPosition", PLI_BOOL, "0", "1: locate points at rest"),
      IN("input_topology", PLI_LINK, NULL, "cells points are embedded in; default: beside the input"),
      IN("output_topology", PLI_LINK, NULL, "accepted, has no effect"), VIS("mapper"))
GROUP(visual_rows, IN("position", PLI_POINTS, NULL, "m"), IN("triangles", PLI_INDICES, NULL, "3 indices each"),
      IN("quads", PLI_INDICES, NULL, "4 indices each"), IN("edges", PLI_INDICES, NULL, "2 indices each"),
      IN("filename", PLI_FILE, NULL, "surface file"), SAME("fileMesh", "filename"),
      IN("topology", PLI_LINK, NULL, "topology to take points from"),
      IN("translation", PLI_VEC3, "0 0 0", "m, after rotation and scale"), IN("rotation", PLI_VEC3, "0 0 0", "degrees"),
      IN("scale3d", PLI_VEC3, "1 1 1", "factors"), IN("scale", PLI_REAL, "1", "factor, replaces scale3d"),
      IN("dx", PLI_REAL, "0", "m"), IN("dy", PLI_REAL, "0", "m"), IN("dz", PLI_REAL, "0", "m"),
      IN("rx", PLI_REAL, "0", "degrees"), IN("ry", PLI_REAL, "0", "degrees"), IN("rz", PLI_REAL, "0", "degrees"),
      VIS("color"), VIS("material"), VIS("texturename"), VIS("vertices"), VIS("normals"), VIS("normal"),
      VIS("restPosition"), VIS("useNormals"), VIS("updateNormals"), VIS("computeTangents"), VIS("updateTangents"),
      VIS("computeTextureCoordinates"), VIS("handleDynamicTopology"), VIS("fixMergedUVSeams"), VIS("keepLines"),
      VIS("texcoords"), VIS("tangents"), VIS("bitangents"), VIS("vertPosIdx"), VIS("vertNormIdx"), VIS("scaleTex"),
      VIS("translationTex"), VIS("putOnlyTexCoords"), VIS("srgbTexturing"), VIS("materials"), VIS("groups"),
      VIS("initRestPositions"), VIS("blendTranslucency"), VIS("premultipliedAlpha"), VIS("writeZTransparent"),
      VIS("alphaBlend"), VIS("depthTest"), VIS("cullFace"), VIS("lineWidth"), VIS("pointSize"), VIS("lineSmooth"),
      VIS("pointSmooth"), VIS("primitiveType"), VIS("blendEquation"), VIS("sfactor"), VIS("dfactor"))
GROUP(exporter_rows, IN("filename", PLI_TEXT, NULL, "first part of the file names; default: the component's name"),
      IN("exportEveryNumberOfSteps", PLI_INT, "0", "0: not while running"),
      IN("exportAtBegin", PLI_BOOL, "0", "write the first state"),
      IN("exportAtEnd", PLI_BOOL, "0", "write the last state"), IN("enable", PLI_BOOL, "1", "0: writes nothing"))
GROUP(vtk_rows, APX("XMLformat", PLI_BOOL, "1", "VTU", "always written as VTU"),
      IN("edges", PLI_BOOL, "1", "write edges when there is nothing larger"),
      IN("triangles", PLI_BOOL, "0", "write triangles"), IN("quads", PLI_BOOL, "0", "write quads"),
      IN("tetras", PLI_BOOL, "0", "write tetrahedra"), IN("hexas", PLI_BOOL, "0", "write hexahedra"),
      APX("pointsDataFields", PLI_TEXT, NULL, "fields", "velocity is always written, others are not"),
      APX("cellsDataFields", PLI_TEXT, NULL, "fields", "not written"),
      IN("overwrite", PLI_BOOL, "0", "1: one file, written again"),
      IN("topology", PLI_LINK, NULL, "default: of the context"),
      IN("mstate", PLI_LINK, NULL, "default: of the context"),
      IN("position", PLI_POINTS, NULL, "accepted: positions of the state are written"))
GROUP(write_state_rows, IN("filename", PLI_TEXT, NULL, "text file"), IN("writeX", PLI_BOOL, "1", "positions"),
      IN("writeX0", PLI_BOOL, "0", "rest positions"), IN("writeV", PLI_BOOL, "0", "velocities"),
      IN("writeF", PLI_BOOL, "0", "forces"),
      IN("time", PLI_REALS, NULL, "s, when to write; with a period, when to start"),
      IN("period", PLI_REAL, NULL, "s; default: every step"), NOT("DOFsX", PLI_INDICES, "0", late),
      NOT("DOFsV", PLI_INDICES, "0", late), NOT("stopAt", PLI_REAL, "0", late), NOT("keperiod", PLI_REAL, "0", late))

// ---- ours: the fields of definitions come from body/attributes.c, models from the registry of schemes --------------------------------------------------------------------
GROUP(model_link, IN("model", PLI_LINK, NULL, "the body; default: the model of this node or above"))
GROUP(solver_rows, OUT("substeps", PLI_INT, "substeps of the last step"),
      OUT("forceUpdates", PLI_INT, "times the other components' forces were gathered in the last step"))
GROUP(surface_rows, OUT("position", PLI_POINTS, "m, rest positions of the skin"),
      OUT("triangles", PLI_INDICES, "3 indices each"),
      OUT("level", PLI_INDICES, "finest level that moves each skin point now, 0 is the coarsest"))
GROUP(adaptive_mapping_rows,
      OPTION("map", "auto", "auto skin embed",
             "skin: the body's skin; embed: any points inside; auto: skin when the points are those"))
GROUP(path_rows, IN("position", PLI_VEC3, "0 0 0", "m, where the tool is (sphere: centre, plane: a point on it)"),
      IN("keyTimes", PLI_REALS, NULL, "s, ascending; empty: it rests"),
      IN("movements", PLI_POINTS, NULL, "m, displacement from position at each key time, linear in between"),
      OUT("force", PLI_VEC3, "N, force on the tool, mean over the last step"))
GROUP(sphere_tool_rows, IN("radius", PLI_REAL, "0.01", "m"))
GROUP(plane_tool_rows, IN("normal", PLI_VEC3, "0 1 0", "outward direction: bodies stay on this side"))
GROUP(piece_contact_rows, OUT("depth", PLI_REAL, "m, deepest contact in the last step"))
GROUP(skin_target_rows, IN("filename", PLI_FILE, NULL, "surface file of the target"),
      IN("target", PLI_LINK, NULL, "loader or topology with the target, instead of filename"),
      OUT("distance", PLI_REAL, "m, RMS distance of the skin from what it is drawn to, in the last step"))
GROUP(monitor_rows, IN("filename", PLI_TEXT, NULL, "CSV file"),
      IN("exportEveryNumberOfSteps", PLI_INT, "1", "steps between lines"))

#define OURS(n, roles_, ops_, defaults_, help_, ...)                                                                   \
    {                                                                                                                  \
        .name = n, .plugin = "Pliant", .roles = roles_, .ops = ops_, .defaults = defaults_, .help = help_, .groups = { \
            &base,                                                                                                     \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define STOCK(n, plugin_, roles_, ops_, help_, ...)                                                                    \
    {                                                                                                                  \
        .name = n, .plugin = plugin_, .roles = roles_, .ops = ops_, .help = help_, .groups = { &base, __VA_ARGS__ }    \
    }
#define VISUAL(n)                                                                                                      \
    {                                                                                                                  \
        .name = n, .plugin = "Sofa.Component.Visual", .support = PLI_VISUAL_ONLY,                                      \
        .help = "display only: accepted and ignored", .groups = {                                                      \
            &base                                                                                                      \
        }                                                                                                              \
    }

static const PliClass table[] = {
    STOCK("Node", "Sofa.Simulation.Core", 0, NULL, "node of the graph", &node_rows),
    STOCK("RequiredPlugin", "Sofa.Simulation.Core", 0, NULL, "plugins the scene needs", &plugin_rows),
    STOCK("DefaultAnimationLoop", "Sofa.Component.AnimationLoop", PLI_ROLE_LOOP, NULL,
          "the step loop, also when absent", &loop_rows),
    STOCK("MeshGmshLoader", "Sofa.Component.IO.Mesh", PLI_ROLE_LOADER, &pli_loader_ops, "reads Gmsh .msh 1, 2, 4",
          &loader_rows, &gmsh_rows),
    STOCK("MeshVTKLoader", "Sofa.Component.IO.Mesh", PLI_ROLE_LOADER, &pli_loader_ops, "reads VTK legacy and VTU",
          &loader_rows, &gmsh_rows),
    STOCK("MeshOBJLoader", "Sofa.Component.IO.Mesh", PLI_ROLE_LOADER, &pli_loader_ops, "reads Wavefront OBJ",
          &loader_rows, &obj_rows),
    STOCK("MeshSTLLoader", "Sofa.Component.IO.Mesh", PLI_ROLE_LOADER, &pli_loader_ops, "reads STL", &loader_rows,
          &stl_rows),
    STOCK("MeshTopology", "Sofa.Component.Topology.Container.Constant", PLI_ROLE_TOPOLOGY, &pli_topology_ops,
          "cells of any kind", &cell_rows, &mesh_topology_rows),
    STOCK("RegularGridTopology", "Sofa.Component.Topology.Container.Grid", PLI_ROLE_TOPOLOGY, &pli_grid_ops,
          "regular grid of points and hexahedra", &grid_rows),
    STOCK("TetrahedronSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY,
          &pli_topology_ops, "tetrahedra", &cell_rows, &container_rows),
    STOCK("TriangleSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY,
          &pli_topology_ops, "triangles", &cell_rows, &container_rows),
    STOCK("TetrahedronSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("TriangleSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("TetrahedronSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("TriangleSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("QuadSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY, &pli_topology_ops,
          "quads", &cell_rows, &container_rows),
    STOCK("EdgeSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY, &pli_topology_ops,
          "edges", &cell_rows, &container_rows),
    STOCK("PointSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY,
          &pli_topology_ops, "points", &cell_rows, &container_rows),
    STOCK("HexahedronSetTopologyContainer", "Sofa.Component.Topology.Container.Dynamic", PLI_ROLE_TOPOLOGY,
          &pli_topology_ops, "hexahedra", &cell_rows, &container_rows),
    STOCK("QuadSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("EdgeSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("PointSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("HexahedronSetTopologyModifier", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: topologies do not change", &modifier_rows),
    STOCK("QuadSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("EdgeSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("PointSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("HexahedronSetGeometryAlgorithms", "Sofa.Component.Topology.Container.Dynamic", 0, NULL,
          "accepted: used by other components of SOFA only", &geometry_rows),
    STOCK("Tetra2TriangleTopologicalMapping", "Sofa.Component.Topology.Mapping", 0, &pli_tetra2triangle_ops,
          "boundary triangles of tetrahedra", &topology_map_rows, &tetra2triangle_rows),
    STOCK("Hexa2TetraTopologicalMapping", "Sofa.Component.Topology.Mapping", 0, &pli_hexa2tetra_ops,
          "six tetrahedra for each hexahedron", &topology_map_rows, &hexa2tetra_rows),
    STOCK("MechanicalObject", "Sofa.Component.StateContainer", PLI_ROLE_STATE, &pli_state_ops,
          "positions and velocities, Vec3", &state_rows),
    STOCK("UniformMass", "Sofa.Component.Mass", PLI_ROLE_MASS, &pli_uniform_mass_ops, "the same mass on every point",
          &mass_rows, &uniform_mass_rows),
    STOCK("DiagonalMass", "Sofa.Component.Mass", PLI_ROLE_MASS, &pli_diagonal_mass_ops, "lumped mass from the elements",
          &mass_rows, &element_mass_rows, &diagonal_mass_rows),
    STOCK("MeshMatrixMass", "Sofa.Component.Mass", PLI_ROLE_MASS, &pli_mesh_matrix_mass_ops,
          "consistent or lumped mass from the elements", &mass_rows, &element_mass_rows, &mesh_matrix_mass_rows),
    STOCK("SphereROI", "Sofa.Component.Engine.Select", PLI_ROLE_ENGINE, &pli_sphere_roi_ops, "what lies in spheres",
          &roi_rows, &sphere_roi_rows),
    STOCK("BoxROI", "Sofa.Component.Engine.Select", PLI_ROLE_ENGINE, &pli_box_roi_ops, "what lies in boxes", &roi_rows,
          &box_rows),
    STOCK("FixedProjectiveConstraint", "Sofa.Component.Constraint.Projective", PLI_ROLE_CONSTRAINT, &pli_fixed_ops,
          "points that do not move", &fixed_rows),
    STOCK("PartialFixedProjectiveConstraint", "Sofa.Component.Constraint.Projective", PLI_ROLE_CONSTRAINT,
          &pli_partial_fixed_ops, "points held in some directions", &partial_rows),
    STOCK("LinearMovementProjectiveConstraint", "Sofa.Component.Constraint.Projective", PLI_ROLE_CONSTRAINT,
          &pli_linear_movement_ops, "points moved along key frames", &movement_rows),
    STOCK("TetrahedralCorotationalFEMForceField", "Sofa.Component.SolidMechanics.FEM.Elastic", PLI_ROLE_FORCE,
          &pli_tetra_corotational_ops, "linear tetrahedra, corotational", &force_rows, &corotational_rows),
    STOCK("ConstantForceField", "Sofa.Component.MechanicalLoad", PLI_ROLE_FORCE, &pli_constant_force_ops,
          "given forces", &force_rows, &constant_rows),
    STOCK("RestShapeSpringsForceField", "Sofa.Component.SolidMechanics.Spring", PLI_ROLE_FORCE, &pli_rest_springs_ops,
          "springs to a rest shape", &force_rows, &springs_rows),
    STOCK("PlaneForceField", "Sofa.Component.MechanicalLoad", PLI_ROLE_FORCE, &pli_plane_force_ops,
          "plane that pushes points out", &force_rows, &plane_rows),
    STOCK("SphereForceField", "Sofa.Component.MechanicalLoad", PLI_ROLE_FORCE, &pli_sphere_force_ops,
          "sphere that pushes points out", &force_rows, &sphere_rows),
    STOCK("TetrahedronFEMForceField", "Sofa.Component.SolidMechanics.FEM.Elastic", PLI_ROLE_FORCE, &pli_tetra_fem_ops,
          "linear tetrahedra, corotational", &force_rows, &tetra_fem_rows),
    STOCK("EulerImplicitSolver", "Sofa.Component.ODESolver.Backward", PLI_ROLE_ODE, &pli_euler_implicit_ops,
          "backward Euler, one linear solve a step", &implicit_rows),
    STOCK("CGLinearSolver", "Sofa.Component.LinearSolver.Iterative", PLI_ROLE_LINEAR, &pli_cg_ops,
          "conjugate gradient, matrix-free", &cg_rows),
    STOCK("EulerExplicitSolver", "Sofa.Component.ODESolver.Forward", PLI_ROLE_ODE, &pli_euler_explicit_ops,
          "explicit Euler, symplectic", &explicit_rows),
    STOCK("SparseLDLSolver", "Sofa.Component.LinearSolver.Direct", PLI_ROLE_LINEAR, &pli_direct_ops,
          "sparse LDL factorisation", &direct_rows),
    STOCK("EigenSimplicialLDLT", "Sofa.Component.LinearSolver.Direct", PLI_ROLE_LINEAR, &pli_direct_ops,
          "solved by the host's own LDL factorisation", &direct_rows),
    STOCK("EigenSimplicialLLT", "Sofa.Component.LinearSolver.Direct", PLI_ROLE_LINEAR, &pli_direct_ops,
          "solved by the host's own LDL factorisation", &direct_rows),
    STOCK("AMDOrderingMethod", "Sofa.Component.LinearSolver.Ordering", 0, NULL, "accepted: the host orders by AMD",
          NULL),
    STOCK("NaturalOrderingMethod", "Sofa.Component.LinearSolver.Ordering", 0, NULL, "accepted: the host orders by AMD",
          NULL),
    STOCK("COLAMDOrderingMethod", "Sofa.Component.LinearSolver.Ordering", 0, NULL, "accepted: the host orders by AMD",
          NULL),
    STOCK("IdentityMapping", "Sofa.Component.Mapping.Linear", PLI_ROLE_MAPPING, &pli_identity_mapping_ops,
          "the same points", &mapping_rows),
    STOCK("BarycentricMapping", "Sofa.Component.Mapping.Linear", PLI_ROLE_MAPPING, &pli_barycentric_mapping_ops,
          "points embedded in cells", &mapping_rows, &barycentric_rows),
    STOCK("OglModel", "Sofa.GL.Component.Rendering3D", PLI_ROLE_VISUAL, &pli_visual_ops,
          "surface that follows a mapping; not drawn", &visual_rows),
    STOCK("VisualModel", "Sofa.Component.Visual", PLI_ROLE_VISUAL, &pli_visual_ops,
          "surface that follows a mapping; not drawn", &visual_rows),
    STOCK("VTKExporter", "Sofa.Component.IO.Mesh", PLI_ROLE_EVENT, &pli_vtk_exporter_ops, "numbered VTU files",
          &exporter_rows, &vtk_rows),
    STOCK("WriteState", "Sofa.Component.Playback", PLI_ROLE_EVENT, &pli_write_state_ops, "states as text, 17 digits",
          &write_state_rows),
    OURS("AdaptiveSolver", PLI_ROLE_ODE, &pli_adaptive_solver_ops, NULL, "steps a body on its active coefficients only",
         &model_link, &solver_rows),
    OURS("AdaptiveForceField", PLI_ROLE_FORCE, &pli_adaptive_force_ops, NULL,
         "internal forces of a body, for stock solvers", &model_link, &force_rows, &definite_rows),
    OURS("AdaptiveMass", PLI_ROLE_MASS, &pli_adaptive_mass_ops, NULL, "mass and weight of a body, for stock solvers",
         &model_link, &mass_rows),
    OURS("AdaptiveMask", PLI_ROLE_CONSTRAINT, &pli_adaptive_mask_ops, NULL,
         "keeps passive coefficients out of a stock solver", &model_link),
    OURS("AdaptiveMapping", PLI_ROLE_MAPPING, &pli_adaptive_mapping_ops, NULL,
         "coefficients of a body to its skin, or to any points embedded in it", &model_link, &mapping_rows,
         &adaptive_mapping_rows),
    OURS("AdaptiveSurface", PLI_ROLE_TOPOLOGY, &pli_adaptive_surface_ops, NULL,
         "points and triangles of the skin of a body", &model_link, &surface_rows),
    OURS("SphereTool", PLI_ROLE_TOOL, &pli_sphere_tool_ops, pli_tool_defaults,
         "rigid sphere on a given path, felt inside AdaptiveSolver", &model_link, &path_rows, &sphere_tool_rows,
         &pli_tool_attributes),
    OURS("PlaneTool", PLI_ROLE_TOOL, &pli_plane_tool_ops, pli_tool_defaults,
         "rigid half-space, at rest or on a given path, felt inside AdaptiveSolver", &model_link, &path_rows,
         &plane_tool_rows, &pli_tool_attributes),
    OURS("PieceContact", 0, &pli_piece_contact_ops, pli_pieces_defaults,
         "contact between the separate pieces of one body, felt inside AdaptiveSolver", &model_link,
         &piece_contact_rows, &pli_pieces_attributes),
    OURS("SkinTarget", 0, &pli_skin_target_ops, pli_target_defaults,
         "draws the skin of a body to a target surface, felt inside AdaptiveSolver", &model_link, &skin_target_rows,
         &pli_target_attributes),
    OURS("StateMonitor", PLI_ROLE_EVENT, &pli_state_monitor_ops, NULL, "one CSV line per step about a body",
         &model_link, &monitor_rows),
    OURS("StepTimes", PLI_ROLE_EVENT, &pli_step_times_ops, NULL,
         "one CSV line per step: CPU time of the whole process and wall time since the line before", &monitor_rows),
    OURS("ComparisonMonitor", PLI_ROLE_EVENT, &pli_comparison_monitor_ops, NULL,
         "makes a scene a comparison: names the reference the other bodies are measured against",
         &pli_comparison_attributes),
    VISUAL("VisualStyle"),
    VISUAL("DefaultVisualManagerLoop"),
    VISUAL("VisualManagerLoop"),
    VISUAL("BackgroundSetting"),
    VISUAL("LightManager"),
    VISUAL("SpotLight"),
    VISUAL("DirectionalLight"),
    VISUAL("PositionalLight"),
    VISUAL("VisualGrid"),
    VISUAL("LineAxis"),
    VISUAL("InteractiveCamera"),
    VISUAL("RecordedCamera"),
    VISUAL("OglSceneFrame"),
    VISUAL("OglLabel"),
    VISUAL("Visual3DText"),
    VISUAL("ViewerSetting"),
    VISUAL("TrailRenderer"),
    VISUAL("InfoComponent"),
    VISUAL("MouseButtonSetting"),
    VISUAL("AttachBodyButtonSetting"),
    VISUAL("ConstraintAttachButtonSetting"),
    VISUAL("OglViewport"),
    VISUAL("OglGrid"),
    VISUAL("OglLineAxis"),
    VISUAL("MergeVisualModels"),
};

// ---- lookup ------------------------------------------------------------------------------------------------------------------------

// Models come first, as many as there are schemes; one that is registered later gets its class when somebody looks.
static PliClass model_class[2 * PLI_MOST_SCHEMES];
static int model_classes;
static pthread_mutex_t models_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_class(PliClass *c, const PliSchemeInfo *info)
{
    *c = (PliClass){ .name = info->component,
                     .plugin = "Pliant",
                     .roles = PLI_ROLE_MODEL,
                     .help = info->help,
                     .ops = &pli_model_ops,
                     .defaults = info->defaults,
                     .scheme = info,
                     .groups = { &base, &pli_model_attributes } };
    for (int g = 0; g < COUNT(c->groups) - 2; ++g) c->groups[g + 2] = pli_scheme_group(info, g);
}

static int count_models(void)
{
    pthread_mutex_lock(&models_lock);
    while (model_classes < pli_scheme_count() && model_classes < COUNT(model_class)) {
        make_class(&model_class[model_classes], pli_scheme_at(model_classes));
        model_classes++;
    }
    const int count = model_classes;
    pthread_mutex_unlock(&models_lock);
    return count;
}

int pli_profile_count(void) { return count_models() + COUNT(table); }

const PliClass *pli_profile_at(int i)
{
    const int models = count_models();
    if (i < 0 || i >= models + COUNT(table)) return NULL;
    return i < models ? &model_class[i] : &table[i - models];
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; p && (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    return false;
}

const PliClass *pli_profile_find(const char *name)
{
    if (!*name) return NULL;
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i)
        if (strcmp(c->name, name) == 0 || (c->alias && has_word(c->alias, name))) return c;
    return NULL;
}

const PliAttribute *pli_class_row(const PliClass *c, int i)
{
    for (int g = 0; g < COUNT(c->groups) && c->groups[g]; ++g) {
        if (i < c->groups[g]->count) return &c->groups[g]->rows[i];
        i -= c->groups[g]->count;
    }
    return NULL;
}

const PliAttribute *pli_class_attribute(const PliClass *c, const char *name)
{
    // later groups first: a component's own row wins over a shared one
    for (int g = COUNT(c->groups) - 1; g >= 0; --g) {
        const PliAttribute *row = c->groups[g] ? pli_attribute_find(c->groups[g], name) : NULL;
        if (row) return row->role == PLI_ALIAS ? pli_class_attribute(c, row->help) : row;
    }
    return NULL;
}

/// Names that SOFA gave up, where the new one is in the profile (sofa/helper/ComponentChange.cpp of v26.06).
static const struct {
    const char *old, *now, *since;
} renamed[] = {
    { "FixedConstraint", "FixedProjectiveConstraint", "renamed in SOFA v24.06" },
    { "PartialFixedConstraint", "PartialFixedProjectiveConstraint", "renamed in SOFA v24.06" },
    { "LinearMovementConstraint", "LinearMovementProjectiveConstraint", "renamed in SOFA v24.06" },
    { "EulerImplicit", "EulerImplicitSolver", "renamed in SOFA v24.12" },
    { "ImplicitEulerSolver", "EulerImplicitSolver", "renamed in SOFA v24.12" },
    { "ImplicitEuler", "EulerImplicitSolver", "renamed in SOFA v24.12" },
    { "CGSolver", "CGLinearSolver", "renamed in SOFA v24.12" },
    { "ConjugateGradient", "CGLinearSolver", "renamed in SOFA v24.12" },
    { "MeshObjLoader", "MeshOBJLoader", "renamed in SOFA v24.12" },
    { "Mesh", "MeshTopology", "renamed in SOFA v24.12" },
    { "RegularGrid", "RegularGridTopology", "renamed in SOFA v24.12" },
    { "EulerExplicit", "EulerExplicitSolver", "removed in SOFA v20.06" },
    { "EulerSolver", "EulerExplicitSolver", "removed in SOFA v20.06" },
};

static int find_renamed(const char *name)
{
    for (int i = 0; i < COUNT(renamed); ++i)
        if (strcmp(renamed[i].old, name) == 0) return i;
    return -1;
}

const char *pli_profile_nearest(const char *name)
{
    const int old = find_renamed(name);
    if (old >= 0) return renamed[old].now;
    int best = pli_word_tolerance(name) + 1;
    const char *found = NULL;
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        int d = pli_word_distance(name, c->name);
        if (d < best) best = d, found = c->name;
    }
    return found;
}

const char *pli_class_nearest(const PliClass *c, const char *name)
{
    int best = pli_word_tolerance(name) + 1;
    const char *found = NULL;
    const PliAttribute *row;
    for (int i = 0; (row = pli_class_row(c, i)); ++i) {
        int d = pli_word_distance(name, row->name);
        if (d < best) best = d, found = row->name;
    }
    return found;
}

bool pli_profile_knows_plugin(const char *name)
{
    // a scene may require stock modules without using them; the names before v22.06 still stand in many scenes
    static const char *const old[] = { "SofaBase",
                                       "SofaBoundaryCondition",
                                       "SofaCore",
                                       "SofaDeformable",
                                       "SofaEngine",
                                       "SofaExplicitOdeSolver",
                                       "SofaExporter",
                                       "SofaGeneral",
                                       "SofaGraphComponent",
                                       "SofaImplicitOdeSolver",
                                       "SofaLoader",
                                       "SofaMeshCollision",
                                       "SofaMisc",
                                       "SofaObjectInteraction",
                                       "SofaOpenglVisual",
                                       "SofaRigid",
                                       "SofaSimpleFem",
                                       "SofaSparseSolver",
                                       "SofaTopologyMapping",
                                       "SofaUserInteraction",
                                       "SofaValidation" };
    if (strncmp(name, "Sofa.", 5) == 0 || strcmp(name, "Pliant") == 0) return true;
    for (int i = 0; i < COUNT(old); ++i)
        if (strncmp(name, old[i], strlen(old[i])) == 0) return true;
    return false;
}

const char *pli_profile_reason(const char *name)
{
    static const struct {
        const char *part, *reason;
    } why[] = {
        { "Collision", "collision detection is outside the profile; use SphereTool, PlaneTool, PlaneForceField or "
                       "SphereForceField" },
        { "BroadPhase", "collision detection is outside the profile" },
        { "NarrowPhase", "collision detection is outside the profile" },
        { "Intersection", "collision detection is outside the profile" },
        { "LocalMinDistance", "collision detection is outside the profile" },
        { "FreeMotionAnimationLoop", "Lagrangian constraints are outside the profile" },
        { "ConstraintSolver", "Lagrangian constraints are outside the profile" },
        { "ConstraintCorrection", "Lagrangian constraints are outside the profile" },
        { "LagrangianConstraint", "Lagrangian constraints are outside the profile" },
        { "Rigid", "only Vec3 states are in the profile" },
        { "Beam", "only Vec3 states are in the profile" },
        { "Ogl", "display component that others depend on" },
        { "Python", "scripts are outside the profile" },
        { "Controller", "interaction is outside the profile" },
    };
    const int old = find_renamed(name);
    if (old >= 0) return renamed[old].since;
    for (int i = 0; i < COUNT(why); ++i)
        if (strstr(name, why[i].part)) return why[i].reason;
    return "not in the profile (`pliant list` prints it)";
}
