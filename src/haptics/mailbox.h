/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MAILBOX_H
#define PLI_MAILBOX_H

// A triple buffer: one thread writes whole values, one reads the newest, neither ever waits. Three places: the writer's, the reader's,
// and the one between them, which both exchange atomically with a mark that says whether it is news.

#include <stdatomic.h>
#include <stdbool.h>

typedef struct PliMailbox {
    atomic_uint between; ///< place 0..2, and FRESH
    unsigned writer, reader;
} PliMailbox;

enum { PLI_MAILBOX_FRESH = 4 };

static inline void pli_mailbox_init(PliMailbox *m)
{
    m->writer = 0;
    m->reader = 1;
    atomic_init(&m->between, 2);
}

/// The place m->writer was filled: hands it over and gives the writer another.
static inline void pli_mailbox_post(PliMailbox *m)
{
    m->writer = atomic_exchange_explicit(&m->between, m->writer | PLI_MAILBOX_FRESH, memory_order_acq_rel) & ~4u;
}

/// Makes the place m->reader the newest. @return false: nothing new, it is what it was
static inline bool pli_mailbox_take(PliMailbox *m)
{
    if (!(atomic_load_explicit(&m->between, memory_order_relaxed) & PLI_MAILBOX_FRESH)) return false;
    m->reader = atomic_exchange_explicit(&m->between, m->reader, memory_order_acq_rel) & ~4u;
    return true;
}

#endif
