/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Defaults of the common definition: the only place they are written down.
#include <math.h>
#include <stdio.h>

#include <pliant/attributes.h>
#include <pliant/scheme.h>

PliMaterial pli_material_default(void)
{
    return (PliMaterial){ .law = PLI_STVK, .young = 1e4, .poisson = 0.3, .density = 1000.0 };
}

PliStatus pli_material_check(const PliMaterial *m, PliError *err)
{
    // negated comparisons, so that NaN fails too
    if ((unsigned)m->law >= PLI_LAW_COUNT)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "material: there is no law number %d", (int)m->law);
    if (!(m->young > 0.0 && isfinite(m->young)))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "material: young must be > 0 Pa, not %g", m->young);
    if (!(m->poisson >= 0.0 && m->poisson < 0.5))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "material: poisson must be in [0, 0.5), not %g", m->poisson);
    if (!(m->density > 0.0 && isfinite(m->density)))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "material: density must be > 0 kg/m3, not %g", m->density);
    if (!(m->damping >= 0.0 && isfinite(m->damping)))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "material: damping must be >= 0 s, not %g", m->damping);
    return PLI_OK;
}

PliCriterionDef pli_criterion_default(void)
{
    return (PliCriterionDef){ .kind = PLI_BY_STRAIN_JUMP,
                              .threshold = 0.1,
                              .coarsen = 0.4,
                              .hold = 3,
                              .interval = 0.01,
                              .max_active = PLI_NONE };
}

PliBodyDef pli_body_default(void)
{
    return (PliBodyDef){
        .material = pli_material_default(),
        .criterion = pli_criterion_default(),
        .integrator = PLI_SYMPLECTIC,
        .linear_solver = PLI_SOLVE_AUTO,
        .order = 1,
        .newton = 1,
        .cg_iterations = 100,
        .cg_tolerance = 1e-8,
        .gravity = { 0.0, -9.81, 0.0 },
        .courant = 0.8,
        .adapt = true,
        .spread = true,
        .multirate = PLI_RATES_AUTO,
        .cookie = PLI_DEF_COOKIE,
    };
}

PliIntegrator pli_body_def_integrator(const PliBodyDef *def, const PliSchemeOps *ops)
{
    if (def->integrator != PLI_INTEGRATE_USUAL) return def->integrator;
    // with Rayleigh damping steps cannot be explicit
    const bool open = ops->accurate && def->criterion.accuracy > 0.0 && def->rayleigh_stiffness == 0.0;
    return open ? PLI_INTEGRATE_AUTO : PLI_SYMPLECTIC;
}

PliRates pli_body_def_rates(const PliBodyDef *def)
{
    const bool open = def->multirate == PLI_RATES_AUTO;
    return open && def->criterion.accuracy > 0.0 ? PLI_RATES_OWN : def->multirate;
}

PliStatus pli_body_check_criterion(const PliSchemeOps *ops, const PliCriterionDef *c, PliError *err)
{
    if (ops->criteria == 0) return PLI_OK;
    if (c->accuracy > 0.0 && !ops->accurate)
        return pli_refuse(err, PLI_UNSUPPORTED, "%s: it cannot follow an accuracy (%g %% was asked for); use threshold",
                          ops->name, c->accuracy);
    if ((unsigned)c->kind < 32 && ops->criteria >> (unsigned)c->kind & 1u) {
        if (c->kind == PLI_BY_REGION && !(c->radius > 0.0))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the region of interest is empty, its radius is %g m",
                              ops->name, c->radius);
        return PLI_OK;
    }
    const PliAttribute *row = pli_attribute_find(&pli_criterion_attributes, "criterion");
    char words[160] = "", word[32];
    size_t used = 0;
    for (int k = 0; pli_option_word(row, k, word, sizeof word); ++k)
        if (ops->criteria >> k & 1u && used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", word);
    if (!pli_option_word(row, (int)c->kind, word, sizeof word)) snprintf(word, sizeof word, "number %d", (int)c->kind);
    return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the criterion cannot be %s; choose one of: %s", ops->name, word,
                      words);
}
