/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "cli/cli.h"
#include "output/interrupt.h"
#include "output/json.h"
#include "output/options.h"
#include "output/progress.h"
#include "output/table.h"

// ---- the command ------------------------------------------------------------------------------------------------------

typedef struct Picked {
    const PliVerifyCase *test;
    PliVerifyResult result;
} Picked;

enum { MOST_SCHEMES = 64 };

typedef struct Options {
    const char *json, *only, *scheme[MOST_SCHEMES];
    PliWords schemes;
    bool list;
} Options;

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
    const PliVerifyCase *c, *before;
    const char *near = NULL;
    int best = pli_word_tolerance(name) + 1;
    for (int i = 0; (c = pli_verify_at(i)); ++i) {
        int k = 0; // cases of a scheme need not stand together
        while ((before = pli_verify_at(k)) && strcmp(before->scheme, c->scheme) != 0) ++k;
        if (k < i || used >= sizeof known) continue;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", c->scheme);
        const int d = pli_word_distance(name, c->scheme);
        if (d < best) best = d, near = c->scheme;
    }
    return pli_cli_refuse("verify", "there is no scheme '%s'%s%s; schemes with cases are: %s", name,
                          near ? ", did you mean " : "", near ? near : "", used ? known : "none");
}

static bool is_picked(const Options *o, const PliVerifyCase *c)
{
    bool by_scheme = o->schemes.count == 0;
    for (int k = 0; k < o->schemes.count; ++k) by_scheme = by_scheme || strcmp(o->scheme[k], c->scheme) == 0;
    return by_scheme && (!o->only || strstr(c->name, o->only));
}

/// @return false: the command ends with *code
static bool read_options(Options *o, int argc, char **argv, int *code)
{
    o->schemes = (PliWords){ o->scheme, 0, MOST_SCHEMES };
    const PliOption options[] = {
        { "only", 0, "TEXT", "only cases whose name contains TEXT", PLI_OPTION_TEXT, &o->only,
          .needs = "a part of a case's name" },
        { "json", 0, "FILE", "write the results as JSON too; - writes only JSON, to standard output", PLI_OPTION_TEXT,
          &o->json, .needs = "a file, or - for standard output" },
        { "list", 0, NULL, "name the cases and stop", PLI_OPTION_FLAG, .value = &o->list },
    };
    const PliCommandLine line = {
        .program = "pliant verify",
        .synopsis = "[SCHEME...] [OPTIONS]",
        .about = "Runs cases with known answers and prints expected, measured, tolerance and verdict of each.\n"
                 "Without a scheme every scheme is run.",
        .ending = "Exit codes: 0 every case holds, 1 at least one does not, 2 bad command line, 4 FILE cannot be "
                  "written.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o->schemes,
        .word_name = "scheme",
    };
    if (!pli_options_read(&line, argc, argv, code)) return false;
    for (int k = 0; k < o->schemes.count; ++k)
        if (!known_scheme(o->scheme[k])) return *code = unknown_scheme(o->scheme[k]), false;
    return true;
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
    const int wanted = count;
    pli_interrupt_listen();
    for (int k = 0; k < count; ++k) {
        if (pli_interrupted()) count = k; // what was measured is said
        if (k == count) break;
        pli_progress(k, count, picked[k].test->name);
        picked[k].test->run(&picked[k].result);
        all_hold = all_hold && picked[k].result.pass;
    }
    pli_progress(count, count, NULL);
    const bool json_only = o->json && strcmp(o->json, "-") == 0;
    if (!json_only && !print_table(picked, count)) return PLI_EXIT_MEMORY;
    if (o->json && write_json(o->json, picked, count, &err) != PLI_OK) return pli_cli_report("verify", &err);
    if (pli_interrupted()) {
        pli_cli_refuse("verify", "ended by a signal after %d of %d cases", count, wanted);
        return PLI_EXIT_INTERRUPTED;
    }
    return all_hold ? PLI_EXIT_OK : PLI_EXIT_FAILED;
}

int pli_cmd_verify(int argc, char **argv)
{
    const PliVerifyCase *c;
    int total = 0, count = 0, code;
    Options o = { 0 };
    if (!read_options(&o, argc, argv, &code)) return code;
    while (pli_verify_at(total)) ++total;
    Picked *picked = calloc((size_t)total + 1, sizeof *picked);
    if (!picked) {
        pli_cli_refuse("verify", "there is no memory for %d cases", total);
        return PLI_EXIT_MEMORY;
    }
    for (int i = 0; (c = pli_verify_at(i)); ++i)
        if (is_picked(&o, c)) picked[count++].test = c;
    if (o.list)
        for (int k = 0; k < count; ++k) printf("%s: %s\n", picked[k].test->scheme, picked[k].test->name);
    else if (count == 0)
        code = pli_cli_refuse("verify", "no case is called '%s'; see pliant verify --list", o.only ? o.only : "");
    else
        code = run_picked(&o, picked, count);
    free(picked);
    return code;
}
