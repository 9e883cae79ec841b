/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_BASE_H
#define PLIANT_BASE_H

// What every public header shares: indices, status, errors, and what the host lends to the library.
//
// Rules of the whole API, written once:
//  - create functions copy what they are given, calls borrow, returned pointers say until when they are valid;
//  - units are those of the scene (SI unless the user decides otherwise); every length, mass and time must agree;
//  - different objects may be used from different threads, one object from one thread at a time;
//  - functions that take a PliError accept NULL there.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PLI_API __attribute__((visibility("default")))
#define PLI_MUST_CHECK __attribute__((warn_unused_result))
#define PLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PLI_API
#define PLI_MUST_CHECK
#define PLI_PRINTF(f, a)
#endif

#define PLI_VERSION_MAJOR 0
#define PLI_VERSION_MINOR 1
#define PLI_VERSION_PATCH 0

/// Same width as sofa::Index, so SOFA element arrays can be borrowed as they are.
typedef uint32_t PliIndex;
#define PLI_NONE UINT32_MAX

/// 0: done. >0: refused, nothing was changed. <0: the object is broken, destroy it (a body's step is undone instead, see PliStepInfo).
typedef enum PliStatus {
    PLI_OK = 0,
    PLI_BAD_ARGUMENT = 1,
    PLI_BAD_FILE = 2,
    PLI_BAD_MESH = 3,
    PLI_OVER_CAPACITY = 4,
    PLI_UNSUPPORTED = 5,
    PLI_OUT_OF_MEMORY = -1,
    PLI_DIVERGED = -2
} PliStatus;

/// Caller-owned error report.
typedef struct PliError {
    PliStatus status;
    char text[400]; ///< one sentence: what was wrong, where, and with which value
} PliError;

/// Fills `err` (which may be NULL) and returns `status`, so that a check reads `return pli_refuse(err, ...)`.
PLI_API PliStatus pli_refuse(PliError *err, PliStatus status, const char *format, ...) PLI_PRINTF(3, 4);

/// Runs over items [first, last). `worker` is stable during the call: use it to index per-worker scratch.
typedef void PliRangeFn(PliIndex first, PliIndex last, int worker, void *arg);

typedef enum PliLogLevel { PLI_LOG_INFO, PLI_LOG_WARNING, PLI_LOG_ERROR } PliLogLevel;

/// What the host lends to the library. The struct is copied; `user` must outlive every object made with it.
typedef struct PliHost {
    void *(*alloc)(size_t bytes, size_t align, void *user);       ///< NULL when there is no memory
    void (*release)(void *block, size_t bytes, void *user);       ///< block may be NULL
    void (*log)(PliLogLevel level, const char *text, void *user); ///< NULL: silent
    /// Must split [0, count) at multiples of `grain` and return when every block has run. Which worker runs which
    /// block must not matter: the library never depends on it. NULL: serial.
    void (*parallel_for)(PliRangeFn *fn, void *arg, PliIndex count, PliIndex grain, void *parallel_user);
    int worker_count;    ///< 1 when parallel_for is NULL
    void *user;          ///< handed to alloc, release and log
    void *parallel_user; ///< handed to parallel_for
} PliHost;

/// malloc, warnings and errors to stderr, serial loop.
PLI_API PliHost pli_host_default(void);

/// A pool of `threads` workers (1 .. 64) behind PliHost.parallel_for. NULL on failure.
typedef struct PliPool PliPool;
PLI_API PliPool *pli_pool_create(int threads);            ///< see PliPool
PLI_API void pli_pool_destroy(PliPool *pool);             ///< NULL is fine
PLI_API void pli_pool_lend(PliPool *pool, PliHost *host); ///< sets parallel_for, worker_count and parallel_user

/// major*10000 + minor*100 + patch of the library that was linked (compare with the macros above).
PLI_API int pli_version(void);

/// Vector units the kernels may use. Results have the same bits at every level.
typedef enum PliSimd { PLI_SIMD_NONE, PLI_SIMD_AVX2, PLI_SIMD_AVX512 } PliSimd;
PLI_API PliSimd pli_simd_best(void); ///< widest this processor has, or what PLIANT_SIMD=none|avx2|avx512 asks for
PLI_API const char *pli_simd_name(PliSimd simd); ///< "none", "avx2", "avx512"

#ifdef __cplusplus
}
#endif
#endif
