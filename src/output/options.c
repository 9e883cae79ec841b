/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

enum { BAD_COMMAND_LINE = 2 };

int pli_options_refuse(const PliCommandLine *line, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s: ", line->program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return BAD_COMMAND_LINE;
}

// ---- help -----------------------------------------------------------------------------------------------------------------------

enum { HELP_COLUMN = 30 };

static void print_option(char letter, const char *name, const char *argument, const char *help)
{
    char head[128];
    const char short_form[3] = { '-', letter, '\0' };
    snprintf(head, sizeof head, "  %s%s --%s%s%s", letter ? short_form : "  ", letter ? "," : " ", name,
             argument ? " " : "", argument ? argument : "");
    if (strlen(head) + 2 > HELP_COLUMN)
        printf("%s\n%*s", head, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, head);
    for (; *help; ++help) {
        putchar(*help);
        if (*help == '\n') printf("%*s", HELP_COLUMN, "");
    }
    putchar('\n');
}

static void print_help(const PliCommandLine *line)
{
    printf("Usage: %s %s\n\n%s\n\n", line->program, line->synopsis, line->about);
    for (int k = 0; k < line->option_count; ++k)
        print_option(line->option[k].letter, line->option[k].name, line->option[k].argument, line->option[k].help);
    print_option('h', "help", NULL, "print this and stop");
    if (line->ending) printf("\n%s\n", line->ending);
}

// ---- sentences ------------------------------------------------------------------------------------------------------------------

/// "a whole number from 1 to 64", "a number above 0", "one of a, b or c", or what the table says.
static const char *wish(const PliOption *o, char *text, size_t size)
{
    if (o->kind == PLI_OPTION_INTEGER && o->most > 0)
        snprintf(text, size, "a whole number from %.0f to %.0f", o->least, o->most);
    else if (o->kind == PLI_OPTION_INTEGER)
        snprintf(text, size, "a whole number of at least %.0f", o->least);
    else if (o->kind == PLI_OPTION_NUMBER && o->most > 0)
        snprintf(text, size, "a number above %g and up to %g", o->least, o->most);
    else if (o->kind == PLI_OPTION_NUMBER)
        snprintf(text, size, "a number above %g", o->least);
    else if (o->choices)
        snprintf(text, size, "one of: %s", o->choices);
    else
        snprintf(text, size, "%s", o->needs ? o->needs : "a value");
    return text;
}

static bool is_option(const PliCommandLine *line, const char *word)
{
    for (int k = 0; k < line->option_count; ++k) {
        const PliOption *o = &line->option[k];
        if (word[0] == '-' && word[1] == '-' && strcmp(word + 2, o->name) == 0) return true;
        if (word[0] == '-' && o->letter && word[1] == o->letter && word[2] == '\0') return true;
    }
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int refuse_unknown(const PliCommandLine *line, const char *word)
{
    char name[65];
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
    const char *near = NULL;
    int best = pli_word_tolerance(name) + 1;
    for (int k = 0; k < line->option_count; ++k) {
        const char *known = line->option[k].name;
        // a beginning counts as a slip, too: --thread, --allow
        const bool begins = strlen(name) >= 3 && strncmp(known, name, strlen(name)) == 0;
        const int d = begins ? 0 : pli_word_distance(name, known);
        if (d < best) best = d, near = known;
    }
    const int d = strlen(name) >= 3 && strncmp("help", name, strlen(name)) == 0 ? 0 : pli_word_distance(name, "help");
    if (d < best) near = "help";
    if (near) return pli_options_refuse(line, "there is no option '%s'; did you mean --%s?", word, near);
    return pli_options_refuse(line, "there is no option '%s'; see %s --help", word, line->program);
}

// ---- reading --------------------------------------------------------------------------------------------------------------------

static bool is_choice(const char *choices, const char *value)
{
    const size_t length = strlen(value);
    for (const char *p = choices; p && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == length && strncmp(p, value, length) == 0) return true;
    return false;
}

static bool take_integer(const PliOption *o, const char *text)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    const double most = o->most > 0 ? o->most : (double)INT_MAX;
    if (end == text || *end || errno || (double)number < o->least || (double)number > most) return false;
    *(int *)o->value = (int)number;
    return true;
}

static bool take_number(const PliOption *o, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || !(number > o->least)) return false;
    if (o->most > 0 && !(number <= o->most)) return false;
    *(double *)o->value = number;
    return true;
}

static bool take(const PliOption *o, const char *text)
{
    switch (o->kind) {
    case PLI_OPTION_INTEGER: return take_integer(o, text);
    case PLI_OPTION_NUMBER: return take_number(o, text);
    case PLI_OPTION_TEXT:
        if (!*text || (o->choices && !is_choice(o->choices, text))) return false;
        *(const char **)o->value = text;
        return true;
    case PLI_OPTION_LIST: {
        PliWords *list = o->value;
        if (!*text || list->count == list->capacity) return false;
        list->word[list->count++] = text;
        return true;
    }
    case PLI_OPTION_FLAG: break;
    }
    return false;
}

/// The option a word names, and the value that stands in the same word, if any.
static const PliOption *find(const PliCommandLine *line, const char *word, const char **value)
{
    for (int k = 0; k < line->option_count; ++k) {
        const PliOption *o = &line->option[k];
        const size_t length = strlen(o->name);
        const char *rest = NULL;
        if (word[1] == '-' && strncmp(word + 2, o->name, length) == 0) rest = word + 2 + length;
        if (word[1] != '-' && o->letter && word[1] == o->letter) rest = word + 2;
        if (!rest || (*rest && *rest != '=')) continue;
        *value = *rest ? rest + 1 : NULL;
        return o;
    }
    return NULL;
}

/// One option and its value. @return words used, or 0 after a sentence
static int read_option(const PliCommandLine *line, int left, char **argv)
{
    const char *value = NULL;
    char text[160];
    const PliOption *o = find(line, argv[0], &value);
    if (!o) return refuse_unknown(line, argv[0]), 0;
    if (o->kind == PLI_OPTION_FLAG) {
        if (value) return pli_options_refuse(line, "--%s takes no value, and got '%s'", o->name, value), 0;
        *(bool *)o->value = true;
        return 1;
    }
    int used = 1;
    if (!value && left > 1) value = argv[1], used = 2;
    if (!value) return pli_options_refuse(line, "--%s needs %s", o->name, wish(o, text, sizeof text)), 0;
    if (used == 2 && is_option(line, value))
        return pli_options_refuse(line, "--%s needs %s; '%s' is another option", o->name, wish(o, text, sizeof text),
                                  value),
               0;
    if (o->kind == PLI_OPTION_LIST && ((PliWords *)o->value)->count == ((PliWords *)o->value)->capacity)
        return pli_options_refuse(line, "--%s can be given %d times", o->name, ((PliWords *)o->value)->capacity), 0;
    if (!take(o, value))
        return pli_options_refuse(line, "--%s needs %s, not '%s'", o->name, wish(o, text, sizeof text), value), 0;
    return used;
}

static bool read_word(const PliCommandLine *line, const char *word)
{
    PliWords *w = line->words;
    if (!w || w->capacity == 0)
        return pli_options_refuse(line, "takes no '%s'; see %s --help", word, line->program), false;
    if (w->count == w->capacity && w->capacity == 1)
        return pli_options_refuse(line, "takes one %s, and got %s and %s", line->word_name, w->word[0], word), false;
    if (w->count == w->capacity)
        return pli_options_refuse(line, "takes up to %d %ss", w->capacity, line->word_name), false;
    w->word[w->count++] = word;
    return true;
}

static struct {
    PliLookFn *fn;
    void *user;
} looker;

void pli_options_look(PliLookFn *look, void *user) { looker.fn = look, looker.user = user; }

bool pli_options_read(const PliCommandLine *line, int argc, char **argv, int *code)
{
    if (looker.fn) {
        looker.fn(line, looker.user);
        *code = 0;
        return false;
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(line);
            *code = 0;
            return false;
        }
    *code = BAD_COMMAND_LINE;
    bool only_words = false; // after --
    for (int i = 1; i < argc;) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true, ++i;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
            const int used = read_option(line, argc - i, argv + i);
            if (used == 0) return false;
            i += used;
        } else if (!read_word(line, argv[i++])) {
            return false;
        }
    }
    if (line->words && line->words->count < line->least_words)
        return pli_options_refuse(line, "needs a %s; see %s --help", line->word_name, line->program), false;
    *code = 0;
    return true;
}
