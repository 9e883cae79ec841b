/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WIDE_H
#define PLI_WIDE_H

// Loops over plain arrays that are worth a second copy for a wider vector unit, chosen when the program starts. The same
// operations in the same order (no FMA), so the same bits. Kernels with lanes of their own are in kernel/.
// Sanitizers run before such choices are made. For static functions only: a choice is exported with the library, hidden or not.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PLI_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define PLI_WIDE
#endif

#endif
