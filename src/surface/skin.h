/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SKIN_H
#define PLI_SKIN_H

// A surface of any resolution attached to a body: base rows give each point from coefficients of the finest level, composed
// rows from active coefficients only. Composed rows are brought up to date when somebody asks, and only where W changed.
// What an event would move at once is kept as an offset per point and faded, so that the skin never pops.

#include <pliant/transfer.h>

#include "mesh/nearest.h"
#include "surface/thin.h"

enum { PLI_SKIN_ROW = 192, PLI_SKIN_LEVELS = 8 }; ///< most active coefficients one skin point may depend on; levels

struct PliSkin {
    PliHost host;
    PliIndex point_count, tri_count;
    PliIndex *tris;    ///< shape [tri_count, 3]
    PliTransfer *base; ///< points from coefficients of the finest level, or of the one that is all there is: one of ...
    PliTransfer *finest, *at[PLI_SKIN_LEVELS]; ///< ... these, at[l] from those of level l; NULL: not there
    PliThin thin[PLI_SKIN_LEVELS];             ///< points that large tools may touch at a level; empty: all
    int sparse,
        sparse_end; ///< levels of which tools may touch the points now, the first that they are large for; none: all ...
    const PliThin *touching;    ///< ... and those that the tools there are may touch; NULL: all
    PliIndex *dof, used_dofs;   ///< the coefficients `base` uses, ascending
    bool is_shown;              ///< somebody has looked at it: from now on it must not pop ...
    bool is_touched;            ///< ... nor may what tools may touch
    double *rest;               ///< m, shape [point_count, 3]
    PliNearest near;            ///< over rest
    PliIndex *kept, kept_count; ///< points whose shown place `before` holds until the events of a step are over
    uint8_t *is_kept;
    double *before; ///< m
    /// What the skin and the tools have moved since the start, and per point the value of it at which a tool could touch: points
    /// far from every tool are not looked at. m
    double motion, *wake;
    double within;    ///< m, how near tools looked for points
    PliIndex *column; ///< composed, shape [point_count, PLI_SKIN_ROW], dof numbers
    double *weight;
    PliIndex *entries;          ///< used part of each composed row
    uint64_t composed_revision; ///< of W when all rows were made; 0: never
    uint64_t *stamp;            ///< W revision each composed row was made with; 0: never
    double *offset;             ///< m, fading ...
    PliIndex *off, off_count;   ///< ... of these points; that of others is 0
    uint8_t *is_off;
    double *position; ///< m, scratch: last evaluated
    double *area;     ///< m2 at rest, a third of the triangles around
    uint8_t *level;
    double largest_offset; ///< m, over all points
    uint64_t overflow;     ///< composed rows that did not fit and were cut to their largest weights, renormalised
    // scratch for one composition
    double *dense;
    PliIndex *touched;
    PliIndex dof_count;
    // packed copy for hosts
    PliTransfer *packed;
    uint64_t packed_revision;
};

PliSkin *pli_skin_create(const PliHost *host, PliIndex dof_count, const double *points, PliIndex point_count,
                         const PliIndex *tris, PliIndex tri_count, PliTransfer *base /* owned from now on */);
void pli_skin_destroy(PliSkin *skin);
void pli_skin_reset(PliSkin *skin); ///< forgets offsets and composed rows
/// Points hang on the coefficients of that level from now on, if it has rows for that, else on the finest. Rows are made again.
void pli_skin_hang(PliSkin *skin, int level);

/// How many points tools may touch, and the k-th of them.
static inline PliIndex pli_skin_touching(const PliSkin *s) { return s->touching ? s->touching->count : s->point_count; }
static inline PliIndex pli_skin_touching_point(const PliSkin *s, PliIndex k)
{
    return s->touching ? s->touching->point[k] : k;
}
/// m2, that a point stands for in contact.
static inline double pli_skin_touching_area(const PliSkin *s, PliIndex i)
{
    return s->touching ? s->touching->area[i] : s->area[i];
}

/// Whether tools that are round with no less than this radius (m; INFINITY: all are flat) may touch as few points as the level asks
/// for: smaller ones would go in between. Other points than before have to be looked at.
void pli_skin_choose_touching(PliSkin *skin, double radius);
/// Composes row i for revision `now` if any W row it is made of changed after the row's stamp. `w` has one row per
/// coefficient in dof numbers. `changed` (may be NULL: recompose always) holds, per coefficient, the revision of its W row.
void pli_skin_compose(PliSkin *skin, PliIndex i, PliRows w, const uint64_t *changed, uint64_t now);
void pli_skin_compose_all(PliSkin *skin, PliRows w, const uint64_t *changed, uint64_t now, const uint8_t *dof_level);
void pli_skin_point(const PliSkin *skin, PliIndex i, const double *x,
                    double p[3]); ///< with its offset; needs a composed row
/// Packed CSR of the composed rows. The first call allocates, unless there is room already; no rows: no memory.
PliRows pli_skin_rows(PliSkin *skin, uint64_t now);
/// Room for composed rows, which steps with tools need, and for packed ones. @return false: no memory
bool pli_skin_reserve(PliSkin *skin, bool packed);
/// Takes up what would have jumped: offset += before - position, where both hold the kept points as shown.
/// @return the largest of that, m: what an event hides, and what fades afterwards.
double pli_skin_absorb(PliSkin *skin);
/// How far the kept points, shown at `position` now, are from where they were shown before, m. Forgets them.
double pli_skin_forget_kept(PliSkin *skin);
void pli_skin_forget_rows(PliSkin *skin); ///< composed rows are made again: the cut changed without a word about which
void pli_skin_wake(PliSkin *skin);        ///< every point has to be looked at
void pli_skin_fade(PliSkin *skin, double factor);
void pli_skin_list_offsets(PliSkin *skin); ///< offsets were written from outside

#endif
