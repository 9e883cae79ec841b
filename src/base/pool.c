/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A small fixed pool: the core never starts a thread by itself, hosts that have no task scheduler lend this one.
#include <pliant/base.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

struct PliPool {
    int threads;
    pthread_t thread[MAX_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    unsigned long round; ///< grows with every loop, wakes the workers
    bool open;           ///< a loop may have blocks left: who wakes may join. Nobody waits for one who wakes too late
    int joined;          ///< workers in it
    bool stop;
    PliRangeFn *fn;
    void *arg;
    PliIndex count, grain;
    atomic_uint next; ///< next block
};

typedef struct Worker {
    PliPool *pool;
    int index;
} Worker;

static void run_blocks(PliPool *p, int worker)
{
    PliIndex blocks = (p->count + p->grain - 1) / p->grain;
    for (;;) {
        PliIndex b = atomic_fetch_add(&p->next, 1);
        if (b >= blocks) return;
        PliIndex first = b * p->grain, last = first + p->grain;
        p->fn(first, last < p->count ? last : p->count, worker, p->arg);
    }
}

static void *work(void *arg)
{
    Worker self = *(Worker *)arg;
    free(arg);
    PliPool *p = self.pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stop && (p->round == seen || !p->open)) pthread_cond_wait(&p->start, &p->lock);
        if (p->stop) break;
        seen = p->round;
        p->joined++;
        pthread_mutex_unlock(&p->lock);
        run_blocks(p, self.index);
        pthread_mutex_lock(&p->lock);
        if (--p->joined == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void pool_for(PliRangeFn *fn, void *arg, PliIndex count, PliIndex grain, void *user)
{
    PliPool *p = user;
    if (count == 0) return;
    pthread_mutex_lock(&p->lock);
    p->fn = fn, p->arg = arg, p->count = count, p->grain = grain ? grain : 1;
    atomic_store(&p->next, 0);
    p->open = true;
    p->round++;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    run_blocks(p, 0);
    pthread_mutex_lock(&p->lock);
    p->open = false;
    while (p->joined > 0) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

PliPool *pli_pool_create(int threads)
{
    if (threads < 1 || threads > MAX_THREADS) return NULL;
    PliPool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = 1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    for (int i = 1; i < threads; ++i) {
        Worker *w = malloc(sizeof *w);
        if (w) *w = (Worker){ p, i };
        if (!w || pthread_create(&p->thread[i], NULL, work, w) != 0) {
            free(w);
            pli_pool_destroy(p);
            return NULL;
        }
        p->threads++;
    }
    return p;
}

void pli_pool_destroy(PliPool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->threads; ++i) pthread_join(p->thread[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->start);
    pthread_cond_destroy(&p->done);
    free(p);
}

void pli_pool_lend(PliPool *p, PliHost *host)
{
    host->parallel_for = pool_for;
    host->worker_count = p->threads;
    host->parallel_user = p;
}
