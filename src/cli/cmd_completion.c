/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Completions and the manual page, from the tables that --help is made of.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "output/options.h"

/// Calls `look` with the table of every command, as its --help would print it.
static void look_at_all(PliLookFn *look, void *user)
{
    pli_options_look(look, user);
    const PliCommand *c;
    for (int i = 0; (c = pli_command_at(i)); ++i) {
        char name[32];
        snprintf(name, sizeof name, "%s", c->name);
        if (!c->outside) (void)c->run(1, (char *[]){ name, NULL });
    }
    pli_options_look(NULL, NULL);
}

/// "pliant run" -> "run".
static const char *command_of(const PliCommandLine *line)
{
    const char *blank = strrchr(line->program, ' ');
    return blank ? blank + 1 : line->program;
}

/// Text within single quotes of a shell.
static void put_quoted(const char *text)
{
    for (; *text; ++text) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text == '\n' ? ' ' : *text);
    }
}

// ---- bash ------------------------------------------------------------------------------------------------------------------

static void bash_options(const PliCommandLine *line, void *user)
{
    (void)user;
    printf("    %s) options=\"--help", command_of(line));
    for (int k = 0; k < line->option_count; ++k) printf(" --%s", line->option[k].name);
    printf("\" ;;\n");
}

static void bash_choices(const PliCommandLine *line, void *user)
{
    (void)user;
    for (int k = 0; k < line->option_count; ++k)
        if (line->option[k].choices)
            printf("    %s:--%s) COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); return ;;\n", command_of(line),
                   line->option[k].name, line->option[k].choices);
}

static void print_bash(void)
{
    const PliCommand *c;
    puts("# bash completion of pliant; made by `pliant completion bash`\n_pliant()\n{\n    local "
         "word=${COMP_WORDS[COMP_CWORD]} "
         "before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=\n    if [ \"$COMP_CWORD\" = 1 ]; then");
    printf("        COMPREPLY=($(compgen -W \"");
    for (int i = 0; (c = pli_command_at(i)); ++i) printf("%s%s", i ? " " : "", c->name);
    puts(" --help --version\" -- \"$word\"))\n        return\n    fi\n    case $command:$before in");
    look_at_all(bash_choices, NULL);
    puts("    esac\n    case $command in");
    look_at_all(bash_options, NULL);
    puts("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\ncomplete -o filenames -F _pliant pliant");
}

// ---- zsh -------------------------------------------------------------------------------------------------------------------

/// Colons and brackets have a meaning of their own there.
static void zsh_text(const char *text)
{
    for (; *text; ++text) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr(":[]\\", *text)) putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void zsh_options(const PliCommandLine *line, void *user)
{
    (void)user;
    printf("    (%s) _arguments '--help[print this and stop]'", command_of(line));
    for (int k = 0; k < line->option_count; ++k) {
        const PliOption *o = &line->option[k];
        printf(" \\\n        '%s--%s%s[", o->kind == PLI_OPTION_LIST ? "*" : "", o->name, o->argument ? "=" : "");
        zsh_text(o->help);
        printf("]");
        if (o->argument) printf(":%s:", o->argument);
        if (o->choices)
            printf("(%s)", o->choices);
        else if (o->argument)
            printf("_files");
        printf("'");
    }
    puts(" '*:file:_files' ;;");
}

static void print_zsh(void)
{
    const PliCommand *c;
    puts("#compdef pliant\n# zsh completion of pliant; made by `pliant completion zsh`\nif (( CURRENT == 2 )); then\n  "
         "  local -a "
         "commands=(");
    for (int i = 0; (c = pli_command_at(i)); ++i) {
        printf("        '%s:", c->name);
        zsh_text(c->summary);
        puts("'");
    }
    puts("    )\n    _describe command commands\nelse\n    local command=$words[2]\n    shift words; (( CURRENT-- ))\n "
         "   case "
         "$command in");
    look_at_all(zsh_options, NULL);
    puts("    (*) _files ;;\n    esac\nfi");
}

// ---- fish ------------------------------------------------------------------------------------------------------------------

static void fish_options(const PliCommandLine *line, void *user)
{
    (void)user;
    for (int k = 0; k < line->option_count; ++k) {
        const PliOption *o = &line->option[k];
        printf("complete -c pliant -n '__fish_seen_subcommand_from %s' -l %s", command_of(line), o->name);
        if (o->letter) printf(" -s %c", o->letter);
        if (o->choices)
            printf(" -x -a '%s'", o->choices);
        else if (o->argument)
            printf(" -r");
        printf(" -d '");
        put_quoted(o->help);
        puts("'");
    }
}

static void print_fish(void)
{
    const PliCommand *c;
    puts("# fish completion of pliant; made by `pliant completion fish`");
    for (int i = 0; (c = pli_command_at(i)); ++i) {
        printf("complete -c pliant -f -n '__fish_use_subcommand' -a %s -d '", c->name);
        put_quoted(c->summary);
        puts("'");
    }
    look_at_all(fish_options, NULL);
}

int pli_cmd_completion(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };
    const char *shell = NULL;
    int code;
    PliWords words = { &shell, 0, 1 };
    const PliCommandLine line = {
        .program = "pliant completion",
        .synopsis = "bash|zsh|fish",
        .about = "Prints completions of commands, options and their values for a shell, from the tables of --help.\n"
                 "bash: pliant completion bash > ~/.local/share/bash-completion/completions/pliant\n"
                 "zsh:  pliant completion zsh > FOLDER/_pliant, with FOLDER in fpath\n"
                 "fish: pliant completion fish > ~/.config/fish/completions/pliant.fish",
        .ending = "Exit codes: 0 printed, 2 there is no such shell.",
        .words = &words,
        .least_words = 1,
        .word_name = "shell",
    };
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    for (size_t k = 0; k < sizeof shells / sizeof *shells; ++k)
        if (strcmp(shell, shells[k].name) == 0) {
            shells[k].print();
            return PLI_EXIT_OK;
        }
    return pli_cli_refuse("completion", "there are completions for bash, zsh and fish, not for '%s'", shell);
}

// ---- the manual page ---------------------------------------------------------------------------------------------------------

/// Text for troff: a backslash, a hyphen and a dot or quote at the beginning of a line have a meaning of their own there.
static void put_roff(const char *text)
{
    bool begins = true;
    for (; *text; ++text) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        begins = *text == '\n';
    }
}

static void roff_command(const PliCommandLine *line, void *user)
{
    (void)user;
    printf(".SH ");
    for (const char *p = line->program; *p; ++p) putchar(toupper((unsigned char)*p));
    printf("\n.B %s\n", line->program);
    put_roff(line->synopsis);
    printf("\n.PP\n");
    put_roff(line->about);
    putchar('\n');
    for (int k = 0; k < line->option_count; ++k) {
        const PliOption *o = &line->option[k];
        printf(".TP\n");
        if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
        printf("\\fB");
        char name[80];
        snprintf(name, sizeof name, "--%s", o->name);
        put_roff(name);
        printf("\\fR");
        if (o->argument) {
            printf(" \\fI");
            put_roff(o->argument);
            printf("\\fR");
        }
        putchar('\n');
        put_roff(o->help);
        putchar('\n');
    }
    if (!line->ending) return;
    printf(".PP\n");
    put_roff(line->ending);
    putchar('\n');
}

int pli_cmd_man(int argc, char **argv)
{
    int code;
    const PliCommandLine line = {
        .program = "pliant man",
        .synopsis = "",
        .about = "Prints the manual page, from the tables of --help: pliant man | man -l -",
        .ending = "Exit codes: 0 printed.",
    };
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    const PliCommand *c;
    printf(".TH PLIANT 1 \"\" \"pliant %s\"\n.SH NAME\npliant \\- adaptive deformable bodies: run scenes, compare "
           "schemes, check the "
           "numbers\n.SH SYNOPSIS\n.B pliant\n\\fICOMMAND\\fR [\\fIARGS\\fR]\n.SH COMMANDS\n",
           PLI_VERSION_TEXT);
    for (int i = 0; (c = pli_command_at(i)); ++i) {
        printf(".TP\n.B %s\n", c->name);
        put_roff(c->summary);
        if (c->outside) printf("; see pliant %s \\-\\-help", c->name);
        putchar('\n');
    }
    look_at_all(roff_command, NULL);
    return PLI_EXIT_OK;
}
