/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "cli/fresh_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "output/interrupt.h"

static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[1400];
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            remove(path);
    }
    if (d) closedir(d);
    rmdir(folder);
}

static bool is_taken(const char *folder)
{
    struct stat s;
    if (lstat(folder, &s) != 0) return false;
    DIR *d = opendir(folder);
    bool taken = d == NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        taken = taken || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
    if (d) closedir(d);
    return taken;
}

int pli_fresh_folder_begin(PliFreshFolder *f, const char *command, const char *name)
{
    if (snprintf(f->name, sizeof f->name, "%s", name) >= (int)sizeof f->name)
        return pli_cli_refuse(command, "the name of the folder is too long");
    for (size_t n = strlen(f->name); n > 1 && f->name[n - 1] == '/'; --n) f->name[n - 1] = '\0';
    snprintf(f->scratch, sizeof f->scratch, "%s.tmp%ld", f->name, (long)getpid());
    if (!is_taken(f->name)) {
        pli_interrupt_listen();
        return PLI_EXIT_OK;
    }
    pli_cli_refuse(command, "%s exists and is not an empty folder; give another --out, or remove it", f->name);
    return PLI_EXIT_FILE;
}

PliStatus pli_fresh_folder_keep(PliFreshFolder *f, PliError *err)
{
    if (pli_interrupted()) return pli_refuse(err, PLI_BAD_FILE, "ended by a signal");
    if (rename(f->scratch, f->name) == 0) return PLI_OK;
    return pli_refuse(err, PLI_BAD_FILE, "the folder %.300s cannot be made", f->name);
}

int pli_fresh_folder_report(const PliFreshFolder *f, const char *command, const PliError *err)
{
    if (!pli_interrupted()) return pli_cli_report(command, err);
    pli_cli_refuse(command, "ended by a signal; nothing was written, %s was not made", f->name);
    return PLI_EXIT_INTERRUPTED;
}

void pli_fresh_folder_end(PliFreshFolder *f) { remove_folder(f->scratch); }
