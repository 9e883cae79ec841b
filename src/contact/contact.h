/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CONTACT_H
#define PLI_CONTACT_H

// Rigid tools against skin points, evaluated inside every substep on the few points near a tool.
// Default: a constraint. A point inside a tool is moved out over the substeps of a step (Debunne 2001, section 4.2), with
// 1/m compliance of the active coefficients it hangs on; the impulse that took is the reaction on the tool. Points of a fine skin
// share coefficients, so one pass over them would push too much: passes repeat, and what a point was given is taken back when
// others have lifted it. Without that a skin finer than its body gains energy (a fifth of it in a held press with friction).
// With a stiffness: a pressure proportional to depth (penalty), for comparison and for implicit steps. An implicit step takes the
// pressure at its end: a point presses when it is inside, or would be at the end with the velocity it has. Points that only press
// once they are inside are given the energy of their depth for nothing; points that do not press where their velocity would lift
// them out, but gravity does not, are pressed in every other step with twice the weight. Friction
// is a spring along the surface, as stiff as the pressure, to where the point took hold; it slides at Coulomb's force with the
// pressure at the start of the step. Rejected: a damper, under which nothing that leans on friction is ever at rest.

#include <pliant/body.h>

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
    uint8_t *touching;  ///< implicit: presses in this step
    double *
        law; ///< implicit, shape [count, PLI_CONTACT_LAW]: force at the end with the velocity of the start, normal, velocity
             ///< against the tool, N/m along the normal and along the surface
    double *hold;   ///< implicit, per skin point: where it took hold, from the position of the tool
    uint64_t *held; ///< per skin point: 8 times the step it last held in, plus the number of the tool
    uint64_t step;
    double *given;   ///< kg m/s, shape [count, 4]: normal impulse of this substep, and the friction impulse as a vector
    double *allowed; ///< m, depth still tolerated: what was inside when the step began shrinks to 0 over the step
    double impulse[3 * 8];  ///< N s, per tool, over the step
    const double *inv_mass; ///< per active position
    double stiffness;       ///< N/m3 where a tool gives none and constraints are impossible (implicit)
    bool implicit;
    double dt;
} PliContact;
enum { PLI_TOOL_MAX = 8, PLI_CONTACT_LAW = 11 };

PliContact *pli_contact_create(const PliHost *host, PliIndex point_capacity);
void pli_contact_destroy(PliContact *c);
/// Signed distance of p to the tool at time t of the step (negative inside), outward normal and velocity of the tool there.
/// To the nearest of several tools where they are now; INFINITY without any.
double pli_tools_distance(const PliTool *tool, int count, const double p[3]);
double pli_tool_distance(const PliTool *tool, double t, const double p[3], double normal[3]);
void pli_contact_begin(PliContact *c, const double *inv_mass, double dt);
/// Adds a candidate; `column` are active positions. Ignored when full (counted by the caller).
bool pli_contact_add(PliContact *c, PliIndex point, int tool, const PliIndex *column, const double *weight,
                     PliIndex entries, const double offset[3], double area, const double *x);
// hooks for PliSystem; self is the PliContact
void pli_contact_add_force(void *self, double t, double h, const double *x, const double *v, double *f);
void pli_contact_correct(void *self, double t, double h, double *x, double *v);
/// Implicit: whether candidate i presses in the step from x and v, and its h^2 stiffness + h damping, xx yy zz yz xz xy.
bool pli_contact_press(PliContact *c, PliIndex i, const double *x, const double *v, double matrix[6]);
/// Implicit: adds the friction on a skin point that held in the last step and is `gap` < 0 inside tool t, number
/// `tool`, where it is now.
void pli_contact_friction(const PliContact *c, PliIndex point, const PliTool *t, int tool, const double p[3],
                          const double n[3], double gap, double area, double force[3]);
void pli_contact_end(PliContact *c,
                     const double *v); ///< writes the mean reaction to the tools; v at the end of the step

#endif
