/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "base/vec.h"
#include "host/components/components.h"

#include <stdio.h>
#include <string.h>

// Models: they make the body of a scheme from meshes and attributes, publish its points and its skin, and adapt it when a step
// begins. What differs between schemes is in their PliSchemeInfo.

PliModel *pli_model_self(PliObject *o) { return o->self; }

PliModel *pli_model_of(PliObject *o, PliError *err)
{
    PliObject *model = pli_link(o, "model");
    if (!model) model = pli_context_find(o->node, PLI_ROLE_MODEL);
    if (!model || !(model->cls->roles & PLI_ROLE_MODEL)) {
        pli_refuse(err, PLI_BAD_ARGUMENT,
                   model ? "model must lead to a body, such as a FemModel"
                         : "finds no model in its node or above: add one, or give model=\"@path\"");
        return NULL;
    }
    PliModel *m = model->self;
    if (!m->body) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "its model %s was not made", model->name);
        return NULL;
    }
    return m;
}

PliStatus pli_model_claim(PliModel *m, PliRoute route, PliError *err)
{
    if (m->route != PLI_ROUTE_NONE && m->route != route)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "the body %s is already stepped by %s: its forces would count twice, remove one of the two",
                          m->object->name,
                          m->route == PLI_ROUTE_OWNED ? "an AdaptiveSolver"
                                                      : "a stock solver through AdaptiveForceField or AdaptiveMass");
    m->route = route;
    return PLI_OK;
}

// ---- what the scene says, for whoever makes the body -------------------------------------------------------------------------------

/// A file named without a folder lies beside the scene, wherever the command is run from.
static const char *beside_scene(PliObject *o, const char *name)
{
    PliScene *scene = o->node->scene;
    const char *slash = scene->path ? strrchr(scene->path, '/') : NULL;
    if (!*name || name[0] == '/' || !slash) return name;
    return pli_scene_format(scene, "%.*s/%s", (int)(slash - scene->path), scene->path, name);
}

static PliStatus fill_row(PliObject *o, const PliAttribute *row, void *def, PliError *err)
{
    PliData *d = pli_data(o, row->name);
    const char *text = d->text;
    char number[128];
    if (d->source || text[0] == '@') { // a linked number: as text, through the same door
        size_t n;
        const double *value = pli_data_reals(d, &n);
        size_t used = 0;
        number[0] = '\0';
        for (size_t k = 0; k < n && k < 3; ++k)
            used += (size_t)snprintf(number + used, sizeof number - used, "%.17g ", value[k]);
        text = number;
    } else if (row->kind == PLI_NEW_FILE) {
        text = beside_scene(o, text);
        if (!text) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %s", row->name);
    }
    return pli_attribute_set(row, def, text, err);
}

PliStatus pli_model_fill(PliObject *o, const PliAttributeGroup *group, void *def, PliError *err)
{
    PliStatus status = PLI_OK;
    for (int i = 0; !status && i < group->count; ++i)
        if (pli_is_set(o, group->rows[i].name)) status = fill_row(o, &group->rows[i], def, err);
    return status;
}

static bool source_is_set(void *user, const PliAttribute *row) { return pli_is_set(user, row->name); }

static PliStatus source_fill(void *user, const PliAttribute *row, void *def, PliError *err)
{
    return fill_row(user, row, def, err);
}

static PliValue source_list(void *user, const PliAttribute *row)
{
    PliValue value = { .set = pli_is_set(user, row->name) };
    if (row->kind == PLI_INDICES)
        value.index = pli_indices(user, row->name, &value.count);
    else
        value.real = pli_reals(user, row->name, &value.count);
    if (row->kind == PLI_POINTS) value.count /= 3;
    return value;
}

/// Word number k of a text, or how many there are when k < 0.
static int find_word(const char *text, int k, const char **word, size_t *length)
{
    static const char blanks[] = " \t\r\n";
    int count = 0;
    for (const char *p = text + strspn(text, blanks); *p; p += strspn(p, blanks), ++count) {
        size_t n = strcspn(p, blanks);
        if (count == k) *word = p, *length = n;
        p += n;
    }
    return count;
}

static int source_file_count(void *user, const PliAttribute *row)
{
    const char *text = pli_text(user, row->name);
    return row->kind == PLI_FILE ? *text != '\0' : find_word(text, -1, NULL, NULL);
}

static const char *source_file(void *user, const PliAttribute *row, int k, PliError *err)
{
    PliObject *o = user;
    const char *text = pli_text(o, row->name), *word = text;
    if (row->kind == PLI_FILE) return text; // found when the scene was read
    size_t length = 0;
    find_word(text, k, &word, &length);
    const char *name = pli_scene_format(o->node->scene, "%.*s", (int)length, word);
    const char *path = name ? pli_scene_file(o->node->scene, o->xml, o->cls->name, name) : NULL;
    if (!path) pli_refuse(err, PLI_BAD_FILE, "level %d was not found", k);
    return path;
}

static int source_link_count(void *user, const PliAttribute *row)
{
    if (row->kind == PLI_LINK) return pli_link(user, row->name) != NULL;
    const PliData *links = pli_data(user, row->name);
    return links->set ? (int)links->count : 0;
}

static PliStatus source_linked(void *user, const PliAttribute *row, int k, PliMeshArrays *arrays, PliError *err)
{
    (void)err;
    *arrays = pli_object_arrays(row->kind == PLI_LINK ? pli_link(user, row->name) : pli_data(user, row->name)->link[k]);
    return PLI_OK;
}

static PliStatus source_own(void *user, PliMeshArrays *arrays, PliError *err)
{
    (void)err;
    *arrays = pli_object_arrays(user);
    return PLI_OK;
}

static PliStatus source_publish(void *user, const PliAttribute *row, const double *real, const PliIndex *index,
                                size_t count, PliError *err)
{
    pli_data(user, row->name)->source = NULL; // a src link fed it; from here on it is the body's
    PliStatus status = real || row->kind != PLI_INDICES ? pli_set_reals(user, row->name, real, count)
                                                        : pli_set_indices(user, row->name, index, count);
    return status ? pli_refuse(err, status, "no memory for %zu numbers of %s", count, row->name) : PLI_OK;
}

static void source_look(void *user, const PliMesh *mesh, int k)
{
    PliObject *o = user;
    const char *which = pli_scene_format(o->node->scene, "mesh %d", k);
    if (which) pli_note_slivers(o, mesh, which);
}

static PliSource source_of(PliObject *o)
{
    return (PliSource){ .user = o,
                        .is_set = source_is_set,
                        .fill = source_fill,
                        .list = source_list,
                        .file_count = source_file_count,
                        .file = source_file,
                        .link_count = source_link_count,
                        .linked = source_linked,
                        .own = source_own,
                        .publish = source_publish,
                        .look = source_look };
}

// ---- publishing ------------------------------------------------------------------------------------------------------------------

static PliStatus attach_skin(PliObject *o, const PliHost *host, PliBody *body, PliError *err)
{
    const char *path = pli_text(o, "skin");
    if (!*path) return PLI_OK;
    PliMesh *skin = pli_mesh_read(host, path, err);
    if (!skin) return err->status;
    PliStatus status = pli_body_attach_skin(body, skin->x, skin->point_count, skin->tris, skin->tri_count, err);
    pli_mesh_destroy(skin);
    return status;
}

static PliStatus publish(PliObject *o, PliModel *m, PliError *err)
{
    PliIndex dofs = pli_body_dof_count(m->body), points = pli_body_skin_count(m->body), tris = 0;
    const PliIndex *triangles = pli_body_skin_tris(m->body, &tris);
    double *skin = PLI_SCENE_NEW(o->node->scene, 3 * (size_t)points, double);
    if (!skin) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u skin points", points);
    pli_body_skin_positions(m->body, pli_body_rest(m->body), skin);
    pli_data(o, "position")->source = NULL; // a src link fed it; from here on it is the body's
    PliStatus status = pli_set_reals(o, "position", pli_body_rest(m->body), 3 * (size_t)dofs);
    if (!status) status = pli_set_reals(o, "skinPosition", skin, 3 * (size_t)points);
    if (!status) status = pli_set_indices(o, "triangles", triangles, 3 * (size_t)tris);
    return status ? pli_refuse(err, status, "no memory for the skin") : PLI_OK;
}

static PliStatus model_parse(PliObject *o, PliError *err)
{
    PliModel *m = o->self;
    const PliHost *host = &o->node->scene->host;
    const PliSource source = source_of(o);
    m->object = o;
    m->body = pli_scheme_make(o->cls->scheme, host, &source, o->node->scene->gravity, &m->made, err);
    if (!m->body)
        return err && err->status ? err->status : pli_refuse(err, PLI_BAD_ARGUMENT, "the body could not be made");
    PliStatus status = attach_skin(o, host, m->body, err);
    return status ? status : publish(o, m, err);
}

// ---- the node around it ------------------------------------------------------------------------------------------------------------

// Coefficients that every direction of is held by a projective constraint of the node.
static PliStatus read_fixed(PliObject *o, PliModel *m, PliError *err)
{
    PliScene *scene = o->node->scene;
    unsigned char *held = PLI_SCENE_NEW(scene, 3 * (size_t)m->state->count, unsigned char);
    PliIndex *fixed = PLI_SCENE_NEW(scene, m->state->count, PliIndex), count = 0;
    if (!held || !fixed) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", m->state->count);
    for (PliObject *c = o->node->first_object; c; c = c->next)
        if ((c->cls->roles & PLI_ROLE_CONSTRAINT) && c->cls->ops != &pli_adaptive_mask_ops && c->cls->ops->mask)
            c->cls->ops->mask(c, held);
    for (PliIndex i = 0; i < m->state->count; ++i) {
        int n = held[3 * (size_t)i] + held[3 * (size_t)i + 1] + held[3 * (size_t)i + 2];
        if (n == 3)
            fixed[count++] = i;
        else if (n > 0 && m->route == PLI_ROUTE_OWNED)
            return pli_refuse(err, PLI_UNSUPPORTED,
                              "a projective constraint holds only some directions of point %u: AdaptiveSolver can hold "
                              "all three or none, use a stock solver",
                              i);
    }
    return pli_body_set_fixed(m->body, fixed, count, err);
}

static PliStatus model_ready(PliObject *o, PliError *err)
{
    PliModel *m = o->self;
    PliObject *state = pli_context_find(o->node, PLI_ROLE_STATE);
    if (!state)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject with position=\"@%s.position\" in its node",
                          o->name);
    m->state = pli_state_self(state);
    if (m->state->count != pli_body_dof_count(m->body))
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "MechanicalObject %s has %u points, and this body %u coefficients: give it position=\"@%s.position\"",
            state->name, m->state->count, pli_body_dof_count(m->body), o->name);
    if (m->route == PLI_ROUTE_NONE)
        pli_finding_add(o->node->scene, PLI_WARNING, o->xml, o->cls->name,
                        "nothing moves this body: add an AdaptiveSolver, or AdaptiveMass and AdaptiveForceField with a "
                        "stock solver");
    if (m->route == PLI_ROUTE_STAGES && m->skin_force_count)
        return pli_refuse(err, PLI_UNSUPPORTED, "PieceContact and SkinTarget act inside AdaptiveSolver only");
    PliIndex held;
    (void)pli_body_constraint_rank(m->body, &held);
    if (m->route == PLI_ROUTE_STAGES && held)
        return pli_refuse(err, PLI_UNSUPPORTED, "held points are held by AdaptiveSolver only");
    if (m->route == PLI_ROUTE_STAGES && m->tool_count)
        return pli_refuse(err, PLI_UNSUPPORTED, "SphereTool and PlaneTool act inside AdaptiveSolver only");
    PliStatus status = read_fixed(o, m, err);
    if (status) return status;
    if (m->route == PLI_ROUTE_OWNED) pli_note_rates(o, m->body);
    if (m->tool_count) status = pli_body_set_tools(m->body, m->tool, m->tool_count, err);
    return status;
}

/// Levels change here and nowhere else: before any solver looks at the state.
static PliStatus model_begin(PliObject *o, double dt, PliError *err)
{
    (void)err;
    PliModel *m = o->self;
    PliScene *scene = o->node->scene;
    if (m->route == PLI_ROUTE_NONE) return PLI_OK;
    for (int i = 0; i < m->tool_count; ++i) pli_tool_place(m->tool_object[i], scene->time, dt, &m->tool[i]);
    PliState s = { .x = m->state->x,
                   .v = m->state->v,
                   .external = m->external,
                   .external_user = m->external_user,
                   .points = m->points,
                   .points_user = m->external_user };
    for (int i = 0; i < m->skin_force_count; ++i) pli_skin_force_begin(m->skin_force[i], dt);
    if (pli_body_adapt(m->body, &s, dt)) {
        pli_touch(m->state->position);
        pli_touch(m->state->velocity);
    }
    return PLI_OK;
}

static void model_destroy(PliObject *o) { pli_body_destroy(((PliModel *)o->self)->body); }

static void model_von_mises(PliObject *o, const double *x, double *per_point)
{
    pli_body_von_mises(((PliModel *)o->self)->body, x, per_point);
}

const PliOps pli_model_ops = { .size = sizeof(PliModel),
                               .parse = model_parse,
                               .ready = model_ready,
                               .begin = model_begin,
                               .destroy = model_destroy,
                               .von_mises = model_von_mises };
