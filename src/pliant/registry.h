/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_REGISTRY_H
#define PLIANT_REGISTRY_H

// What each scheme is, as data: names, attributes, the meshes it needs, how its body is made and tuned, what can be drawn of it.
// Hosts, `pliant list`, the window and the SOFA plugin read this table and know no scheme by name. A scheme describes itself in
// its own folder, src/scheme/NAME/info.c, and is registered by one line of src/scheme/schemes.def; one that is built elsewhere
// registers itself when it is loaded (doc/tutorials/write_a_scheme.md).

#include <pliant/attributes.h>
#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Grows when a struct that schemes fill changes. A scheme built against another number is refused.
#define PLI_SCHEME_ABI 8
enum { PLI_MOST_SCHEMES = 32, PLI_MOST_MESHES = 8, PLI_DEF_BYTES = 4096 };

/// The meshes a scheme is made from, and the attributes that give them. All NULL: none.
typedef struct PliMeshNeed {
    PliMeshKind kind;
    int least, most;  ///< how many; most > 1: lists, coarse to fine
    const char *file; ///< attribute with the name of a file, or of several
    const char *link; ///< attribute that leads to a loader or topology, or to several
    const char *own;  ///< attribute with tetrahedra of the model's own `position` (src="@loader" fills both), or NULL
    const char
        *around; ///< PLI_INT attribute: when > 0, a solid or a surface to put cells around is needed instead, or NULL
    const char *cells; ///< PLI_INT attribute: cells along the longest side that the scheme puts into the mesh, or NULL
    const char *base;  ///< PLI_INT attribute: points of the coarse surface the scheme makes from the mesh, or NULL
    const char *missing; ///< sentence when there are fewer than `least`
} PliMeshNeed;

/// Value of an attribute without a field: a list.
typedef struct PliValue {
    bool set;              ///< the scene gave it
    const double *real;    ///< PLI_REALS, PLI_POINTS
    const PliIndex *index; ///< PLI_INDICES
    size_t count;          ///< numbers, points or indices
} PliValue;

/// How a host answers for one component of a scene. What it returns stays valid until the body is made.
typedef struct PliSource {
    void *user;
    bool (*is_set)(void *user, const PliAttribute *row); ///< the scene gave it
    /// Writes the value of a row to its field of the definition.
    PliStatus (*fill)(void *user, const PliAttribute *row, void *def, PliError *err);
    PliValue (*list)(void *user, const PliAttribute *row);
    int (*file_count)(void *user, const PliAttribute *row);
    const char *(*file)(void *user, const PliAttribute *row, int k, PliError *err); ///< a path to open; NULL: refused
    int (*link_count)(void *user, const PliAttribute *row);
    PliStatus (*linked)(void *user, const PliAttribute *row, int k, PliMeshArrays *arrays, PliError *err);
    PliStatus (*own)(void *user, PliMeshArrays *arrays, PliError *err); ///< the component's own position and tetrahedra
    /// Takes what the component publishes. `real` or `index` is NULL, by the kind of the row.
    PliStatus (*publish)(void *user, const PliAttribute *row, const double *real, const PliIndex *index, size_t count,
                         PliError *err);
    void (*look)(void *user, const PliMesh *mesh, int k); ///< at mesh k once the body is made; NULL: nobody wants to
} PliSource;

/// What a scheme is made from, besides its definition.
typedef struct PliInputs {
    const PliMesh *const *mesh; ///< as many as PliMeshNeed says; valid during the call
    int mesh_count;
    const struct PliSchemeInfo *info;
    const PliSource *source;
} PliInputs;
/// Value of a list, by its name; nothing is set when the scheme has no such attribute.
PLI_API PliValue pli_input(const PliInputs *in, const char *name);

/// A line for a viewer to draw: end points in m, and a colour.
typedef enum PliLineColour { PLI_LINE_PLAIN, PLI_LINE_X, PLI_LINE_Y, PLI_LINE_Z } PliLineColour;
typedef struct PliLine {
    double from[3], to[3];
    PliLineColour colour;
} PliLine;
/// Lines of a body besides its surface and its coefficients: axes of frames, edges of cells, springs.
typedef struct PliOverlay {
    const char *name; ///< "Frames", in menus
    const char *help;
    /// Writes up to `capacity` lines of the present state. @return how many there are; never more for one body than at its creation
    PliIndex (*lines)(const PliBody *body, const double *x, PliLine *line, PliIndex capacity);
} PliOverlay;

typedef struct PliSchemeInfo {
    int abi;                      ///< PLI_SCHEME_ABI
    const char *name;             ///< "tetlod": in reports and on the command line
    const char *component;        ///< "TetLodModel": what scenes write
    const char *help;             ///< one line about the component, without a full stop
    size_t def_size;              ///< bytes of the definition, which begins with a PliBodyDef; PLI_DEF_BYTES at most
    void (*defaults)(void *def);  ///< writes the definition that a scene starts from
    PliAttributeGroup attributes; ///< what the scheme adds to PliBodyDef: fields, files, links, lists, outputs
    PliMeshNeed mesh;
    bool adaptive;       ///< false: it has no criterion, and its attributes are refused
    bool accurate;       ///< it follows an accuracy by itself; otherwise one asks for tetrahedra to fall back on
    const char *refuses; ///< attributes of PliBodyDef that mean nothing to it, separated by blanks, or NULL
    PliBody *(*create)(const PliHost *host, const void *def, const PliInputs *in, PliError *err);
    /// NULL: pli_body_retune. `def` is whole; only fields of `running` rows differ from those the body was made with.
    PliStatus (*retune)(PliBody *body, const void *def, PliError *err);
    /// Values of an output: with real and index NULL only how many numbers or indices (points are three numbers). NULL: no outputs.
    size_t (*output)(const PliBody *body, const PliInputs *in, const char *name, double *real, PliIndex *index);
    const PliOverlay *overlays;
    int overlay_count;
    /// PLI_POINTS attribute: rest points at which the scheme puts coefficients, so that a scene can hold them; NULL: those of its meshes
    /// are enough.
    const char *anchors;
} PliSchemeInfo;

PLI_API int pli_scheme_count(void);                              ///< how many there are now
PLI_API const PliSchemeInfo *pli_scheme_at(int i);               ///< NULL behind the last
PLI_API const PliSchemeInfo *pli_scheme_find(const char *name);  ///< by name or component; NULL: there is none
PLI_API const PliSchemeInfo *pli_scheme_of(const PliBody *body); ///< NULL: its scheme was never registered
/// Adds a scheme; `info` must live as long as the program. Not while scenes are read in other threads.
PLI_API PliStatus pli_scheme_register(const PliSchemeInfo *info, PliError *err);

/// Loads a shared object and registers the schemes it has: its function `pli_scheme_plugin`, of the type below, returns them, ended by
/// NULL. Refuses what is no such object, and schemes built for another PLI_SCHEME_ABI. It stays loaded.
PLI_API PliStatus pli_scheme_load(const char *path, PliError *err);
typedef const PliSchemeInfo *const *PliSchemePluginFn(void);
/// The same for a list separated by ':', such as $PLIANT_SCHEMES; NULL and "" are empty lists.
PLI_API PliStatus pli_scheme_load_list(const char *paths, PliError *err);

/// The rows a component of the scheme has, besides what a host adds to every model. NULL behind the last.
PLI_API const PliAttributeGroup *pli_scheme_group(const PliSchemeInfo *info, int i);
PLI_API const PliAttribute *pli_scheme_attribute(const PliSchemeInfo *info, const char *name); ///< NULL: none

/// Makes a body from what a scene says: definition, meshes, lists; then publishes the outputs of the scheme. `def` is the host's,
/// def_size bytes, and is left as the body was made, for pli_scheme_retune.
PLI_API PliBody *pli_scheme_make(const PliSchemeInfo *info, const PliHost *host, const PliSource *source,
                                 const double gravity[3], void *def, PliError *err);
/// Takes over what the scene says now where it may change while running, and refuses a change of anything else.
PLI_API PliStatus pli_scheme_retune(const PliSchemeInfo *info, PliBody *body, const PliSource *source, void *def,
                                    PliError *err);

#ifdef __cplusplus
}
#endif
#endif
