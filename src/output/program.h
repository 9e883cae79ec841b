/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PROGRAM_H
#define PLI_PROGRAM_H

// Other people's programs: found on the PATH, run with what they say in a log.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

bool pli_program_is_there(const char *name); ///< on the PATH
/// Runs argv[0] in a folder (NULL: here), all it says into `log`. *cpu_ms (may be NULL) is the CPU time it and its children took.
/// @return its exit code, -1: it could not be run, or was stopped
int pli_program_run(char *const argv[], const char *folder, const char *log, double *cpu_ms);
/// Makes a folder for scratch files, $TMPDIR or /tmp/pliant_NAME_XXXXXX.
PliStatus pli_scratch_folder(const char *name, char *folder, size_t size, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
