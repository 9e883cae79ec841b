/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_INTERRUPT_H
#define PLI_INTERRUPT_H

// Ctrl-C, or a request to end: what is under way comes to a good end, and what there is gets written. A second one ends the program
// at once.

#include <stdbool.h>

void pli_interrupt_listen(void);
bool pli_interrupted(void);

#endif
