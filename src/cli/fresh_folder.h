/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRESH_FOLDER_H
#define PLI_FRESH_FOLDER_H

// A folder of results that appears when everything is in it, or not at all.

#include <pliant/base.h>

typedef struct PliFreshFolder {
    char name[900];     ///< as it will be called
    char scratch[1000]; ///< where the files are written meanwhile; the caller makes it
} PliFreshFolder;

/// Refuses a name that is taken by anything but an empty folder. From here on Ctrl-C is listened for.
/// @return an exit code, after a sentence when it is not 0
int pli_fresh_folder_begin(PliFreshFolder *f, const char *command, const char *name);
/// All is there: the folder gets its name. Refused after Ctrl-C, whenever that was: pli_fresh_folder_report says so.
PliStatus pli_fresh_folder_keep(PliFreshFolder *f, PliError *err);
/// What stopped the work, in one sentence: `err`, or Ctrl-C. @return an exit code
int pli_fresh_folder_report(const PliFreshFolder *f, const char *command, const PliError *err);
/// Removes what was not kept.
void pli_fresh_folder_end(PliFreshFolder *f);

#endif
