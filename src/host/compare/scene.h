/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_SCENE_H
#define PLI_COMPARE_SCENE_H

// A comparison described by a scene: one node per body under the root, each with its model, solver, skin and tools, and a
// ComparisonMonitor that names the reference. Every body is loaded and run with the nodes of the others switched off.

#include "host/compare/compare.h"
#include "host/graph/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One body of the contest. Texts live as long as the contest.
typedef struct PliContender {
    const char *name;       ///< of its node
    const char *scheme;     ///< "fem", "tetlod", ...; of the component's name when it is not ours
    const char *curve;      ///< or NULL
    const char *parameters; ///< or NULL
    const char *unable;     ///< why it cannot take part, or NULL
    PliOverride set;        ///< of a sweep; path NULL: none
} PliContender;

typedef struct PliContest {
    PliHost host;
    const char *path;
    const char *title, *note;
    double view[3], up[3];
    PliIndex steps;
    double instants[8];
    int instant_count;
    PliContender *part;
    int count, reference;
    PliSceneDef def;        ///< as every body is loaded, without the switches
    PliScene *graph;        ///< the scene as a graph, nothing loaded; owns the texts
    PliOverride *overrides; ///< scratch: sets of the user, switches, and one of a sweep
    int own_count;          ///< of the user's
    PliEntrant *entrant;
    void *slots;
} PliContest;

/// Reads the scene and finds its bodies. What is wrong with the scene as a whole is refused with its first finding; what is
/// wrong with one body becomes its `unable`.
PliContest *pli_contest_load(const PliHost *host, const char *path, const PliSceneDef *def, PliError *err);
void pli_contest_destroy(PliContest *contest); ///< NULL is fine

/// Adds a whole scene: elements with what was set, and the contents of every file they name.
void pli_scene_key(PliScene *graph, PliKey *key);

/// Keeps the reference and the bodies whose scheme or name is in the list "a,b".
PliStatus pli_contest_choose(PliContest *contest, const char *names, PliError *err);
/// "@Body/model.threshold=0.05,0.1": one more body for each value.
PliStatus pli_contest_sweep(PliContest *contest, const char *text, PliError *err);

/// Runs it. def->entrants, count and reference are filled here, steps and instants where they are 0.
PliComparison *pli_contest_compare(PliContest *contest, PliCompareDef *def, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
