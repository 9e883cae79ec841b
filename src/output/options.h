/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OPTIONS_H
#define PLI_OPTIONS_H

// The command line of every program and command: a table of options says what may be written, and from it come the reading, the
// checks, the sentences about what is wrong, and --help. The command only reads its own variables afterwards.

#include <pliant/base.h>

typedef enum PliOptionKind {
    PLI_OPTION_FLAG,    ///< bool: true when given
    PLI_OPTION_INTEGER, ///< int in least .. most
    PLI_OPTION_NUMBER,  ///< finite double in least .. most, `least` itself excluded
    PLI_OPTION_TEXT,    ///< const char *, not empty; one of `choices` where there are any
    PLI_OPTION_LIST     ///< PliWords: may be given again and again
} PliOptionKind;

/// Words in the order they were given. The array is the caller's.
typedef struct PliWords {
    const char **word;
    int count, capacity;
} PliWords;

typedef struct PliOption {
    const char *name;     ///< without dashes
    char letter;          ///< of the short form, or 0
    const char *argument; ///< as --help names it; NULL for a flag
    const char *help;     ///< a line or several
    PliOptionKind kind;
    void *value;
    double least, most;  ///< of numbers; most = 0: no limit
    const char *needs;   ///< what a text is: "a folder"; of numbers and choices this is known
    const char *choices; ///< separated by spaces, or NULL
} PliOption;

typedef struct PliCommandLine {
    const char *program;  ///< as sentences begin: "pliant run"
    const char *synopsis; ///< what follows the program in the first line of --help
    const char *about;    ///< the paragraph below
    const char *ending;   ///< the paragraph after the options: exit codes
    const PliOption *option;
    int option_count;
    PliWords *words;       ///< what is no option; NULL: nothing may be
    int least_words;       ///< how many must be there
    const char *word_name; ///< "scene"
} PliCommandLine;

/// Reads argv[1] .. argv[argc - 1]. True: everything is in its place, go on. False: the command ends with *code; --help was printed
/// (0), or one sentence to stderr (2). --help anywhere wins over whatever else is wrong.
bool pli_options_read(const PliCommandLine *line, int argc, char **argv, int *code);
/// While `look` is not NULL, pli_options_read shows it the table and reads nothing: false with *code 0. So whoever writes completions and
/// manuals sees what --help sees.
typedef void PliLookFn(const PliCommandLine *line, void *user);
void pli_options_look(PliLookFn *look, void *user);
/// `PROGRAM: sentence` to stderr. @return 2
int pli_options_refuse(const PliCommandLine *line, const char *format, ...) PLI_PRINTF(2, 3);

#endif
