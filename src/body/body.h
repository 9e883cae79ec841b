/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BODY_PRIVATE_H
#define PLI_BODY_PRIVATE_H

#include <math.h>

#include "base/memory.h"
#include "body/constraints.h"
#include "body/elastic_force.h"
#include "solver/system.h"
#include "contact/contact.h"
#include "surface/skin.h"

/// The cut in compact numbers: active points 0 .. active_count, then slaves.
typedef struct PliLive {
    PliIndex *dof;      ///< compact -> dof
    PliIndex *position; ///< dof -> compact, PLI_NONE when not live
    PliIndex *slave_first, *slave_column;
    double *slave_weight;
    PliIndex *held, held_count; ///< slaves that are fixed, numbers among the slaves ...
    double *held_x, *held_v;    ///< ... and where the host has them
    double *mass, *inv_mass, *load;
    uint8_t *fixed;
    PliIndex *mass_first, *mass_column;
    double *mass_value;
    double critical_step;      ///< s, of the forces, undamped
    double *x, *v, *f, *f_ext; ///< compact state
    double *x_saved, *v_saved; ///< to restore after a failed step
    double *x_tangent;         ///< where the host last asked for forces: its tangent is made when somebody needs it
    bool tangent_stale;
    bool definite;     ///< tangents for hosts without negative eigenvalues
    PliStatus refused; ///< there is no room for the present cut: no step is possible
    PliIndex room;     ///< active points there is room for
} PliLive;

/// A body that lives through the same as another (shadow.c).
typedef struct PliShadow {
    PliBody *body;
    PliIndex first; ///< its coefficient i is first + i of the other
    double *x, *v;
    PliIndex *fixed;
    double spacing;              ///< m, of the points of its skin
    PliThin thin;                ///< those of the other's skin that it has
    PliTransfer *rows;           ///< all of the other's skin from its coefficients
    PliTool tools[PLI_TOOL_MAX]; ///< the host's, with reactions of their own
} PliShadow;
enum { PLI_SHADOW_MAX = 8 };

/// What the skin shows beyond where the body is (shadow.c).
typedef struct PliAhead {
    int shadow, shown; ///< it is told from, as asked for and as in `points`; -1: none
    int level;         ///< of the body, then
    double wanted, weight;
    bool busy; ///< `points` are not all 0
    double *points,
        *fade;        ///< m, 3 per skin point: what is added, and the part of it that only hides a change, and fades
    double most_fade; ///< m
} PliAhead;

/// How steps are taken, and with integrator="auto" why (choice.c).
typedef struct PliChoice {
    bool implicit;
    PliChoiceReason reason;
    double explicit_work, implicit_work; ///< of a step either way, in evaluations of one tetrahedron
    double iterations;                   ///< of an implicit step, lately; of no use in explicit ones
    /// Iterations over those expected, in the last implicit steps where no tool was near, and where one was, of one level and of a mixture
    double effort[4];   ///< (choice.c, kind_of); 0: there were none
    double fresh;       ///< share of implicit steps that made a new tangent, lately; of no use while there is no effort
    double churn;       ///< share of steps that begin with another active set, lately ...
    uint64_t revision;  ///< ... than this one
    double patience;    ///< s, in which it is forgotten how many iterations implicit steps took
    double since;       ///< s, when the kind of step changed
    uint64_t made;      ///< tangents before the step
    double lag;         ///< m, what implicit steps would be off by in time
    double pace;        ///< of a body that moves as much as it may for them, lately; far below 1: it rests
    double largest;     ///< m, displacement
    double time;        ///< s, since reset ...
    double rough_until; ///< ... until which no implicit step is taken
    PliIndex inverted;  ///< elements, after the last step
    double *change;     ///< m/s, 3 per active point: of the velocity in the last step ...
    uint64_t change_revision; ///< ... of this cut
    uint64_t changes;
} PliChoice;
typedef struct PliForms PliForms;

struct PliBody {
    PliForms *forms; ///< forms.h; NULL: it has one, which is what follows
    PliHost host;
    PliBodyDef def;
    const PliSchemeOps *ops;
    void *self;
    PliSchemeStatic statics;
    size_t bytes;

    uint8_t *is_fixed;   ///< per dof
    double adapting_ms;  ///< of the step to come, forces that it evaluated included
    PliIndex *fixed_dof; ///< the fixed ones
    double *astray;      ///< per dof: m, how far live fixed ones still are from their place
    bool any_astray;     ///< some may be
    double *fixed_x,
        *fixed_v; ///< per dof: place and velocity of the fixed ones, which are the host's, kept while W writes over them
    bool fixed_are_kept; ///< while the scheme adapts
    double *held;        ///< scratch of pli_body_spread: values of the fixed dofs
    PliIndex fixed_count;
    PliElasticForce *elastic; ///< the default forces; NULL: the scheme has its own
    PliLive live;
    PliSystem system;
    PliImplicit implicit;
    PliChoice choice;
    uint64_t revision;
    uint64_t pattern_revision;
    PliIndex point_capacity;
    double *work, *newton_work;

    double *filter,
        *filter_stiffness; ///< 9 per active point: of the explicit step, and df/dx of the point at rest; NULL: off
    uint64_t filter_revision;
    double filter_step;

    PliSkin *skin;
    double *contact_x;      ///< per dof: where it was when contact last looked ...
    uint64_t *contact_look; ///< ... which was that look, counted from 1
    uint64_t looks;
    PliTool tool_last[PLI_TOOL_MAX];
    PliContact *contact;
    PliTool *tools;
    int tool_count;

    const PliState *state;            ///< the host's, during a step
    PliContactRows *rows;             ///< the host's, during pli_body_advance_under
    double step_length;               ///< s, of the step being taken
    int order;                        ///< of the step being taken, if it is implicit
    double *full_x, *full_v, *full_f; ///< dof_count Vec3, for PliState.external
    double *external_f;               ///< what it gave inside adapt
    bool external_ready;              ///< and still holds
    double time_in_step;

    // forces on single points (body_points.c)
    PliPointForces points; ///< as the host gave them last
    bool points_ready;     ///< they are those at the start of the step
    bool points_kept;      ///< by pli_body_adapt, for a step from the same state ...
    bool force_kept;       ///< internal forces as well: kept_f, compact
    bool foreseen;         ///< kept_f are those where the last step ended, which the compact points have
    int foreseen_wait;     ///< steps for which they are not made: they were not needed
    double *points_at;     ///< ... which is this: x, v
    double *kept_f;
    PliPointForcesFn *points_by; ///< ... asked of
    void *points_user;
    PliIndex tether_capacity, point_reserve; ///< of both: the host's points and those that tools touch; of the host's
    size_t tether_entry_capacity;
    PliIndex host_tethers; ///< the first of them
    PliIndex *tether_first, *tether_column, *tether_touched;
    double *tether_weight, *tether_matrix, *tether_force, *tether_dense;

    PliHeld *held_points; ///< constraints.c; NULL: none

    PliShadow shadow[PLI_SHADOW_MAX];
    int shadow_count;
    double *shadow_points; ///< of the body, then of the shadow
    PliAhead ahead;
    PliIndex shadow_point_count;
    bool was_under; ///< the host's constraints have acted since reset

    double rest_substep;    ///< s, the longest at rest ...
    uint64_t rest_revision; ///< ... of this cut
    double strained;        ///< s, the longest where the last step ended; 0: not known
    double caution;         ///< share of it that strain allows, and has allowed lately

    double size; ///< m, diagonal of the rest bounding box: what "runaway" is measured with
    PliStats stats;
};

// body_live.c
PliStatus pli_live_create(PliBody *body);
void pli_live_destroy(PliBody *body);
void pli_live_gather(PliBody *body, const double *x, const double *v); ///< full -> compact, active and slaves
void pli_live_scatter(const PliBody *body, double *x, double *v);
void pli_live_scatter_free(const PliBody *body, double *x,
                           double *v); ///< but passive ones that are fixed, which are the host's
/// Brings the tangent up to date with the last add_force of the host.
void pli_live_tangent(const PliBody *body);
// body_rows.c
void pli_body_rows_begin(PliBody *body);
void pli_body_rows_correct(PliBody *body, double t, double h, double *x, double *v);
// body_points.c
void pli_body_points_free(PliBody *body);
void pli_body_points_keep(
    PliBody *body, const PliState *s); ///< what is ready is for the step that follows, if nothing moves until then
void pli_body_points_recall(PliBody *body, const PliState *s);    ///< ready only if it is for this state
PliStatus pli_body_reserve_tethers(PliBody *body, PliError *err); ///< for what the host asked for, and the tools
bool pli_body_has_transfer(
    const PliBody *body); ///< W; false: the scheme makes it when somebody asks, and had no memory
void pli_body_tethers_begin(
    PliBody *body,
    double reach); ///< of tools and of the host's points, for which full_x and full_v are complete
// hooks of an implicit step among tools, see PliSystem
void pli_body_press(void *self, double *f);
const double *pli_body_press_tethers(void *self, double length);
bool pli_body_foresee(void *self, const double *answer, double *free);
bool pli_body_settle(void *self, const double *dv, bool solved, bool *matrix);
void pli_body_unsettle(void *self);
/// s, longest explicit substep for their stiffness and damping alone, at a share of the limit. Writes full_f.
double pli_body_points_step(PliBody *body, double share);
void pli_body_points_add(PliBody *body, double h,
                         double *f); ///< on all dofs; implicit: as they will have changed by their stiffness after h
void pli_body_points_judge(PliBody *body, const double *x, const double *v, double *f); ///< as they are at x and v
// shadow.c: what the body is told, its shadows are told
void pli_body_shadows_free(PliBody *body);
PliStatus pli_body_shadows_wear(PliBody *body, PliError *err); ///< thinned skins
PliStatus pli_body_shadows_meet(PliBody *body, PliError *err); ///< tools
PliStatus pli_body_shadows_fix(PliBody *body, PliError *err);
PliStatus pli_body_shadows_retune(PliBody *body, PliError *err);
void pli_body_shadows_reset(PliBody *body);
void pli_body_shadows_show(PliBody *body, const double *x, double dt); ///< after a step: what the skin shows beyond x
// choice.c
void pli_choice_reset(PliBody *body);
/// How the coming step is taken. `once`: the host corrects it afterwards.
double pli_choice_substep_work(const PliBody *body); ///< besides elements, in evaluations of one
void pli_choice_make(PliBody *body, const PliState *s, double dt, bool once);
/// An implicit step that had a choice has turned elements inside out, or failed: true, and it is to be made again explicitly.
bool pli_choice_take_back(PliBody *body, const PliStepInfo *info);
void pli_choice_note(PliBody *body, double dt, const PliStepInfo *info); ///< it was
double pli_body_rest_substep(PliBody *body);                             ///< s, the longest explicit one at rest
// body_filter.c
void pli_body_update_filter(PliBody *body, double h);
// body_skin.c
PliStatus pli_body_default_skin(PliBody *body, PliError *err);
void pli_body_choose_touch(PliBody *body); ///< by the finest level that is live
/// m, between the points that large tools touch where the skin hangs on that level; of one level: 0.
double pli_body_touch_spacing(const PliSkin *skin, int level);
/// Share of the way home that astray fixed coefficients make in a step. The time is long against the periods of small elements, so
/// that they are led and not kicked, and short enough not to be seen.
#define PLI_HOMING_TIME 0.05 // s
static inline double pli_body_homing(double dt) { return 1.0 - exp(-dt / PLI_HOMING_TIME); }
void pli_body_after_events(PliBody *body, double *x); ///< what the skin showed is still what it shows
void pli_body_contact_begin(PliBody *body, const PliStage *stage);
/// Points that dv, a solution of the stage, takes into a tool from where nobody looked become candidates. @return how many
PliIndex pli_body_contact_extend(PliBody *body, const double *dv);
void pli_body_skin_compose(const PliBody *body);
/// Places of some points of the skin, at 3 times their number in `points`.
void pli_body_skin_some(const PliBody *body, const double *x, const PliIndex *list, PliIndex count, double *points);

#endif
