/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_NEW_SCENE_H
#define PLI_NEW_SCENE_H

// A comparison scene from one surface: every scheme on the same levels, with the same material, held and touched alike.

#include "host/scaffold/model_files.h"
#include "host/scaffold/region.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PliLoad { PLI_POKE, PLI_DRAG, PLI_SQUEEZE } PliLoad;
enum { PLI_LOADS = 3 };
const char *pli_load_name(PliLoad load); ///< "poke": also the name of the scene

typedef struct PliNewScene {
    const PliMesh *surface;
    const PliMade *made;
    const PliMesh *between; ///< between the two finest levels, for one more uniform body; NULL: none
    PliModelFiles *files;
    PliRegionFrame frame;
    PliRegion fix;
    const PliSchemeInfo *scheme[PLI_MOST_SCHEMES]; ///< besides the reference and coarser uniform bodies
    int scheme_count;
    double young, density; ///< Pa, kg/m3
    char title[128];
} PliNewScene;

/// Attributes for the schemes that take them, tried by pli_model_files_try: a law that survives being crushed, and how far a body may
/// be off.
enum { PLI_NEW_SCENE_WISHES = 2 };
extern const PliWish pli_new_scene_wish[PLI_NEW_SCENE_WISHES];
/// Soft tissue for a body of the size of an organ; stiffer with the square of the size, so that all bodies swing as fast.
double pli_usual_young(const PliMesh *surface);
/// Writes LOAD.scn and LOAD.xml, the block all its bodies share, into a folder. `where` is where the load is. `said` gets a line about
/// the tool.
PliStatus pli_new_scene_write(const PliHost *host, const PliNewScene *scene, PliLoad load, const PliRegion *where,
                              const char *folder, PliText *said, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
