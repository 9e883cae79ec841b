/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SCENE_H
#define PLI_SCENE_H

// The scene graph of the embedded host: nodes, components, and their data, which may be linked to data of other components.
// Reading a linked value looks at its source at that moment, and an engine's output is recomputed when one of its inputs has a
// new version: the lazy update of SOFA, without copies.

#include "host/graph/scene_xml.h"
#include <pliant/attributes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliScene PliScene;
typedef struct PliNode PliNode;
typedef struct PliObject PliObject;
typedef struct PliData PliData;
typedef struct PliClass PliClass;

static inline bool pli_is_input(const PliAttribute *row) { return row->role == PLI_IN || row->role == PLI_IN_OUT; }

/// What a component is for others that look for one in their context. Bits.
enum {
    PLI_ROLE_STATE = 1,
    PLI_ROLE_TOPOLOGY = 2,
    PLI_ROLE_LOADER = 4,
    PLI_ROLE_MASS = 8,
    PLI_ROLE_FORCE = 16,
    PLI_ROLE_CONSTRAINT = 32,
    PLI_ROLE_MAPPING = 64,
    PLI_ROLE_ODE = 128,
    PLI_ROLE_LINEAR = 256,
    PLI_ROLE_MODEL = 512,
    PLI_ROLE_TOOL = 1024,
    PLI_ROLE_EVENT = 2048, ///< has begin or end
    PLI_ROLE_LOOP = 4096,
    PLI_ROLE_VISUAL = 8192,
    PLI_ROLE_ENGINE = 16384
};

struct PliData {
    const PliAttribute *row;
    PliObject *owner;
    PliData *source;  ///< linked to, or NULL
    const char *text; ///< as the scene wrote it, or NULL
    bool set;         ///< given by the scene, or linked
    bool lent;        ///< `real` belongs to the component
    double *real;     ///< numbers, when the kind is numeric
    PliIndex *index;  ///< indices, when the kind is PLI_INDICES
    size_t count, capacity;
    PliObject **link; ///< PLI_LINK, PLI_LINKS: resolved
    uint64_t version; ///< grows with every change of the value
};

struct PliObject {
    const PliClass *cls;
    PliNode *node;
    PliObject *next; ///< in the node
    const char *name;
    PliXml *xml;
    PliData *data;
    int data_count;
    void *self;    ///< the component's own struct, cls->ops->size bytes, zeroed
    uint64_t seen; ///< sum of the input versions at the last update
    bool busy;     ///< being updated: a loop of links
    bool stale;    ///< the owner asks for an update at the next read
    bool ready;    ///< init has run
};

struct PliNode {
    PliScene *scene;
    const char *name;
    PliNode *parent, *first, *last, *next;
    PliObject *first_object, *last_object;
    PliXml *xml;
    bool active;
    bool skipped; ///< its state is outside the profile, and that is allowed: nothing in it or below it is read
};

// ---- reports -----------------------------------------------------------------------------------------------------------

typedef enum PliSeverity { PLI_NOTE, PLI_WARNING, PLI_UNSUPPORTED_PART, PLI_MISSING_FILE, PLI_MALFORMED } PliSeverity;
typedef struct PliFinding {
    PliSeverity severity;
    const char *file;
    int line;
    char component[64];
    char text[400];
} PliFinding;

/// What reading a scene found, in the order of the file.
typedef struct PliFindings {
    PliFinding *finding;
    size_t count, capacity;
    size_t dropped; ///< beyond the first 10,000
} PliFindings;
void pli_finding_add(PliScene *scene, PliSeverity severity, const PliXml *at, const char *component, const char *format,
                     ...) PLI_PRINTF(5, 6);
const char *pli_severity_name(PliSeverity severity);
PliSeverity pli_findings_worst(const PliFindings *report);
/// The worst of what was found, as one sentence.
PliStatus pli_scene_refuse(const PliScene *scene, PliStatus status, PliError *err);

// ---- the scene -----------------------------------------------------------------------------------------------------------

typedef struct PliOverride {
    const char *path, *value; ///< "@path.attribute" and its new text
} PliOverride;

/// Start from pli_scene_default().
typedef struct PliSceneDef {
    bool allow_unsupported; ///< skip what is outside the profile and mark every output degraded
    bool warn_visual;       ///< report visual-only components too
    bool graph_only;        ///< stop when links are resolved: nothing is loaded or initialised
    const char *root;       ///< sandbox: no file outside this directory is opened; NULL: no limit
    const char *data_path; ///< more directories for files, separated by ':', searched after the scene's own; NULL: none
    const PliOverride *overrides;
    int override_count;
    const char *output; ///< directory of files that components write; NULL: as their names say
    double dt;          ///< > 0 replaces the scene's time step
} PliSceneDef;
PliSceneDef pli_scene_default(void);

struct PliScene {
    PliHost host;
    PliSceneDef def;
    PliXmlDocument *doc;
    PliNode *root;
    PliFindings report;
    const char *path; ///< of the scene file
    double dt, gravity[3], time;
    uint64_t step;
    bool degraded;
    bool refused; ///< some component is outside the profile
    // blocks that live as long as the scene
    struct PliSceneBlock {
        void *block;
        size_t bytes;
    } * block;
    size_t block_count, block_capacity, bytes;
    PliObject **object; ///< all of them, in the order of the graph (node by node, depth first)
    size_t object_count, object_capacity;
    void *run; ///< the step loop's own data (simulation.c)
};

/// Reads a scene, makes the graph, resolves links, loads meshes and initialises every component. What was found is in
/// scene->report also on failure. Returns NULL only without memory; `*status` says how it went:
/// PLI_OK, PLI_BAD_FILE (malformed, or a file is missing: see the report), PLI_UNSUPPORTED.
PliScene *pli_scene_load(const PliHost *host, const char *path, const PliSceneDef *def, PliStatus *status);
/// The same from text; `path` gives the directory of relative files and the name in messages.
PliScene *pli_scene_parse(const PliHost *host, const char *text, size_t bytes, const char *path, const PliSceneDef *def,
                          PliStatus *status);
void pli_scene_destroy(PliScene *scene); ///< NULL is fine

/// Zeroed memory for the life of the scene. Never in a step. NULL without memory.
void *pli_scene_alloc(PliScene *scene, size_t count, size_t size);
#define PLI_SCENE_NEW(scene, count, type) ((type *)pli_scene_alloc((scene), (count), sizeof(type)))
const char *pli_scene_format(PliScene *scene, const char *format, ...) PLI_PRINTF(2, 3); ///< text that lives as long
/// Full name of a file named by a scene element: relative to the element's file, then the data path. NULL: reported.
/// Where a component's output file goes. Returns `path`.
const char *pli_scene_output(const PliScene *scene, const char *name, char *path, size_t size);
const char *pli_scene_file(PliScene *scene, const PliXml *at, const char *component, const char *name);

// ---- looking around ----------------------------------------------------------------------------------------------------

/// "@path" seen from an object (may be NULL) in a node: fills the object or the node it leads to. false: it leads nowhere.
bool pli_scene_follow(PliNode *from, PliObject *self, const char *path, size_t length, PliObject **object,
                      PliNode **node);
PliObject *pli_node_find(PliNode *node, unsigned roles);                  ///< first in this node, or NULL
PliObject *pli_context_find(PliNode *node, unsigned roles);               ///< this node, then its ancestors
PliObject *pli_subtree_find(PliNode *node, unsigned roles);               ///< this node, then its children, depth first
const char *pli_object_path(const PliObject *o, char *text, size_t size); ///< "/node/object"

// ---- data ----------------------------------------------------------------------------------------------------------------

PliData *pli_data(const PliObject *o, const char *name); ///< aliases too; NULL when the component has no such attribute
bool pli_is_set(const PliObject *o, const char *name);
/// Values; a component asks only for attributes of its own table rows, so the name always exists.
double pli_real(PliObject *o, const char *name);
bool pli_bool(PliObject *o, const char *name);
int pli_int(PliObject *o, const char *name);
void pli_vec3(PliObject *o, const char *name, double value[3]);
const char *pli_text(PliObject *o, const char *name);                   ///< "" when none
const double *pli_reals(PliObject *o, const char *name, size_t *count); ///< numbers, not points; follows links
const PliIndex *pli_indices(PliObject *o, const char *name, size_t *count);
PliObject *pli_link(PliObject *o, const char *name); ///< NULL when not set
const double *pli_data_reals(PliData *d, size_t *count);
const PliIndex *pli_data_indices(PliData *d, size_t *count);
/// Outputs: copies into the data's own memory (grown when needed).
PliStatus pli_set_reals(PliObject *o, const char *name, const double *value, size_t count);
PliStatus pli_set_indices(PliObject *o, const char *name, const PliIndex *value, size_t count);
/// The array stays the component's; touch it after changing what is behind.
void pli_lend_reals(PliObject *o, const char *name, double *value, size_t count);
static inline void pli_touch(PliData *d) { d->version++; }
/// Room for `count` indices or numbers without changing the value, so that a later set does not allocate.
PliStatus pli_reserve_data(PliData *d, size_t count);

#ifdef __cplusplus
}
#endif
#endif
