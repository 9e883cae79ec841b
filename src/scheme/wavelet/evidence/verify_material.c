/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Materials by place: bars of two densities and of two ratios against what a hand can work out.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "evidence/verify.h"
#include "scheme/wavelet/evidence/rig.h"

/// So large a sphere is a half-space: all beyond x = `at`.
static void beyond(double at, double value, double out[5])
{
    static const double RADIUS = 1e7;
    const double region[5] = { at + RADIUS, 0.5, 0.5, RADIUS, value };
    memcpy(out, region, sizeof region);
}

/// Three times as heavy beyond the middle: mass, centre of mass, and how far a free one falls.
static void two_densities(PliVerifyResult *r)
{
    double worst = 0.0, region[5];
    beyond(2.0, 3.0, region);
    for (int k = 0; k < 6; ++k) {
        PliWaveletDef d = wavelet_box_def(4, 1, 1, 1.0);
        PliError err = { 0 };
        WaveletRig g;
        d.levels = 1, d.law = (PliWaveletLaw)(k / 2), d.basis = k % 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC;
        d.base.dense_regions = region, d.base.dense_region_count = 1;
        d.base.gravity[1] = -9.81;
        if (!wavelet_rig_open(&g, &d, -1, &err)) {
            pli_verify_broken(r, "%s", err.text);
            return;
        }
        const PliEnergy before = pli_body_energy(g.body, g.x, NULL);
        worst = pli_max(worst, fabs(before.mass / 8000.0 - 1.0));
        worst = pli_max(worst, fabs(before.centre[0] / 2.5 - 1.0));
        bool finite = true;
        for (int step = 0; step < 10 && finite; ++step) finite = pli_body_step(g.body, &g.state, 0.01).finite;
        const PliEnergy after = pli_body_energy(g.body, g.x, NULL);
        const double exact = -9.81 * 0.01 * 0.01 * 55.0;
        worst = pli_max(worst, finite ? fabs((after.centre[1] - before.centre[1]) / exact - 1.0) : NAN);
        wavelet_rig_close(&g);
    }
    pli_verify_at_most(r, 1e-9, worst);
    pli_verify_note(r, "mass, centre and fall of a bar of 4 m, three times as heavy beyond its middle, over the exact "
                       "ones, less one; three laws and two bases");
}

/// Pulled along, the halves get thinner as their ratios say, away from where they meet.
static void two_ratios(PliVerifyResult *r)
{
    static const double RATIO[2] = { 0.1, 0.4 }, PULL = 100.0, YOUNG = 1e5;
    double worst = 0.0, region[5], longer = 0.0;
    beyond(4.0, RATIO[1], region);
    static const struct {
        PliWaveletLaw law;
        PliLaw material;
    } LAWS[] = { { PLI_WAVELET_QUASI_LINEAR, PLI_STVK },
                 { PLI_WAVELET_LINEAR, PLI_STVK },
                 { PLI_WAVELET_NONLINEAR, PLI_STVK },
                 { PLI_WAVELET_NONLINEAR, PLI_COROT },
                 { PLI_WAVELET_NONLINEAR, PLI_NEOHOOKEAN } };
    for (size_t k = 0; k < 2 * sizeof LAWS / sizeof *LAWS; ++k) {
        PliWaveletDef d = wavelet_box_def(8, 1, 1, 1.0);
        PliError err = { 0 };
        WaveletRig g;
        d.levels = 1, d.base.adapt = false;
        d.law = LAWS[k / 2].law;
        if (d.law == PLI_WAVELET_NONLINEAR) d.base.material.law = LAWS[k / 2].material;
        d.basis = k % 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC;
        d.base.material.poisson = RATIO[0];
        d.base.poisson_regions = region, d.base.poisson_region_count = 1;
        if (!wavelet_rig_open(&g, &d, 0, &err)) {
            pli_verify_broken(r, "%s", err.text);
            return;
        }
        const double size[3] = { 8, 1, 1 }, load[3] = { PULL, 0, 0 };
        wavelet_rig_load_face(&g, 8.0, size, load);
        const bool finite = wavelet_rig_settle(&g, 2);
        for (int half = 0; half < 2; ++half) {
            const double low[3] = { 2.0 + 4.0 * half, 0.0, 0.5 }, high[3] = { 2.0 + 4.0 * half, 1.0, 0.5 };
            double p[3], q[3];
            wavelet_rig_place(&g, low, p);
            wavelet_rig_place(&g, high, q);
            const double thinner = 1.0 - (q[1] - p[1]), exact = RATIO[half] * PULL / YOUNG;
            worst = pli_max(worst, finite ? fabs(thinner - exact) * YOUNG / PULL / RATIO[1] : NAN);
        }
        const double a[3] = { 6, 0.5, 0.5 }, b[3] = { 7, 0.5, 0.5 };
        double p[3], q[3];
        wavelet_rig_place(&g, a, p);
        wavelet_rig_place(&g, b, q);
        longer = pli_max(longer, fabs((q[0] - p[0] - 1.0) * YOUNG / PULL - 1.0));
        wavelet_rig_close(&g);
    }
    pli_verify_at_most(r, 1.0, longer < 0.01 ? 100.0 * worst : NAN);
    pli_verify_note(r,
                    "%% of the larger contraction that the halves of a pulled bar are off, ratios 0.1 and 0.4, linear "
                    "laws and three material laws, "
                    "two bases; stretch within %.2f %%",
                    100.0 * longer);
}

const PliVerifyCase pli_verify_wavelet_material_cases[] = {
    { "wavelet", "two_densities", two_densities },
    { "wavelet", "two_ratios", two_ratios },
    { 0 },
};
