/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_RECORD_H
#define PLI_RECORD_H

// What a run leaves behind: a VTU time series with its PVD for every body, and one CSV of numbers per step. Nothing here runs
// inside a step.

#include "host/graph/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliRecordDef {
    const char *directory; ///< made when missing; NULL: nothing is written
    int every;             ///< steps between exported states; 0: only the CSV
} PliRecordDef;

typedef struct PliRecord PliRecord;
/// The scene must be initialised and outlive the record.
PliRecord *pli_record_create(PliScene *scene, const PliRecordDef *def, PliError *err);
/// Before the first step, then after every step with its wall time.
PliStatus pli_record_state(PliRecord *r, double step_ms, PliError *err);
/// Closes the files. The record is gone also on failure.
PliStatus pli_record_close(PliRecord *r, PliError *err);

/// Wall times so far, ms. Zero before the first step.
typedef struct PliRecordTimes {
    uint64_t steps;
    double total, median, p99, max;
} PliRecordTimes;
PliRecordTimes pli_record_times(const PliRecord *r);
int pli_record_body_count(const PliRecord *r);
const char *pli_record_body_file(const PliRecord *r, int i); ///< PVD of a body, or ""
const char *pli_record_csv(const PliRecord *r);              ///< "" when none

#ifdef __cplusplus
}
#endif
#endif
