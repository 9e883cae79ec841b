/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CONTACT_H
#define PLI_CONTACT_H

// Rigid tools against skin points. Contact is a constraint in both kinds of steps.
// Explicit (contact.c), inside every substep: a point inside a tool is moved out over the substeps of a step (Debunne 2001, section
// 4.2), with 1/m compliance of the active coefficients it hangs on; the impulse that took is the reaction on the tool. Points of a
// fine skin share coefficients, so one pass over them would push too much: passes repeat, and what a point was given is taken back
// when others have lifted it. Without that a skin finer than its body gains energy (a fifth of it in a held press with friction).
// Implicit (press.c, and condensed.c where answers of points are known), around the linear solve of the step: no point is inside at
// the end of the step, by multipliers that are kept from step to step (augmented Lagrangian).
// Elements that tick at their own rates push in some substeps for several: a point is pressed four times as hard in one of them and not
// at all in the next three. Coulomb's law is for what all substeps of one round of the rates give together, and until a round is over
// it has what the last one pressed. Cut in each substep, friction let points creep that stick (a liver under a ball was 10 % off, and
// 1.9 % with one rate).
// With a stiffness a tool is no constraint but a pressure proportional to depth (penalty), for comparison.

#include <pliant/body.h>

#include "solver/system.h"

/// A candidate in an implicit step.
typedef struct PliPress {
    double normal[3]; ///< out of the tool
    double start[3];  ///< m/s, against the tool, when the step begins
    double arm[3];    ///< m, from the place of the tool, then
    double end; ///< m, distance at the end of the step if that velocity stays, less what need not be corrected yet
    double stiffness; ///< N/m, how steeply the force grows around the multiplier
    double share,
        next_share; ///< of the friction that sticking would need: 1 sticks, less slides; what its end asks for
    double pressure, friction[3]; ///< N, multipliers: the force if the point neither comes nor slips
    double force[3];              ///< N, that the last solve took as acting at the end of the step
    double law[4];                ///< N, pressure and friction that its end asks for
    double change[3];             ///< m/s, of its velocity by the last solve
    double at[3], balance[3]; ///< m/s and N: the change that was judged last, and the force which that is the answer to
    bool is_constraint;       ///< multipliers follow the force; else they stay (pressure 0)
    bool is_pressing, is_barred; ///< barred: there is no room for it in the matrix
    bool is_smooth;              ///< without friction until the end of the step
} PliPress;

/// What pressed at the end of a step.
typedef struct PliGrip {
    PliIndex point;
    int tool;
    double pressure, friction[3]; ///< N
} PliGrip;

typedef enum PliSettled {
    PLI_SETTLED,       ///< force and motion agree
    PLI_SETTLE_LOAD,   ///< forces changed, the matrix did not
    PLI_SETTLE_MATRIX, ///< what presses, or slides, is another set
} PliSettled;

typedef struct PliContact {
    PliHost host;
    PliTool *tool; ///< the host's, borrowed
    int tool_count;
    // candidates of this step: points that may touch
    PliIndex count, capacity, entry_capacity;
    PliIndex *point; ///< skin point
    uint8_t *tool_of;
    PliIndex *first, *column; ///< rows over active positions
    double *weight;
    double *compliance; ///< sum w^2 / m, 1/kg
    double *offset;     ///< m, fading skin offset of the candidate
    double *area;       ///< m2
    PliPress *press;    ///< implicit
    PliGrip
        *grip; ///< what pressed at the end of the last step (explicit: with several rates), ascending by point and tool
    PliIndex grip_count;
    double *given;   ///< kg m/s, shape [count, 4]: normal impulse of this substep, and the friction impulse as a vector
    double *round;   ///< explicit: the same of the substeps before this one in the present round of rates
    double *pressed; ///< N, explicit: mean pressure in the round before; 0 with one rate
    int tick, ticks; ///< explicit: substep of the round, set before it is corrected; how many it has, before a step
    double round_time; ///< s, of all of them; 0: none was yet
    double enough;     ///< explicit: share of what the first pass changes, below which no other follows
    double *plane;     ///< explicit, shape [count, 4]: normal and offset of what a point must not pass in this substep
    double *allowed;   ///< m, depth still tolerated: what was inside when the step began shrinks to 0 over the step
    double impulse[3 * 8];  ///< N s, per tool, over the step
    double spin[3 * 8];     ///< N m s, the same about the place of the tool
    const double *inv_mass; ///< per active position
    double drag;            ///< 1/s, mass damping of the body
    bool implicit;
    double modulus;  ///< Pa, implicit: resistance of the material against compression
    double size;     ///< m, of the body
    double stiffer;  ///< implicit: tethers against the body around their point
    int rounds;      ///< implicit: that were judged in this step
    double carried;  ///< N, implicit: by tethers in the last round, 0: it cannot be compared with the next
    double reach[8]; ///< m, per tool: points no further away are candidates from the start
    PliIndex early;  ///< how many are; others were found on the way
    double dt;       ///< s, of the step
    PliStage stage;  ///< implicit: the part of it that is being taken
} PliContact;
enum { PLI_TOOL_MAX = 8 };

PliContact *pli_contact_create(const PliHost *host, PliIndex point_capacity);
void pli_contact_destroy(PliContact *c);
/// Signed distance of p to the tool at time t of the step (negative inside), outward normal and velocity of the tool there.
/// To the nearest of several tools where they are now; INFINITY without any.
double pli_tools_distance(const PliTool *tool, int count, const double p[3]);
double pli_tool_distance(const PliTool *tool, double t, const double p[3], double normal[3]);
void pli_contact_begin(PliContact *c, const double *inv_mass, double dt);
/// The candidates of another part of the same step follow; what the tools got stays booked.
void pli_contact_begin_stage(PliContact *c, const PliStage *stage);
/// Adds a candidate; `column` are active positions. Ignored when full (counted by the caller).
bool pli_contact_add(PliContact *c, PliIndex point, int tool, const PliIndex *column, const double *weight,
                     PliIndex entries, const double offset[3], double area, const double *x);
// hooks for PliSystem; self is the PliContact
void pli_contact_add_force(void *self, double t, double h, const double *x, const double *v, double *f);
/// How much of an impulse may be added to what was given `before` if the sum is not to be longer than `most`.
double pli_cone_share(const double before[3], const double wanted[3], double most);
void pli_contact_correct(void *self, double t, double h, double *x, double *v);
/// From the place of its tool at time t to p.
void pli_contact_arm(const PliContact *c, PliIndex i, double t, const double p[3], double arm[3]);
/// What a point gives a tool, `arm` away from its place, N s.
void pli_contact_give(PliContact *c, int tool, const double arm[3], const double impulse[3]);
/// Writes the mean reaction to the tools; `done`: the step was, and what pressed is remembered.
void pli_contact_end(PliContact *c, bool done);
void pli_contact_forget(PliContact *c); ///< what pressed: the body is elsewhere

// implicit; x and v of the start, dv of the step, per active position
void pli_contact_predict(PliContact *c, const double *x, const double *v);
/// The same for the candidates from `first` on, that a solve brought near: others keep what they have.
void pli_contact_predict_late(PliContact *c, PliIndex first, const double *x, const double *v);
/// Whether candidate i presses, and its h^2 stiffness, xx yy zz yz xz xy.
bool pli_contact_tether(const PliContact *c, PliIndex i, double matrix[6]);
void pli_contact_bar(PliContact *c, PliIndex i); ///< there is no room for its tether
/// The force of candidate i at the end of the step with the velocity of its start. @return false: it has none, nor a tether
bool pli_contact_pressing(const PliContact *c, PliIndex i, double force[3]);
/// f += those of all, on active points.
void pli_contact_add_pressing(const PliContact *c, double *f);
/// Whether dv, the solution with those tethers and forces (`solved`: a good one), is contact; if not they are others now, and it is
/// to be solved again.
PliSettled pli_contact_settle(PliContact *c, const double *dv, bool solved);
void pli_contact_unsettle(PliContact *c); ///< rounds begin again, with what presses now
/// The forces of all that press, from how they move freely, Vec3, and how they answer to each other, [3 count, 3 count], both in the
/// order of candidates. `change` becomes how they move; force is scratch, count Vec3. @return false: nothing was done
bool pli_contact_foresee(PliContact *c, PliIndex count, const double *answer, double *change, double *force);
const PliGrip *pli_contact_grip(const PliContact *c, PliIndex point, int tool); ///< of the last step, or NULL
void pli_contact_book(PliContact *c); ///< what the last solve applied goes to the tools

// shared
void pli_contact_point(const PliContact *c, PliIndex i, const double *x, double p[3]);
void pli_contact_velocity(const PliContact *c, PliIndex i, const double *v, double u[3]); ///< against the tool

#endif
