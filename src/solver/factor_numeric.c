/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Left-looking: a panel takes what earlier ones subtract from it, and is then factored by itself.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "solver/factor.h"

typedef double V4 __attribute__((vector_size(32), may_alias));

enum { SIDE = 48 }; ///< unknowns of the widest panel

static inline double add_up(const V4 *a) { return ((*a)[0] + (*a)[1]) + ((*a)[2] + (*a)[3]); }

/// c[i][j] = sum_k a[i][k] b[j][k], rows and columns in threes, `length` a multiple of four. Twelve rows of a stay near while a few of b
/// pass by.
PLI_WIDE static void multiply(const double *a, const double *b, double *c, size_t rows, size_t columns, size_t length,
                              size_t stride)
{
    enum { NEAR = 12 };
    for (size_t from = 0; from < rows; from += NEAR) {
        const size_t to = from + NEAR < rows ? from + NEAR : rows;
        for (size_t j = 0; j < columns; j += 3) {
            const double *b0 = b + j * stride, *b1 = b0 + stride, *b2 = b1 + stride;
            for (size_t i = from; i < to; i += 3) {
                const double *a0 = a + i * stride, *a1 = a0 + stride, *a2 = a1 + stride;
                V4 s00 = { 0 }, s01 = { 0 }, s02 = { 0 }, s10 = { 0 }, s11 = { 0 }, s12 = { 0 }, s20 = { 0 },
                   s21 = { 0 }, s22 = { 0 };
                for (size_t k = 0; k < length; k += 4) {
                    const V4 x0 = *(const V4 *)(a0 + k), x1 = *(const V4 *)(a1 + k), x2 = *(const V4 *)(a2 + k);
                    const V4 y0 = *(const V4 *)(b0 + k), y1 = *(const V4 *)(b1 + k), y2 = *(const V4 *)(b2 + k);
                    s00 += x0 * y0, s01 += x0 * y1, s02 += x0 * y2;
                    s10 += x1 * y0, s11 += x1 * y1, s12 += x1 * y2;
                    s20 += x2 * y0, s21 += x2 * y1, s22 += x2 * y2;
                }
                double *o = c + i * columns + j;
                o[0] = add_up(&s00), o[1] = add_up(&s01), o[2] = add_up(&s02), o += columns;
                o[0] = add_up(&s10), o[1] = add_up(&s11), o[2] = add_up(&s12), o += columns;
                o[0] = add_up(&s20), o[1] = add_up(&s21), o[2] = add_up(&s22);
            }
        }
    }
}

/// Rows of a panel below its diagonal: x <- x T^-T, where t is the triangle times signs (0 on and above the diagonal) and `inverse` what
/// its diagonal divides by. Rows in threes.
PLI_WIDE static void divide_rows(double *x, size_t rows, size_t width, size_t stride, const double *t,
                                 const double *inverse)
{
    for (size_t i = 0; i < rows; i += 3, x += 3 * stride) {
        double *x0 = x, *x1 = x + stride, *x2 = x1 + stride;
        for (size_t j = 0; j < width; ++j) {
            const double *l = t + j * SIDE;
            V4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 };
            for (size_t k = 0; k < j; k += 4) {
                const V4 y = *(const V4 *)(l + k);
                s0 += *(const V4 *)(x0 + k) * y, s1 += *(const V4 *)(x1 + k) * y, s2 += *(const V4 *)(x2 + k) * y;
            }
            x0[j] = (x0[j] - add_up(&s0)) * inverse[j];
            x1[j] = (x1[j] - add_up(&s1)) * inverse[j];
            x2[j] = (x2[j] - add_up(&s2)) * inverse[j];
        }
    }
}

/// The triangle of a panel in place, with its signs; t and `inverse` as above. @return width, or the pivot that is none
static size_t factor_triangle(double *a, size_t width, size_t stride, double *sign, double *t, double *inverse)
{
    memset(t, 0, SIDE * SIDE * sizeof *t);
    for (size_t i = 0; i < width; ++i) {
        double *row = a + i * stride;
        for (size_t j = 0; j <= i; ++j) {
            const double *other = t + j * SIDE;
            double sum = row[j];
            if (j < i) {
                for (size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
                row[j] = sum * inverse[j];
                continue;
            }
            for (size_t k = 0; k < j; ++k) sum -= row[k] * (sign[k] * row[k]);
            if (sum == 0.0 || !isfinite(sum)) return i;
            sign[i] = sum > 0.0 ? 1.0 : -1.0;
            row[i] = sqrt(fabs(sum));
            inverse[i] = sign[i] / row[i];
        }
        for (size_t j = 0; j < i; ++j) t[i * SIDE + j] = row[j] * sign[j];
        for (size_t j = i + 1; j < stride; ++j) row[j] = 0.0; // what mirrors left above the diagonal
    }
    return width;
}

/// What the earlier panel d subtracts from p, from its row number `at` on; f->local has the rows of p. @return the next one of d's rows
static PliIndex subtract(PliFactor *f, const PliPanel *p, const PliPanel *d, PliIndex at)
{
    const PliIndex *row = f->row + d->row_first;
    PliIndex end = at;
    while (end < d->rows && row[end] < p->first + p->width) ++end;
    const size_t stride = d->stride, columns = 3 * (size_t)(end - at), rows = 3 * (size_t)(d->rows - at);
    const double *a = f->value + d->at + 3 * (size_t)at * stride, *b = a;
    double *c = f->product + SIDE * SIDE;
    bool mixed = false;
    for (size_t k = 0; k < 3 * (size_t)d->width; ++k) mixed = mixed || f->sign[3 * (size_t)d->first + k] < 0.0;
    if (mixed) { // signs into a copy of the few
        for (size_t i = 0; i < columns; ++i)
            for (size_t k = 0; k < stride; ++k)
                f->product[i * stride + k] =
                    k < 3 * (size_t)d->width ? a[i * stride + k] * f->sign[3 * (size_t)d->first + k] : 0.0;
        b = f->product;
    }
    multiply(a, b, c, rows, columns, stride, stride);
    double *to = f->value + p->at;
    for (PliIndex i = at; i < d->rows; ++i, c += 3 * columns) {
        double *line = to + 3 * (size_t)f->local[row[i]] * p->stride;
        for (PliIndex j = at; j < end && j <= i; ++j) {
            double *o = line + 3 * (size_t)(row[j] - p->first);
            const double *v = c + 3 * (size_t)(j - at);
            for (int q = 0; q < 3; ++q, o += p->stride, v += columns) o[0] -= v[0], o[1] -= v[1], o[2] -= v[2];
        }
    }
    return end;
}

static void fill(PliFactor *f, const double *value, size_t offset, const PliIndex *diagonal)
{
    memset(f->value, 0, f->numbers * sizeof *f->value);
    for (size_t b = 0; b < f->blocks; ++b) {
        const size_t stride = f->to_stride[b];
        const double *v = value + 9 * (b >= f->n ? f->entry[b - f->n] + offset : diagonal ? diagonal[b] : b);
        double *o = f->value + f->to[b] / 2;
        for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 3; ++j) o[i * stride + j] = f->to[b] & 1 ? v[3 * j + i] : v[3 * i + j];
    }
}

PliIndex pli_factor_numeric(PliFactor *f, const double *value, size_t offset, const PliIndex *diagonal)
{
    f->factored = false, f->negative = 0;
    fill(f, value, offset, diagonal);
    for (PliIndex s = 0; s < f->panels; ++s) f->head[s] = PLI_NONE;
    for (PliIndex s = 0; s < f->panels; ++s) {
        const PliPanel *p = &f->panel[s];
        for (PliIndex k = 0; k < p->rows; ++k) f->local[f->row[p->row_first + k]] = k;
        for (PliIndex d = f->head[s], next; d != PLI_NONE; d = next) {
            const PliPanel *from = &f->panel[d];
            next = f->next[d];
            f->position[d] = subtract(f, p, from, f->position[d]);
            if (f->position[d] == from->rows) continue;
            const PliIndex to = f->owner[f->row[from->row_first + f->position[d]]];
            f->next[d] = f->head[to], f->head[to] = d;
        }
        const size_t width = 3 * (size_t)p->width;
        double *a = f->value + p->at, *sign = f->sign + 3 * (size_t)p->first, inverse[SIDE];
        const size_t done = factor_triangle(a, width, p->stride, sign, f->product, inverse);
        if (done < width) return 3 * p->first + (PliIndex)done;
        for (size_t k = 0; k < width; ++k) f->negative += sign[k] < 0.0;
        divide_rows(a + width * p->stride, 3 * (size_t)p->rows - width, width, p->stride, f->product, inverse);
        f->position[s] = p->width;
        if (p->width == p->rows) continue;
        const PliIndex to = f->owner[f->row[p->row_first + p->width]];
        f->next[s] = f->head[to], f->head[to] = s;
    }
    f->factored = true;
    return 3 * f->n;
}

// ---- solves ------------------------------------------------------------------------------------------------------------------------

PLI_WIDE static void forward(const PliFactor *f, double *y)
{
    _Alignas(32) double x[SIDE];
    for (PliIndex s = 0; s < f->panels; ++s) {
        const PliPanel *p = &f->panel[s];
        const size_t width = 3 * (size_t)p->width, stride = p->stride;
        const double *a = f->value + p->at;
        double *own = y + 3 * (size_t)p->first;
        for (size_t i = 0; i < width; ++i, a += stride) {
            double sum = own[i];
            for (size_t k = 0; k < i; ++k) sum -= a[k] * x[k];
            x[i] = own[i] = sum / a[i];
        }
        for (size_t k = width; k < stride; ++k) x[k] = 0.0;
        for (PliIndex r = p->width; r < p->rows; ++r)
            for (size_t c = 0; c < 3; ++c, a += stride) {
                V4 sum = { 0 };
                for (size_t k = 0; k < stride; k += 4) sum += *(const V4 *)(a + k) * *(const V4 *)(x + k);
                y[3 * (size_t)f->row[p->row_first + r] + c] -= add_up(&sum);
            }
    }
}

PLI_WIDE static void backward(const PliFactor *f, double *y)
{
    _Alignas(32) double x[SIDE];
    for (PliIndex s = f->panels; s-- > 0;) {
        const PliPanel *p = &f->panel[s];
        const size_t width = 3 * (size_t)p->width, stride = p->stride;
        const double *a = f->value + p->at + width * stride;
        double *own = y + 3 * (size_t)p->first;
        const double *sign = f->sign + 3 * (size_t)p->first;
        for (size_t k = 0; k < stride; ++k) x[k] = 0.0;
        for (PliIndex r = p->width; r < p->rows; ++r)
            for (size_t c = 0; c < 3; ++c, a += stride) {
                const double v = y[3 * (size_t)f->row[p->row_first + r] + c];
                for (size_t k = 0; k < stride; k += 4) *(V4 *)(x + k) += v * *(const V4 *)(a + k);
            }
        a = f->value + p->at;
        for (size_t i = width; i-- > 0;) {
            double sum = own[i] * sign[i] - x[i];
            for (size_t k = i + 1; k < width; ++k) sum -= a[k * stride + i] * own[k];
            own[i] = sum / a[i * stride + i];
        }
    }
}

void pli_factor_solve(const PliFactor *f, const double *b, double *x)
{
    if (!f->factored) return;
    for (size_t k = 0; k < f->n; ++k) memcpy(f->y + 3 * k, b + 3 * (size_t)f->order[k], 3 * sizeof *b);
    forward(f, f->y);
    backward(f, f->y);
    for (size_t k = 0; k < f->n; ++k) memcpy(x + 3 * (size_t)f->order[k], f->y + 3 * k, 3 * sizeof *x);
}

// The factor is read once for eight right-hand sides: alone, a solve waits for memory.
typedef double V8 __attribute__((vector_size(64), aligned(8), may_alias));

PLI_WIDE static void forward_eight(const PliFactor *f, double *work)
{
    V8 *y = (V8 *)work;
    for (PliIndex s = 0; s < f->panels; ++s) {
        const PliPanel *p = &f->panel[s];
        const size_t width = 3 * (size_t)p->width, stride = p->stride;
        const double *a = f->value + p->at;
        V8 *own = y + 3 * (size_t)p->first;
        bool any = false; // right-hand sides of single points begin late
        for (size_t i = 0; i < 8 * width; ++i) any = any || ((double *)own)[i] != 0.0;
        if (!any) continue;
        for (size_t i = 0; i < width; ++i, a += stride) {
            V8 sum = own[i];
            for (size_t k = 0; k < i; ++k) sum -= a[k] * own[k];
            own[i] = sum / a[i];
        }
        for (PliIndex r = p->width; r < p->rows; ++r)
            for (size_t c = 0; c < 3; ++c, a += stride) {
                V8 sum = { 0 };
                for (size_t k = 0; k < width; ++k) sum += a[k] * own[k];
                y[3 * (size_t)f->row[p->row_first + r] + c] -= sum;
            }
    }
}

PLI_WIDE static void backward_eight(const PliFactor *f, double *work)
{
    V8 *y = (V8 *)work;
    for (PliIndex s = f->panels; s-- > 0;) {
        const PliPanel *p = &f->panel[s];
        const size_t width = 3 * (size_t)p->width, stride = p->stride;
        const double *a = f->value + p->at + width * stride, *sign = f->sign + 3 * (size_t)p->first;
        V8 *own = y + 3 * (size_t)p->first;
        for (size_t i = 0; i < width; ++i) own[i] *= sign[i];
        for (PliIndex r = p->width; r < p->rows; ++r)
            for (size_t c = 0; c < 3; ++c, a += stride) {
                const V8 v = y[3 * (size_t)f->row[p->row_first + r] + c];
                for (size_t k = 0; k < width; ++k) own[k] -= a[k] * v;
            }
        a = f->value + p->at;
        for (size_t i = width; i-- > 0;) {
            V8 sum = own[i];
            for (size_t k = i + 1; k < width; ++k) sum -= a[k * stride + i] * own[k];
            own[i] = sum / a[i * stride + i];
        }
    }
}

void pli_factor_solve_eight(const PliFactor *f, const double *b, double *x, double *work)
{
    if (!f->factored) return;
    for (size_t k = 0; k < f->n; ++k) memcpy(work + 24 * k, b + 24 * (size_t)f->order[k], 24 * sizeof *b);
    forward_eight(f, work);
    backward_eight(f, work);
    for (size_t k = 0; k < f->n; ++k) memcpy(x + 24 * (size_t)f->order[k], work + 24 * k, 24 * sizeof *x);
}
