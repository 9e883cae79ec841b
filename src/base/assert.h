/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ASSERT_H
#define PLI_ASSERT_H

#include <pliant/base.h>

/// PLI_ASSERT(condition, "sentence with %u", value): what only a defect of this library can break. On in every build without NDEBUG
/// (the presets debug, asan and tsan): prints file, line and sentence, and aborts. Off, nothing is evaluated.
/// Bad input is never asserted but refused: see pli_refuse.
#ifdef NDEBUG
#define PLI_ASSERT(condition, ...) ((void)sizeof(condition))
#else
#define PLI_ASSERT(condition, ...) ((condition) ? (void)0 : pli_assert_failed(__FILE__, __LINE__, __VA_ARGS__))
#endif

__attribute__((noreturn)) void pli_assert_failed(const char *file, int line, const char *format, ...) PLI_PRINTF(3, 4);

#endif
