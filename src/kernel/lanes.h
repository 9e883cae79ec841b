/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LANES_H
#define PLI_LANES_H

// The lane type W: one element per lane. A file that includes this header first defines PLI_LANES as 1, 4 or 8 and then
// includes the algorithm text, which is written once with + - * / on W (GCC and Clang give vector types those
// operators). Every operation here is exactly rounded, so a lane has the same bits whatever its width; FMA is never used
// because the one-lane build has none.

#include "kernel/elastic_state.h"

#include <math.h>
#include <string.h>

/// Matrices of lanes must stay in registers, and the law must be known inside the loop over packs. Instrumented builds are
/// slow anyway, and take minutes to compile when everything is one function.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define W_INSTRUMENTED 1
#elif defined(__has_feature) // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define W_INSTRUMENTED 1
#endif
#endif
#ifdef W_INSTRUMENTED
#define W_INLINE static inline
#else
#define W_INLINE static inline __attribute__((always_inline))
#endif

#if PLI_LANES == 1

typedef double W;
W_INLINE W w_set(double a) { return a; }
W_INLINE W w_load(const double *p) { return *p; }
W_INLINE void w_store(double *p, W a) { *p = a; }
W_INLINE W w_sqrt(W a) { return sqrt(a); }
W_INLINE W w_abs(W a) { return fabs(a); }
W_INLINE W w_max(W a, W b) { return a > b ? a : b; }
W_INLINE W w_sign_of(W magnitude, W sign) { return copysign(magnitude, sign); }
W_INLINE unsigned w_greater(W a, W b) { return a > b; } ///< one bit per lane
W_INLINE W w_pick_greater(W a, W b, W yes, W no) { return a > b ? yes : no; }
W_INLINE void w_gather(const double *x, const PliIndex *point, W r[3])
{
    const double *p = x + 3 * (size_t)point[0];
    r[0] = p[0], r[1] = p[1], r[2] = p[2];
}

#elif PLI_LANES == 4

#include <immintrin.h>
typedef __m256d W;
W_INLINE W w_set(double a) { return _mm256_set1_pd(a); }
W_INLINE W w_load(const double *p) { return _mm256_load_pd(p); }
W_INLINE void w_store(double *p, W a) { _mm256_store_pd(p, a); }
W_INLINE W w_sqrt(W a) { return _mm256_sqrt_pd(a); }
W_INLINE W w_abs(W a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
W_INLINE W w_max(W a, W b) { return _mm256_max_pd(a, b); }
W_INLINE W w_sign_of(W magnitude, W sign)
{
    W bit = _mm256_set1_pd(-0.0);
    return _mm256_or_pd(_mm256_andnot_pd(bit, magnitude), _mm256_and_pd(bit, sign));
}
W_INLINE unsigned w_greater(W a, W b) { return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)); }
W_INLINE W w_pick_greater(W a, W b, W yes, W no) { return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_GT_OQ)); }

#elif PLI_LANES == 8

#include <immintrin.h>
typedef __m512d W;
W_INLINE W w_set(double a) { return _mm512_set1_pd(a); }
W_INLINE W w_load(const double *p) { return _mm512_load_pd(p); }
W_INLINE void w_store(double *p, W a) { _mm512_store_pd(p, a); }
W_INLINE W w_sqrt(W a) { return _mm512_sqrt_pd(a); }
W_INLINE W w_abs(W a) { return _mm512_andnot_pd(_mm512_set1_pd(-0.0), a); }
W_INLINE W w_max(W a, W b) { return _mm512_max_pd(a, b); }
W_INLINE W w_sign_of(W magnitude, W sign)
{
    W bit = _mm512_set1_pd(-0.0);
    return _mm512_or_pd(_mm512_andnot_pd(bit, magnitude), _mm512_and_pd(bit, sign));
}
W_INLINE unsigned w_greater(W a, W b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
W_INLINE W w_pick_greater(W a, W b, W yes, W no)
{
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), no, yes);
}
#else
#error "define PLI_LANES as 1, 4 or 8"
#endif

#if PLI_LANES >= 4

// Two overlapping 16-byte loads per point, (x y) and (y z), put together by unpacking: never reads past the array,
// and two to three times faster than vgatherqpd on the processors we measured, also for eight lanes.
W_INLINE void gather_four(const double *x, const PliIndex *point, __m256d r[3])
{
    const double *a = x + 3 * (size_t)point[0], *b = x + 3 * (size_t)point[1];
    const double *c = x + 3 * (size_t)point[2], *d = x + 3 * (size_t)point[3];
    __m256d ac = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(c), 1);
    __m256d bd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(b)), _mm_loadu_pd(d), 1);
    r[0] = _mm256_unpacklo_pd(ac, bd);
    r[1] = _mm256_unpackhi_pd(ac, bd);
    ac = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + 1)), _mm_loadu_pd(c + 1), 1);
    bd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(b + 1)), _mm_loadu_pd(d + 1), 1);
    r[2] = _mm256_unpackhi_pd(ac, bd);
}

W_INLINE void w_gather(const double *x, const PliIndex *point, W r[3])
{
#if PLI_LANES == 4
    gather_four(x, point, r);
#else
    __m256d low[3], high[3];
    gather_four(x, point, low);
    gather_four(x, point + 4, high);
    for (int c = 0; c < 3; ++c) r[c] = _mm512_insertf64x4(_mm512_castpd256_pd512(low[c]), high[c], 1);
#endif
}

#endif

#define W_ALL ((1u << PLI_LANES) - 1u)

#endif
