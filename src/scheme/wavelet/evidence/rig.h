/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WAVELET_RIG_H
#define PLI_WAVELET_RIG_H

// Boxes of wavelets with a clamped face and points to pull at: what cases and timings share.

#include <pliant/stages.h>
#include <pliant/wavelet.h>

enum { WAVELET_POINTS = 64 };

typedef struct WaveletRig {
    PliHost host;
    PliBody *body;
    double *x, *v, *f;
    size_t count; ///< coefficients
    PliState state;
    // points held by springs to targets
    PliIndex point_count, first[WAVELET_POINTS + 1], *dof;
    double *weight;
    double rest[WAVELET_POINTS][3], target[WAVELET_POINTS][3], force[3 * WAVELET_POINTS], stiffness[6 * WAVELET_POINTS];
    double spring;      ///< N/m each
    double reaction[3]; ///< N, of all points at the last step
} WaveletRig;

/// A box along x from 0, `cells` of size `h`; clamped: the face x = 0 (axis 0) or z = 0 (axis 2) is held, -1: none. Gravity is off.
PliWaveletDef wavelet_box_def(PliIndex nx, PliIndex ny, PliIndex nz, double h);
bool wavelet_rig_open(WaveletRig *g, const PliWaveletDef *def, int clamped_axis, PliError *err);
void wavelet_rig_close(WaveletRig *g);
/// Adds a point to hold at its rest place for now.
bool wavelet_rig_hold(WaveletRig *g, const double p[3], double spring);
void wavelet_rig_move(WaveletRig *g, const double shift[3]);                   ///< targets: rest places + shift
void wavelet_rig_place(const WaveletRig *g, const double p[3], double out[3]); ///< where the rest point p is now
void wavelet_rig_load_face(WaveletRig *g, double at, const double size[3],
                           const double total[3]); ///< f += force spread over the face x = at, N
bool wavelet_rig_settle(WaveletRig *g, int steps); ///< steps so long that inertia does not count

#endif
