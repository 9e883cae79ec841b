/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LOOP_H
#define PLI_LOOP_H

#include <pliant/base.h>

/// fn over [0, count) in blocks of `grain`, on the threads the host lends. Results must not depend on who ran which block.
static inline void pli_for(const PliHost *host, PliIndex count, PliIndex grain, PliRangeFn *fn, void *arg)
{
    if (count == 0) return;
    if (host->parallel_for && host->worker_count > 1 && count > grain)
        host->parallel_for(fn, arg, count, grain, host->parallel_user);
    else
        fn(0, count, 0, arg);
}

#endif
