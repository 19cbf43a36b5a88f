/* PodNodeSelector: where the pods of a namespace go, and which labels of nodes they may name. An
 * annotation of the namespace says the first, or else the configuration, which says the second:
 *
 *     podNodeSelectorPluginConfig:
 *       clusterDefaultNodeSelector: a=b,c=d
 *       NAMESPACE: a=b,e=f */
#include "admission/config.h"
#include "admission/plugins.h"
#include "api/errors.h"
#include "api/field_errors.h"
#include "api/label_syntax.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/banned.h"

#define ANNOTATION STR("scheduler.alpha.kubernetes.io/node-selector")
#define DEFAULT    STR("clusterDefaultNodeSelector")

/* ---- `a=b,c=d` ---- */

static int check_label(struct arena *a, struct str text, bool is_good, struct buf *why,
                       struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(a);
    if (is_good)
        return 0;
    field_error(&e, FIELD_INVALID, NULL, field_quoted(&e, text), STR_FMT, STR_ARG(buf_str(why)));
    return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(field_errors_text(&e)));
}

static int read_label(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    struct str rest = text, key = str_trim(str_cut(&rest, '=')), value = str_trim(rest);
    autobuf why = { 0 }, parts = { 0 };
    if (!rest.p || str_find(rest, '=') >= 0) {
        for (struct str left = text; left.p;) {
            struct str part = str_cut(&left, '=');
            buf_printf(&parts, "%s" STR_FMT, part.p == text.p ? "" : " ", STR_ARG(part));
        }
        return err_set(err, ERR_UNKNOWN, "invalid selector: [" STR_FMT "]",
                       STR_ARG(buf_str(&parts)));
    }
    int r = check_label(a, key, label_key_check(key, &why), &why, err);
    if (r < 0)
        return r;
    r = check_label(a, value, label_value_check(value, &why), &why, err);
    if (r < 0)
        return r;
    value_put(a, ret, key, value_string(value));
    return 0;
}

static int read_labels(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    *ret = value_object();
    for (struct str rest = text; text.n && rest.p;) {
        int r = read_label(a, str_cut(&rest, ','), ret, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool conflict(const struct value *labels, const struct value *others)
{
    value_each_field (f, labels) {
        const struct value *other = value_get(others, f->key);
        if (other && !value_eq(other, &f->val))
            return true;
    }
    return false;
}

/* A list of nothing allows everything. */
static bool is_within(const struct value *labels, const struct value *allowed)
{
    value_each_field (f, labels) {
        const struct value *known = value_get(allowed, f->key);
        if (allowed->n && (!known || !value_eq(known, &f->val)))
            return false;
    }
    return true;
}

/* ---- Pods ---- */

static struct str configured(const struct admission_request *req, struct str name)
{
    return value_str(value_get(admission_configured(req), name));
}

static int namespace_labels(struct admission_request *req, struct value *ret, struct err *err)
{
    struct value ns;
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r < 0)
        return r;
    if (r == 0)
        return error_no_namespace(err, req->ns);
    const struct value *said = value_get(value_dig(&ns, "metadata", "annotations"), ANNOTATION);
    return read_labels(req->arena, said ? value_str(said) : configured(req, DEFAULT), ret, err);
}

static int refuse(struct admission_request *req, const struct value *pod, struct str why,
                  struct err *err)
{
    return error_forbidden(err, req->resource, value_str(value_dig(pod, "metadata", "name")), why);
}

static int check(struct admission_request *req, const struct value *pod, struct value *ret_labels,
                 struct err *err)
{
    const struct value *given = value_dig(pod, "spec", "nodeSelector");
    int r = namespace_labels(req, ret_labels, err);
    if (r < 0)
        return r;
    if (conflict(ret_labels, given))
        return refuse(req, pod,
                      STR("pod node label selector conflicts with its namespace node label "
                          "selector"),
                      err);
    return 0;
}

static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    struct value labels, allowed;
    if (!admission_is_in_the_making(req))
        return 0;
    int r = check(req, pod, &labels, err);
    if (r < 0)
        return r;
    r = read_labels(req->arena, configured(req, req->ns), &allowed, err);
    if (r < 0 || is_within(value_dig(pod, "spec", "nodeSelector"), &allowed))
        return r;
    return refuse(req, pod,
                  STR("pod node label selector labels conflict with its namespace whitelist"), err);
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct arena *a = req->arena;
    struct value labels;
    if (!admission_is_in_the_making(req))
        return 0;
    int r = check(req, pod, &labels, err);
    if (r < 0)
        return r;
    struct value *spec = value_ensure(a, pod, STR("spec"));
    value_each_field (f, value_get(spec, STR("nodeSelector")))
        value_put(a, &labels, f->key, value_borrow(&f->val));
    if (labels.n)
        value_put(a, spec, STR("nodeSelector"), labels);
    return validate(req, pod, err);
}

/* ---- The configuration ---- */

static int configure(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    static const struct str fields[] = { STR("podNodeSelectorPluginConfig") };
    struct value *kept = arena_new(a, struct value);
    const struct value *all = value_get(tree, fields[0]);
    struct value labels;
    *kept = value_object();
    *ret = kept;
    int r = tree ? admission_config_fields(tree, STR(""), WORDS(fields), err) : 0;
    if (r < 0)
        return r;
    value_each_field (f, all) {
        if (!value_is(&f->val, VALUE_STRING) && !value_is(&f->val, VALUE_NULL))
            return err_set(err, ERR_INVALID, STR_FMT "." STR_FMT " must be a string",
                           STR_ARG(fields[0]), STR_ARG(f->key));
        r = read_labels(a, value_str(&f->val), &labels, err);
        if (r < 0)
            return r;
    }
    if (value_is(all, VALUE_OBJECT))
        *kept = value_clone(a, all);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_node_selector = {
    .name = "PodNodeSelector",
    .is_off = true,
    .targets = targets,
    .configure = configure,
    .mutate = mutate,
    .validate = validate,
};
