/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PROGRESS_H
#define PLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/// One line that rewrites itself on stderr, only when that is a terminal. text = NULL clears it. After some seconds it says how long
/// it has taken: parts that differ do not tell how long the rest will take.
void pli_progress(int done, int total, const char *text);
/// The same for parts that are alike, such as steps: it says how long the rest will take, about.
void pli_progress_steps(int done, int total, const char *text);

/// How fast equal parts get done. Zeroed before the first.
typedef struct PliPace {
    bool begun;
    double start, mark, rest; ///< s; rest: of the last stretch, per part
    int first, mark_done;
} PliPace;
/// Seconds that the rest will take, at the slower of the pace over all and the pace of late; NaN while too little is known.
double pli_pace_left(PliPace *pace, double now, int done, int total);
/// "40 s", "12 min", "3 h": never more exact than it can be.
void pli_duration_text(double seconds, char *text, size_t size);

#endif
