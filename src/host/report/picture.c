/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/report/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

PliPicture *pli_picture_create(int width, int height)
{
    if (width < 1 || height < 1 || width > PLI_PICTURE_MAX || height > PLI_PICTURE_MAX) return NULL;
    const size_t count = (size_t)width * (size_t)height;
    PliPicture *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (PliPicture){ .width = width, .height = height };
    p->pixel = calloc(count, sizeof *p->pixel);
    p->near = calloc(count, sizeof *p->near);
    if (p->pixel && p->near) return p;
    pli_picture_destroy(p);
    return NULL;
}

void pli_picture_destroy(PliPicture *p)
{
    if (!p) return;
    free(p->pixel);
    free(p->near);
    free(p);
}

static PliColour mix(PliColour a, PliColour b, double t)
{
    return (PliColour){ (unsigned char)lround(a.r + t * (b.r - a.r)), (unsigned char)lround(a.g + t * (b.g - a.g)),
                        (unsigned char)lround(a.b + t * (b.b - a.b)) };
}

void pli_picture_fill(PliPicture *p, PliColour top, PliColour bottom)
{
    for (int y = 0; y < p->height; ++y) {
        const PliColour c = mix(top, bottom, p->height > 1 ? (double)y / (p->height - 1) : 0.0);
        for (int x = 0; x < p->width; ++x) p->pixel[(size_t)y * (size_t)p->width + (size_t)x] = c;
    }
    memset(p->near, 0, (size_t)p->width * (size_t)p->height * sizeof *p->near);
}

PliPicture *pli_picture_halved(const PliPicture *p)
{
    PliPicture *half = pli_picture_create(p->width / 2, p->height / 2);
    if (!half) return NULL;
    double linear[256]; // gamma 2 is close enough to the screen's, and its square root is exact everywhere
    for (int k = 0; k < 256; ++k) linear[k] = (double)k * k;
    for (int y = 0; y < half->height; ++y)
        for (int x = 0; x < half->width; ++x) {
            double sum[3] = { 0.0, 0.0, 0.0 }, near = 0.0;
            for (int k = 0; k < 4; ++k) {
                const size_t at = (size_t)(2 * y + k / 2) * (size_t)p->width + (size_t)(2 * x + k % 2);
                sum[0] += linear[p->pixel[at].r], sum[1] += linear[p->pixel[at].g], sum[2] += linear[p->pixel[at].b];
                near = fmax(near, p->near[at]);
            }
            const size_t to = (size_t)y * (size_t)half->width + (size_t)x;
            half->pixel[to] =
                (PliColour){ (unsigned char)lround(sqrt(sum[0] / 4)), (unsigned char)lround(sqrt(sum[1] / 4)),
                             (unsigned char)lround(sqrt(sum[2] / 4)) };
            half->near[to] = near;
        }
    return half;
}

void pli_picture_paste(PliPicture *p, const PliPicture *part, int x, int y)
{
    for (int j = 0; j < part->height; ++j)
        for (int i = 0; i < part->width; ++i) {
            const int to_x = x + i, to_y = y + j;
            if (to_x < 0 || to_y < 0 || to_x >= p->width || to_y >= p->height) continue;
            const size_t to = (size_t)to_y * (size_t)p->width + (size_t)to_x,
                         from = (size_t)j * (size_t)part->width + (size_t)i;
            p->pixel[to] = part->pixel[from];
            p->near[to] = part->near[from];
        }
}

void pli_picture_box(PliPicture *p, int x, int y, int width, int height, PliColour colour)
{
    for (int j = y < 0 ? 0 : y; j < y + height && j < p->height; ++j)
        for (int i = x < 0 ? 0 : x; i < x + width && i < p->width; ++i)
            p->pixel[(size_t)j * (size_t)p->width + (size_t)i] = colour;
}

// ---- view ------------------------------------------------------------------------------------------------------------

static void normalise(double a[3], double x, double y, double z)
{
    const double length = v3_norm(a);
    if (length > 0.0)
        v3_scale(a, 1.0 / length);
    else
        a[0] = x, a[1] = y, a[2] = z;
}

PliCamera pli_camera_fit(const double min[3], const double max[3], const double from[3], const double up[3], int width,
                         int height)
{
    const double half_view = 0.24,
                 margin = 0.93; // rad from the middle to the upper edge; part of the frame that is filled
    PliCamera c = { .middle = { 0.5 * width, 0.5 * height } };
    for (int k = 0; k < 3; ++k) c.forward[k] = -from[k];
    normalise(c.forward, 0.0, 0.0, -1.0);
    v3_cross(c.right, c.forward, up);
    if (v3_norm(c.right) < 1e-9 * (v3_norm(up) + 1e-300)) { // looking along `up`: any side will do
        const double other[3] = { fabs(c.forward[0]) < 0.9, fabs(c.forward[0]) >= 0.9, 0.0 };
        v3_cross(c.right, c.forward, other);
    }
    normalise(c.right, 1.0, 0.0, 0.0);
    v3_cross(c.up, c.right, c.forward);
    const double side = width > height ? height : width;
    c.focal = 0.5 * side / tan(half_view);
    double centre[3], distance = 0.0;
    for (int k = 0; k < 3; ++k) centre[k] = 0.5 * (min[k] + max[k]);
    const double tan_x = margin * c.middle[0] / c.focal, tan_y = margin * c.middle[1] / c.focal;
    for (int corner = 0; corner < 8; ++corner) {
        double q[3];
        for (int k = 0; k < 3; ++k) q[k] = (corner >> k & 1 ? max[k] : min[k]) - centre[k];
        const double depth = v3_dot(q, c.forward);
        distance = fmax(distance, fabs(v3_dot(q, c.right)) / tan_x - depth);
        distance = fmax(distance, fabs(v3_dot(q, c.up)) / tan_y - depth);
    }
    if (!(distance > 0.0)) distance = 1.0; // a box without extent
    v3_copy(c.eye, centre);
    v3_madd(c.eye, -distance, c.forward);
    for (int k = 0; k < 3; ++k) c.light[k] = -c.forward[k] - 0.35 * c.right[k] + 0.55 * c.up[k];
    normalise(c.light, 0.0, 0.0, 1.0);
    return c;
}

bool pli_camera_project(const PliCamera *c, const double p[3], double out[3])
{
    double q[3];
    v3_sub(q, p, c->eye);
    const double depth = v3_dot(q, c->forward);
    if (!(depth > 1e-12)) return false;
    out[0] = c->middle[0] + c->focal * v3_dot(q, c->right) / depth;
    out[1] = c->middle[1] - c->focal * v3_dot(q, c->up) / depth;
    out[2] = 1.0 / depth;
    return true;
}

// ---- triangles ---------------------------------------------------------------------------------------------------------

static double shade(const PliCamera *c, const double normal[3], const double to_eye[3])
{
    const double length = v3_norm(normal);
    if (length == 0.0) return 1.0;
    double lit = v3_dot(normal, c->light) / length;
    if (v3_dot(normal, to_eye) < 0.0) lit = -lit; // seen from behind
    return 0.32 + 0.68 * fmax(0.0, lit);
}

/// What one triangle needs to paint its pixels.
typedef struct Corner {
    double screen[3], light;
    PliColour colour;
} Corner;

static void paint_pixel(PliPicture *p, size_t at, const Corner t[3], const double w[3], const PliPaint *paint,
                        double edge)
{
    const double near = w[0] * t[0].screen[2] + w[1] * t[1].screen[2] + w[2] * t[2].screen[2];
    const bool solid = paint->opacity <= 0.0 || paint->opacity >= 1.0;
    if (near <= p->near[at]) return;
    if (solid) p->near[at] = near;
    double rgb[3], light = 0.0;
    int biggest = 0;
    for (int k = 1; k < 3; ++k)
        if (w[k] > w[biggest]) biggest = k;
    for (int k = 0; k < 3; ++k) light += w[k] * t[k].light;
    if (paint->blocks) {
        rgb[0] = t[biggest].colour.r, rgb[1] = t[biggest].colour.g, rgb[2] = t[biggest].colour.b;
    } else {
        rgb[0] = w[0] * t[0].colour.r + w[1] * t[1].colour.r + w[2] * t[2].colour.r;
        rgb[1] = w[0] * t[0].colour.g + w[1] * t[1].colour.g + w[2] * t[2].colour.g;
        rgb[2] = w[0] * t[0].colour.b + w[1] * t[1].colour.b + w[2] * t[2].colour.b;
    }
    for (int k = 0; k < 3; ++k) rgb[k] = fmin(255.0, rgb[k] * light);
    PliColour c = { (unsigned char)lround(rgb[0]), (unsigned char)lround(rgb[1]), (unsigned char)lround(rgb[2]) };
    if (edge < 0.5 * paint->wire) c = mix(c, paint->wire_colour, 0.55);
    p->pixel[at] = solid ? c : mix(p->pixel[at], c, paint->opacity);
}

static void paint_triangle(PliPicture *p, const Corner t[3], const PliPaint *paint)
{
    const double *a = t[0].screen, *b = t[1].screen, *c = t[2].screen;
    const double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (!(fabs(area) > 1e-9)) return;
    if (area > 0.0 && paint->opacity > 0.0 && paint->opacity < 1.0)
        return;       // rows go down: a front face turns the other way
    double height[3]; // pixels from a corner to the opposite edge
    height[0] = fabs(area) / hypot(c[0] - b[0], c[1] - b[1]);
    height[1] = fabs(area) / hypot(a[0] - c[0], a[1] - c[1]);
    height[2] = fabs(area) / hypot(b[0] - a[0], b[1] - a[1]);
    const double low_x = fmin(a[0], fmin(b[0], c[0])), high_x = fmax(a[0], fmax(b[0], c[0]));
    const double low_y = fmin(a[1], fmin(b[1], c[1])), high_y = fmax(a[1], fmax(b[1], c[1]));
    // clamped as doubles: a point far outside must not overflow an int
    const int x0 = (int)fmax(0.0, floor(low_x)), x1 = (int)fmin(p->width - 1.0, ceil(high_x));
    const int y0 = (int)fmax(0.0, floor(low_y)), y1 = (int)fmin(p->height - 1.0, ceil(high_y));
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) {
            const double px = x + 0.5, py = y + 0.5;
            double w[3];
            w[0] = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area;
            w[1] = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area;
            w[2] = 1.0 - w[0] - w[1];
            if (w[0] < 0.0 || w[1] < 0.0 || w[2] < 0.0) continue;
            const double edge = fmin(w[0] * height[0], fmin(w[1] * height[1], w[2] * height[2]));
            paint_pixel(p, (size_t)y * (size_t)p->width + (size_t)x, t, w, paint, edge);
        }
}

static void triangle_normal(const PliPaint *paint, const PliIndex *tri, double normal[3])
{
    double ab[3], ac[3];
    v3_sub(ab, paint->x + 3 * (size_t)tri[1], paint->x + 3 * (size_t)tri[0]);
    v3_sub(ac, paint->x + 3 * (size_t)tri[2], paint->x + 3 * (size_t)tri[0]);
    v3_cross(normal, ab, ac);
}

/// Area-weighted normals at the points, not of unit length. NULL: no memory.
static double *point_normals(const PliPaint *paint)
{
    double *normals = calloc(3 * (size_t)paint->point_count + 1, sizeof *normals);
    if (!normals) return NULL;
    for (PliIndex t = 0; t < paint->tri_count; ++t) {
        double normal[3];
        triangle_normal(paint, paint->tris + 3 * (size_t)t, normal);
        for (int k = 0; k < 3; ++k) v3_madd(normals + 3 * (size_t)paint->tris[3 * (size_t)t + (size_t)k], 1.0, normal);
    }
    return normals;
}

PliStatus pli_picture_draw(PliPicture *p, const PliCamera *c, const PliPaint *paint)
{
    double *normals = paint->smooth && !paint->unlit ? point_normals(paint) : NULL;
    if (paint->smooth && !paint->unlit && !normals) return PLI_OUT_OF_MEMORY;
    for (PliIndex t = 0; t < paint->tri_count; ++t) {
        const PliIndex *tri = paint->tris + 3 * (size_t)t;
        Corner corner[3];
        double flat[3];
        bool visible = true;
        triangle_normal(paint, tri, flat);
        for (int k = 0; k < 3; ++k) {
            const double *x = paint->x + 3 * (size_t)tri[k];
            double to_eye[3];
            v3_sub(to_eye, c->eye, x);
            corner[k].colour = paint->colours ? paint->colours[tri[k]] : paint->colour;
            corner[k].light = paint->unlit ? 1.0 : shade(c, normals ? normals + 3 * (size_t)tri[k] : flat, to_eye);
            visible = pli_camera_project(c, x, corner[k].screen) && isfinite(corner[k].screen[0]) &&
                      isfinite(corner[k].screen[1]) && visible;
        }
        if (visible) paint_triangle(p, corner, paint);
    }
    free(normals);
    return PLI_OK;
}

PliStatus pli_picture_sphere(PliPicture *p, const PliCamera *c, const double centre[3], double radius, PliColour colour,
                             double opacity)
{
    enum { RINGS = 24, SIDES = 48 };
    const double pi = 3.14159265358979323846;
    double *x = malloc(3 * (RINGS + 1) * SIDES * sizeof *x);
    PliIndex *tris = malloc(3 * 2 * RINGS * SIDES * sizeof *tris);
    PliStatus status = PLI_OUT_OF_MEMORY;
    if (x && tris) {
        for (int r = 0; r <= RINGS; ++r)
            for (int s = 0; s < SIDES; ++s) {
                double *at = x + 3 * (r * SIDES + s);
                const double polar = pi * r / RINGS, turn = 2.0 * pi * s / SIDES;
                at[0] = centre[0] + radius * sin(polar) * cos(turn);
                at[1] = centre[1] + radius * cos(polar);
                at[2] = centre[2] + radius * sin(polar) * sin(turn);
            }
        for (int r = 0; r < RINGS; ++r)
            for (int s = 0; s < SIDES; ++s) {
                PliIndex *to = tris + 6 * (r * SIDES + s);
                const PliIndex a = (PliIndex)(r * SIDES + s), b = (PliIndex)(r * SIDES + (s + 1) % SIDES);
                to[0] = a, to[1] = b, to[2] = a + SIDES;
                to[3] = b, to[4] = b + SIDES, to[5] = a + SIDES;
            }
        const PliPaint paint = { .x = x,
                                 .point_count = (RINGS + 1) * SIDES,
                                 .tris = tris,
                                 .tri_count = 2 * RINGS * SIDES,
                                 .colour = colour,
                                 .smooth = true,
                                 .opacity = opacity };
        status = pli_picture_draw(p, c, &paint);
    }
    free(x);
    free(tris);
    return status;
}
