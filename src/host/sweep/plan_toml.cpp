/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The TOML parser stays behind pli_sweep_read, as that of XML does behind its own: Debian has no kept one for C.
#include "host/sweep/plan.h"

#ifdef PLI_HAS_TOML
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace
{

/// Memory is checked once, at the end.
struct Reader {
    const char *path;
    PliError *err;
    PliSweepDef *def;
    PliStatus status = PLI_OK;

    void refuse(const toml::node *at, const std::string &sentence)
    {
        if (status != PLI_OK) return;
        status = at ? pli_refuse(err, PLI_BAD_ARGUMENT, "%s:%u: %.300s", path, unsigned(at->source().begin.line),
                                 sentence.c_str())
                    : pli_refuse(err, PLI_BAD_ARGUMENT, "%s: %.300s", path, sentence.c_str());
    }
    void no_memory()
    {
        if (status == PLI_OK) status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %s", path);
    }

    template <class T> T *grow(T *list, int count)
    {
        T *wider = static_cast<T *>(std::realloc(list, (size_t(count) + 1) * sizeof(T)));
        if (!wider) no_memory();
        return wider;
    }

    /// A value as a scene writes it; "" after a refusal.
    std::string text(const toml::node &n)
    {
        char number[40];
        if (auto s = n.as_string()) return s->get();
        if (auto b = n.as_boolean()) return b->get() ? "1" : "0";
        if (auto i = n.as_integer()) return std::to_string(i->get());
        if (auto f = n.as_floating_point()) {
            std::snprintf(number, sizeof number, "%.15g", f->get());
            if (std::strtod(number, nullptr) != f->get()) std::snprintf(number, sizeof number, "%.17g", f->get());
            return number;
        }
        if (auto a = n.as_array()) {
            std::string all;
            for (const toml::node &e : *a) all += (all.empty() ? "" : " ") + text(e);
            return all;
        }
        refuse(&n, "a value is a number, a text, true, false, or a list of them");
        return "";
    }

    void words(const toml::node &n, const char *name, char ***list, int *count)
    {
        const toml::array *a = n.as_array();
        if (!a || a->empty()) return refuse(&n, std::string(name) + " is a list, [\"a\", \"b\"]");
        for (const toml::node &e : *a) {
            if (!e.is_string()) return refuse(&e, std::string(name) + " is a list of texts");
            char **wider = grow(*list, *count);
            if (!wider) return;
            *list = wider;
            wider[*count] = strdup(e.as_string()->get().c_str());
            if (!wider[*count]) return no_memory();
            ++*count;
        }
    }

    void seeds(const toml::node &n)
    {
        const toml::array *a = n.as_array();
        if (!a || a->empty()) return refuse(&n, "seeds is a list of numbers, [0, 1, 2]");
        for (const toml::node &e : *a) {
            if (!e.is_integer() || e.as_integer()->get() < 0) return refuse(&e, "a seed is a whole number, 0 or more");
            long long *wider = grow(def->seed, def->seed_count);
            if (!wider) return;
            def->seed = wider;
            wider[def->seed_count++] = e.as_integer()->get();
        }
    }

    void number(const toml::node &n, const char *name, int *value)
    {
        const bool good = n.is_integer() && n.as_integer()->get() >= 1 && n.as_integer()->get() <= 100000000;
        if (!good) return refuse(&n, std::string(name) + " is a whole number, 1 or more");
        *value = int(n.as_integer()->get());
    }

    void attribute(const char *who, const std::string &name, const toml::node &n)
    {
        const toml::array *a = n.as_array();
        if (a && a->empty()) return refuse(&n, name + " has no values");
        PliSweepAttribute *wider = grow(def->attribute, def->attribute_count);
        if (!wider) return;
        def->attribute = wider;
        PliSweepAttribute *one = &wider[def->attribute_count];
        *one = PliSweepAttribute{ who ? strdup(who) : nullptr, strdup(name.c_str()), nullptr, 0 };
        def->attribute_count++;
        if (!one->name || (who && !one->who)) return no_memory();
        const auto put = [&](const toml::node &value) {
            char **values = grow(one->value, one->value_count);
            if (!values) return;
            one->value = values;
            values[one->value_count] = strdup(text(value).c_str());
            if (!values[one->value_count]) return no_memory();
            one->value_count++;
        };
        if (!a) return put(n);
        for (const toml::node &e : *a) put(e);
    }

    void attributes(const toml::node &n)
    {
        const toml::table *t = n.as_table();
        if (!t) return refuse(&n, "attributes is a table: [attributes]");
        for (auto &&[key, value] : *t) {
            const std::string name(key.str());
            if (const toml::table *own = value.as_table())
                for (auto &&[inner, one] : *own) attribute(name.c_str(), std::string(inner.str()), one);
            else
                attribute(nullptr, name, value);
        }
    }

    void read(const toml::table &root)
    {
        for (auto &&[key, value] : root) {
            const std::string name(key.str());
            if (name == "scenes")
                words(value, "scenes", &def->scene, &def->scene_count);
            else if (name == "schemes")
                words(value, "schemes", &def->scheme, &def->scheme_count);
            else if (name == "seeds")
                seeds(value);
            else if (name == "steps")
                number(value, "steps", &def->steps);
            else if (name == "repeat")
                number(value, "repeat", &def->repeat);
            else if (name == "attributes")
                attributes(value);
            else
                refuse(&value,
                       "there is no " + name + "; a sweep has scenes, schemes, seeds, steps, repeat and attributes");
        }
        if (def->scene_count == 0) refuse(nullptr, "no scenes: scenes = [\"a.scn\"]");
    }
};

} // namespace

extern "C" PliStatus pli_sweep_read(const char *path, PliSweepDef *def, PliError *err)
{
    *def = PliSweepDef{};
    const toml::parse_result result = toml::parse_file(path);
    if (!result) {
        const toml::parse_error &e = result.error();
        const unsigned line = unsigned(e.source().begin.line);
        return pli_refuse(err, line ? PLI_BAD_ARGUMENT : PLI_BAD_FILE, "%s:%u: %.*s", path, line,
                          int(e.description().size()), e.description().data());
    }
    Reader reader{ path, err, def };
    reader.read(result.table());
    if (reader.status != PLI_OK) pli_sweep_free(def);
    return reader.status;
}
#else
extern "C" PliStatus pli_sweep_read(const char *path, PliSweepDef *def, PliError *err)
{
    *def = PliSweepDef{};
    return pli_refuse(
        err, PLI_UNSUPPORTED,
        "%s: this program was built without a TOML parser: install libtomlplusplus-dev, and build it again", path);
}
#endif
