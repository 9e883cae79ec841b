/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <string.h>

#include <pliant/registry.h>

#define PLI_SCHEME(name) extern const PliSchemeInfo pli_##name##_scheme;
#include "scheme/schemes.def"
#undef PLI_SCHEME

static const PliSchemeInfo *const built_in[] = {
#define PLI_SCHEME(name) &pli_##name##_scheme,
#include "scheme/schemes.def"
#undef PLI_SCHEME
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in };

static const PliSchemeInfo *added[PLI_MOST_SCHEMES];
static int added_count;

int pli_scheme_count(void) { return BUILT_IN + added_count; }

const PliSchemeInfo *pli_scheme_at(int i)
{
    if (i < 0 || i >= BUILT_IN + added_count) return NULL;
    return i < BUILT_IN ? built_in[i] : added[i - BUILT_IN];
}

const PliSchemeInfo *pli_scheme_find(const char *name)
{
    const PliSchemeInfo *info;
    for (int i = 0; (info = pli_scheme_at(i)); ++i)
        if (strcmp(info->name, name) == 0 || strcmp(info->component, name) == 0) return info;
    return NULL;
}

const PliSchemeInfo *pli_scheme_of(const PliBody *body) { return pli_scheme_find(pli_body_scheme(body)); }

const PliAttributeGroup *pli_scheme_group(const PliSchemeInfo *info, int i)
{
    if (i > 0 && !info->adaptive) ++i; // no criterion
    switch (i) {
    case 0: return &pli_body_attributes;
    case 1: return &pli_criterion_attributes;
    case 2: return &info->attributes;
    default: return NULL;
    }
}

const PliAttribute *pli_scheme_attribute(const PliSchemeInfo *info, const char *name)
{
    const PliAttributeGroup *group;
    const PliAttribute *row = NULL;
    for (int g = 0; !row && (group = pli_scheme_group(info, g)); ++g) row = pli_attribute_find(group, name);
    return row;
}

// ---- registering ---------------------------------------------------------------------------------------------------------

static bool is_word(const char *text)
{
    if (!text || !isalpha((unsigned char)text[0])) return false;
    while (isalnum((unsigned char)*text) || *text == '_') ++text;
    return *text == '\0';
}

static PliStatus check_rows(const PliSchemeInfo *info, PliError *err)
{
    for (int i = 0; i < info->attributes.count; ++i) {
        const PliAttribute *row = &info->attributes.rows[i];
        if (!is_word(row->name) || !row->help || (unsigned)row->kind >= PLI_KIND_COUNT)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: attribute %d has no name, kind or help", info->name,
                              i);
        if (row->size < 0 || row->offset < 0 || (size_t)row->offset + (size_t)row->size > info->def_size)
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "scheme %s: attribute %s is no field of its definition of %zu bytes", info->name,
                              row->name, info->def_size);
        const PliAttribute *first = pli_scheme_attribute(info, row->name);
        if (first != row)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: there are two attributes %s", info->name, row->name);
    }
    const char *const needs[] = { info->mesh.file, info->mesh.link, info->mesh.own, info->mesh.around };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i)
        if (needs[i] && !pli_attribute_find(&info->attributes, needs[i]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: its mesh comes from an attribute %s that it has not",
                              info->name, needs[i]);
    return PLI_OK;
}

PliStatus pli_scheme_register(const PliSchemeInfo *info, PliError *err)
{
    if (!info || info->abi != PLI_SCHEME_ABI)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "a scheme for interface %d, and this program has interface %d: build it again",
                          info ? info->abi : 0, PLI_SCHEME_ABI);
    if (!is_word(info->name) || !is_word(info->component) || !info->help)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a scheme needs a name, the name of its component, and a help text");
    if (info->def_size < sizeof(PliBodyDef) || info->def_size > PLI_DEF_BYTES)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: its definition has %zu bytes; %zu .. %d are possible",
                          info->name, info->def_size, sizeof(PliBodyDef), PLI_DEF_BYTES);
    if (!info->defaults || !info->create)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: it has no defaults or no create function", info->name);
    if (info->mesh.least < 0 || info->mesh.least > info->mesh.most || info->mesh.most > PLI_MOST_MESHES)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "scheme %s: it cannot take %d .. %d meshes; at most %d are possible",
                          info->name, info->mesh.least, info->mesh.most, PLI_MOST_MESHES);
    for (int i = 0; i < added_count; ++i)
        if (added[i] == info) return PLI_OK; // loaded twice
    if (pli_scheme_find(info->name) || pli_scheme_find(info->component))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "there already is a scheme %s, or a component %s", info->name,
                          info->component);
    if (check_rows(info, err)) return PLI_BAD_ARGUMENT;
    if (added_count == PLI_MOST_SCHEMES)
        return pli_refuse(err, PLI_OVER_CAPACITY, "scheme %s: %d schemes were added already", info->name, added_count);
    added[added_count++] = info;
    return PLI_OK;
}
