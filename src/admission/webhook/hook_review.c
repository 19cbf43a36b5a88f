/* hook_review.c - what a webhook has answered, as upstream's decoder sees it. */
#include "admission/webhook/hook.h"
#include "api/words.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/yaml.h"
#include "base/banned.h"

struct str hook_review_version(const struct value *list)
{
    value_each_item (it, list) {
        if (str_eq(value_str(it), STR("v1")))
            return STR("v1");
        if (str_eq(value_str(it), STR("v1beta1")))
            return STR("v1beta1");
    }
    return (struct str){ NULL, 0 };
}

static int unreadable(struct str why, struct err *err)
{
    return err_set(err, ERR_UNKNOWN, "couldn't get version/kind; json parse error: " STR_FMT,
                   STR_ARG(why));
}

static int refuse_type(const struct value *v, struct err *err)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return unreadable(arena_printf(err->arena,
                                   "json: cannot unmarshal %s into Go value of type struct { "
                                   "APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
                                   "string \"json:\\\"kind,omitempty\\\"\" }",
                                   names[v->type]),
                      err);
}

/* What begins like JSON is JSON, anything else YAML. */
static int read_tree(struct arena *a, struct str body, struct value *ret, struct err *err)
{
    struct err why = ERR_INIT(a);
    if (str_starts(str_trim(body), STR("{")))
        return json_read(a, body, NULL, ret, NULL) < 0 ? unreadable(json_fault(a, body), err) : 0;
    if (yaml_read(a, body, NULL, ret, &why) < 0)
        return unreadable(json_fault(a, body), err);
    if (ret->type == VALUE_NULL)
        *ret = value_object();
    return ret->type == VALUE_OBJECT ? 0 : refuse_type(ret, err);
}

/* ---- What it says it is ---- */

struct named {
    struct str group, version, kind;
};

static int read_name(const struct value *review, struct named *ret, struct err *err)
{
    struct str api_version = value_text(review, "apiVersion"), rest = api_version;
    struct str head = str_cut(&rest, '/');
    *ret = (struct named){ .version = head, .kind = value_text(review, "kind") };
    if (!rest.p)
        return 0;
    if (str_find(rest, '/') >= 0)
        return err_set(err, ERR_UNKNOWN, "unexpected GroupVersion string: " STR_FMT,
                       STR_ARG(api_version));
    ret->group = head;
    ret->version = rest;
    return 0;
}

struct str hook_review_name(struct arena *a, const struct value *review)
{
    struct named n;
    if (read_name(review, &n, NULL) < 0)
        return STR("");
    return arena_printf(a, STR_FMT "/" STR_FMT ", Kind=" STR_FMT, STR_ARG(n.group),
                        STR_ARG(n.version), STR_ARG(n.kind));
}

/* Kinds beside reviews that upstream's decoder knows, in any group and version. */
static bool is_unversioned(const struct named *n)
{
    static const struct str kinds[] = { STR("Status"), STR("APIVersions"), STR("APIGroupList"),
                                        STR("APIGroup"), STR("APIResourceList") };
    return words_have(n->kind, WORDS(kinds));
}

/* What it does not say is as it is wanted. */
static void complete(struct named *n, const struct hook_review *wanted)
{
    if (!n->kind.n)
        n->kind = wanted->kind;
    if (!n->group.n && !n->version.n)
        n->group = wanted->group;
    if (!n->version.n && str_eq(n->group, wanted->group))
        n->version = wanted->version;
}

static bool is_known(const struct named *n, const struct hook_review *wanted)
{
    return str_eq(n->group, wanted->group) && str_eq(n->kind, wanted->kind) &&
           (str_eq(n->version, STR("v1")) || str_eq(n->version, STR("v1beta1")));
}

static int check_kind(const struct hook_review *wanted, const struct value *review, struct err *err)
{
    struct named n;
    int r = read_name(review, &n, err);
    if (r < 0)
        return r;
    complete(&n, wanted);
    bool is_other = is_unversioned(&n);
    if (!is_other && !is_known(&n, wanted))
        return err_set(err, ERR_UNKNOWN,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "%s" STR_FMT
                       "\" in scheme \"k8s.io/apiserver/pkg/util/webhook/client.go:74\"",
                       STR_ARG(n.kind), STR_ARG(n.group), n.group.n ? "/" : "", STR_ARG(n.version));
    if (!is_other && str_eq(n.version, wanted->version))
        return 0;
    return err_set(err, ERR_UNKNOWN,
                   "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT
                   "): unknown conversion",
                   STR_ARG(is_other ? STR("v1") : n.version), STR_ARG(n.kind),
                   STR_ARG(wanted->version), STR_ARG(wanted->kind));
}

int hook_read_review(struct arena *a, struct str body, const struct hook_review *wanted,
                     struct value *ret, struct err *err)
{
    int r = read_tree(a, body, ret, err);
    if (r < 0)
        return r;
    value_drop_duplicates(a, ret);
    return check_kind(wanted, ret, err);
}
