/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SCENE_REPORT_H
#define PLI_SCENE_REPORT_H

// What `run` and `check` say about a scene, in the same words.

#include "output/json.h"
#include "host/graph/scene.h"

/// One line each, `file:line: Component: text`, from the given severity on. Returns how many.
int pli_scene_print_findings(const PliFindings *report, PliSeverity least, FILE *out);
void pli_scene_findings_json(PliJson *j, const PliFindings *report); ///< "findings": [...]
/// 2 malformed, 3 unsupported, 4 missing file, 6 no memory: the worst that was found.
int pli_scene_exit_code(const PliFindings *report, PliStatus status);

#endif
