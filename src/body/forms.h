/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BODY_FORMS_H
#define PLI_BODY_FORMS_H

// A body in two forms: its scheme's own, and tetrahedra to fall back on, which keep the accuracy asked for wherever their meshes can.
// Each is a whole body with skin, contact and solver of its own; one of them acts. The coefficients of the fallback come first in the
// host's arrays, so while it acts nothing is renumbered; those of the sleeping form stay where they were.
//
// The fallback acts first. When it starts to move, and the own form costs less, the own form is stepped beside it through the same
// motion: the trial. If its surface stays within the accuracy, it takes over with the state it has; otherwise it sleeps until a reset.
// What was tried is what is known: a tool that touches for the first time, or a larger displacement, and the fallback acts again.
// Nothing depends on measured times.

#include "body/body.h"

struct PliForms {
    PliBody *fallback, *own, *acting;
    PliIndex shift; ///< coefficients before those of the own form
    double *rest;   ///< of both
    uint8_t *level;
    PliIndex *number, number_capacity; ///< active, then passive live coefficients of the own form, in numbers of both
    PliIndex *first;                   ///< rows of W over all coefficients
    PliIndex *column;                  ///< of the skin's rows, in numbers of both
    size_t column_capacity;
    PliTransfer *follow;              ///< coefficients of the fallback from those of the own form, at its finest
    double *wide_x, *wide_v, *wide_f; ///< of both, for callbacks of the host
    PliState host;                    ///< with these callbacks
    bool hollow;                      ///< they do not show the shape at rest: there is no way back
    uint64_t switches;                ///< since creation
    bool stay;                        ///< the host works on coefficients: the fallback acts
    double *shown, *seen;             ///< m, skin points

    // the trial
    PliFormReason reason;
    bool tries, passed, over; ///< it runs; the own form may act; no more of it until a reset
    bool acted;               ///< the own form has
    double clock;             ///< s, since it began
    uint64_t changes;         ///< of the fallback's resolution
    double time, grown; ///< s, since the fallback last changed its resolution; then, when the displacement last grew
    int steps;          ///< of it
    double largest;     ///< m, displacement of a skin point so far
    double square;      ///< m2 s, integral of the mean square distance
    double error, work; ///< over largest; of the own form over the fallback's
    unsigned touched;   ///< tools that have, one bit each
    double tool[PLI_TOOL_MAX][3]; ///< where they were when it passed
};

void pli_forms_destroy(PliBody *b);
PliState pli_forms_state(const PliBody *b, const PliState *s); ///< as the acting form sees it
PliBody *pli_forms_fallback(const PliBody *b); ///< a host works on its coefficients, which keeps it acting
PliStatus pli_forms_set_fixed(PliBody *b, const PliIndex *dofs, PliIndex count, PliError *err);
PliStatus pli_forms_retune(PliBody *b, const PliBodyDef *def, PliError *err);
void pli_forms_set_gravity(PliBody *b, const double g[3]);
void pli_forms_reset(PliBody *b, const PliState *s);
bool pli_forms_adapt(PliBody *b, const PliState *s, double dt);
PliStepInfo pli_forms_step(PliBody *b, const PliState *s, double dt);
PliStepInfo pli_forms_advance(PliBody *b, const PliState *s, double dt, bool once);
PliStatus pli_forms_attach_skin(PliBody *b, const double *points, PliIndex point_count, const PliIndex *tris,
                                PliIndex tri_count, PliError *err);
PliStatus pli_forms_set_tools(PliBody *b, PliTool *tools, int count, PliError *err);
PliRows pli_forms_skin_rows(const PliBody *b);
PliActive pli_forms_active(const PliBody *b);
const PliIndex *pli_forms_slaves(const PliBody *b, PliIndex *count);
PliIndex pli_forms_place(const PliBody *b, PliIndex dof);
PliRows pli_forms_transfer(const PliBody *b);
PliStats pli_forms_stats(const PliBody *b);

// forms_trial.c
bool pli_forms_decide(PliBody *b, const PliState *s);           ///< @return true: another form acts
void pli_forms_watch(PliBody *b, const PliState *s, double dt); ///< after a step of the acting form
void pli_forms_forget_trial(PliForms *f);
void pli_forms_leave(PliForms *f); ///< what was tried no longer holds

/// Doubles between an array of both forms and that of the acting one.
static inline size_t pli_forms_ahead(const PliForms *f) { return f->acting == f->own ? 3 * (size_t)f->shift : 0; }
#define PLI_ACTING(b, array) ((array) ? (array) + pli_forms_ahead((b)->forms) : (array))
static inline size_t pli_forms_rest_count(const PliForms *f) ///< Vec3 behind the fallback's
{
    return f->own->statics.dof_count;
}

#endif
