/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_FIGURES_H
#define PLI_COMPARE_FIGURES_H

// From what was recorded to the numbers of the table.

#include "host/compare/compare.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Energy and momentum against what tools and gravity account for.
typedef struct PliBalance {
    bool conservative, free;                     ///< nothing dissipates; nothing holds the body
    bool known;                                  ///< all work that is done on the body is measured
    double start_energy, most_gained, most_lost; ///< J
    double start_momentum[3], largest_miss, largest_kinetic, mass;
    double gravity[3];
    bool begun;
} PliBalance;
PliBalance pli_balance_begin(const PliRun *run);
double pli_balance_energy(PliBalance *b, const PliEnergy *e, double work); ///< J, what no one accounts for so far
void pli_balance_momentum(PliBalance *b, const PliEnergy *e, const double impulse[3], double time);
/// J and relative momentum; NaN where the question has no meaning.
void pli_balance_end(const PliBalance *b, PliOutcome *o);

/// ms: shape [runs, steps]. Fills the time figures but not the speed-up. false: no memory.
bool pli_figure_times(PliOutcome *o, const double *ms, int runs, size_t steps);
double pli_figure_displacement(const double *surface, PliIndex samples, const double *rest,
                               PliIndex count); ///< m, largest of any point
/// Everything that needs all bodies: makes errors relative to `largest`, speed-ups, scales, and the front.
PliStatus pli_figures(PliComparison *c, double largest);

/// The reference moves by less than a millionth of its size: its tools miss it, nothing falls, and errors are those of rounding.
bool pli_comparison_is_idle(const PliComparison *c);

/// A body whose figures should not be believed: off by more than a tenth of the largest displacement, or by more than 15 % of the tools'
/// forces.
extern const double pli_doubtful_error, pli_doubtful_force;
/// One sentence without a full stop for a body that is further off than that, "" for others. Uniform bodies of the reference's scheme
/// are there to be off, and get none.
void pli_doubt_sentence(const PliComparison *c, const PliOutcome *o, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
