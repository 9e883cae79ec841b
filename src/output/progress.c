/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/timer.h"

static const double soon = 3.0, stretch = 2.0; // s

double pli_pace_left(PliPace *p, double now, int done, int total)
{
    if (!p->begun || done < p->mark_done) *p = (PliPace){ true, now, now, 0.0, done, done };
    if (now - p->mark >= stretch && done > p->mark_done) {
        p->rest = (now - p->mark) / (done - p->mark_done);
        p->mark = now, p->mark_done = done;
    }
    if (done <= p->first || now - p->start < soon) return NAN;
    const double all = (now - p->start) / (done - p->first);
    return (total - done) * fmax(all, p->rest);
}

void pli_duration_text(double s, char *text, size_t size)
{
    if (s < 10.0)
        snprintf(text, size, "%.0f s", ceil(s));
    else if (s < 90.0)
        snprintf(text, size, "%.0f s", 10.0 * ceil(s / 10.0));
    else if (s < 5400.0)
        snprintf(text, size, "%.0f min", ceil(s / 60.0));
    else
        snprintf(text, size, "%.0f h", ceil(s / 3600.0));
}

static void print_line(int done, int total, const char *text, const char *time)
{
    enum { WIDTH = 24 };
    const int filled = total > 0 ? done * WIDTH / total : 0;
    fputs("\r\033[K[", stderr);
    for (int k = 0; k < WIDTH; ++k) fputc(k < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %d/%d %.60s%s", done, total, text, time);
    fflush(stderr);
}

static PliPace pace; // of the one line there is

void pli_progress(int done, int total, const char *text)
{
    if (!isatty(STDERR_FILENO)) return;
    if (!text) {
        fputs("\r\033[K", stderr);
        pace = (PliPace){ 0 };
        return;
    }
    char time[64] = "", spent[32];
    const double now = pli_wall_ms() / 1e3;
    if (!pace.begun) pace = (PliPace){ .begun = true, .start = now };
    pli_duration_text(now - pace.start, spent, sizeof spent);
    if (now - pace.start > soon) snprintf(time, sizeof time, ", %s so far", spent);
    print_line(done, total, text, time);
}

void pli_progress_steps(int done, int total, const char *text)
{
    if (!isatty(STDERR_FILENO)) return;
    char time[64] = "", rest[32];
    const double left = pli_pace_left(&pace, pli_wall_ms() / 1e3, done, total);
    pli_duration_text(left, rest, sizeof rest);
    if (isfinite(left)) snprintf(time, sizeof time, ", about %s left", rest);
    print_line(done, total, text, time);
}
