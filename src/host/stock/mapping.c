/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"
#include "host/stock/subelements.h"

#include <string.h>

// Mappings whose rows are fixed when the scene is initialised.

// ---- who maps to whom --------------------------------------------------------------------------------------------------------------

static PliObject *input_state(PliObject *o)
{
    PliObject *in = pli_link(o, "input");
    if (in && !(in->cls->roles & PLI_ROLE_STATE))
        in = pli_node_find(in->node, PLI_ROLE_STATE); // a link to the node's topology, say
    if (!in && o->node->parent) in = pli_context_find(o->node->parent, PLI_ROLE_STATE);
    return in;
}

static PliObject *output_state(PliObject *o)
{
    PliObject *out = pli_link(o, "output");
    if (out && (out->cls->roles & (PLI_ROLE_STATE | PLI_ROLE_VISUAL))) return out;
    out = pli_node_find(o->node, PLI_ROLE_STATE);
    return out ? out : pli_node_find(o->node, PLI_ROLE_VISUAL);
}

PliStatus pli_mapping_connect(PliObject *o, PliMech **in, PliMech **out, PliError *err)
{
    PliObject *from = input_state(o), *to = output_state(o);
    if (!from)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "finds no input: a MechanicalObject above its node, or input=\"@path\"");
    if (!to)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "finds no output: a MechanicalObject or OglModel in its node, or output=\"@path\"");
    if (from == to) return pli_refuse(err, PLI_BAD_ARGUMENT, "maps %s to itself", from->name);
    *in = pli_state_self(from);
    *out = pli_state_self(to);
    if (!(*in)->object || !(*out)->object)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "must come after its input and its output");
    if ((*out)->mapping) return pli_refuse(err, PLI_UNSUPPORTED, "%s is mapped twice", to->name);
    for (const PliMech *s = *in; s; s = s->parent)
        if (s == *out) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s would be mapped to itself", to->name);
    bool forces = pli_bool(o, "mapForces") && pli_bool(o, "mapMasses") && pli_bool(o, "isMechanical");
    if (!forces && (to->cls->roles & PLI_ROLE_STATE) && pli_node_find(o->node, PLI_ROLE_FORCE | PLI_ROLE_MASS))
        return pli_refuse(err, PLI_UNSUPPORTED, "forces on a state whose mapping takes none are not supported");
    (*out)->mapping = o;
    (*out)->parent = *in;
    return PLI_OK;
}

typedef struct Linear {
    PliMech *in, *out;
    PliIndex *first, *column;
    double *weight;
} Linear;

static PliRows linear_rows(PliObject *o)
{
    const Linear *m = o->self;
    return (PliRows){ m->first, m->column, m->weight, m->out->count, m->in->count };
}

static PliStatus linear_arrays(PliObject *o, Linear *m, size_t entries, PliError *err)
{
    PliScene *scene = o->node->scene;
    m->first = PLI_SCENE_NEW(scene, (size_t)m->out->count + 1, PliIndex);
    m->column = PLI_SCENE_NEW(scene, entries, PliIndex);
    m->weight = PLI_SCENE_NEW(scene, entries, double);
    return m->first && m->column && m->weight
               ? PLI_OK
               : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to map %u points", m->out->count);
}

static void linear_apply_now(Linear *m)
{
    PliRows rows = { m->first, m->column, m->weight, m->out->count, m->in->count };
    pli_rows_apply(rows, m->in->x, m->out->x);
    pli_rows_apply(rows, m->in->v, m->out->v);
    pli_touch(m->out->position);
}

// ---- IdentityMapping ---------------------------------------------------------------------------------------------------------------

static PliStatus identity_init(PliObject *o, PliError *err)
{
    Linear *m = o->self;
    PliStatus status = pli_mapping_connect(o, &m->in, &m->out, err);
    if (!status) status = pli_state_resize(m->out, m->in->count, err); // SOFA gives the child the size of its parent
    if (!status) status = linear_arrays(o, m, m->in->count, err);
    if (status) return status;
    for (PliIndex i = 0; i < m->in->count; ++i) {
        m->first[i + 1] = i + 1;
        m->column[i] = i;
        m->weight[i] = 1.0;
    }
    linear_apply_now(m);
    return PLI_OK;
}

static PliStatus identity_points(PliObject *o, PliIndex *count, const double **points, PliError *err)
{
    (void)err;
    PliObject *from = input_state(o);
    PliMech *in = from ? pli_state_self(from) : NULL;
    *count = in && in->object ? in->count : 0;
    *points = in && in->object ? in->x : NULL;
    return PLI_OK;
}

const PliOps pli_identity_mapping_ops = {
    .size = sizeof(Linear), .init = identity_init, .rows = linear_rows, .child_points = identity_points
};

// ---- BarycentricMapping ------------------------------------------------------------------------------------------------------------

// Shape functions of a cell at local coordinates v, and how far v is outside (<= 0 inside), as SOFA's mappers measure it.
static double cell_outside(PliCellKind kind, const double v[3])
{
    switch (kind) {
    case PLI_TET: return fmax(fmax(-v[0], -v[1]), fmax(-v[2], v[0] + v[1] + v[2] - 1.0));
    case PLI_HEX: return fmax(fmax(fmax(-v[0], -v[1]), fmax(-v[2], v[0] - 1.0)), fmax(v[1] - 1.0, v[2] - 1.0));
    case PLI_TRI: return fmax(fmax(-v[0], -v[1]), fmax(fabs(v[2]) - 0.01, v[0] + v[1] - 1.0));
    case PLI_QUAD: return fmax(fmax(-v[0], -v[1]), fmax(fmax(v[1] - 1.0, v[0] - 1.0), fabs(v[2]) - 0.01));
    case PLI_EDGE: return fmax(-v[0], v[0] - 1.0);
    }
    return 1.0;
}

static int cell_weights(PliCellKind kind, const double v[3], double w[8])
{
    double a = v[0], b = v[1], c = v[2];
    switch (kind) {
    case PLI_TET: w[0] = 1 - a - b - c, w[1] = a, w[2] = b, w[3] = c; return 4;
    case PLI_HEX:
        w[0] = (1 - a) * (1 - b) * (1 - c), w[1] = a * (1 - b) * (1 - c), w[2] = a * b * (1 - c),
        w[3] = (1 - a) * b * (1 - c);
        w[4] = (1 - a) * (1 - b) * c, w[5] = a * (1 - b) * c, w[6] = a * b * c, w[7] = (1 - a) * b * c;
        return 8;
    case PLI_TRI: w[0] = 1 - a - b, w[1] = a, w[2] = b; return 3;
    case PLI_QUAD: w[0] = (1 - a) * (1 - b), w[1] = a * (1 - b), w[2] = a * b, w[3] = (1 - a) * b; return 4;
    case PLI_EDGE: w[0] = 1 - a, w[1] = a; return 2;
    }
    return 0;
}

typedef struct Cell {
    double inverse[9], origin[3], centre[3];
    int low[3], high[3]; ///< cells of the search grid that its box covers
} Cell;

typedef struct Search {
    PliCellKind kind;
    const PliIndex *corner;
    int corners;
    size_t count;
    Cell *cell;
    double width; ///< of the search grid; 0: none, every cell is looked at
} Search;

static bool make_cell(const Search *s, size_t i, const double *x, Cell *out)
{
    static const int axis[5][3] = { { 1, 1, 1 }, { 1, 2, 2 }, { 1, 3, 3 }, { 1, 2, 3 }, { 1, 3, 4 } };
    const PliIndex *c = s->corner + (size_t)s->corners * i;
    double m[9], e[3][3];
    v3_copy(out->origin, x + 3 * (size_t)c[0]);
    for (int k = 0; k < 3; ++k) v3_sub(e[k], x + 3 * (size_t)c[axis[s->kind][k]], out->origin);
    if (s->kind == PLI_TRI || s->kind == PLI_QUAD) v3_cross(e[2], e[0], e[1]);
    if (s->kind == PLI_EDGE) { // any frame with the edge as its first axis
        const double ex[3] = { 1, 0, 0 }, ey[3] = { 0, 1, 0 };
        v3_cross(e[1], e[0], fabs(e[0][0]) < 0.9 * v3_norm(e[0]) ? ex : ey);
        v3_cross(e[2], e[0], e[1]);
    }
    for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) m[3 * r + k] = e[k][r];
    memset(out->centre, 0, sizeof out->centre);
    for (int k = 0; k < s->corners; ++k) v3_madd(out->centre, 1.0 / s->corners, x + 3 * (size_t)c[k]);
    return m3_inverse(out->inverse, m) != 0.0;
}

typedef struct Nearest {
    double distance, v[3];
    int kind; ///< -1: none yet
    size_t cell;
} Nearest;

// The cell a point is deepest in, or else the one whose centre is nearest (by the square of its distance).
static void look_at(const Search *s, int kind, size_t i, const double *p, Nearest *best)
{
    const Cell *c = &s->cell[i];
    double d[3], v[3];
    v3_sub(d, p, c->origin);
    m3_apply(v, c->inverse, d);
    double outside = cell_outside(s->kind, v);
    if (outside > 0.0) {
        v3_sub(d, p, c->centre);
        outside = v3_dot(d, d);
    }
    if (!(outside < best->distance)) return;
    best->distance = outside;
    best->kind = kind;
    best->cell = i;
    v3_copy(best->v, v);
}

static bool covers(const Cell *c, const int at[3], int reach)
{
    for (int k = 0; k < 3; ++k)
        if (at[k] + reach < c->low[k] || at[k] - reach > c->high[k]) return false;
    return true;
}

// SOFA's containers look in a grid first, so a point outside the body may get another cell than the nearest: the same here.
static void find_in_grid(const Search *s, const double *p, Nearest *best)
{
    int at[3];
    // no cell reaches 1e9 (make_grid), but a point may be anywhere
    for (int k = 0; k < 3; ++k) at[k] = (int)fmin(fmax(floor(p[k] / s->width), -2e9), 2e9);
    for (size_t i = 0; i < s->count; ++i)
        if (covers(&s->cell[i], at, 0)) look_at(s, 0, i, p, best);
    bool none = best->kind<0, unsure = fabs(best->distance)> s->width / 2.0;
    for (size_t i = 0; i < s->count && (none || unsure); ++i)
        if (none || covers(&s->cell[i], at, 1)) look_at(s, 0, i, p, best);
}

static void find_cell(const Search *search, int kinds, const double *p, Nearest *best)
{
    *best = (Nearest){ .distance = 1e10, .kind = -1 };
    if (search[0].width > 0.0) {
        find_in_grid(&search[0], p, best);
        return;
    }
    for (int k = 0; k < kinds; ++k)
        for (size_t i = 0; i < search[k].count; ++i) look_at(&search[k], k, i, p, best);
}

// Cells of the search grid are as wide as the mean edge.
static PliStatus make_grid(PliObject *o, PliObject *topology, const double *x, Search *s, PliError *err)
{
    PliScene *scene = o->node->scene;
    size_t n;
    const PliIndex *edges = pli_topology_cells(topology, PLI_EDGE, &n);
    PliIndex *made = NULL, count = 0;
    if (n == 0) {
        PliStatus status = pli_cell_edges(&scene->host, s->kind, s->corner, (PliIndex)s->count, &made, &count);
        if (status) return pli_refuse(err, status, "no memory for the edges of %zu cells", s->count);
        edges = made;
        n = count;
    }
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += v3_distance(x + 3 * (size_t)edges[2 * i], x + 3 * (size_t)edges[2 * i + 1]);
    pli_cell_edges_free(&scene->host, made, s->kind, (PliIndex)s->count);
    s->width = n ? sum / (double)n : 0.0;
    for (size_t i = 0; i < s->count && s->width > 0.0; ++i) {
        Cell *c = &s->cell[i];
        for (int k = 0; k < 3; ++k) {
            double low = INFINITY, high = -INFINITY;
            for (int a = 0; a < s->corners; ++a) {
                double p = x[3 * (size_t)s->corner[(size_t)s->corners * i + (size_t)a] + (size_t)k];
                low = fmin(low, p);
                high = fmax(high, p);
            }
            if (!(fabs(low) < 1e9 * s->width && fabs(high) < 1e9 * s->width))
                return pli_refuse(err, PLI_BAD_ARGUMENT, "cell %zu is too far away from the origin for its size", i);
            c->low[k] = (int)floor(low / s->width);
            c->high[k] = (int)floor(high / s->width);
        }
    }
    return PLI_OK;
}

static PliStatus fill_search(PliObject *o, PliObject *topology, const double *x, PliIndex points, Search search[2],
                             int *kinds, PliError *err)
{
    static const int corners[] = { 2, 3, 4, 4, 8 };
    // volumes, else surfaces, else lines
    static const PliCellKind order[3][2] = { { PLI_TET, PLI_HEX }, { PLI_TRI, PLI_QUAD }, { PLI_EDGE, PLI_EDGE } };
    // a container has a search grid, and takes one kind: hexahedra before tetrahedra, quads before triangles
    bool container = topology->cls->ops == &pli_topology_ops && strstr(topology->cls->name, "Container");
    *kinds = 0;
    for (int dim = 0; dim < 3 && *kinds == 0; ++dim)
        for (int k = 0; k < (dim == 2 ? 1 : 2) && !(container && *kinds > 0); ++k) {
            PliCellKind kind = order[dim][container && dim < 2 ? 1 - k : k];
            Search *s = &search[*kinds];
            *s = (Search){ .kind = kind, .corners = corners[kind] };
            s->corner = pli_topology_cells(topology, s->kind, &s->count);
            if (s->count == 0) continue;
            s->cell = PLI_SCENE_NEW(o->node->scene, s->count, Cell);
            if (!s->cell) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu cells", s->count);
            for (size_t i = 0; i < s->count * (size_t)s->corners; ++i)
                if (s->corner[i] >= points)
                    return pli_refuse(err, PLI_BAD_ARGUMENT, "cell %zu has corner %u, but the input has %u points",
                                      i / (size_t)s->corners, s->corner[i], points);
            for (size_t i = 0; i < s->count; ++i)
                if (!make_cell(s, i, x, &s->cell[i])) s->cell[i].centre[0] = 1e150; // flat: never chosen
            ++*kinds;
        }
    if (container && *kinds) {
        PliStatus status = make_grid(o, topology, x, &search[0], err);
        if (status) return status;
    }
    return *kinds ? PLI_OK : pli_refuse(err, PLI_BAD_ARGUMENT, "its input topology %s is empty", topology->name);
}

static PliStatus barycentric_init(PliObject *o, PliError *err)
{
    Linear *m = o->self;
    PliStatus status = pli_mapping_connect(o, &m->in, &m->out, err);
    if (status) return status;
    PliObject *topology = pli_link(o, "input_topology");
    if (!topology) topology = pli_topology_near(m->in->object->node, PLI_NEEDS_CELLS, true);
    if (!topology) return pli_refuse(err, PLI_BAD_ARGUMENT, "finds no topology beside its input");
    bool rest = pli_bool(o, "useRestPosition");
    const double *x = rest ? m->in->x0 : m->in->x;
    PliIndex n[3], points = m->in->count;
    if (pli_grid_size(topology, n))
        x = pli_topology_points(topology, &points); // SOFA locates in the grid itself, not in the state
    Search search[2] = { { 0 } };
    int kinds;
    status = fill_search(o, topology, x, points, search, &kinds, err);
    if (!status) status = linear_arrays(o, m, 8 * (size_t)m->out->count, err);
    if (status) return status;
    PliIndex used = 0;
    for (PliIndex i = 0; i < m->out->count; ++i) {
        Nearest found;
        double w[8];
        find_cell(search, kinds, (rest ? m->out->x0 : m->out->x) + 3 * (size_t)i, &found);
        m->first[i] = used;
        if (found.kind < 0)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "point %u is too far from the input to be mapped", i);
        const Search *in = &search[found.kind];
        int count = cell_weights(in->kind, found.v, w);
        for (int k = 0; k < count; ++k) {
            m->column[used] = in->corner[(size_t)in->corners * found.cell + (size_t)k];
            if (m->column[used] >= m->in->count)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "the topology has more points than the input state");
            m->weight[used++] = w[k];
        }
    }
    m->first[m->out->count] = used;
    linear_apply_now(m);
    return PLI_OK;
}

const PliOps pli_barycentric_mapping_ops = { .size = sizeof(Linear), .init = barycentric_init, .rows = linear_rows };

// ---- topological mappings ----------------------------------------------------------------------------------------------------------
// They fill the output topology once; topologies do not change while running.

static PliStatus topology_ends(PliObject *o, PliObject **in, PliObject **out, PliError *err)
{
    *in = pli_link(o, "input");
    *out = pli_link(o, "output");
    if (*in && !((*in)->cls->roles & PLI_ROLE_TOPOLOGY)) *in = pli_topology_near((*in)->node, PLI_NEEDS_CELLS, false);
    if (*out && !((*out)->cls->roles & PLI_ROLE_TOPOLOGY)) *out = pli_node_find((*out)->node, PLI_ROLE_TOPOLOGY);
    if (!*in && o->node->parent) *in = pli_topology_near(o->node->parent, PLI_NEEDS_CELLS, true);
    if (!*out) *out = pli_node_find(o->node, PLI_ROLE_TOPOLOGY);
    if (!*in || !*out || *in == *out)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs an input topology above and an output topology in its node");
    if ((*out)->cls->ops != &pli_topology_ops)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "its output must be a topology container");
    return PLI_OK;
}

static PliStatus give_cells(PliObject *out, const char *name, const PliIndex *cells, size_t count)
{
    PliData *d = pli_data(out, name);
    d->source = NULL;
    d->set = true;
    return pli_set_indices(out, name, cells, count);
}

static PliStatus tetra2triangle_init(PliObject *o, PliError *err)
{
    PliObject *in, *out;
    PliStatus status = topology_ends(o, &in, &out, err);
    if (status) return status;
    size_t count;
    const PliIndex *tets = pli_topology_cells(in, PLI_TET, &count);
    if (count == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "its input %s has no tetrahedra", in->name);
    PliScene *scene = o->node->scene;
    PliIndex *tris = PLI_SCENE_NEW(scene, 12 * count, PliIndex), found = 0;
    if (!tris) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu tetrahedra", count);
    if (!pli_bool(o, "noInitialTriangles"))
        status = pli_boundary_triangles(&scene->host, tets, (PliIndex)count, tris, &found);
    for (PliIndex i = 0; i < found && pli_bool(o, "flipNormals"); ++i) {
        PliIndex keep = tris[3 * (size_t)i + 1];
        tris[3 * (size_t)i + 1] = tris[3 * (size_t)i + 2];
        tris[3 * (size_t)i + 2] = keep;
    }
    if (!status) status = give_cells(out, "triangles", tris, 3 * (size_t)found);
    return status ? pli_refuse(err, status, "no memory for the surface") : PLI_OK;
}

static PliStatus hexa2tetra_init(PliObject *o, PliError *err)
{
    PliObject *in, *out;
    PliStatus status = topology_ends(o, &in, &out, err);
    if (status) return status;
    size_t hexes;
    const PliIndex *cells = pli_topology_cells(in, PLI_HEX, &hexes);
    if (hexes == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "its input %s has no hexahedra", in->name);
    PliIndex *tets = NULL;
    status = pli_split_hexes(in, cells, hexes, pli_bool(o, "swapping"), true, &tets);
    if (!status) status = give_cells(out, "tetrahedra", tets, 24 * hexes);
    return status ? pli_refuse(err, status, "no memory for %zu hexahedra", hexes) : PLI_OK;
}

const PliOps pli_tetra2triangle_ops = { .init = tetra2triangle_init };
const PliOps pli_hexa2tetra_ops = { .init = hexa2tetra_init };
