/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "cli/cli.h"
#include "output/interrupt.h"
#include "output/progress.h"
#include "output/machine.h"
#include "output/options.h"
#include "output/table.h"

// ---- the command ------------------------------------------------------------------------------------------------------

static bool name_matches(const char *name, const char *wish)
{
    const size_t length = strlen(wish);
    return strncmp(name, wish, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static void print_machine(void)
{
    const PliMachine m = pli_machine();
    printf("%s, %ld cores, vector unit %s, %s, pliant %s\n", m.cpu, m.cores, m.simd, m.compiler, m.version);
}

// The figures from `first` on: those of the case that has just been run.
static bool print_table(const PliBench *b, size_t first)
{
    PliTable t;
    pli_table_begin(&t, "llrl", (const char *[]){ "case", "metric", "value", "unit" });
    for (size_t k = first; k < b->count; ++k) {
        const PliFigure *f = &b->figure[k];
        pli_table_cell(&t, "%s", f->name);
        pli_table_cell(&t, "%s", f->metric);
        pli_table_number(&t, f->value);
        pli_table_cell(&t, "%s", f->unit);
    }
    putchar('\n');
    const bool printed = pli_table_print(&t, stdout);
    pli_table_end(&t);
    fflush(stdout);
    return printed;
}

static PliStatus write_json(const char *path, const PliBench *b, PliError *err)
{
    PliJson j;
    const PliStatus status = pli_json_open(&j, path, err);
    if (status != PLI_OK) return status;
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_machine_json(&j);
    pli_json_begin_array(&j, "results");
    for (size_t k = 0; k < b->count; ++k) {
        pli_json_begin_object(&j, NULL);
        pli_json_string(&j, "case", b->figure[k].name);
        pli_json_string(&j, "metric", b->figure[k].metric);
        pli_json_number(&j, "value", b->figure[k].value);
        pli_json_string(&j, "unit", b->figure[k].unit);
        pli_json_end(&j);
    }
    return pli_json_close(&j, err);
}

static bool is_known(const char *wish)
{
    const PliBenchCase *c;
    for (int i = 0; (c = pli_bench_at(i)); ++i)
        if (name_matches(c->name, wish)) return true;
    return false;
}

static int unknown_case(const char *name)
{
    const char *near = NULL;
    int best = pli_word_tolerance(name) + 1;
    const PliBenchCase *c;
    for (int i = 0; (c = pli_bench_at(i)); ++i) {
        const int d = pli_word_distance(name, c->name);
        if (d < best) best = d, near = c->name;
    }
    return pli_cli_refuse("bench", "there is no case '%s'%s%s; see pliant bench --list", name,
                          near ? ", did you mean " : "", near ? near : "");
}

int pli_cmd_bench(int argc, char **argv)
{
    const char *json = NULL, *wish[64];
    bool list = false;
    const PliBenchCase *c;
    int total = 0, count = 0, code;
    PliWords wishes = { wish, 0, sizeof wish / sizeof *wish };
    const PliOption options[] = {
        { "json", 0, "FILE", "write the results as JSON too; - writes only JSON, to standard output", PLI_OPTION_TEXT,
          &json, .needs = "a file, or - for standard output" },
        { "list", 0, NULL, "name the cases and stop", PLI_OPTION_FLAG, .value = &list },
    };
    const PliCommandLine line = {
        .program = "pliant bench",
        .synopsis = "[CASE...] [OPTIONS]",
        .about = "Times named cases on this machine. CASE is a whole name or its beginning up to a dot: kernel, "
                 "kernel.stvk.\nWithout a case every case is run.",
        .ending = "Exit codes: 0 all measured, 1 a case could not be measured, 2 bad command line, 4 FILE cannot be "
                  "written.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &wishes,
        .word_name = "case",
    };
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    for (int k = 0; k < wishes.count; ++k)
        if (!is_known(wish[k])) return unknown_case(wish[k]);
    while (pli_bench_at(total)) ++total;
    const PliBenchCase **picked = calloc((size_t)total + 1, sizeof *picked);
    if (!picked) {
        pli_cli_refuse("bench", "there is no memory for %d cases", total);
        return PLI_EXIT_MEMORY;
    }
    for (int i = 0; (c = pli_bench_at(i)); ++i) {
        bool wanted = wishes.count == 0;
        for (int k = 0; k < wishes.count; ++k) wanted = wanted || name_matches(c->name, wish[k]);
        if (wanted) picked[count++] = c;
    }
    PliBench b = { 0 };
    PliError err = { PLI_OK, "" };
    if (list) {
        for (int k = 0; k < count; ++k) printf("%-24s %s\n", picked[k]->name, picked[k]->summary);
    } else {
        const bool quiet = json && strcmp(json, "-") == 0;
        if (!quiet) print_machine();
        pli_interrupt_listen();
        int done = 0;
        for (; done < count && !pli_interrupted(); ++done) {
            const int k = done;
            const size_t first = b.count;
            b.running = picked[k]->name;
            pli_progress(k, count, b.running);
            picked[k]->run(&b);
            pli_progress(k + 1, count, NULL);
            if (!quiet && b.count > first && !print_table(&b, first)) code = PLI_EXIT_MEMORY;
        }
        if (json && write_json(json, &b, &err) != PLI_OK)
            code = pli_cli_report("bench", &err);
        else if (b.broken > 0)
            code = PLI_EXIT_FAILED;
        if (pli_interrupted()) {
            pli_cli_refuse("bench", "ended by a signal after %d of %d cases, the last of them perhaps too early%s%s",
                           done, count, json ? "; what was measured is in " : "", json ? json : "");
            code = PLI_EXIT_INTERRUPTED;
        }
    }
    free(b.figure);
    free(picked);
    return code;
}
