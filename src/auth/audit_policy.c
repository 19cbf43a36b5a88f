#include "auth/audit_policy.h"

#include <stdlib.h>

#include "api/field_errors.h"
#include "api/names.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "base/banned.h"

struct texts {
    const struct str *list;
    size_t n;
};

struct group_resources {
    struct str group;
    struct texts resources, names;
};

struct rule {
    enum audit_level level;
    struct texts users, groups, verbs, namespaces, urls;
    const struct group_resources *resources;
    size_t n_resources;
    unsigned omitted;
    bool omits_managers;
};

struct audit_policy {
    struct arena arena;
    struct rule *rules;
    size_t n_rules;
    unsigned omitted;
    bool omits_managers;
};

static const struct str levels[] = { STR("None"), STR("Metadata"), STR("Request"),
                                     STR("RequestResponse") };
static const struct str stages[] = { STR("RequestReceived"), STR("ResponseStarted"),
                                     STR("ResponseComplete"), STR("Panic") };

struct str audit_level_word(enum audit_level level)
{
    return levels[level];
}

struct str audit_stage_word(enum audit_stage stage)
{
    return stages[stage];
}

/* ---- Reading ---- */

struct reader {
    struct arena *arena;
    struct field_errors faults; /* of what can be read, but must not be */
    struct err *err;
};

static const char *go_type(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return names[v->type];
}

static int not_a(struct reader *r, const struct value *v, const char *field, const char *type)
{
    return err_set(r->err, ERR_INVALID,
                   "failed decoding: json: cannot unmarshal %s into Go struct field %s of type %s",
                   go_type(v), field, type);
}

static bool is_absent(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

static int read_text(struct reader *r, const struct value *v, const char *field, struct str *ret)
{
    *ret = value_str(v);
    return is_absent(v) || v->type == VALUE_STRING ? 0 : not_a(r, v, field, "string");
}

static int read_texts(struct reader *r, const struct value *v, const char *field, struct texts *ret)
{
    *ret = (struct texts){ 0 };
    if (is_absent(v))
        return 0;
    if (v->type != VALUE_ARRAY)
        return not_a(r, v, field, "[]string");
    struct str *list = arena_array(r->arena, struct str, v->n + 1);
    value_each_item (it, v) {
        int e = read_text(r, it, field, &list[ret->n++]);
        if (e < 0)
            return e;
    }
    ret->list = list;
    return 0;
}

static int read_flag(struct reader *r, const struct value *obj, bool otherwise, bool *ret)
{
    const struct value *v = value_get(obj, STR("omitManagedFields"));
    *ret = is_absent(v) ? otherwise : value_is_true(v);
    return is_absent(v) || v->type == VALUE_BOOL ? 0 : not_a(r, v, "omitManagedFields", "bool");
}

/* A strict reader would refuse them; upstream then reads again and only complains. */
static void note_unknown(const struct value *obj, const char *what, const struct str *known,
                         size_t n)
{
    value_each_field (f, obj)
        if (!words_have(f->key, known, n))
            log_warn("the audit policy has a field that is not known", LOG_CSTR("in", what),
                     LOG_STR("field", f->key));
}

/* ---- Rules ---- */

static int read_stages(struct reader *r, const struct value *obj, const struct field_path *parent,
                       unsigned *ret)
{
    struct field_path path = field_child(parent, STR("omitStages"));
    struct texts words;
    int e = read_texts(r, value_get(obj, path.name), "omitStages", &words);
    if (e < 0)
        return e;
    for (size_t i = 0; i < words.n; i++) {
        size_t stage = words_find(words.list[i], WORDS(stages));
        struct field_path at = field_index(&path, i);
        if (stage < ARRAY_LEN(stages))
            *ret |= 1u << stage;
        else
            field_error(&r->faults, FIELD_INVALID, &at, field_quoted(&r->faults, words.list[i]),
                        "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,"
                        "Panic");
    }
    return 0;
}

static int read_level(struct reader *r, const struct value *obj, const struct field_path *parent,
                      enum audit_level *ret)
{
    struct field_path path = field_child(parent, STR("level"));
    struct str word;
    int e = read_text(r, value_get(obj, path.name), "level", &word);
    if (e < 0)
        return e;
    size_t level = words_find(word, WORDS(levels));
    if (level < ARRAY_LEN(levels))
        *ret = (enum audit_level)level;
    else if (word.n)
        field_not_supported(&r->faults, &path, field_quoted(&r->faults, word), levels,
                            ARRAY_LEN(levels));
    else
        field_required(&r->faults, &path, "");
    return 0;
}

static void check_urls(struct reader *r, const struct rule *rule, const struct field_path *parent)
{
    struct field_path path = field_child(parent, STR("nonResourceURLs"));
    for (size_t i = 0; i < rule->urls.n; i++) {
        struct str url = rule->urls.list[i];
        struct field_path at = field_index(&path, i);
        if (str_eq(url, STR("*")))
            continue;
        if (!str_starts(url, STR("/")))
            field_error(&r->faults, FIELD_INVALID, &at, field_quoted(&r->faults, url),
                        "non-resource URL rules must begin with a '/' character");
        if (url.n && str_find(str_take(url, url.n - 1), '*') >= 0)
            field_error(&r->faults, FIELD_INVALID, &at, field_quoted(&r->faults, url),
                        "non-resource URL wildcards '*' must be the final character of the rule");
    }
}

static void check_group(struct reader *r, struct str group, const struct field_path *parent)
{
    struct field_path path = field_child(parent, STR("group"));
    struct name_faults faults = { .n = 0 };
    autobuf words = { 0 };
    if (!group.n || str_eq(group, STR("*")) || name_check(NAME_SUBDOMAIN, group, &faults))
        return;
    for (size_t i = 0; i < faults.n; i++)
        buf_printf(&words, "%s%s%s", i ? "," : "", faults.list[i].part, faults.list[i].why);
    field_error(&r->faults, FIELD_INVALID, &path, field_quoted(&r->faults, group), STR_FMT,
                STR_ARG(buf_str(&words)));
}

static int read_group(struct reader *r, const struct value *obj, const struct field_path *parent,
                      struct group_resources *ret)
{
    static const struct str known[] = { STR("group"), STR("resources"), STR("resourceNames") };
    if (!is_absent(obj) && obj->type != VALUE_OBJECT)
        return not_a(r, obj, "resources", "v1.GroupResources");
    note_unknown(obj, "resources", WORDS(known));
    int e = read_text(r, value_get(obj, STR("group")), "group", &ret->group);
    if (e < 0)
        return e;
    e = read_texts(r, value_get(obj, STR("resources")), "resources", &ret->resources);
    if (e < 0)
        return e;
    const struct value *names = value_get(obj, STR("resourceNames"));
    e = read_texts(r, names, "resourceNames", &ret->names);
    if (e < 0)
        return e;
    check_group(r, ret->group, parent);
    struct field_path path = field_child(parent, STR("resourceNames"));
    if (ret->names.n && !ret->resources.n)
        field_error(&r->faults, FIELD_INVALID, &path, field_json(&r->faults, names),
                    "using resourceNames requires at least one resource");
    return 0;
}

static int read_resources(struct reader *r, const struct value *obj,
                          const struct field_path *parent, struct rule *ret)
{
    struct field_path path = field_child(parent, STR("resources"));
    const struct value *list = value_get(obj, path.name);
    if (is_absent(list))
        return 0;
    if (list->type != VALUE_ARRAY)
        return not_a(r, list, "resources", "[]v1.GroupResources");
    struct group_resources *all = arena_array(r->arena, struct group_resources, list->n + 1);
    value_each_item (it, list) {
        int e = read_group(r, it, &path, &all[ret->n_resources++]);
        if (e < 0)
            return e;
    }
    ret->resources = all;
    return 0;
}

static int read_lists(struct reader *r, const struct value *obj, struct rule *ret)
{
    const struct {
        const char *field;
        struct texts *to;
    } lists[] = {
        { "users", &ret->users },          { "userGroups", &ret->groups },
        { "verbs", &ret->verbs },          { "namespaces", &ret->namespaces },
        { "nonResourceURLs", &ret->urls },
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        int e = read_texts(r, value_get(obj, str_of(lists[i].field)), lists[i].field, lists[i].to);
        if (e < 0)
            return e;
    }
    return 0;
}

static int read_rule(struct reader *r, const struct value *obj, const struct field_path *path,
                     const struct audit_policy *of, struct rule *ret)
{
    static const struct str known[] = {
        STR("level"),           STR("users"),      STR("userGroups"),
        STR("verbs"),           STR("resources"),  STR("namespaces"),
        STR("nonResourceURLs"), STR("omitStages"), STR("omitManagedFields")
    };
    if (!is_absent(obj) && obj->type != VALUE_OBJECT)
        return not_a(r, obj, "rules", "v1.PolicyRule");
    note_unknown(obj, "rules", WORDS(known));
    ret->omitted = of->omitted;
    int e = read_lists(r, obj, ret);
    if (e < 0)
        return e;
    e = read_flag(r, obj, of->omits_managers, &ret->omits_managers);
    if (e < 0)
        return e;
    e = read_level(r, obj, path, &ret->level);
    if (e < 0)
        return e;
    check_urls(r, ret, path);
    e = read_resources(r, obj, path, ret);
    if (e < 0)
        return e;
    e = read_stages(r, obj, path, &ret->omitted);
    if (e < 0)
        return e;
    struct field_path urls = field_child(path, STR("nonResourceURLs"));
    if (ret->urls.n && (ret->n_resources || ret->namespaces.n))
        field_error(&r->faults, FIELD_INVALID, &urls,
                    field_json(&r->faults, value_get(obj, urls.name)),
                    "rules cannot apply to both regular resources and non-resource URLs");
    return 0;
}

/* ---- The policy ---- */

static int check_type(struct reader *r, const struct value *obj)
{
    struct str version, kind;
    autobuf text = { 0 };
    json_write(&text, obj);
    if (obj->type != VALUE_OBJECT)
        return err_set(r->err, ERR_INVALID,
                       "failed decoding: couldn't get version/kind; json parse error: json: cannot "
                       "unmarshal %s into Go value of type struct { APIVersion string "
                       "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                       "\"json:\\\"kind,omitempty\\\"\" }",
                       go_type(obj));
    int e = read_text(r, value_get(obj, STR("apiVersion")), "apiVersion", &version);
    if (e < 0)
        return e;
    e = read_text(r, value_get(obj, STR("kind")), "kind", &kind);
    if (e < 0)
        return e;
    if (!kind.n || !version.n)
        return err_set(r->err, ERR_INVALID,
                       "failed decoding: Object '%s' is missing in '" STR_FMT "'",
                       kind.n ? "apiVersion" : "Kind", STR_ARG(buf_str(&text)));
    if (!str_eq(version, STR("audit.k8s.io/v1")) || !str_eq(kind, STR("Policy")))
        return err_set(r->err, ERR_INVALID,
                       "failed decoding: no kind \"" STR_FMT
                       "\" is registered for version \"" STR_FMT
                       "\" in scheme \"k8s.io/apiserver/pkg/audit/scheme.go:30\"",
                       STR_ARG(kind), STR_ARG(version));
    return 0;
}

static int read_rules(struct reader *r, const struct value *obj, struct audit_policy *ret)
{
    struct field_path path = field_child(NULL, STR("rules"));
    const struct value *list = value_get(obj, path.name);
    if (is_absent(list))
        return 0;
    if (list->type != VALUE_ARRAY)
        return not_a(r, list, "Policy.rules", "[]v1.PolicyRule");
    ret->rules = arena_array(r->arena, struct rule, list->n + 1);
    value_each_item (it, list) {
        struct field_path at = field_index(&path, ret->n_rules);
        int e = read_rule(r, it, &at, ret, &ret->rules[ret->n_rules++]);
        if (e < 0)
            return e;
    }
    return 0;
}

static int read_policy(struct reader *r, struct str text, struct audit_policy *ret)
{
    static const struct str known[] = { STR("apiVersion"), STR("kind"),
                                        STR("metadata"),   STR("rules"),
                                        STR("omitStages"), STR("omitManagedFields") };
    struct value obj;
    int e = yaml_read(r->arena, text, NULL, &obj, r->err);
    if (e < 0)
        return err_wrap(r->err, "failed decoding");
    e = check_type(r, &obj);
    if (e < 0)
        return e;
    note_unknown(&obj, "Policy", WORDS(known));
    e = read_flag(r, &obj, false, &ret->omits_managers);
    if (e < 0)
        return e;
    e = read_stages(r, &obj, NULL, &ret->omitted);
    if (e < 0)
        return e;
    e = read_rules(r, &obj, ret);
    if (e < 0)
        return e;
    if (r->faults.n)
        return err_set(r->err, ERR_INVALID, STR_FMT, STR_ARG(field_errors_text(&r->faults)));
    return ret->n_rules ? 0 : err_set(r->err, ERR_INVALID, "loaded illegal policy with 0 rules");
}

int audit_policy_read(struct str text, struct audit_policy **ret, struct err *err)
{
    struct audit_policy *p = mem_new(struct audit_policy);
    arena_init(&p->arena);
    struct reader r = { .arena = &p->arena, .faults = FIELD_ERRORS_INIT(&p->arena), .err = err };
    int e = read_policy(&r, text, p);
    if (e < 0) {
        audit_policy_free(p);
        return e;
    }
    *ret = p;
    return 0;
}

struct audit_policy *audit_policy_free(struct audit_policy *p)
{
    if (!p)
        return NULL;
    arena_done(&p->arena);
    free(p);
    return NULL;
}

/* ---- Deciding ---- */

static bool has(const struct texts *t, struct str word)
{
    return words_have(word, t->list, t->n);
}

static bool has_user(const struct rule *rule, const struct user *u)
{
    if (rule->users.n && (!u || !has(&rule->users, u->name)))
        return false;
    if (!rule->groups.n)
        return true;
    for (size_t i = 0; u && i < u->n_groups; i++)
        if (has(&rule->groups, u->groups[i]))
            return true;
    return false;
}

static struct str without_stars(struct str url)
{
    while (str_ends(url, STR("*")))
        url.n--;
    return url;
}

static bool has_url(const struct rule *rule, const struct access *q)
{
    for (size_t i = 0; !q->is_resource && i < rule->urls.n; i++) {
        struct str url = rule->urls.list[i];
        if (str_eq(url, q->path) ||
            (str_ends(url, STR("*")) && str_starts(q->path, without_stars(url))))
            return true;
    }
    return false;
}

/* A star stands for all resources, or for all subresources: then also for none. */
static bool is_resource(struct str word, const struct access *q)
{
    struct str sub = word, resource = str_cut(&sub, '/');
    if (str_eq(word, STR("*")))
        return true;
    if (!sub.p)
        return str_eq(resource, q->resource) && !q->sub.n;
    if (str_eq(sub, STR("*")) && str_eq(resource, q->resource))
        return true;
    return q->sub.n && str_eq(sub, q->sub) &&
           (str_eq(resource, STR("*")) || str_eq(resource, q->resource));
}

static bool has_resource(const struct group_resources *g, const struct access *q)
{
    if (!str_eq(g->group, q->group) && !str_eq(g->group, STR("*")))
        return false;
    if (!g->resources.n)
        return true;
    if (g->names.n && !has(&g->names, q->name))
        return false;
    for (size_t i = 0; i < g->resources.n; i++)
        if (is_resource(g->resources.list[i], q))
            return true;
    return false;
}

static bool has_object(const struct rule *rule, const struct access *q)
{
    if (!q->is_resource || (rule->namespaces.n && !has(&rule->namespaces, q->ns)))
        return false;
    for (size_t i = 0; i < rule->n_resources; i++)
        if (has_resource(&rule->resources[i], q))
            return true;
    return !rule->n_resources;
}

static bool fits(const struct rule *rule, const struct access *q)
{
    if (!has_user(rule, q->user) || (rule->verbs.n && !has(&rule->verbs, q->verb)))
        return false;
    if (rule->namespaces.n || rule->n_resources)
        return has_object(rule, q);
    return !rule->urls.n || has_url(rule, q);
}

struct audit_decision audit_policy_decide(const struct audit_policy *p, const struct access *q)
{
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct rule *rule = &p->rules[i];
        if (fits(rule, q))
            return (struct audit_decision){ rule->level, rule->omitted, rule->omits_managers };
    }
    return (struct audit_decision){ AUDIT_NONE, p->omitted, p->omits_managers };
}
