/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MODEL_FILES_H
#define PLI_MODEL_FILES_H

// How a scene gives the files of one body to a model of any scheme.

#include <pliant/registry.h>

#include "mesher/make.h"
#include "output/file.h"

/// Files beside the scene: level_0.msh (coarsest) and so on, and surface.obj.
typedef struct PliModelFiles {
    int levels;
    PliIndex base_points;             ///< of the surface of the coarsest level; 0: that surface itself is the base
    double width;                     ///< m, longest side of the body
    double coarse_size;               ///< m, sides of the coarsest level
    double thin;                      ///< m, what most of the body is at least as thick as
    bool own_forms;                   ///< no accuracy for schemes that would fall back on tetrahedra to keep it
    unsigned takes[PLI_MOST_SCHEMES]; ///< bit k: scheme i takes attribute k of those that were tried
} PliModelFiles;

/// False: no memory.
bool pli_model_files_find(const PliHost *host, const PliMesh *surface, const PliMade *made, PliModelFiles *files);
/// The scheme is made from meshes of a body.
bool pli_model_takes_files(const PliSchemeInfo *scheme);
/// ` filename="..." ...`: attributes that give the files to a model, and the number of cells or points where the scheme's default does
/// not fit this body. The skin is the surface, so that all schemes can be compared.
void pli_model_attributes_write(PliText *t, const PliSchemeInfo *scheme, const PliModelFiles *files);

/// An attribute that is written for the schemes that take it.
typedef struct PliWish {
    const char *text; ///< ` name="value"`
    /// ` name="value" name`: what follows for a scheme that has to fall back on tetrahedra to keep an accuracy, before the names of the
    /// levels. NULL: nothing.
    const char *fallback;
} PliWish;
void pli_wish_write(PliText *t, const PliSchemeInfo *scheme, const PliModelFiles *files, const PliWish *wish);

#define PLI_BETWEEN_FILE "between.msh"
/// Writes the levels and surface.obj into a folder, and the mesh between two levels where there is one.
PliStatus pli_model_files_write(const PliHost *host, const char *folder, const PliMesh *surface, const PliMade *made,
                                const PliMesh *between, PliError *err);
/// Makes a body of every scheme from the files in a folder, with another base where a scheme cannot make its own, and notes which of
/// `count` wishes (16 at most) it takes. What a scheme refuses without them is one line of `said`. Ends early after Ctrl-C.
void pli_model_files_try(const PliHost *host, const char *folder, PliModelFiles *files, const PliWish *wish, int count,
                         PliText *said);
/// The same as pli_model_files_write, and for every scheme NAME.scn, in which a body of it falls freely.
PliStatus pli_free_scenes_write(const PliHost *host, const char *folder, const PliMesh *surface, const PliMade *made,
                                PliModelFiles *files, PliText *said, PliError *err);

#endif
