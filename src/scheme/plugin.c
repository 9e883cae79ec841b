/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <pliant/registry.h>

// Schemes in shared objects. They are never unloaded: bodies, classes and help texts point into them.

static const char here_we_are; // an address in the program or plugin that has the core

/// A scheme calls the core it is loaded into: where that is a plugin itself (SOFA), its functions are not seen by others yet.
static void lend_core(void)
{
    Dl_info here;
    if (dladdr(&here_we_are, &here) && here.dli_fname)
        (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

PliStatus pli_scheme_load(const char *path, PliError *err)
{
    char local[4096];
    // without a slash dlopen would search the system's folders, and not here
    if (!strchr(path, '/')) {
        if ((size_t)snprintf(local, sizeof local, "./%s", path) >= sizeof local)
            return pli_refuse(err, PLI_BAD_FILE, "scheme %.60s...: its name is too long", path);
        path = local;
    }
    lend_core();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return pli_refuse(err, PLI_BAD_FILE, "scheme %s cannot be loaded: %s", path, dlerror());
    PliSchemePluginFn *entry;
    *(void **)&entry = dlsym(library, "pli_scheme_plugin");
    if (!entry) return pli_refuse(err, PLI_BAD_FILE, "%s has no function pli_scheme_plugin: it is no scheme", path);
    PliError cause = { PLI_OK, "" };
    for (const PliSchemeInfo *const *info = entry(); info && *info; ++info)
        if (pli_scheme_register(*info, &cause)) return pli_refuse(err, cause.status, "%s: %.300s", path, cause.text);
    return PLI_OK;
}

PliStatus pli_scheme_load_list(const char *paths, PliError *err)
{
    for (const char *p = paths ? paths : ""; *p;) {
        const size_t n = strcspn(p, ":");
        char path[4096];
        if (n >= sizeof path) return pli_refuse(err, PLI_BAD_FILE, "scheme %.60s...: its name is too long", p);
        memcpy(path, p, n);
        path[n] = '\0';
        PliStatus status = n ? pli_scheme_load(path, err) : PLI_OK;
        if (status) return status;
        p += n + (p[n] == ':');
    }
    return PLI_OK;
}
