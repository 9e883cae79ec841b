/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/compare/family.h"
#include "host/compare/figures.h"
#include "host/report/plot.h"

enum { PICTURE_W = 272, PICTURE_H = 208, PLOT_W = 620, PLOT_H = 330, BINS = 40 };

const char pli_report_style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#23262d;background:#fff;margin:0 "
    "auto;max-width:1340px;padding:20px 28px 60px}"
    "h1{font-size:27px;margin:8px 0 2px}h2{font-size:22px;margin:38px 0 6px;border-top:1px solid "
    "#d8dce4;padding-top:22px}h3{font-size:17px;margin:28px 0 6px}"
    "p{max-width:860px}table{border-collapse:collapse;margin:10px 0;font-size:12px;font-variant-numeric:tabular-nums}"
    "th,td{padding:4px 4.5px;text-align:right;border-bottom:1px solid "
    "#e4e7ed;white-space:nowrap}th{font-weight:600;color:#4a5060;vertical-align:bottom}"
    "th:first-child,td:first-child,.left{text-align:left}tr.reference "
    "td{background:#f3f5f9}td.best{background:#dff1ea;font-weight:600}td.doubt{color:#8c3a12;background:#fbeae1;font-"
    "weight:600}.wide{overflow-x:auto}p.doubt{color:#8c3a12;margin:2px 0}"
    "td.reason{white-space:normal;text-align:left;color:#8c3a12;max-width:640px}.soft{color:#666e7e}"
    "figure{margin:0 0 14px}img{display:block;max-width:100%;height:auto;box-sizing:border-box;border:1px solid "
    "#dde1e8;border-radius:4px}"
    ".plots{display:flex;flex-wrap:wrap;gap:8px 24px}"
    ".shots{display:grid;gap:6px 10px;align-items:center;overflow-x:auto}.shots "
    ".who{font-weight:600;overflow-wrap:anywhere;font-size:14px}.shots "
    ".when{color:#666e7e;text-align:center;font-size:13px}"
    ".key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0}.key "
    "span{display:inline-flex;align-items:center;gap:6px;font-size:13px}"
    ".key i{width:14px;height:14px;border-radius:3px;display:inline-block}.key i.bar{width:180px}"
    "code{font:13px ui-monospace,monospace;background:#f3f5f9;padding:2px "
    "5px;border-radius:3px;overflow-wrap:anywhere}";

/// A colour a body keeps in all plots; the reference is dark grey.
static PliColour body_colour(const PliComparison *c, int body)
{
    int index = 0;
    if (body == c->reference) return (PliColour){ 52, 56, 64 };
    for (int k = 0; k < body; ++k) index += k != c->reference;
    return pli_map_series(index);
}

/// Uniform bodies of a large family look alike: pictures and series have the first of them, tables and the cost plot all.
static bool stands_for_others(const PliComparison *c, int body)
{
    int uniform = 0, before = 0;
    for (int k = 0; k < c->count; ++k) {
        uniform += c->outcome[k].uniform;
        before += c->outcome[k].uniform && k < body;
    }
    return !c->outcome[body].uniform || uniform <= 4 || before == 0;
}

static void put_percent(PliText *t, double value)
{
    if (isfinite(value))
        pli_text_print(t, "%.3g %%", 100.0 * value);
    else
        pli_text_put(t, "&ndash;");
}

// ---- the table -------------------------------------------------------------------------------------------------------------

static void put_gain(PliText *t, const PliRival *r)
{
    static const char *const sign[] = { "", "&gt; ", "&lt; " };
    pli_text_put(t, isfinite(r->gain) && strcmp(pli_rival_verdict(r), "wins") == 0 ? "<td class=\"best\">" : "<td>");
    if (isfinite(r->gain))
        pli_text_print(t, "%s%.3g&times;</td>", sign[r->cost_bound], r->gain);
    else
        pli_text_put(t, "&ndash;</td>");
}

static void put_row(PliText *t, const PliComparison *c, const PliOutcome *o)
{
    pli_text_print(t, "<tr%s><td>", o->is_reference ? " class=\"reference\"" : "");
    pli_text_escape(t, o->name);
    pli_text_print(t, "</td><td class=\"left\">%s</td>", o->scheme);
    if (o->verdict != PLI_FINISHED) {
        pli_text_put(t, "<td class=\"reason\" colspan=\"19\">");
        if (o->verdict == PLI_WENT_AWAY) pli_text_print(t, "diverged at t = %.6g s: ", o->stopped_at);
        if (o->verdict == PLI_UNABLE) pli_text_put(t, "cannot do this scene: ");
        pli_text_escape(t, o->reason);
        pli_text_put(t, "</td></tr>\n");
        return;
    }
    if (o->is_reference) {
        pli_text_put(t, "<td class=\"left\" colspan=\"5\">the reference</td>");
    } else {
        const double error[] = { o->error_rms, o->error_max, o->error_hausdorff, o->error_near_tool, o->force_error };
        for (int k = 0; k < 5; ++k) {
            const bool doubt = k == 0 ? error[k] > pli_doubtful_error : k == 4 && error[k] > pli_doubtful_force;
            pli_text_put(t, doubt ? "<td class=\"doubt\">" : k == 0 && o->on_front ? "<td class=\"best\">" : "<td>");
            put_percent(t, error[k]);
            pli_text_put(t, "</td>");
        }
    }
    pli_text_print(t, "<td>%.0f</td><td>%.0f</td><td>%u</td>", o->dofs_mean, o->dofs_max, o->dofs_total);
    pli_text_print(t, "<td>%.3g</td><td>%.3g</td><td>%.3g</td><td%s>%.*f&times;</td>", o->step_ms.median,
                   o->step_ms.p99, o->step_ms.max, o->on_front && !o->is_reference ? " class=\"best\"" : "",
                   o->speedup < 10.0    ? 2
                   : o->speedup < 100.0 ? 1
                                        : 0,
                   o->speedup);
    put_gain(t, &o->rival);
    put_gain(t, &o->force_rival);
    const double drift[] = { o->pop_max, o->energy_drift, o->momentum_drift };
    for (int k = 0; k < 3; ++k) {
        pli_text_put(t, "<td>");
        if (isfinite(drift[k]))
            pli_text_print(t, "%.2g", drift[k]);
        else
            pli_text_put(t, "&ndash;");
        pli_text_put(t, "</td>");
    }
    pli_text_print(t, "<td>%" PRIu64 " / %" PRIu64 "</td><td>%.3g</td></tr>\n", o->refined, o->coarsened,
                   (double)o->bytes / (1024.0 * 1024.0));
    (void)c;
}

static void put_table(PliText *t, const PliComparison *c)
{
    pli_text_put(t, "<div class=\"wide\"><table><tr><th>body</th><th "
                    "class=\"left\">scheme</th><th>error<br/>RMS</th><th>error<br/>max</th><th>Haus-<br/>dorff</th>"
                    "<th>near<br/>the "
                    "tool</th><th>tool<br/>force</th><th>DOFs<br/>mean</th><th>DOFs<br/>max</th><th>DOFs<br/>total</"
                    "th><th>ms/step<br/>median</th>"
                    "<th>ms/step<br/>p99</th><th>ms/step<br/>max</th><th>speed-up</th><th>gain</th><th>force<br/>gain</"
                    "th><th>largest<br/>pop</"
                    "th><th>energy<br/>drift</th><th>momentum<br/>drift</th>"
                    "<th>refined /<br/>coarsened</th><th>MiB</th></tr>\n");
    for (int k = 0; k < c->count; ++k) put_row(t, c, &c->outcome[k]);
    pli_text_put(t, "</table></div>\n");
    pli_text_print(
        t,
        "<p class=\"soft\">Errors are distances on the common surface (%u points, %u triangles) over %u steps of %.6g "
        "s, relative to the "
        "reference's largest displacement, %.4g mm. RMS is over area and time, the others are the largest at any time. "
        "A DOF is one active point with three coordinates. ms: %s. Energy drift: energy that appeared from nowhere "
        "(or, where nothing dissipates, "
        "got lost), over the reference's largest; momentum likewise. Green: nobody is both cheaper and closer. Red: an "
        "error above %g %%, or a tool force above %g %%, is too far off to be believed.</p>\n",
        c->point_count, c->tri_count, c->steps, c->dt, 1e3 * c->largest_displacement,
        c->wall_clock ? "wall time of a step" : "CPU time of a step on one thread", 100.0 * pli_doubtful_error,
        100.0 * pli_doubtful_force);
}

/// Schemes that should not be believed as they are here.
static void put_warnings(PliText *t, const PliComparison *c)
{
    char text[300];
    for (int k = 0; k < c->count; ++k) {
        pli_doubt_sentence(c, &c->outcome[k], text, sizeof text);
        if (!text[0]) continue;
        pli_text_put(t, "<p class=\"doubt\">Warning: ");
        pli_text_escape(t, text);
        pli_text_put(t, ".</p>\n");
    }
}

/// Adaptive bodies against the uniform ones: who wins by how much.
static void put_verdicts(PliText *t, const PliComparison *c)
{
    char text[600];
    pli_family_summary(c, text, sizeof text);
    if (!text[0]) return;
    pli_text_put(t, "<h3>Does it pay?</h3><p><strong>");
    pli_text_escape(t, text);
    pli_text_put(t, "</strong></p><ul>");
    for (int k = 0; k < c->count; ++k) {
        pli_family_sentence(c, &c->outcome[k], text, sizeof text);
        if (!text[0]) continue;
        pli_text_put(t, "<li>");
        pli_text_escape(t, text);
        if (c->outcome[k].form[0]) {
            pli_text_put(t, " At the end it ");
            pli_text_escape(t, c->outcome[k].form);
            pli_text_put(t, ".");
        }
        if (c->outcome[k].steps_text[0] && !pli_family_twin(c, &c->outcome[k])) {
            pli_text_put(t, " It ");
            pli_text_escape(t, c->outcome[k].steps_text);
            pli_text_put(t, ".");
        }
        pli_text_put(t, "</li>");
    }
    pli_text_put(t,
                 "</ul><p class=\"soft\">Gain: cost of a uniform body of equal error over the body's own cost; force "
                 "gain: the same at equal error of the tools' forces. The uniform bodies stand for themselves with "
                 "every mesh, integrator and rate the scene has; between two of them their curve is straight in "
                 "logarithms, beyond its ends only a bound is given.</p>\n");
}

// ---- plots ------------------------------------------------------------------------------------------------------------------

static double cost_of(const PliComparison *c, const PliOutcome *o)
{
    return o->verdict == PLI_FINISHED ? o->total_ms / c->steps : NAN;
}

typedef struct Point {
    double x, y;
    const char *name;
} Point;

static int by_x(const void *left, const void *right)
{
    const Point *a = left, *b = right;
    return a->x < b->x ? -1 : a->x > b->x;
}

/// One dot per body, one line per sweep, and the front.
static PliStatus put_cost_plot(PliText *t, const PliComparison *c)
{
    const size_t n = (size_t)c->count;
    PliCurve *curve = calloc(n + 2, sizeof *curve);
    Point *point = calloc(n + 1, sizeof *point);
    double *xs = calloc((n + 2) * (n + 1), sizeof *xs), *ys = calloc((n + 2) * (n + 1), sizeof *ys);
    const char **names = calloc((n + 2) * (n + 1), sizeof *names);
    bool *used = calloc(n + 1, sizeof *used);
    const bool good = curve && point && xs && ys && names && used;
    int curves = 0;
    const PliFamily family = pli_family_of(c, false);
    double family_error[PLI_FAMILY_MAX];
    for (int k = 0; k < family.count; ++k) family_error[k] = 100.0 * family.error[k];
    if (good && family.count > 1)
        curve[curves++] = (PliCurve){ .label = "uniform bodies at their best",
                                      .x = family.cost,
                                      .y = family_error,
                                      .count = (size_t)family.count,
                                      .colour = { 150, 156, 168 },
                                      .mark = PLI_DASHED };
    for (int k = 0; good && k <= c->count; ++k) { // the last round is the front
        const bool front = k == c->count;
        if (!front && (used[k] || c->outcome[k].is_reference || c->outcome[k].verdict != PLI_FINISHED)) continue;
        size_t count = 0;
        for (int b = front ? 0 : k; b < c->count; ++b) {
            const PliOutcome *o = &c->outcome[b];
            const bool same = b == k || (!front && o->curve[0] && strcmp(o->curve, c->outcome[k].curve) == 0);
            if (o->is_reference || o->verdict != PLI_FINISHED || (front ? !o->on_front : !same)) continue;
            used[b] = true;
            point[count++] = (Point){ cost_of(c, o), 100.0 * o->error_rms, front ? NULL : o->name };
        }
        if (count == 0) continue;
        qsort(point, count, sizeof *point, by_x);
        double *x = xs + (size_t)curves * (n + 1), *y = ys + (size_t)curves * (n + 1);
        const char **name = names + (size_t)curves * (n + 1);
        for (size_t i = 0; i < count; ++i) x[i] = point[i].x, y[i] = point[i].y, name[i] = point[i].name;
        curve[curves++] = (PliCurve){ .label = front ? "Pareto front: nobody is both cheaper and closer" : NULL,
                                      .names = front ? NULL : name,
                                      .x = x,
                                      .y = y,
                                      .count = count,
                                      .colour = front ? (PliColour){ 40, 150, 110 } : body_colour(c, k),
                                      .mark = front       ? PLI_RING
                                              : count > 1 ? PLI_LINE_AND_DOTS
                                                          : PLI_DOTS };
    }
    if (good) {
        const PliPlot plot = { .title = "Every scheme by what it costs and how far it is off",
                               .x_label = "ms per step (mean, logarithmic)",
                               .y_label = "RMS error, % (logarithmic)",
                               .log_x = true,
                               .log_y = true,
                               .width = 2 * PLOT_W,
                               .height = 400,
                               .curve = curve,
                               .count = curves,
                               .line_x = cost_of(c, &c->outcome[c->reference]),
                               .line_label = "cost of the reference" };
        pli_plot_svg(t, &plot);
    }
    free(curve);
    free(point);
    free(xs);
    free(ys);
    free((void *)names);
    free(used);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

typedef enum Series { ERROR, NEAR, DOFS, STEP_MS, ENERGY, BALANCE, FORCE } Series;

/// Fills x and y for one body; room for steps + samples numbers. @return how many
static size_t gather(const PliComparison *c, const PliOutcome *o, Series what, double *x, double *y)
{
    const bool per_step = what == DOFS || what == STEP_MS || what == FORCE;
    const size_t count = per_step ? o->steps : o->samples;
    if ((what == ERROR || what == NEAR) && o->is_reference) return 0;
    if (what == STEP_MS && o->verdict != PLI_FINISHED) return 0;
    for (size_t k = 0; k < count; ++k) {
        x[k] = per_step ? (double)(k + 1) * c->dt : o->time[k];
        switch (what) {
        case ERROR: y[k] = 100.0 * o->rms[k]; break;
        case NEAR: y[k] = 100.0 * o->near_tool[k]; break;
        case DOFS: y[k] = o->active[k]; break;
        case STEP_MS: y[k] = o->ms[k]; break;
        case ENERGY: y[k] = o->elastic[k] + o->kinetic[k]; break;
        case BALANCE: y[k] = o->balance[k]; break;
        case FORCE: {
            double sum = 0.0;
            for (int i = 0; i < 3 * o->tool_count; ++i)
                sum += pow(o->force[k * 3 * (size_t)o->tool_count + (size_t)i], 2.0);
            y[k] = sqrt(sum);
            break;
        }
        }
    }
    return count;
}

static PliStatus put_series(PliText *t, const PliComparison *c, Series what, const char *title, const char *unit,
                            bool log_y)
{
    const size_t room = (size_t)c->steps + 2;
    PliCurve *curve = calloc((size_t)c->count, sizeof *curve);
    double *x = calloc((size_t)c->count * room, sizeof *x), *y = calloc((size_t)c->count * room, sizeof *y);
    const bool good = curve && x && y;
    int curves = 0;
    for (int k = 0; good && k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (o->verdict == PLI_UNABLE || !stands_for_others(c, k)) continue;
        double *to_x = x + (size_t)k * room, *to_y = y + (size_t)k * room;
        const size_t count = gather(c, o, what, to_x, to_y);
        if (count == 0) continue;
        curve[curves++] = (PliCurve){ .label = o->name,
                                      .x = to_x,
                                      .y = to_y,
                                      .count = count,
                                      .colour = body_colour(c, k),
                                      .mark = o->is_reference ? PLI_DASHED : PLI_LINE };
    }
    if (good && curves > 0) {
        const PliPlot plot = { .title = title,
                               .x_label = "time, s",
                               .y_label = unit,
                               .log_y = log_y,
                               .from_zero = !log_y,
                               .width = PLOT_W,
                               .height = PLOT_H,
                               .curve = curve,
                               .count = curves };
        pli_plot_svg(t, &plot);
    }
    free(curve);
    free(x);
    free(y);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

static void put_histograms(PliText *t, const PliComparison *c)
{
    pli_text_put(t, "<h3>Step times</h3><div class=\"plots\">");
    for (int k = 0; k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (o->verdict != PLI_FINISHED || !stands_for_others(c, k)) continue;
        size_t counts[BINS];
        char label[200];
        const double high = o->step_ms.max > 0.0 ? o->step_ms.max : 1.0;
        pli_histogram(o->ms, o->steps, 0.0, high, BINS, counts);
        snprintf(label, sizeof label, "ms per step: median %.3g, p99 %.3g, max %.3g", o->step_ms.median, o->step_ms.p99,
                 o->step_ms.max);
        pli_plot_bars(t, o->name, label, 0.0, high, counts, BINS, body_colour(c, k), 410, 220);
    }
    pli_text_put(t, "</div>\n");
}

static PliStatus put_plots(PliText *t, const PliComparison *c)
{
    pli_text_put(t, "<h3>Error against cost</h3>");
    PliStatus status = put_cost_plot(t, c);
    pli_text_put(t, "<h3>Over time</h3><div class=\"plots\">");
    const bool tools = c->outcome[c->reference].tool_count > 0;
    if (status == PLI_OK) status = put_series(t, c, ERROR, "RMS error", "% of the largest displacement", false);
    if (status == PLI_OK && tools)
        status =
            put_series(t, c, NEAR, "RMS error within two radii of the tool", "% of the largest displacement", false);
    if (status == PLI_OK) status = put_series(t, c, DOFS, "Active DOFs", "DOFs (logarithmic)", true);
    if (status == PLI_OK) status = put_series(t, c, STEP_MS, "Step time", "ms (logarithmic)", true);
    if (status == PLI_OK) status = put_series(t, c, ENERGY, "Elastic and kinetic energy", "J", false);
    if (status == PLI_OK)
        status = put_series(t, c, BALANCE, "Energy that neither tools nor gravity account for",
                            "J, negative: dissipated", false);
    if (status == PLI_OK && tools) status = put_series(t, c, FORCE, "Force on the tool", "N", false);
    pli_text_put(t, "</div>\n");
    if (status == PLI_OK) put_histograms(t, c);
    return status;
}

// ---- pictures ---------------------------------------------------------------------------------------------------------------

static void put_key(PliText *t, const PliComparison *c, PliPictureKind kind)
{
    char hex[8];
    int levels = 0;
    pli_text_put(t, "<div class=\"key\">");
    if (kind == PLI_PICTURE_BY_LEVEL) {
        for (int k = 0; k < c->count; ++k)
            if (c->outcome[k].level_count > levels) levels = c->outcome[k].level_count;
        for (int k = 0; k < levels && levels > 1; ++k) {
            pli_colour_hex(pli_map_level(k), hex);
            pli_text_print(t, "<span><i style=\"background:%s\"></i>level %d%s</span>", hex, k,
                           k == 0            ? ", coarsest"
                           : k == levels - 1 ? ", finest"
                                             : "");
        }
        pli_text_put(t, "<span><i style=\"background:#c4cad4\"></i>one resolution everywhere</span>");
    } else {
        pli_text_put(t, "<span>0 <i class=\"bar\" style=\"background:linear-gradient(90deg");
        for (int k = 0; k <= 10; ++k) {
            pli_colour_hex(pli_map_value(k / 10.0), hex);
            pli_text_print(t, ",%s", hex);
        }
        pli_text_print(t, ")\"></i> %g %% of the reference's largest displacement and above</span>",
                       100.0 * PLI_REPORT_ERROR_SCALE);
    }
    pli_text_put(t, "</div>\n");
}

static PliStatus put_picture(PliText *t, const PliChapter *chapter, int body, int shot, PliPictureKind kind)
{
    const PliOutcome *o = &chapter->comparison->outcome[body];
    if (!o->shot[shot].points) {
        pli_text_put(t, "<div class=\"when\">diverged before</div>");
        return PLI_OK;
    }
    size_t bytes = 0;
    PliPicture *p = pli_report_picture(chapter, body, shot, kind, PICTURE_W, PICTURE_H);
    unsigned char *png = p ? pli_picture_png(p, &bytes) : NULL;
    pli_picture_destroy(p);
    if (!png) return PLI_OUT_OF_MEMORY;
    pli_text_print(t, "<img width=\"%d\" height=\"%d\" alt=\"", PICTURE_W, PICTURE_H);
    pli_text_escape(t, o->name);
    pli_text_print(t, " at %.4g s\" src=\"data:image/png;base64,", o->shot[shot].time);
    pli_text_base64(t, png, bytes);
    pli_text_put(t, "\"/>");
    free(png);
    return PLI_OK;
}

static PliStatus put_pictures(PliText *t, const PliChapter *chapter, PliPictureKind kind)
{
    const PliComparison *c = chapter->comparison;
    const PliOutcome *reference = &c->outcome[c->reference];
    if (reference->shot_count == 0) return PLI_OK;
    pli_text_print(t, "<h3>%s</h3>", kind == PLI_PICTURE_BY_LEVEL ? "Where the resolution is" : "Where the error is");
    put_key(t, c, kind);
    pli_text_print(
        t, "<div class=\"shots\" style=\"grid-template-columns:110px repeat(%d,minmax(120px,%dpx))\"><div></div>",
        reference->shot_count, PICTURE_W);
    for (int s = 0; s < reference->shot_count; ++s)
        pli_text_print(t, "<div class=\"when\">t = %.4g s</div>", reference->shot[s].time);
    PliStatus status = PLI_OK;
    for (int b = 0; b < c->count && status == PLI_OK; ++b) {
        const PliOutcome *o = &c->outcome[b];
        if (o->verdict == PLI_UNABLE || (kind == PLI_PICTURE_BY_ERROR && o->is_reference) || !stands_for_others(c, b))
            continue;
        pli_text_put(t, "<div class=\"who\">");
        pli_text_escape(t, o->name);
        pli_text_put(t, "</div>");
        for (int s = 0; s < reference->shot_count && status == PLI_OK; ++s)
            status = put_picture(t, chapter, b, s, kind);
    }
    pli_text_put(t, "</div>\n");
    return status;
}

// ---- how to repeat it ----------------------------------------------------------------------------------------------------------

static void put_runs(PliText *t, const PliComparison *c)
{
    pli_text_put(t, "<h3>Runs</h3><table><tr><th>body</th><th class=\"left\">parameters</th><th>timed "
                    "runs</th><th>slowest / fastest run</th><th>wall / CPU time</th>"
                    "<th class=\"left\">same result every time</th><th class=\"left\">state hash</th></tr>\n");
    for (int k = 0; k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (o->verdict != PLI_FINISHED) continue;
        pli_text_put(t, "<tr><td>");
        pli_text_escape(t, o->name);
        pli_text_put(t, "</td><td class=\"left\">");
        pli_text_escape(t, o->parameters[0] ? o->parameters : "as in the scene");
        pli_text_print(t, "</td><td>%d%s</td><td>", o->timed_runs, o->timed_with_evidence ? ", while measuring" : "");
        if (o->timed_runs > 1)
            pli_text_print(t, "%.2f", o->run_high / o->run_low);
        else
            pli_text_put(t, "&ndash;");
        pli_text_print(
            t, "</td><td>%.2f</td><td class=\"left\">%s</td><td class=\"left\"><code>%016" PRIx64 "</code></td></tr>\n",
            o->busy,
            o->timed_with_evidence ? "ran once"
            : o->repeatable        ? "yes"
                                   : "NO",
            o->hash);
    }
    pli_text_put(t, "</table>\n");
    if (c->outcome[c->reference].recorded[0])
        pli_text_print(t,
                       "<p class=\"soft\">The reference did not run this time: its motion and its times are those of a "
                       "recording of %s, made by the same program from the same scene and meshes on this kind of "
                       "processor. <code>--no-cache</code> runs it again.</p>\n",
                       c->outcome[c->reference].recorded);
}

static PliStatus put_chapter(PliText *t, const PliChapter *chapter)
{
    pli_text_put(t, "<h2>");
    pli_text_escape(t, chapter->title);
    pli_text_put(t, "</h2>\n<p class=\"soft\">Scene <code>");
    pli_text_escape(t, chapter->scene);
    pli_text_put(t, "</code></p>\n");
    if (chapter->note && chapter->note[0]) {
        pli_text_put(t, "<p>");
        pli_text_escape(t, chapter->note);
        pli_text_put(t, "</p>\n");
    }
    put_table(t, chapter->comparison);
    put_warnings(t, chapter->comparison);
    put_verdicts(t, chapter->comparison);
    PliStatus status = put_pictures(t, chapter, PLI_PICTURE_BY_LEVEL);
    if (status == PLI_OK) status = put_pictures(t, chapter, PLI_PICTURE_BY_ERROR);
    if (status == PLI_OK) status = put_plots(t, chapter->comparison);
    put_runs(t, chapter->comparison);
    return status;
}

PliStatus pli_report_html(const PliReportDef *def, PliText *t)
{
    PliStatus status = PLI_OK;
    pli_text_put(t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
                    "content=\"width=device-width\"/><title>Pliant: side by side</title><style>");
    pli_text_put(t, pli_report_style);
    pli_text_put(t, pli_plot_style);
    pli_text_put(t, "</style></head><body>\n<h1>Side by side</h1>\n<p>One load, every scheme. Each body ran alone, "
                    "with the same surface, load, time step and tool path as the "
                    "reference, and is measured against it.</p>\n");
    for (int k = 0; k < def->count && status == PLI_OK; ++k) status = put_chapter(t, &def->chapter[k]);
    pli_text_put(t, "<h2>To repeat it</h2>\n<p><code>");
    pli_text_escape(t, def->command);
    pli_text_put(t, "</code></p>\n<table>");
    for (int k = 0; k < def->fact_count; ++k) {
        pli_text_put(t, "<tr><td>");
        pli_text_escape(t, def->facts[k].name);
        pli_text_put(t, "</td><td class=\"left\">");
        pli_text_escape(t, def->facts[k].value);
        pli_text_put(t, "</td></tr>\n");
    }
    pli_text_put(t, "</table>\n<p class=\"soft\">Errors, DOFs and hashes are the same in every run of the same build; "
                    "times vary with the machine, and their spread is in the tables.</p>\n</body></html>\n");
    return t->failed ? PLI_OUT_OF_MEMORY : status;
}
