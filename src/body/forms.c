/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body in two forms: creation, what a host sets on both, what it sees of the one that acts.
#include "body/forms.h"

#include <string.h>

#include "base/vec.h"

// ---- creation --------------------------------------------------------------------------------------------------------------

static PliStatus concatenate(PliBody *b, PliError *err)
{
    PliForms *f = b->forms;
    const PliIndex front = f->fallback->statics.dof_count, back = f->own->statics.dof_count, all = front + back;
    f->shift = front;
    f->number_capacity = f->own->point_capacity;
    f->rest = PLI_NEW(&b->host, 3 * (size_t)all, double);
    f->level = PLI_NEW(&b->host, all, uint8_t);
    f->first = PLI_NEW(&b->host, (size_t)all + 1, PliIndex);
    f->number = PLI_NEW(&b->host, f->number_capacity, PliIndex);
    f->wide_x = PLI_NEW(&b->host, 3 * (size_t)all, double);
    f->wide_v = PLI_NEW(&b->host, 3 * (size_t)all, double);
    f->wide_f = PLI_NEW(&b->host, 3 * (size_t)all, double);
    if (!f->rest || !f->level || !f->first || !f->number || !f->wide_x || !f->wide_v || !f->wide_f)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients of two forms", all);
    memcpy(f->rest, f->fallback->statics.rest, 3 * (size_t)front * sizeof(double));
    memcpy(f->rest + 3 * (size_t)front, f->own->statics.rest, 3 * (size_t)back * sizeof(double));
    if (f->fallback->statics.dof_level) memcpy(f->level, f->fallback->statics.dof_level, front);
    if (f->own->statics.dof_level) memcpy(f->level + front, f->own->statics.dof_level, back);
    const int levels = f->fallback->statics.level_count, other = f->own->statics.level_count;
    b->statics = (PliSchemeStatic){
        .dof_count = all, .rest = f->rest, .dof_level = f->level, .level_count = levels > other ? levels : other
    };
    b->bytes += (size_t)all * (12 * sizeof(double) + 1 + sizeof(PliIndex)) + f->number_capacity * sizeof(PliIndex);
    return PLI_OK;
}

/// Where the own form carries the coefficients of the fallback, and whether that is where they are at rest.
static PliStatus make_follow(PliBody *b, PliError *err)
{
    PliForms *f = b->forms;
    const double *rest = f->rest + 3 * (size_t)f->shift;
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    for (int pass = 0; pass < 2; ++pass) { // counted first: rows are a few entries long, and could be hundreds
        size_t entries = 0;
        for (PliIndex i = 0; i < f->shift && !f->hollow; ++i) {
            const double *p = f->rest + 3 * (size_t)i;
            const PliIndex count = f->own->ops->locate(f->own->self, p, column, weight, PLI_LOCATE_MAX);
            double at[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex k = 0; k < count; ++k) v3_madd(at, weight[k], rest + 3 * (size_t)column[k]);
            f->hollow = !(v3_distance(at, p) <= 1e-6 * f->fallback->size);
            entries += count;
            if (pass && pli_transfer_push(f->follow, column, weight, count) != PLI_OK) return PLI_OUT_OF_MEMORY;
        }
        if (f->hollow || pass) break;
        f->follow = pli_transfer_create(&b->host, f->shift, entries);
        if (!f->follow)
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu weights between two forms", entries);
        pli_transfer_clear(f->follow, f->own->statics.dof_count);
        b->bytes += entries * (sizeof(double) + sizeof(PliIndex));
    }
    return PLI_OK;
}

static PliStatus reserve_skin(PliBody *b, PliError *err)
{
    PliForms *f = b->forms;
    const PliIndex count = pli_body_skin_count(f->own);
    PLI_FREE(&b->host, f->column, f->column_capacity);
    PLI_FREE(&b->host, f->shown, f->column_capacity / PLI_SKIN_ROW * 3);
    PLI_FREE(&b->host, f->seen, f->column_capacity / PLI_SKIN_ROW * 3);
    f->column_capacity = (size_t)count * PLI_SKIN_ROW;
    f->column = PLI_NEW(&b->host, f->column_capacity, PliIndex);
    f->shown = PLI_NEW(&b->host, 3 * (size_t)count, double);
    f->seen = PLI_NEW(&b->host, 3 * (size_t)count, double);
    if (count && (!f->column || !f->shown || !f->seen))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a skin of %u points", count);
    return PLI_OK;
}

/// Both forms show the same skin, from the start.
static PliStatus share_skin(PliBody *b, PliError *err)
{
    PliForms *f = b->forms;
    PliBody *from = f->own->skin ? f->own : f->fallback, *to = f->own->skin ? f->fallback : f->own;
    if (!from->skin) return PLI_OK;
    const PliStatus status = pli_body_attach_skin(to, from->skin->rest, from->skin->point_count, from->skin->tris,
                                                  from->skin->tri_count, err);
    return status == PLI_OK ? reserve_skin(b, err) : status;
}

PliBody *pli_body_of_forms(const PliHost *host, PliBody *fallback, PliBody *own, double accuracy, PliError *err)
{
    PliBody *b = PLI_NEW(host, 1, PliBody);
    PliForms *f = b ? PLI_NEW(host, 1, PliForms) : NULL;
    if (!f) {
        PLI_FREE(host, b, 1);
        pli_body_destroy(fallback), pli_body_destroy(own);
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body");
        return NULL;
    }
    b->host = *host;
    b->forms = f;
    b->ops = own->ops, b->self = own->self;
    b->bytes = sizeof *b + sizeof *f;
    *f = (PliForms){ .fallback = fallback, .own = own, .acting = fallback };
    b->def = own->def;
    b->def.criterion.accuracy = accuracy;
    b->def.integrator = fallback->def.integrator, b->def.linear_solver = fallback->def.linear_solver;
    b->def.multirate = fallback->def.multirate;
    b->size = fallback->size;
    PliStatus status = concatenate(b, err);
    if (status == PLI_OK) status = make_follow(b, err);
    if (status == PLI_OK) status = share_skin(b, err);
    if (status == PLI_OK) return b;
    pli_body_destroy(b);
    return NULL;
}

void pli_forms_destroy(PliBody *b)
{
    const PliHost host = b->host;
    PliForms *f = b->forms;
    const size_t all = b->statics.dof_count, points = f->column_capacity / PLI_SKIN_ROW;
    pli_body_destroy(f->fallback);
    pli_body_destroy(f->own);
    pli_transfer_destroy(f->follow);
    PLI_FREE(&host, f->rest, 3 * all);
    PLI_FREE(&host, f->wide_x, 3 * all);
    PLI_FREE(&host, f->wide_v, 3 * all);
    PLI_FREE(&host, f->wide_f, 3 * all);
    PLI_FREE(&host, f->level, all);
    PLI_FREE(&host, f->first, all + 1);
    PLI_FREE(&host, f->number, f->number_capacity);
    PLI_FREE(&host, f->column, f->column_capacity);
    PLI_FREE(&host, f->shown, 3 * points);
    PLI_FREE(&host, f->seen, 3 * points);
    PLI_FREE(&host, f, 1);
    PLI_FREE(&host, b, 1);
}

const PliBody *pli_body_own_form(const PliBody *b, PliIndex *shift, bool *acts)
{
    if (shift) *shift = b->forms ? b->forms->shift : 0;
    if (acts) *acts = !b->forms || b->forms->acting == b->forms->own;
    return b->forms ? b->forms->own : b;
}

// ---- what a host sets: on both ---------------------------------------------------------------------------------------------

PliBody *pli_forms_fallback(const PliBody *b)
{
    b->forms->stay = true;
    return b->forms->fallback;
}

PliStatus pli_forms_set_fixed(PliBody *b, const PliIndex *dofs, PliIndex count, PliError *err)
{
    PliForms *f = b->forms;
    PliIndex *list = PLI_NEW(&b->host, count, PliIndex), front = 0, back = 0;
    if (count && !list) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u fixed coefficients", count);
    for (PliIndex i = 0; i < count; ++i)
        if (dofs[i] >= b->statics.dof_count) {
            PLI_FREE(&b->host, list, count);
            return pli_refuse(err, PLI_BAD_ARGUMENT, "fixed coefficient %u does not exist, the body has %u", dofs[i],
                              b->statics.dof_count);
        }
    for (PliIndex i = 0; i < count; ++i)
        if (dofs[i] < f->shift) list[front++] = dofs[i];
    PliStatus status = pli_body_set_fixed(f->fallback, list, front, err);
    for (PliIndex i = 0; i < count; ++i)
        if (dofs[i] >= f->shift) list[back++] = dofs[i] - f->shift;
    if (status == PLI_OK) status = pli_body_set_fixed(f->own, list, back, err);
    PLI_FREE(&b->host, list, count);
    pli_forms_leave(f);
    return status;
}

PliStatus pli_forms_retune(PliBody *b, const PliBodyDef *def, PliError *err)
{
    PliForms *f = b->forms;
    PliStatus status = pli_body_def_check(def, err);
    if (status != PLI_OK) return status;
    if (!(def->criterion.accuracy > 0.0))
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "the accuracy of %g %% cannot be given up while running: it made the body, with a form to "
                          "fall back on",
                          b->def.criterion.accuracy);
    PliBodyDef own = *def, fallback = f->fallback->def;
    own.criterion.accuracy = 0.0;
    own.integrator = f->own->def.integrator, own.linear_solver = f->own->def.linear_solver;
    fallback.material = def->material;
    if (def->fallback_law) fallback.material.law = (PliLaw)(def->fallback_law - 1);
    fallback.mass_damping = def->mass_damping;
    fallback.adapt = def->adapt;
    fallback.criterion.accuracy = def->criterion.accuracy;
    fallback.criterion.max_active = def->criterion.max_active;
    fallback.criterion.smallest_size = def->criterion.smallest_size;
    memcpy(fallback.gravity, def->gravity, sizeof fallback.gravity);
    status = pli_body_retune(f->own, &own, err);
    if (status == PLI_OK) status = pli_body_retune(f->fallback, &fallback, err);
    if (status != PLI_OK) return status;
    b->def = *def;
    pli_body_def_forget_regions(&b->def);
    b->def.integrator = fallback.integrator, b->def.linear_solver = fallback.linear_solver;
    b->def.multirate = fallback.multirate;
    pli_forms_leave(f);
    return PLI_OK;
}

void pli_forms_set_gravity(PliBody *b, const double g[3])
{
    if (memcmp(b->def.gravity, g, sizeof b->def.gravity) == 0) return; // hosts say it before every step
    memcpy(b->def.gravity, g, sizeof b->def.gravity);
    pli_body_set_gravity(b->forms->fallback, g);
    pli_body_set_gravity(b->forms->own, g);
    pli_forms_leave(b->forms);
}

PliStatus pli_forms_attach_skin(PliBody *b, const double *points, PliIndex point_count, const PliIndex *tris,
                                PliIndex tri_count, PliError *err)
{
    PliForms *f = b->forms;
    PliStatus status = pli_body_attach_skin(f->fallback, points, point_count, tris, tri_count, err);
    if (status == PLI_OK) status = pli_body_attach_skin(f->own, points, point_count, tris, tri_count, err);
    return status == PLI_OK ? reserve_skin(b, err) : status;
}

PliStatus pli_forms_set_tools(PliBody *b, PliTool *tools, int count, PliError *err)
{
    PliForms *f = b->forms;
    PliStatus status = pli_body_set_tools(f->fallback, tools, count, err);
    if (status == PLI_OK) status = pli_body_set_tools(f->own, tools, count, err);
    b->tools = tools, b->tool_count = count;
    return status;
}

void pli_forms_reset(PliBody *b, const PliState *s)
{
    PliForms *f = b->forms;
    PliState front = *s, back = *s;
    back.x += 3 * (size_t)f->shift, back.v += 3 * (size_t)f->shift;
    pli_body_reset(f->fallback, &front);
    pli_body_reset(f->own, &back);
    f->acting = f->fallback;
    f->switches++;
    memset(&b->stats, 0, sizeof b->stats);
    pli_forms_forget_trial(f);
}

// ---- stepping --------------------------------------------------------------------------------------------------------------

/// Callbacks of the host know arrays of both forms: the fallback's, which acts then, and behind them the host's own.
static void widen(const PliForms *f, const double *x, const double *v)
{
    const size_t front = 3 * (size_t)f->shift, back = 3 * (size_t)f->own->statics.dof_count;
    memcpy(f->wide_x, x, front * sizeof *x);
    memcpy(f->wide_v, v, front * sizeof *v);
    memcpy(f->wide_x + front, f->host.x + front, back * sizeof *x);
    memcpy(f->wide_v + front, f->host.v + front, back * sizeof *v);
}

static void wide_external(const double *x, const double *v, double time, double *out, void *user)
{
    const PliForms *f = user;
    widen(f, x, v);
    memset(f->wide_f, 0, 3 * (size_t)(f->shift + f->own->statics.dof_count) * sizeof *f->wide_f);
    f->host.external(f->wide_x, f->wide_v, time, f->wide_f, f->host.external_user);
    for (size_t i = 0; i < 3 * (size_t)f->shift; ++i) out[i] += f->wide_f[i];
}

static void wide_points(const double *x, const double *v, PliPointForces *out, void *user)
{
    const PliForms *f = user;
    widen(f, x, v);
    f->host.points(f->wide_x, f->wide_v, out, f->host.points_user);
}

PliState pli_forms_state(const PliBody *b, const PliState *s)
{
    PliState t = *s;
    b->forms->host = *s;
    if (s->external) t.external = wide_external, t.external_user = b->forms;
    if (s->points) t.points = wide_points, t.points_user = b->forms;
    t.x = PLI_ACTING(b, s->x), t.v = PLI_ACTING(b, s->v), t.f_ext = PLI_ACTING(b, s->f_ext);
    return t;
}

bool pli_forms_adapt(PliBody *b, const PliState *s, double dt)
{
    const bool changed = pli_forms_decide(b, s);
    const PliState t = pli_forms_state(b, s);
    return pli_body_adapt(b->forms->acting, &t, dt) || changed;
}

static PliStepInfo end_step(PliBody *b, const PliState *s, double dt, PliStepInfo info)
{
    if (info.bad_dof != PLI_NONE) info.bad_dof += b->forms->acting == b->forms->own ? b->forms->shift : 0;
    b->stats.steps++;
    if (info.status == PLI_OK) pli_forms_watch(b, s, dt);
    return info;
}

PliStepInfo pli_forms_step(PliBody *b, const PliState *s, double dt)
{
    (void)pli_forms_decide(b, s);
    const PliState t = pli_forms_state(b, s);
    return end_step(b, s, dt, pli_body_step(b->forms->acting, &t, dt));
}

PliStepInfo pli_forms_advance(PliBody *b, const PliState *s, double dt, bool once)
{
    const PliState t = pli_forms_state(b, s);
    PliBody *acting = b->forms->acting;
    return end_step(b, s, dt, once ? pli_body_advance_once(acting, &t, dt) : pli_body_advance(acting, &t, dt));
}

// ---- what a host sees: the form that acts ----------------------------------------------------------------------------------

/// Grows with every cut of either form, and with every change between them.
static uint64_t revision_of(const PliForms *f) { return f->fallback->revision + f->own->revision + f->switches; }

/// Live points of the own form in numbers of both.
static const PliIndex *renumber(const PliForms *f)
{
    const PliBody *own = f->own;
    const PliIndex count = own->system.active_count + own->system.slave_count;
    for (PliIndex i = 0; i < count; ++i) f->number[i] = own->live.dof[i] + f->shift;
    return f->number;
}

PliActive pli_forms_active(const PliBody *b)
{
    const PliForms *f = b->forms;
    PliActive active = pli_body_active(f->acting);
    if (f->acting == f->own) active.dof = renumber(f);
    active.revision = revision_of(f);
    return active;
}

const PliIndex *pli_forms_slaves(const PliBody *b, PliIndex *count)
{
    const PliForms *f = b->forms;
    const PliIndex *slave = pli_body_slaves(f->acting, count);
    return f->acting == f->own ? renumber(f) + f->own->system.active_count : slave;
}

PliIndex pli_forms_place(const PliBody *b, PliIndex dof)
{
    const PliForms *f = b->forms;
    if (dof < f->shift) return pli_body_dof_place(f->fallback, dof);
    const PliIndex place = pli_body_dof_place(f->own, dof - f->shift);
    return place == PLI_NONE ? PLI_NONE : place + f->shift;
}

PliRows pli_forms_skin_rows(const PliBody *b)
{
    const PliForms *f = b->forms;
    PliRows rows = pli_body_skin_rows(f->acting);
    rows.in_count = b->statics.dof_count;
    if (f->acting != f->own || !rows.first) return rows;
    for (PliIndex k = 0; k < rows.first[rows.out_count]; ++k) f->column[k] = rows.column[k] + f->shift;
    rows.column = f->column;
    return rows;
}

/// Coefficients of the own form, which sleeps where somebody asks for this, follow nothing.
PliRows pli_forms_transfer(const PliBody *b)
{
    const PliForms *f = b->forms;
    PliRows rows = pli_body_transfer(pli_forms_fallback(b));
    memcpy(f->first, rows.first, ((size_t)rows.out_count + 1) * sizeof *rows.first);
    for (PliIndex i = rows.out_count; i < b->statics.dof_count; ++i) f->first[i + 1] = f->first[i];
    rows.first = f->first;
    rows.out_count = rows.in_count = b->statics.dof_count;
    return rows;
}

PliStats pli_forms_stats(const PliBody *b)
{
    const PliForms *f = b->forms;
    const PliStats other = pli_body_stats(f->acting == f->own ? f->fallback : f->own);
    PliStats s = pli_body_stats(f->acting);
    s.steps = b->stats.steps;
    if (f->acted) {
        s.refined += other.refined, s.coarsened += other.coarsened;
        s.refused += other.refused, s.forced += other.forced, s.retries += other.retries;
        s.energy_added += other.energy_added, s.energy_removed += other.energy_removed;
        s.energy_forced += other.energy_forced;
        if (other.largest_jump > s.largest_jump) s.largest_jump = other.largest_jump;
        if (other.largest_hidden > s.largest_hidden) s.largest_hidden = other.largest_hidden;
    }
    s.bytes += other.bytes + b->bytes;
    s.form = f->acting == f->own ? 2 : 1;
    s.form_reason = f->reason;
    s.own_error = f->error, s.own_work = f->work;
    return s;
}
