/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/scene_report.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/// The same at the same place: a block that several bodies include is found wanting once for each of them.
static bool was_said(const PliFindings *report, size_t i)
{
    const PliFinding *f = &report->finding[i];
    for (size_t k = 0; k < i; ++k) {
        const PliFinding *g = &report->finding[k];
        if (f->severity == g->severity && f->line == g->line && !f->file == !g->file &&
            (!f->file || strcmp(f->file, g->file) == 0) && strcmp(f->component, g->component) == 0 &&
            strcmp(f->text, g->text) == 0)
            return true;
    }
    return false;
}

int pli_scene_print_findings(const PliFindings *report, PliSeverity least, FILE *out)
{
    int count = 0;
    for (size_t i = 0; i < report->count; ++i) {
        const PliFinding *f = &report->finding[i];
        if (f->severity < least || was_said(report, i)) continue;
        if (f->file && f->line)
            fprintf(out, "%s:%d: ", f->file, f->line);
        else if (f->file)
            fprintf(out, "%s: ", f->file);
        fprintf(out, "%s%s%s%s%s\n", f->component, f->component[0] ? ": " : "",
                f->severity == PLI_WARNING ? "warning: "
                : f->severity == PLI_NOTE  ? "note: "
                                           : "",
                f->severity == PLI_UNSUPPORTED_PART ? "unsupported: " : "", f->text);
        count++;
    }
    if (report->dropped) fprintf(out, "and %zu more\n", report->dropped);
    return count;
}

void pli_scene_findings_json(PliJson *j, const PliFindings *report)
{
    pli_json_begin_array(j, "findings");
    for (size_t i = 0; i < report->count; ++i) {
        const PliFinding *f = &report->finding[i];
        pli_json_begin_object(j, NULL);
        pli_json_string(j, "severity", pli_severity_name(f->severity));
        pli_json_string(j, "file", f->file);
        pli_json_integer(j, "line", f->line);
        pli_json_string(j, "component", f->component);
        pli_json_string(j, "text", f->text);
        pli_json_end(j);
    }
    pli_json_end(j);
}

int pli_scene_exit_code(const PliFindings *report, PliStatus status)
{
    if (status == PLI_OUT_OF_MEMORY) return PLI_EXIT_MEMORY;
    // a scene outside the profile may hold values and files this host cannot judge: that it is outside comes first
    for (size_t i = 0; i < report->count; ++i)
        if (report->finding[i].severity == PLI_UNSUPPORTED_PART) return status ? PLI_EXIT_UNSUPPORTED : PLI_EXIT_OK;
    switch (pli_findings_worst(report)) {
    case PLI_MALFORMED: return PLI_EXIT_BAD_INPUT;
    case PLI_MISSING_FILE: return PLI_EXIT_FILE;
    case PLI_UNSUPPORTED_PART: return PLI_EXIT_UNSUPPORTED;
    default: return status ? PLI_EXIT_BAD_INPUT : PLI_EXIT_OK;
    }
}
