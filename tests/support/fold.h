/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TESTS_FOLD_H
#define PLI_TESTS_FOLD_H

// std::max and std::fmax pass over NaN, so that a broken program measures 0. These keep it, and every comparison with it fails.
template <class T> T largest_of(T a, T b) { return a != a || a > b ? a : b; }
template <class T> T smallest_of(T a, T b) { return a != a || a < b ? a : b; }

#endif
