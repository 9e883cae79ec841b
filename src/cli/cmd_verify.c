/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/table.h"

// ---- the command ------------------------------------------------------------------------------------------------------

typedef struct Picked {
    const PliVerifyCase *test;
    PliVerifyResult result;
} Picked;

typedef struct Options {
    const char *json, *only;
    const char **scheme;
    int scheme_count;
    bool list, help;
} Options;

static void print_help(void)
{
    puts("Usage: pliant verify [SCHEME...] [OPTIONS]\n"
         "\n"
         "Runs cases with known answers and prints expected, measured, tolerance and verdict of each.\n"
         "Without a scheme every scheme is run.\n"
         "\n"
         "  --only TEXT   only cases whose name contains TEXT\n"
         "  --json FILE   write the results as JSON too; '-' writes only JSON, to standard output\n"
         "  --list        name the cases and stop\n"
         "\n"
         "Exit code: 0 every case holds, 1 at least one does not, 2 bad command line, 4 FILE cannot be written.");
}

static bool known_scheme(const char *name)
{
    const PliVerifyCase *c;
    for (int i = 0; (c = pli_verify_at(i)); ++i)
        if (strcmp(c->scheme, name) == 0) return true;
    return false;
}

static int unknown_scheme(const char *name)
{
    char known[256] = "";
    size_t used = 0;
    const char *last = "";
    const PliVerifyCase *c;
    for (int i = 0; (c = pli_verify_at(i)); ++i) {
        if (strcmp(c->scheme, last) == 0 || used >= sizeof known) continue;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", c->scheme);
        last = c->scheme;
    }
    return pli_cli_refuse("verify", "there is no scheme '%s'; schemes with cases are: %s", name, used ? known : "none");
}

static bool is_picked(const Options *o, const PliVerifyCase *c)
{
    bool by_scheme = o->scheme_count == 0;
    for (int k = 0; k < o->scheme_count; ++k) by_scheme = by_scheme || strcmp(o->scheme[k], c->scheme) == 0;
    return by_scheme && (!o->only || strstr(c->name, o->only));
}

static int read_options(Options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        const char *value = NULL;
        if (pli_cli_flag(argv, i, "--help") || pli_cli_flag(argv, i, "-h")) {
            o->help = true;
        } else if (pli_cli_flag(argv, i, "--list")) {
            o->list = true;
        } else if (pli_cli_value(argc, argv, &i, "--json", &value)) {
            if (!value || !*value)
                return pli_cli_refuse("verify", "--json needs a file name, or - for standard output");
            o->json = value;
        } else if (pli_cli_value(argc, argv, &i, "--only", &value)) {
            if (!value || !*value) return pli_cli_refuse("verify", "--only needs a part of a case's name");
            o->only = value;
        } else if (argv[i][0] == '-') {
            return pli_cli_refuse("verify", "there is no option '%s'; see pliant verify --help", argv[i]);
        } else if (!known_scheme(argv[i])) {
            return unknown_scheme(argv[i]);
        } else {
            o->scheme[o->scheme_count++] = argv[i];
        }
    }
    return PLI_EXIT_OK;
}

static bool print_table(const Picked *picked, int count)
{
    PliTable t;
    int failed = 0;
    pli_table_begin(&t, "llrrrll",
                    (const char *[]){ "scheme", "case", "expected", "measured", "tolerance", "verdict", "note" });
    for (int k = 0; k < count; ++k) {
        const PliVerifyResult *r = &picked[k].result;
        pli_table_cell(&t, "%s", picked[k].test->scheme);
        pli_table_cell(&t, "%s", picked[k].test->name);
        pli_table_number(&t, r->expected);
        pli_table_number(&t, r->measured);
        pli_table_cell(&t, "%.2g", r->tolerance);
        pli_table_cell(&t, "%s", r->pass ? "holds" : "FAILS");
        pli_table_cell(&t, "%s", r->note);
        failed += !r->pass;
    }
    const bool printed = pli_table_print(&t, stdout);
    pli_table_end(&t);
    if (printed) printf("\n%d of %d cases hold\n", count - failed, count);
    return printed;
}

static PliStatus write_json(const char *path, const Picked *picked, int count, PliError *err)
{
    PliJson j;
    const PliStatus status = pli_json_open(&j, path, err);
    if (status != PLI_OK) return status;
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_begin_array(&j, "cases");
    for (int k = 0; k < count; ++k) {
        const PliVerifyResult *r = &picked[k].result;
        pli_json_begin_object(&j, NULL);
        pli_json_string(&j, "scheme", picked[k].test->scheme);
        pli_json_string(&j, "case", picked[k].test->name);
        pli_json_number(&j, "expected", r->expected);
        pli_json_number(&j, "measured", r->measured);
        pli_json_number(&j, "tolerance", r->tolerance);
        pli_json_bool(&j, "pass", r->pass);
        pli_json_end(&j);
    }
    return pli_json_close(&j, err);
}

static int run_picked(const Options *o, Picked *picked, int count)
{
    PliError err = { PLI_OK, "" };
    bool all_hold = true;
    for (int k = 0; k < count; ++k) {
        pli_progress(k, count, picked[k].test->name);
        picked[k].test->run(&picked[k].result);
        all_hold = all_hold && picked[k].result.pass;
    }
    pli_progress(count, count, NULL);
    const bool json_only = o->json && strcmp(o->json, "-") == 0;
    if (!json_only && !print_table(picked, count)) return PLI_EXIT_MEMORY;
    if (o->json && write_json(o->json, picked, count, &err) != PLI_OK) return pli_cli_report("verify", &err);
    return all_hold ? PLI_EXIT_OK : PLI_EXIT_FAILED;
}

int pli_cmd_verify(int argc, char **argv)
{
    int total = 0, count = 0;
    const PliVerifyCase *c;
    while (pli_verify_at(total)) ++total;
    Options o = { .scheme = calloc((size_t)argc, sizeof *o.scheme) };
    Picked *picked = calloc((size_t)total + 1, sizeof *picked);
    int code = PLI_EXIT_MEMORY;
    if (!o.scheme || !picked) {
        pli_cli_refuse("verify", "there is no memory for %d cases", total);
        goto done;
    }
    code = read_options(&o, argc, argv);
    if (code != PLI_EXIT_OK) goto done;
    for (int i = 0; (c = pli_verify_at(i)); ++i)
        if (is_picked(&o, c)) picked[count++].test = c;
    if (o.help)
        print_help();
    else if (o.list)
        for (int k = 0; k < count; ++k) printf("%s: %s\n", picked[k].test->scheme, picked[k].test->name);
    else if (count == 0)
        code = pli_cli_refuse("verify", "no case is called '%s'; see pliant verify --list", o.only ? o.only : "");
    else
        code = run_picked(&o, picked, count);
done:
    free(picked);
    free(o.scheme);
    return code;
}
