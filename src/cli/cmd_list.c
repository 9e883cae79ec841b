/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"
#include "output/json.h"
#include "output/options.h"
#include "host/graph/component.h"

#include <stdio.h>
#include <string.h>

// Prints the one table the host itself reads scenes with.

static void default_text(const PliClass *c, const PliAttribute *row, char *text, size_t size)
{
    PliDefaults def = { 0 };
    if (c->defaults) c->defaults(&def);
    pli_attribute_text(row, c->defaults ? &def : NULL, text, size);
}

static const char *state(const PliAttribute *row)
{
    return row->role == PLI_ALIAS ? "alias" : row->role == PLI_OUT ? "output" : pli_support_name(row->support);
}

// ---- text ------------------------------------------------------------------------------------------------------------------------

static void print_row(const PliClass *c, const PliAttribute *row)
{
    char value[128], head[200];
    default_text(c, row, value, sizeof value);
    snprintf(head, sizeof head, "%s%s%s", row->name, *value ? "=" : "", *value ? value : "");
    printf("  %-34s %-13s %-12s %s%s%s%s\n", head, row->role == PLI_ALIAS ? "" : pli_kind_name(row->kind), state(row),
           row->role == PLI_ALIAS ? "same as " : "", row->help ? row->help : "",
           row->reason ? (row->help && *row->help ? "; " : "") : "", row->reason ? row->reason : "");
    if (row->options) printf("  %-34s one of: %s\n", "", row->options);
}

static void print_class(const PliClass *c)
{
    printf("%s (%s): %s\n", c->name, c->plugin, c->help);
    if (c->support != PLI_SUPPORTED)
        printf("  %s%s%s\n", pli_support_name(c->support), c->reason ? ": " : "", c->reason ? c->reason : "");
    if (c->alias) printf("  also: %s\n", c->alias);
    const PliAttribute *row;
    for (int i = 0; (row = pli_class_row(c, i)); ++i) print_row(c, row);
}

static void print_all(void)
{
    const PliClass *c;
    for (int ours = 1; ours >= 0; --ours) {
        printf("%s\n", ours ? "Ours:" : "Of SOFA, with its defaults:");
        for (int i = 0; (c = pli_profile_at(i)); ++i)
            if (pli_class_is_ours(c) == (ours == 1))
                printf("  %-38s %-12s %s\n", c->name, pli_support_name(c->support), c->help);
        if (ours) putchar('\n');
    }
    puts("\npliant list COMPONENT prints its attributes. Anything else in a scene is refused by name.");
}

// ---- Markdown --------------------------------------------------------------------------------------------------------------------

static void markdown_text(const char *text)
{
    for (; text && *text; ++text) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void markdown_class(const PliClass *c)
{
    printf("### %s\n\n", c->name);
    markdown_text(c->help);
    printf(". Module `%s`, %s.\n\n", c->plugin, pli_support_name(c->support));
    if (c->support == PLI_VISUAL_ONLY) return;
    puts("| attribute | type | default | support | meaning |\n|---|---|---|---|---|");
    const PliAttribute *row;
    for (int i = 0; (row = pli_class_row(c, i)); ++i) {
        char value[128];
        default_text(c, row, value, sizeof value);
        printf("| `%s` | %s | %s%s%s | %s | ", row->name, row->role == PLI_ALIAS ? "" : pli_kind_name(row->kind),
               *value ? "`" : "", value, *value ? "`" : "", state(row));
        if (row->role == PLI_ALIAS) printf("same as ");
        markdown_text(row->help);
        if (row->options) printf(" (%s)", row->options);
        if (row->reason) printf("%s", row->help && *row->help ? "; " : "");
        markdown_text(row->reason);
        puts(" |");
    }
    putchar('\n');
}

// ---- JSON ------------------------------------------------------------------------------------------------------------------------

static void json_class(PliJson *j, const PliClass *c)
{
    pli_json_begin_object(j, NULL);
    pli_json_string(j, "name", c->name);
    pli_json_string(j, "plugin", c->plugin);
    pli_json_string(j, "support", pli_support_name(c->support));
    pli_json_string(j, "help", c->help);
    pli_json_string(j, "reason", c->reason);
    pli_json_begin_array(j, "attributes");
    const PliAttribute *row;
    for (int i = 0; (row = pli_class_row(c, i)); ++i) {
        char value[128];
        default_text(c, row, value, sizeof value);
        pli_json_begin_object(j, NULL);
        pli_json_string(j, "name", row->name);
        pli_json_string(j, "type", row->role == PLI_ALIAS ? NULL : pli_kind_name(row->kind));
        pli_json_string(j, "support", state(row));
        pli_json_string(j, "default", *value ? value : NULL);
        pli_json_string(j, "help", row->help);
        pli_json_string(j, "options", row->options);
        pli_json_string(j, "reason", row->reason);
        pli_json_end(j);
    }
    pli_json_end(j);
    pli_json_end(j);
}

static int write_json(const char *path, const PliClass *one)
{
    PliJson j;
    PliError err = { 0 };
    if (pli_json_open(&j, path, &err)) return pli_cli_report("list", &err);
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_string(&j, "sofa", "v26.06");
    pli_json_begin_array(&j, "components");
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i)
        if (!one || c == one) json_class(&j, c);
    pli_json_end(&j);
    pli_json_end(&j);
    return pli_json_close(&j, &err) ? pli_cli_report("list", &err) : PLI_EXIT_OK;
}

int pli_cmd_list(int argc, char **argv)
{
    const char *name = NULL, *json = NULL;
    bool markdown = false;
    int code;
    PliWords names = { &name, 0, 1 };
    const PliOption options[] = {
        { "json", 0, "FILE", "write the whole table (or one component); - is standard output", PLI_OPTION_TEXT, &json,
          .needs = "a file, or - for standard output" },
        { "markdown", 0, NULL, "print it as Markdown, for the documentation", PLI_OPTION_FLAG, .value = &markdown },
    };
    const PliCommandLine line = {
        .program = "pliant list",
        .synopsis = "[COMPONENT] [OPTIONS]",
        .about =
            "Prints the components the embedded host knows, or the attributes of one of them; a scheme's name stands "
            "for its model.",
        .ending = "Exit codes: 0 printed, 2 there is no such component, 4 the file cannot be written.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &names,
        .word_name = "component",
    };
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    const PliSchemeInfo *scheme = name ? pli_scheme_find(name) : NULL;
    const PliClass *one = name ? pli_profile_find(scheme ? scheme->component : name) : NULL;
    if (name && !one) {
        const char *near = pli_profile_nearest(name);
        return pli_cli_refuse("list", "there is no component %s%s%s%s: %s", name, near ? ", did you mean " : "",
                              near ? near : "", near ? "?" : "", pli_profile_reason(name));
    }
    if (json) return write_json(json, one);
    if (!markdown) {
        if (one)
            print_class(one);
        else
            print_all();
        return PLI_EXIT_OK;
    }
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i)
        if (!one || c == one) markdown_class(c);
    return PLI_EXIT_OK;
}
