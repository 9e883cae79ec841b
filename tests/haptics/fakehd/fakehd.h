/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FAKEHD_H
#define PLI_FAKEHD_H

// A libHD without hardware: the functions and numbers of OpenHaptics HD 3.0, one device, errors on demand, and a checker of the order
// in which a driver calls. Tests get at it through fakehd(), which is no part of the real library.

#ifdef __cplusplus
extern "C" {
#endif

enum { FAKEHD_FORCES = 200000 };
typedef struct FakeHd {
    // set by tests
    unsigned init_error, start_error, rate_error, enable_error; ///< codes raised there
    int init_errors;                                            ///< how often init fails; 0: always
    unsigned calibration, calibration_after;                    ///< state, and after an update; 0: calibrated
    unsigned tick_error;                                        ///< raised at hdEndFrame ...
    long tick_error_at, tick_error_count;                       ///< ... of this tick, and so many after it
    double jitter;                                              ///< s, of ticks, +-
    int threaded;                                               ///< 1: ticks by itself at 1 kHz; 0: fakehd_tick
    double position[3];                                         ///< mm
    int buttons;
    int output_dof; ///< 6: takes torques; 0: 3
    // read by tests
    long ticks;
    int devices;                    ///< initialised and not disabled
    int running, scheduled;         ///< now
    int violations;                 ///< of the order of calls ...
    char violation[128];            ///< ... the first
    long forces;                    ///< committed
    double force[FAKEHD_FORCES][3]; ///< N, as committed at hdEndFrame
    double torque[3];               ///< mN m, the last that was committed
    int inits;                      ///< devices that were ever opened
} FakeHd;

FakeHd *fakehd(void);
void fakehd_reset(void);
void fakehd_tick(void);
void fakehd_lock(int on); ///< around what a test changes while threads run

#ifdef __cplusplus
}
#endif
#endif
