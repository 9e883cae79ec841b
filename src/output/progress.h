/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PROGRESS_H
#define PLI_PROGRESS_H

/// One line that rewrites itself on stderr, only when that is a terminal. text = NULL clears it.
void pli_progress(int done, int total, const char *text);

#endif
