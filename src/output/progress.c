/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/progress.h"

#include <stdio.h>
#include <unistd.h>

void pli_progress(int done, int total, const char *text)
{
    enum { WIDTH = 24 };
    if (!isatty(STDERR_FILENO)) return;
    if (!text) {
        fputs("\r\033[K", stderr);
        return;
    }
    const int filled = total > 0 ? done * WIDTH / total : 0;
    fputs("\r\033[K[", stderr);
    for (int k = 0; k < WIDTH; ++k) fputc(k < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %d/%d %.60s", done, total, text);
    fflush(stderr);
}
