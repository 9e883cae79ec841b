/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "output/progress.h"
#include "output/machine.h"
#include "output/table.h"

static const PliBenchCase *const suites[] = {
    pli_bench_kernel_cases, pli_bench_tetlod_cases, pli_bench_frames_cases, pli_bench_wavelet_cases, pli_bench_meshes_cases, NULL,
};

// ---- the command ------------------------------------------------------------------------------------------------------

static void print_help(void)
{
    puts("Usage: pliant bench [CASE...] [OPTIONS]\n"
         "\n"
         "Times named cases on this machine. CASE is a whole name or its beginning up to a dot: kernel, kernel.stvk.\n"
         "Without a case every case is run.\n"
         "\n"
         "  --json FILE   write the results as JSON too; '-' writes only JSON, to standard output\n"
         "  --list        name the cases and stop\n"
         "\n"
         "Exit code: 0 all measured, 1 a case could not be measured, 2 bad command line, 4 FILE cannot be written.");
}

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

int pli_cmd_bench(int argc, char **argv)
{
    const char *json = NULL;
    bool list = false;
    int total = 0, count = 0, wishes = 0;
    for (int i = 1; i < argc; ++i) {
        if (pli_cli_flag(argv, i, "--help") || pli_cli_flag(argv, i, "-h")) {
            print_help();
            return PLI_EXIT_OK;
        } else if (pli_cli_flag(argv, i, "--list")) {
            list = true;
        } else if (pli_cli_value(argc, argv, &i, "--json", &json)) {
            if (!json || !*json) return pli_cli_refuse("bench", "--json needs a file name, or - for standard output");
        } else if (argv[i][0] == '-') {
            return pli_cli_refuse("bench", "there is no option '%s'; see pliant bench --help", argv[i]);
        } else {
            bool known = false;
            for (int s = 0; suites[s]; ++s)
                for (const PliBenchCase *c = suites[s]; c->name; ++c) known = known || name_matches(c->name, argv[i]);
            if (!known) return pli_cli_refuse("bench", "there is no case '%s'; see pliant bench --list", argv[i]);
            argv[wishes++] = argv[i]; // never past i: argv[0] and options leave room
        }
    }
    for (int s = 0; suites[s]; ++s)
        for (const PliBenchCase *c = suites[s]; c->name; ++c) ++total;
    const PliBenchCase **picked = calloc((size_t)total + 1, sizeof *picked);
    if (!picked) {
        pli_cli_refuse("bench", "there is no memory for %d cases", total);
        return PLI_EXIT_MEMORY;
    }
    for (int s = 0; suites[s]; ++s)
        for (const PliBenchCase *c = suites[s]; c->name; ++c) {
            bool wanted = wishes == 0;
            for (int k = 0; k < wishes; ++k) wanted = wanted || name_matches(c->name, argv[k]);
            if (wanted) picked[count++] = c;
        }
    PliBench b = { 0 };
    PliError err = { PLI_OK, "" };
    int code = PLI_EXIT_OK;
    if (list) {
        for (int k = 0; k < count; ++k) printf("%-24s %s\n", picked[k]->name, picked[k]->summary);
    } else {
        const bool quiet = json && strcmp(json, "-") == 0;
        if (!quiet) print_machine();
        for (int k = 0; k < count; ++k) {
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
    }
    free(b.figure);
    free(picked);
    return code;
}
