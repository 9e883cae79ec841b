/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What a binding cannot write in its own language: a callback that returns a struct, and a loop without the language in it.
#include <pliant/registry.h>

/// Lists of one component: rows and their values, the same number of each. Lent.
typedef struct PliBindingLists {
    int count;
    const PliAttribute *const *row;
    const PliValue *value;
} PliBindingLists;

PLI_API PliValue pli_binding_list(void *user, const PliAttribute *row);
/// PliSource.list for a `user` that is a PliBindingLists.
PliValue pli_binding_list(void *user, const PliAttribute *row)
{
    const PliBindingLists *lists = user;
    for (int k = 0; k < lists->count; ++k)
        if (lists->row[k] == row) return lists->value[k];
    return (PliValue){ 0 };
}

PLI_API PliStepInfo pli_binding_steps(PliBody *body, const PliState *s, double dt, int count);
/// `count` steps, or up to the first that cannot be done.
PliStepInfo pli_binding_steps(PliBody *body, const PliState *s, double dt, int count)
{
    PliStepInfo info = { .status = PLI_OK, .finite = true, .bad_element = PLI_NONE, .bad_dof = PLI_NONE };
    for (int k = 0; k < count && info.status == PLI_OK; ++k) info = pli_body_step(body, s, dt);
    return info;
}
