/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/base.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *default_alloc(size_t bytes, size_t align, void *user)
{
    (void)user;
    if (bytes > SIZE_MAX - align) return NULL; // rounding up would wrap to a small block
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void default_release(void *block, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    free(block);
}

static void default_log(PliLogLevel level, const char *text, void *user)
{
    (void)user;
    if (level != PLI_LOG_INFO) fprintf(stderr, "pliant: %s: %s\n", level == PLI_LOG_ERROR ? "error" : "warning", text);
}

PliHost pli_host_default(void)
{
    return (PliHost){ .alloc = default_alloc, .release = default_release, .log = default_log, .worker_count = 1 };
}

PliStatus pli_refuse(PliError *err, PliStatus status, const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

int pli_version(void) { return PLI_VERSION_MAJOR * 10000 + PLI_VERSION_MINOR * 100 + PLI_VERSION_PATCH; }

PliSimd pli_simd_best(void)
{
    PliSimd best = PLI_SIMD_NONE;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) best = PLI_SIMD_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) best = PLI_SIMD_AVX512;
#endif
    const char *wish = getenv("PLIANT_SIMD");
    if (!wish) return best;
    if (strcmp(wish, "none") == 0) return PLI_SIMD_NONE;
    if (strcmp(wish, "avx2") == 0 && best >= PLI_SIMD_AVX2) return PLI_SIMD_AVX2;
    return best;
}

const char *pli_simd_name(PliSimd simd)
{
    return simd == PLI_SIMD_AVX512 ? "avx512" : simd == PLI_SIMD_AVX2 ? "avx2" : "none";
}
