/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Force on a held tool: bodies that step implicitly against the same bodies stepped explicitly, and schemes that are implicit only
// against tools that are stiff springs. The ball on the liver and the plate on the box; worst of both is `force_error`.
#include <math.h>
#include <stdio.h>

#include "base/fold.h"
#include "base/vec.h"
#include "evidence/bench.h"
#include "evidence/press.h"

static bool reference_of(const PliPressDef *d, double force[3], PliError *err)
{
    PliPressDef other = *d;
    if (d->scheme == PLI_PRESS_FRAMES || d->scheme == PLI_PRESS_WAVELET)
        return pli_press_by_springs(&other, force, err);
    other.integrator = PLI_SYMPLECTIC;
    return pli_press_run(&other, force, err);
}

static void implicit(PliBench *b)
{
    double worst = 0.0;
    for (int liver = 1; liver >= 0; --liver)
        for (int s = 0; s < PLI_PRESS_SCHEMES; ++s) {
            PliPressDef def = pli_press_default((PliPressScheme)s, liver);
            def.adapt = s == PLI_PRESS_TETLOD;
            double force[3], expected[3], off[3];
            PliError err = { PLI_OK, "" };
            if (!reference_of(&def, expected, &err) || !pli_press_run(&def, force, &err)) {
                pli_bench_broken(b, "%s: %s", pli_press_name(def.scheme), err.text);
                continue;
            }
            char metric[64];
            v3_sub(off, force, expected);
            const double error = v3_norm(off) / v3_norm(expected);
            worst = pli_max(worst, error);
            snprintf(metric, sizeof metric, "%s_%s_force", liver ? "liver" : "box", pli_press_name(def.scheme));
            pli_bench_report(b, metric, v3_norm(force), "N");
            snprintf(metric, sizeof metric, "%s_%s_error", liver ? "liver" : "box", pli_press_name(def.scheme));
            pli_bench_report(b, metric, error, "");
        }
    pli_bench_report(b, "force_error", worst, "");
}

const PliBenchCase pli_bench_contact_cases[] = {
    { "contact.implicit", "force on a held tool, implicit bodies against explicit ones or stiff springs; worst of 8",
      implicit },
    { 0 },
};
