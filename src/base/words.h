/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WORDS_H
#define PLI_WORDS_H

#include <string.h>

// Did you mean: how far a word is from one that exists, and how far is still a slip of the hand.

/// Edit distance (insertions, deletions, changes, swapped neighbours; small and capital letters are the same). Words beyond 64
/// letters: 1000.
static inline int pli_word_distance(const char *a, const char *b)
{
    int rows[3][65]; // of i - 2, i - 1 and i letters of a
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > 64 || m > 64) return 1000;
    for (int i = 0; i <= n; ++i) {
        int *const row = rows[i % 3];
        const int *const above = rows[(i + 2) % 3], *const two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; ++j) {
            row[j] = row[j - 1] + 1;
            if (i == 0) continue;
            const int change = above[j - 1] + ((a[i - 1] | 32) != (b[j - 1] | 32));
            if (above[j] + 1 < row[j]) row[j] = above[j] + 1;
            if (change < row[j]) row[j] = change;
            if (i < 2 || j < 2 || (a[i - 1] | 32) != (b[j - 2] | 32) || (a[i - 2] | 32) != (b[j - 1] | 32)) continue;
            if (two_above[j - 2] + 1 < row[j]) row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

/// Edits after which a word of this length is another one: a quarter of its letters, 1 to 4.
static inline int pli_word_tolerance(const char *name)
{
    const int n = (int)strlen(name) / 4;
    return n < 1 ? 1 : n > 4 ? 4 : n;
}

#endif
