/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/plot.h"
#include "host/report/report.h"
#include "host/sweep/plan.h"

enum { COLUMNS = 21, SCHEMES = 32 };
enum { SCENE = 1, BODY, SCHEME, PARAMETERS, SEED, STATUS, REASON, ERROR, FORCE = 11, DOFS, MS = 17 };

/// One finished job, as its file says.
typedef struct Row {
    char *line, *field[COLUMNS];
    double error, ms; ///< NaN: it did not finish
} Row;

typedef struct Rows {
    Row *row;
    int count;
    char *heading;
} Rows;

static void free_rows(Rows *r)
{
    for (int k = 0; k < r->count; ++k) free(r->row[k].line);
    free(r->row);
    free(r->heading);
}

static double number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return *text && !*end ? value : NAN;
}

/// The two lines of a result, without their ends; false: there is none, or it is no result.
static bool read_result(const char *path, char **heading, char **line)
{
    size_t room[2] = { 0, 0 };
    FILE *in = fopen(path, "r");
    *heading = *line = NULL;
    const bool good = in && getline(heading, &room[0], in) > 0 && getline(line, &room[1], in) > 0;
    if (in) fclose(in);
    if (good) (*heading)[strcspn(*heading, "\r\n")] = '\0', (*line)[strcspn(*line, "\r\n")] = '\0';
    if (good && strncmp(*heading, "id,", 3) == 0) return true;
    free(*heading);
    free(*line);
    return false;
}

/// Results in the order of the plan; the text of the table on the way.
static PliStatus read_all(const PliSweepPlan *plan, const char *folder, Rows *rows, PliText *table, int *missing,
                          int *failed, PliError *err)
{
    char path[PATH_MAX];
    rows->row = calloc((size_t)plan->count + 1, sizeof *rows->row);
    if (!rows->row) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the results");
    for (int k = 0; k < plan->count; ++k) {
        char *heading, *line;
        if (!read_result(pli_sweep_result_path(folder, plan->job[k].id, path, sizeof path), &heading, &line)) {
            ++*missing;
            continue;
        }
        if (!rows->heading) pli_text_print(table, "%s\n", heading);
        const bool other = rows->heading && strcmp(rows->heading, heading) != 0;
        pli_text_print(table, "%s\n", line);
        Row *row = &rows->row[rows->count++];
        row->line = line;
        const int count = pli_sweep_fields(line, row->field, COLUMNS);
        if (!rows->heading)
            rows->heading = heading;
        else
            free(heading);
        if (other || count != COLUMNS)
            return pli_refuse(err, PLI_BAD_FILE, "%s is a result of another version: remove it and run again", path);
        row->error = number(row->field[ERROR]), row->ms = number(row->field[MS]);
        *failed += strcmp(row->field[STATUS], "ok") != 0;
    }
    return PLI_OK;
}

// ---- the page --------------------------------------------------------------------------------------------------------------

static bool beaten(const Rows *r, const char *scene, const char *seed, int k)
{
    for (int i = 0; i < r->count; ++i) {
        const Row *a = &r->row[i], *b = &r->row[k];
        if (i == k || strcmp(a->field[SCENE], scene) != 0 || strcmp(a->field[SEED], seed) != 0) continue;
        if (a->ms <= b->ms && a->error <= b->error && (a->ms < b->ms || a->error < b->error)) return true;
    }
    return false;
}

static int by_ms(const void *a, const void *b)
{
    const Row *p = *(Row *const *)a, *q = *(Row *const *)b;
    return (p->ms > q->ms) - (p->ms < q->ms);
}

/// Scene and seed of row k, if no earlier row has them.
static bool is_first(const Rows *r, int k)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(r->row[i].field[SCENE], r->row[k].field[SCENE]) == 0 &&
            strcmp(r->row[i].field[SEED], r->row[k].field[SEED]) == 0)
            return false;
    return true;
}

static PliStatus put_front(PliText *t, const Rows *r, const char *scene, const char *seed, PliError *err)
{
    const size_t n = (size_t)r->count + 1;
    double *x = calloc(n * 2, sizeof *x), *y = calloc(n * 2, sizeof *y);
    Row **front = calloc(n, sizeof *front);
    const char *scheme[SCHEMES];
    PliCurve curve[SCHEMES + 1];
    int schemes = 0, curves = 0;
    size_t used = 0, best = 0;
    if (!x || !y || !front) {
        free(x), free(y), free((void *)front);
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the report");
    }
    for (int k = 0; k < r->count; ++k) {
        bool known = false;
        for (int i = 0; i < schemes; ++i) known = known || strcmp(scheme[i], r->row[k].field[SCHEME]) == 0;
        if (!known && schemes < SCHEMES) scheme[schemes++] = r->row[k].field[SCHEME];
    }
    for (int i = 0; i < schemes; ++i) {
        const size_t from = used;
        for (int k = 0; k < r->count; ++k) {
            Row *row = &r->row[k];
            if (strcmp(row->field[SCENE], scene) != 0 || strcmp(row->field[SEED], seed) != 0 ||
                strcmp(row->field[SCHEME], scheme[i]) != 0 || !isfinite(row->error) || !isfinite(row->ms))
                continue;
            x[used] = row->ms, y[used++] = 100.0 * row->error;
            if (!beaten(r, scene, seed, k)) front[best++] = row;
        }
        if (used > from)
            curve[curves++] = (PliCurve){ .label = scheme[i],
                                          .x = x + from,
                                          .y = y + from,
                                          .count = used - from,
                                          .colour = pli_map_series(i),
                                          .mark = PLI_DOTS };
    }
    qsort((void *)front, best, sizeof *front, by_ms);
    for (size_t k = 0; k < best; ++k) x[n + k] = front[k]->ms, y[n + k] = 100.0 * front[k]->error;
    curve[curves++] = (PliCurve){
        .label = "front", .x = x + n, .y = y + n, .count = best, .colour = { 40, 150, 110 }, .mark = PLI_LINE
    };
    const PliPlot plot = { .title = "Error against cost",
                           .x_label = "ms per step (logarithmic)",
                           .y_label = "RMS error, % (logarithmic)",
                           .log_x = true,
                           .log_y = true,
                           .width = 820,
                           .height = 400,
                           .curve = curve,
                           .count = curves };
    pli_plot_svg(t, &plot);
    pli_text_put(t, "<h3>On the front</h3><table><tr><th>body</th><th class=\"left\">parameters</th><th>error</th><th>"
                    "tool force</th><th>ms per step</th><th>DOFs</th></tr>");
    for (size_t k = 0; k < best; ++k) {
        pli_text_put(t, "<tr><td>");
        pli_text_escape(t, front[k]->field[BODY]);
        pli_text_put(t, "</td><td class=\"left\">");
        pli_text_escape(t, front[k]->field[PARAMETERS]);
        const double force = number(front[k]->field[FORCE]);
        pli_text_print(t, "</td><td>%.3g %%</td><td>", 100.0 * front[k]->error);
        if (isfinite(force)) pli_text_print(t, "%.3g %%", 100.0 * force);
        pli_text_print(t, "</td><td>%.3g</td><td>%s</td></tr>", front[k]->ms, front[k]->field[DOFS]);
    }
    pli_text_put(t, "</table>");
    free(x), free(y), free((void *)front);
    return PLI_OK;
}

static PliStatus put_page(PliText *t, const Rows *r, int missing, PliError *err)
{
    pli_text_print(t,
                   "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>Sweep</title><style>%s%s"
                   "</style></head><body><h1>Sweep</h1><p>%d jobs",
                   pli_report_style, pli_plot_style, r->count);
    if (missing) pli_text_print(t, ", %d more have no result yet", missing);
    pli_text_put(t, ". table.csv has every figure of every job.</p>");
    PliStatus status = PLI_OK;
    for (int k = 0; k < r->count && status == PLI_OK; ++k) {
        if (!is_first(r, k)) continue;
        pli_text_put(t, "<h2>");
        pli_text_escape(t, r->row[k].field[SCENE]);
        pli_text_print(t, ", seed %s</h2>", r->row[k].field[SEED]);
        status = put_front(t, r, r->row[k].field[SCENE], r->row[k].field[SEED], err);
    }
    pli_text_put(t, "<h2>Not finished</h2><table>");
    for (int k = 0; k < r->count; ++k) {
        if (strcmp(r->row[k].field[STATUS], "ok") == 0) continue;
        pli_text_put(t, "<tr><td>");
        pli_text_escape(t, r->row[k].field[BODY]);
        pli_text_put(t, "</td><td class=\"left\">");
        pli_text_escape(t, r->row[k].field[PARAMETERS]);
        pli_text_put(t, "</td><td class=\"reason\">");
        pli_text_escape(t, r->row[k].field[REASON]);
        pli_text_put(t, "</td></tr>");
    }
    pli_text_put(t, "</table></body></html>\n");
    return status == PLI_OK && t->failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the report") : status;
}

PliStatus pli_sweep_collect(const PliSweepPlan *plan, const char *folder, int *missing, int *failed, PliError *err)
{
    char path[PATH_MAX];
    Rows rows = { 0 };
    PliText table = { 0 }, page = { 0 };
    *missing = *failed = 0;
    PliStatus status = read_all(plan, folder, &rows, &table, missing, failed, err);
    if (status == PLI_OK && rows.count == 0)
        status = pli_refuse(err, PLI_BAD_FILE, "%s has no results yet: pliant sweep run %s", folder, folder);
    if (status == PLI_OK) status = put_page(&page, &rows, *missing, err);
    snprintf(path, sizeof path, "%s/table.csv", folder);
    if (status == PLI_OK) status = pli_text_write(&table, path, err);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (status == PLI_OK) status = pli_text_write(&page, path, err);
    pli_text_free(&table);
    pli_text_free(&page);
    free_rows(&rows);
    return status;
}
