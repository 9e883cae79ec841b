/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MACHINE_H
#define PLI_MACHINE_H

#include "output/json.h"

/// What a measurement was made on.
typedef struct PliMachine {
    char cpu[128];
    long cores;
    const char *simd, *compiler, *flags, *version;
} PliMachine;
PliMachine pli_machine(void);
void pli_machine_json(PliJson *j); ///< "machine": {...}

#endif
