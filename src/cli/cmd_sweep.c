/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/words.h"
#include "cli/cli.h"
#include "host/sweep/plan.h"
#include "output/interrupt.h"
#include "output/options.h"
#include "output/progress.h"

enum { MOST_JOBS = 64, NAMED = 1024 };

typedef struct Options {
    const char *word[2], *out, *shard, *id[NAMED];
    PliWords words, ids;
    int jobs, part, parts; ///< part: from 0
    bool list, quiet, again;
} Options;

// ---- plan ------------------------------------------------------------------------------------------------------------------

/// sweep.toml -> sweep
static void default_folder(const char *path, char *folder, size_t size)
{
    const size_t n = strlen(path);
    const bool toml = n > 5 && strcmp(path + n - 5, ".toml") == 0;
    snprintf(folder, size, "%.*s%s", (int)(toml ? n - 5 : n), path, toml ? "" : ".sweep");
}

static bool has_result(const char *folder, const PliSweepJob *job)
{
    char path[PATH_MAX];
    return access(pli_sweep_result_path(folder, job->id, path, sizeof path), F_OK) == 0;
}

static int plan(const Options *o, const char *file)
{
    char folder[PATH_MAX];
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    PliSweepDef def;
    PliSweepPlan jobs = { 0 };
    const int missing = pli_cli_find_file("sweep", file);
    if (missing != PLI_EXIT_OK) return missing;
    if (o->out)
        snprintf(folder, sizeof folder, "%s", o->out);
    else
        default_folder(file, folder, sizeof folder);
    PliStatus status = pli_sweep_read(file, &def, &err);
    if (status == PLI_OK) status = pli_sweep_plan(&host, &def, file, &jobs, &err);
    if (status == PLI_OK) status = pli_sweep_plan_write(&jobs, folder, &err);
    int done = 0;
    char quoted[1200];
    for (int k = 0; k < jobs.count; ++k) {
        done += has_result(folder, &jobs.job[k]);
        if (o->list && status == PLI_OK) puts(jobs.job[k].id);
    }
    if (status == PLI_OK && !o->list && !o->quiet)
        printf("%d jobs in %s/plan.csv, %d of them done\nNext: pliant sweep run %s\n", jobs.count, folder, done,
               pli_cli_quote(folder, quoted, sizeof quoted));
    pli_sweep_plan_free(&jobs);
    pli_sweep_free(&def);
    return status == PLI_OK ? PLI_EXIT_OK : pli_cli_report("sweep", &err);
}

// ---- run -------------------------------------------------------------------------------------------------------------------

static bool is_named(const Options *o, const char *id)
{
    for (int k = 0; k < o->ids.count; ++k)
        if (strcmp(o->ids.word[k], id) == 0) return true;
    return o->ids.count == 0;
}

/// One job in a process of its own: whatever happens to it, the others go on.
static pid_t start_job(const PliSweepJob *job, const char *folder)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0) return child;
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    const PliStatus status = pli_sweep_job_run(&host, job, folder, pli_interrupted, &err);
    if (status != PLI_OK && !pli_interrupted()) pli_cli_report("sweep", &err);
    fflush(NULL);
    _exit(status == PLI_OK ? PLI_EXIT_OK : pli_interrupted() ? PLI_EXIT_INTERRUPTED : pli_exit_code(status));
}

/// Waits for one child. @return whether it ended well
static bool wait_job(void)
{
    int code;
    pid_t child;
    do child = wait(&code);
    while (child < 0 && errno == EINTR);
    return child > 0 && WIFEXITED(code) && WEXITSTATUS(code) == PLI_EXIT_OK;
}

static int run_jobs(const Options *o, const char *folder, const PliSweepJob **job, int count)
{
    int started = 0, running = 0, done = 0, bad = 0;
    pli_interrupt_listen();
    while (running > 0 || (started < count && !pli_interrupted())) {
        if (!o->quiet) pli_progress_steps(done + bad, count, "jobs");
        if (started < count && running < o->jobs && !pli_interrupted()) {
            if (start_job(job[started++], folder) < 0)
                ++bad;
            else
                ++running;
            continue;
        }
        const bool good = wait_job();
        --running;
        done += good, bad += !good;
    }
    if (!o->quiet) pli_progress(0, 0, NULL);
    if (pli_interrupted()) {
        pli_cli_refuse("sweep", "ended by a signal; %d of %d results were written to %s; run it again for the rest",
                       done, count, folder);
        return PLI_EXIT_INTERRUPTED;
    }
    if (!o->quiet) printf("%d jobs done\n", done);
    if (!bad) return PLI_EXIT_OK;
    pli_cli_refuse("sweep", "%d of %d jobs left no result; run it again for them", bad, count);
    return PLI_EXIT_FAILED;
}

static int run(const Options *o, const char *folder)
{
    PliError err = { PLI_OK, "" };
    PliSweepPlan all;
    if (pli_sweep_plan_open(folder, &all, &err) != PLI_OK) return pli_cli_report("sweep", &err);
    const PliSweepJob **due = calloc((size_t)all.count + 1, sizeof(PliSweepJob *));
    int count = 0, known = 0, code = PLI_EXIT_MEMORY;
    for (int k = 0; due && k < all.count; ++k) {
        if (!is_named(o, all.job[k].id)) continue;
        ++known;
        if (k % o->parts != o->part || (has_result(folder, &all.job[k]) && !o->again)) continue;
        due[count++] = &all.job[k];
    }
    if (due && o->ids.count && known < o->ids.count)
        code =
            pli_cli_refuse("sweep", "%d of %d jobs are not in %s/plan.csv", o->ids.count - known, o->ids.count, folder);
    else if (due)
        code = run_jobs(o, folder, due, count);
    free((void *)due);
    pli_sweep_plan_free(&all);
    return code;
}

// ---- collect ---------------------------------------------------------------------------------------------------------------

static int collect(const Options *o, const char *folder)
{
    PliError err = { PLI_OK, "" };
    PliSweepPlan all;
    int missing, failed;
    if (pli_sweep_plan_open(folder, &all, &err) != PLI_OK) return pli_cli_report("sweep", &err);
    const PliStatus status = pli_sweep_collect(&all, folder, &missing, &failed, &err);
    const int count = all.count;
    pli_sweep_plan_free(&all);
    if (status != PLI_OK) return pli_cli_report("sweep", &err);
    if (!o->quiet)
        printf("%d of %d jobs, %d of them did not finish\nTable: %s/table.csv\nReport: %s/report.html\n",
               count - missing, count, failed, folder, folder);
    if (missing) pli_cli_refuse("sweep", "%d jobs have no result yet: pliant sweep run %s", missing, folder);
    return missing ? PLI_EXIT_FAILED : PLI_EXIT_OK;
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static bool read_shard(Options *o, const PliCommandLine *line, int *code)
{
    char end;
    o->part = 0, o->parts = 1;
    if (!o->shard) return true;
    if (sscanf(o->shard, "%d/%d%c", &o->part, &o->parts, &end) == 2 && o->part >= 1 && o->part <= o->parts)
        return --o->part, true;
    *code = pli_options_refuse(line, "--shard is K/N with K in 1 .. N, not '%s'", o->shard);
    return false;
}

int pli_cmd_sweep(int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    Options o = { .jobs = cores > 0 && cores < MOST_JOBS ? (int)cores : 1 };
    o.words = (PliWords){ o.word, 0, 2 };
    o.ids = (PliWords){ o.id, 0, NAMED };
    const PliOption options[] = {
        { "out", 'o', "DIR", "plan: the folder of the sweep (the file's name without .toml)", PLI_OPTION_TEXT, &o.out,
          .needs = "a folder" },
        { "list", 0, NULL, "plan: print the ids of all jobs, one a line", PLI_OPTION_FLAG, .value = &o.list },
        { "jobs", 'j', "N", "run: processes at a time (all cores)", PLI_OPTION_INTEGER, &o.jobs, .least = 1,
          .most = MOST_JOBS },
        { "shard", 0, "K/N", "run: only the Kth of N parts", PLI_OPTION_TEXT, &o.shard, .needs = "K/N" },
        { "job", 0, "ID", "run: only this one; may be repeated", PLI_OPTION_LIST, .value = &o.ids,
          .needs = "the id of a job" },
        { "again", 0, NULL, "run: also those that have a result", PLI_OPTION_FLAG, .value = &o.again },
        { "quiet", 'q', NULL, "errors only", PLI_OPTION_FLAG, .value = &o.quiet },
    };
    const PliCommandLine line = {
        .program = "pliant sweep",
        .synopsis = "plan FILE.toml | run DIR | collect DIR [OPTIONS]",
        .about =
            "Scenes x bodies x attributes x seeds from one file (doc/sweeps.md). plan lists the jobs, each named by "
            "a hash of\nwhat decides its outcome; run does those that have no result, in processes; collect makes "
            "table.csv and\nreport.html. A run that was killed is run again and does the rest.\n"
            "GNU parallel: parallel pliant sweep run DIR --shard {}/8 ::: 1 2 3 4 5 6 7 8\n"
            "Slurm:        sbatch --array=1-8 --wrap 'pliant sweep run DIR --jobs 1 --shard $SLURM_ARRAY_TASK_ID/8'",
        .ending =
            "Exit codes: 0 done, 1 some jobs have no result, 2 bad command line or file, 3 no TOML parser, 4 a file "
            "is missing\nor cannot be written, 6 no memory, 130 ended by Ctrl-C; what was done is kept.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o.words,
        .least_words = 2,
        .word_name = "verb and file",
    };
    int code;
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    if (!read_shard(&o, &line, &code)) return code;
    if (strcmp(o.word[0], "plan") == 0) return plan(&o, o.word[1]);
    if (strcmp(o.word[0], "run") == 0) return run(&o, o.word[1]);
    if (strcmp(o.word[0], "collect") == 0) return collect(&o, o.word[1]);
    static const char *const verbs[] = { "plan", "run", "collect" };
    const char *near = NULL;
    for (int k = 0, best = pli_word_tolerance(o.word[0]) + 1; k < 3; ++k) {
        const int d = pli_word_distance(o.word[0], verbs[k]);
        if (d < best) best = d, near = verbs[k];
    }
    return pli_options_refuse(&line, "the verbs are plan, run and collect, not '%s'%s%s%s", o.word[0],
                              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}
