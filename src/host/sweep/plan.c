/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _XOPEN_SOURCE 700 // realpath
#include "host/sweep/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "host/graph/component.h"
#include "output/file.h"

static const char heading[] = "id,scene,body,scheme,model,parameters,seed,steps,repeat\n";
enum { FIELDS = 9 };

void pli_sweep_free(PliSweepDef *def)
{
    for (int k = 0; k < def->scene_count; ++k) free(def->scene[k]);
    for (int k = 0; k < def->scheme_count; ++k) free(def->scheme[k]);
    for (int k = 0; k < def->attribute_count; ++k) {
        PliSweepAttribute *a = &def->attribute[k];
        for (int i = 0; i < a->value_count; ++i) free(a->value[i]);
        free(a->value);
        free(a->who);
        free(a->name);
    }
    free(def->scene);
    free(def->scheme);
    free(def->seed);
    free(def->attribute);
    *def = (PliSweepDef){ 0 };
}

void pli_sweep_plan_free(PliSweepPlan *plan)
{
    for (int k = 0; k < plan->text_count; ++k) free(plan->text[k]);
    free(plan->text);
    free(plan->job);
    *plan = (PliSweepPlan){ 0 };
}

// ---- lists -----------------------------------------------------------------------------------------------------------------

static PliStatus no_memory(PliError *err)
{
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the jobs of a sweep");
}

/// A copy that lives as long as the plan; NULL without memory.
static const char *keep(PliSweepPlan *plan, const char *text)
{
    if (plan->text_count == plan->text_capacity) {
        const int wider = plan->text_capacity ? 2 * plan->text_capacity : 64;
        char **list = realloc(plan->text, (size_t)wider * sizeof *list);
        if (!list) return NULL;
        plan->text = list, plan->text_capacity = wider;
    }
    char *copy = strdup(text);
    if (copy) plan->text[plan->text_count++] = copy;
    return copy;
}

static PliStatus add_job(PliSweepPlan *plan, const PliSweepJob *job, PliError *err)
{
    if (plan->count == PLI_SWEEP_JOBS)
        return pli_refuse(err, PLI_OVER_CAPACITY, "more than %d jobs: split the sweep", PLI_SWEEP_JOBS);
    if (plan->count == plan->capacity) {
        const int wider = plan->capacity ? 2 * plan->capacity : 64;
        PliSweepJob *list = realloc(plan->job, (size_t)wider * sizeof *list);
        if (!list) return no_memory(err);
        plan->job = list, plan->capacity = wider;
    }
    plan->job[plan->count++] = *job;
    return PLI_OK;
}

// ---- from the file to jobs -------------------------------------------------------------------------------------------------

typedef struct Planner {
    const PliHost *host;
    const PliSweepDef *def;
    PliSweepPlan *plan;
    bool *used; ///< per attribute: some body has it
    PliKey scene_key;
} Planner;

/// The attributes of the file that a body takes: its own and those for everybody, where its model has them.
static int attributes_of(const Planner *p, const PliContender *part, const PliClass *cls, const PliSweepAttribute **out)
{
    int count = 0;
    for (int k = 0; k < p->def->attribute_count && count < PLI_SWEEP_ATTRIBUTES; ++k) {
        const PliSweepAttribute *a = &p->def->attribute[k];
        if (a->who && strcmp(a->who, part->name) != 0 && strcmp(a->who, part->scheme) != 0) continue;
        const PliAttribute *row = pli_class_attribute(cls, a->name);
        if (!row || !pli_is_input(row)) continue;
        out[count++] = a;
        p->used[k] = true;
    }
    return count;
}

static void make_id(const Planner *p, PliSweepJob *job)
{
    PliKey key = p->scene_key;
    pli_key_text(&key, PLI_VERSION_TEXT);
    pli_key_text(&key, job->body);
    pli_key_text(&key, job->parameters);
    pli_key_add(&key, &job->seed, sizeof job->seed);
    pli_key_add(&key, &job->steps, sizeof job->steps);
    pli_key_add(&key, &job->repeat, sizeof job->repeat);
    snprintf(job->id, sizeof job->id, "%016llx%016llx", (unsigned long long)key.word[0],
             (unsigned long long)key.word[1]);
}

static PliStatus plan_body(const Planner *p, const PliContender *part, PliObject *model, PliSweepJob job, PliError *err)
{
    const PliSweepAttribute *attribute[PLI_SWEEP_ATTRIBUTES];
    const int count = attributes_of(p, part, model->cls, attribute);
    int pick[PLI_SWEEP_ATTRIBUTES] = { 0 };
    char path[1024];
    job.body = keep(p->plan, part->name);
    job.scheme = keep(p->plan, part->scheme);
    job.model = keep(p->plan, pli_object_path(model, path, sizeof path));
    if (!job.body || !job.scheme || !job.model) return no_memory(err);
    for (bool more = true; more;) {
        PliText text = { 0 };
        for (int k = 0; k < count; ++k)
            pli_text_print(&text, "%s%s=%s", k ? ";" : "", attribute[k]->name, attribute[k]->value[pick[k]]);
        job.parameters = text.failed ? NULL : keep(p->plan, text.data ? text.data : "");
        pli_text_free(&text);
        if (!job.parameters) return no_memory(err);
        for (int s = 0; s < (p->def->seed_count ? p->def->seed_count : 1); ++s) {
            job.seed = p->def->seed_count ? (uint64_t)p->def->seed[s] : 0;
            make_id(p, &job);
            const PliStatus status = add_job(p->plan, &job, err);
            if (status != PLI_OK) return status;
        }
        int k = count - 1;
        while (k >= 0 && ++pick[k] == attribute[k]->value_count) pick[k--] = 0;
        more = k >= 0;
    }
    return PLI_OK;
}

/// The model of a body in the graph of its contest.
static PliObject *model_of(const PliContest *contest, const char *name)
{
    for (PliNode *node = contest->graph->root->first; node; node = node->next)
        if (strcmp(node->name, name) == 0) return pli_subtree_find(node, PLI_ROLE_MODEL);
    return NULL;
}

static PliStatus plan_scene(Planner *p, const char *path, PliError *err)
{
    PliSceneDef def = pli_scene_default();
    def.data_path = getenv("SOFA_DATA_PATH");
    PliContest *contest = pli_contest_load(p->host, path, &def, err);
    if (!contest) return err->status;
    PliStatus status = PLI_OK;
    PliText names = { 0 };
    for (int k = 0; k < p->def->scheme_count; ++k) pli_text_print(&names, "%s%s", k ? "," : "", p->def->scheme[k]);
    if (names.data) status = pli_contest_choose(contest, names.data, err);
    const char *reference = contest->part[contest->reference].scheme;
    p->scene_key = pli_key_begin();
    if (status == PLI_OK) status = pli_trial_key(p->host, path, &def, &p->scene_key, err);
    PliSweepJob job = { .scene = keep(p->plan, path), .steps = p->def->steps, .repeat = p->def->repeat };
    if (!job.scene && status == PLI_OK) status = no_memory(err);
    for (int k = 0; k < contest->count && status == PLI_OK; ++k) {
        const PliContender *part = &contest->part[k];
        PliObject *model = model_of(contest, part->name);
        if (k == contest->reference || part->unable || !model) continue;
        // uniform bodies have nothing to sweep unless they were asked for
        if (!names.data && strcmp(part->scheme, reference) == 0) continue;
        status = plan_body(p, part, model, job, err);
    }
    pli_text_free(&names);
    pli_contest_destroy(contest);
    return status;
}

static PliStatus check_used(const Planner *p, PliError *err)
{
    for (int k = 0; k < p->def->attribute_count; ++k) {
        const PliSweepAttribute *a = &p->def->attribute[k];
        if (p->used[k]) continue;
        const char *near = NULL;
        int best = pli_word_tolerance(a->name) + 1;
        for (int s = 0; s < pli_scheme_count(); ++s) {
            const PliAttributeGroup *group;
            for (int g = 0; (group = pli_scheme_group(pli_scheme_at(s), g)); ++g)
                for (int i = 0; i < group->count; ++i) {
                    const int d = pli_word_distance(a->name, group->rows[i].name);
                    if (d < best) best = d, near = group->rows[i].name;
                }
        }
        return pli_refuse(err, PLI_BAD_ARGUMENT, "no body of the sweep has an attribute %s%s%s%s%s%s", a->name,
                          a->who ? " of " : "", a->who ? a->who : "", near && best > 0 ? ", did you mean " : "",
                          near && best > 0 ? near : "", near && best > 0 ? "?" : "");
    }
    return PLI_OK;
}

PliStatus pli_sweep_plan(const PliHost *host, const PliSweepDef *def, const char *path, PliSweepPlan *plan,
                         PliError *err)
{
    *plan = (PliSweepPlan){ 0 };
    Planner p = { .host = host, .def = def, .plan = plan };
    p.used = calloc((size_t)def->attribute_count + 1, sizeof *p.used);
    PliStatus status = p.used ? PLI_OK : no_memory(err);
    const char *slash = strrchr(path, '/');
    for (int k = 0; k < def->scene_count && status == PLI_OK; ++k) {
        char name[PATH_MAX], full[PATH_MAX];
        const bool absolute = def->scene[k][0] == '/' || !slash;
        snprintf(name, sizeof name, "%.*s%s", absolute ? 0 : (int)(slash - path) + 1, path, def->scene[k]);
        if (!realpath(name, full))
            status = pli_refuse(err, PLI_BAD_FILE, "%s: there is no scene %s", path, name);
        else
            status = plan_scene(&p, full, err);
    }
    if (status == PLI_OK) status = check_used(&p, err);
    if (status == PLI_OK && plan->count == 0)
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "%s: no body to run: name uniform ones in schemes", path);
    free(p.used);
    if (status != PLI_OK) pli_sweep_plan_free(plan);
    return status;
}

// ---- plan.csv --------------------------------------------------------------------------------------------------------------

PliStatus pli_sweep_plan_write(const PliSweepPlan *plan, const char *folder, PliError *err)
{
    char path[PATH_MAX];
    PliText t = { 0 };
    snprintf(path, sizeof path, "%s/results", folder);
    PliStatus status = pli_folder_make(path, err);
    pli_text_put(&t, heading);
    for (int k = 0; k < plan->count; ++k) {
        const PliSweepJob *j = &plan->job[k];
        const char *const text[] = { j->id, j->scene, j->body, j->scheme, j->model, j->parameters };
        for (size_t i = 0; i < sizeof text / sizeof *text; ++i) {
            if (i) pli_text_put(&t, ",");
            pli_text_csv(&t, text[i]);
        }
        pli_text_print(&t, ",%llu,%d,%d\n", (unsigned long long)j->seed, j->steps, j->repeat);
    }
    snprintf(path, sizeof path, "%s/plan.csv", folder);
    if (status == PLI_OK) status = t.failed ? no_memory(err) : pli_text_write(&t, path, err);
    pli_text_free(&t);
    return status;
}

int pli_sweep_fields(char *line, char **field, int most)
{
    int count = 0;
    for (char *p = line; count < most;) {
        char *to = field[count++] = p;
        const bool quoted = *p == '"';
        for (p += quoted; *p && (quoted || *p != ','); ++p) {
            if (quoted && *p == '"' && *++p != '"') break;
            *to++ = *p;
        }
        const bool more = *p == ',';
        *to = '\0';
        if (!more) break;
        ++p;
    }
    return count;
}

static PliStatus read_job(PliSweepPlan *plan, char *line, PliError *err)
{
    char *f[FIELDS];
    if (pli_sweep_fields(line, f, FIELDS) != FIELDS || strlen(f[0]) != 32)
        return pli_refuse(err, PLI_BAD_FILE, "a line of the plan is no job: %.60s", line);
    PliSweepJob job = { .scene = keep(plan, f[1]),
                        .body = keep(plan, f[2]),
                        .scheme = keep(plan, f[3]),
                        .model = keep(plan, f[4]),
                        .parameters = keep(plan, f[5]),
                        .seed = strtoull(f[6], NULL, 10),
                        .steps = (int)strtol(f[7], NULL, 10),
                        .repeat = (int)strtol(f[8], NULL, 10) };
    memcpy(job.id, f[0], sizeof job.id);
    if (!job.scene || !job.body || !job.scheme || !job.model || !job.parameters) return no_memory(err);
    return add_job(plan, &job, err);
}

PliStatus pli_sweep_plan_open(const char *folder, PliSweepPlan *plan, PliError *err)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    *plan = (PliSweepPlan){ 0 };
    snprintf(path, sizeof path, "%s/plan.csv", folder);
    FILE *in = fopen(path, "r");
    if (!in)
        return pli_refuse(err, PLI_BAD_FILE, "%s is not there: pliant sweep plan FILE.toml --out %s makes it", path,
                          folder);
    PliStatus status = PLI_OK;
    for (int k = 0; status == PLI_OK && getline(&line, &room, in) > 0; ++k) {
        if (k == 0 && strcmp(line, heading) != 0)
            status = pli_refuse(err, PLI_BAD_FILE, "%s is no plan of this version", path);
        line[strcspn(line, "\r\n")] = '\0';
        if (k > 0 && status == PLI_OK && line[0]) status = read_job(plan, line, err);
    }
    fclose(in);
    free(line);
    if (status != PLI_OK) pli_sweep_plan_free(plan);
    return status;
}
