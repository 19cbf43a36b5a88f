#include "auth/authorization_config.h"

#include "api/field_errors.h"
#include "api/go/goduration.h"
#include "api/names.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "base/banned.h"

#define GROUP STR("apiserver.config.k8s.io/")

const struct str authorizer_type_names[AUTHORIZER_TYPES] = {
    [AUTHORIZER_ABAC] = STR("ABAC"),
    [AUTHORIZER_ALWAYS_ALLOW] = STR("AlwaysAllow"),
    [AUTHORIZER_ALWAYS_DENY] = STR("AlwaysDeny"),
    [AUTHORIZER_NODE] = STR("Node"),
    [AUTHORIZER_RBAC] = STR("RBAC"),
    [AUTHORIZER_WEBHOOK] = STR("Webhook"),
};

struct reader {
    struct arena *arena;
    const struct authorization_reading *reading;
    struct field_errors faults; /* of what can be read, but must not be */
    struct buf unknown;         /* fields, as a strict reader complains */
    size_t n_unknown;
    struct err *err;
};

/* ---- Form ---- */

static bool is_absent(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

static int not_a(struct reader *r, const struct field_path *path, const char *wanted)
{
    return err_set(r->err, ERR_INVALID, STR_FMT " must be %s",
                   STR_ARG(field_path_text(r->arena, path)), wanted);
}

static int need(struct reader *r, const struct value *v, enum value_type type,
                const struct field_path *path)
{
    static const char *const names[] = { [VALUE_BOOL] = "true or false",
                                         [VALUE_STRING] = "a string",
                                         [VALUE_ARRAY] = "a list",
                                         [VALUE_OBJECT] = "an object" };
    return is_absent(v) || value_is(v, type) ? 0 : not_a(r, path, names[type]);
}

static void note_unknown(struct reader *r, const struct value *obj, const struct field_path *at,
                         const struct str *known, size_t n)
{
    enum { SHOWN_MAX = 100 };
    value_each_field (f, obj) {
        if (words_have(f->key, known, n) || r->n_unknown == SHOWN_MAX)
            continue;
        struct field_path path = field_child(at, f->key);
        buf_printf(&r->unknown, "%sunknown field \"" STR_FMT "\"", r->n_unknown++ ? ", " : "",
                   STR_ARG(field_path_text(r->arena, &path)));
    }
}

static int read_text(struct reader *r, const struct value *obj, const struct field_path *at,
                     const char *name, struct str *ret)
{
    const struct value *v = value_get(obj, str_of(name));
    struct field_path path = field_child(at, str_of(name));
    *ret = value_str(v);
    return need(r, v, VALUE_STRING, &path);
}

static int read_flag(struct reader *r, const struct value *obj, const struct field_path *at,
                     const char *name, bool otherwise, bool *ret)
{
    const struct value *v = value_get(obj, str_of(name));
    struct field_path path = field_child(at, str_of(name));
    *ret = is_absent(v) ? otherwise : value_is_true(v);
    return need(r, v, VALUE_BOOL, &path);
}

static int read_duration(struct reader *r, const struct value *obj, const struct field_path *at,
                         const char *name, int64_t *ret)
{
    struct str text;
    struct err err = ERR_INIT(r->arena);
    *ret = 0;
    int e = read_text(r, obj, at, name, &text);
    if (e < 0)
        return e;
    if (is_absent(value_get(obj, str_of(name))) || goduration_parse(text, ret, &err) == 0)
        return 0;
    return err_set(r->err, ERR_INVALID, STR_FMT, STR_ARG(err.msg));
}

/* ---- Faults ---- */

static void fault_duration(struct reader *r, const struct field_path *path, int64_t ns,
                           const char *why)
{
    autobuf text = { 0 };
    goduration_write(&text, ns);
    field_error(&r->faults, FIELD_INVALID, path, field_quoted(&r->faults, buf_str(&text)), "%s",
                why);
}

/* One of these words, or a fault: their number then. */
static size_t choose(struct reader *r, const struct field_path *at, const char *name,
                     struct str text, const struct str *words, size_t n)
{
    struct field_path path = field_child(at, str_of(name));
    size_t i = words_find(text, words, n);
    if (!text.n)
        field_required(&r->faults, &path, "");
    else if (i == n)
        field_not_supported(&r->faults, &path, field_quoted(&r->faults, text), words, n);
    return i;
}

/* ---- Webhooks ---- */

static int read_times(struct reader *r, const struct value *obj, const struct field_path *webhook,
                      const struct field_path *at, struct authorization_webhook *ret)
{
    int64_t allowed, refused;
    struct field_path timeout = field_child(at, STR("timeout")),
                      allowed_ttl = field_child(at, STR("authorizedTTL")),
                      refused_ttl = field_child(at, STR("unauthorizedTTL"));
    bool keeps_allowed, keeps_refused;
    int e = read_duration(r, obj, webhook, "timeout", &ret->timeout_ns);
    if (e < 0)
        return e;
    e = read_duration(r, obj, webhook, "authorizedTTL", &allowed);
    if (e < 0)
        return e;
    e = read_duration(r, obj, webhook, "unauthorizedTTL", &refused);
    if (e < 0)
        return e;
    e = read_flag(r, obj, webhook, "cacheAuthorizedRequests", true, &keeps_allowed);
    if (e < 0)
        return e;
    e = read_flag(r, obj, webhook, "cacheUnauthorizedRequests", true, &keeps_refused);
    if (e < 0)
        return e;
    if (!ret->timeout_ns)
        field_required(&r->faults, &timeout, "");
    else if (ret->timeout_ns < 0 || ret->timeout_ns > 30 * NS_PER_SEC)
        fault_duration(r, &timeout, ret->timeout_ns, "must be > 0s and <= 30s");
    if (allowed < 0)
        fault_duration(r, &allowed_ttl, allowed, "must be > 0s");
    if (refused < 0)
        fault_duration(r, &refused_ttl, refused, "must be > 0s");
    allowed = allowed ? allowed : AUTHORIZATION_TTL_SEC * NS_PER_SEC;
    refused = refused ? refused : AUTHORIZATION_REFUSED_TTL_SEC * NS_PER_SEC;
    ret->allowed_ttl_ns = keeps_allowed ? allowed : 0;
    ret->refused_ttl_ns = keeps_refused ? refused : 0;
    return 0;
}

static int read_versions(struct reader *r, const struct value *obj,
                         const struct field_path *webhook, const struct field_path *at,
                         struct authorization_webhook *ret)
{
    static const struct str versions[] = { STR("v1"), STR("v1beta1") },
                            policies[] = { STR("NoOpinion"), STR("Deny") };
    const struct value *conditions = value_get(obj, STR("matchConditions"));
    struct str version, condition_version, policy;
    struct field_path path = field_child(at, STR("matchConditionSubjectAccessReviewVersion"));
    int e = read_text(r, obj, webhook, "subjectAccessReviewVersion", &version);
    if (e < 0)
        return e;
    e = read_text(r, obj, webhook, "matchConditionSubjectAccessReviewVersion", &condition_version);
    if (e < 0)
        return e;
    e = read_text(r, obj, webhook, "failurePolicy", &policy);
    if (e < 0)
        return e;
    ret->is_v1 = choose(r, at, "subjectAccessReviewVersion", version, WORDS(versions)) == 0;
    if (condition_version.n)
        (void)choose(r, at, "matchConditionSubjectAccessReviewVersion", condition_version, versions,
                     1);
    else if (value_is(conditions, VALUE_ARRAY) && conditions->n)
        field_required(&r->faults, &path, "required if match conditions are specified");
    ret->denies_on_failure = choose(r, at, "failurePolicy", policy, WORDS(policies)) == 1;
    return 0;
}

static void check_file(struct reader *r, const struct field_path *path, struct str file)
{
    struct field_errors *e = &r->faults;
    if (!file.n) {
        field_required(e, path, "");
        return;
    }
    struct str fault = STR("");
    if (file.p[0] != '/')
        fault = STR("must be an absolute path");
    else if (r->reading->file_fault)
        fault = r->reading->file_fault(r->arena, file);
    if (fault.n)
        field_error(e, FIELD_INVALID, path, field_quoted(e, file), STR_FMT, STR_ARG(fault));
}

static int read_connection(struct reader *r, const struct value *obj,
                           const struct field_path *webhook, const struct field_path *at,
                           struct authorization_webhook *ret)
{
    static const struct str known[] = { STR("type"), STR("kubeConfigFile") },
                            types[] = { STR("InClusterConfig"), STR("KubeConfigFile") };
    const struct value *info = value_get(obj, STR("connectionInfo"));
    struct field_path here = field_child(webhook, STR("connectionInfo")),
                      there = field_child(at, STR("connectionInfo")),
                      file = field_child(&there, STR("kubeConfigFile"));
    struct str type;
    int e = need(r, info, VALUE_OBJECT, &here);
    if (e < 0)
        return e;
    note_unknown(r, info, &here, WORDS(known));
    e = read_text(r, info, &here, "type", &type);
    if (e < 0)
        return e;
    e = read_text(r, info, &here, "kubeConfigFile", &ret->kubeconfig);
    if (e < 0)
        return e;
    size_t which = choose(r, &there, "type", type, WORDS(types));
    if (which == 0 && !is_absent(value_get(info, STR("kubeConfigFile"))))
        field_error(&r->faults, FIELD_INVALID, &file, field_quoted(&r->faults, ret->kubeconfig),
                    "can only be set when type=KubeConfigFile");
    if (which == 1)
        check_file(r, &file, ret->kubeconfig);
    return 0;
}

static int read_conditions(struct reader *r, const struct value *obj,
                           const struct field_path *webhook, const struct field_path *at,
                           struct authorization_webhook *ret)
{
    static const struct str known[] = { STR("expression") };
    const struct value *list = value_get(obj, STR("matchConditions"));
    struct field_path here = field_child(webhook, STR("matchConditions")),
                      there = field_child(at, STR("matchConditions"));
    size_t i = 0;
    int e = need(r, list, VALUE_ARRAY, &here);
    if (e < 0)
        return e;
    value_each_item (it, list) {
        struct field_path one = field_index(&here, i++);
        struct str text;
        e = need(r, it, VALUE_OBJECT, &one);
        if (e < 0)
            return e;
        note_unknown(r, it, &one, WORDS(known));
        e = read_text(r, it, &one, "expression", &text);
        if (e < 0)
            return e;
    }
    ret->conditions = match_conditions_read(&r->faults, list, &there);
    return 0;
}

/* Upstream names the fields of a webhook as if they were those of the authorizer (`at`), but for
 * what it cannot read at all (`webhook`). */
static int read_webhook(struct reader *r, const struct value *obj, const struct field_path *at,
                        struct authorization_webhook *ret)
{
    static const struct str known[] = { STR("authorizedTTL"),
                                        STR("cacheAuthorizedRequests"),
                                        STR("unauthorizedTTL"),
                                        STR("cacheUnauthorizedRequests"),
                                        STR("timeout"),
                                        STR("subjectAccessReviewVersion"),
                                        STR("matchConditionSubjectAccessReviewVersion"),
                                        STR("failurePolicy"),
                                        STR("connectionInfo"),
                                        STR("matchConditions") };
    struct field_path webhook = field_child(at, STR("webhook"));
    note_unknown(r, obj, &webhook, WORDS(known));
    int e = read_times(r, obj, &webhook, at, ret);
    if (e < 0)
        return e;
    e = read_versions(r, obj, &webhook, at, ret);
    if (e < 0)
        return e;
    e = read_connection(r, obj, &webhook, at, ret);
    return e < 0 ? e : read_conditions(r, obj, &webhook, at, ret);
}

/* ---- Authorizers ---- */

/* Those that were read before. */
struct seen {
    const struct authorizer_config *at;
    size_t n;
    unsigned types;
};

static void check_name(struct reader *r, const struct seen *seen, const struct field_path *at,
                       struct str name)
{
    struct field_errors *e = &r->faults;
    struct field_path path = field_child(at, STR("name"));
    struct name_faults faults = { 0 };
    if (!name.n) {
        field_required(e, &path, "");
        return;
    }
    for (size_t i = 0; i < seen->n; i++)
        if (str_eq(seen->at[i].name, name)) {
            field_error(e, FIELD_DUPLICATE, &path, field_quoted(e, name), "%s", "");
            return;
        }
    if (name_check(NAME_SUBDOMAIN, name, &faults))
        return;
    autobuf words = { 0 };
    for (size_t i = 0; i < faults.n; i++)
        buf_printf(&words, "%s%s%s", i ? ", " : "", faults.list[i].part, faults.list[i].why);
    field_error(e, FIELD_INVALID, &path, field_quoted(e, name),
                "authorizer name is invalid: " STR_FMT, STR_ARG(buf_str(&words)));
}

/* False: nothing more is said about this one. */
static bool check_type(struct reader *r, struct seen *seen, const struct field_path *at,
                       struct str text, enum authorizer_type *ret)
{
    struct field_path path = field_child(at, STR("type"));
    size_t type = choose(r, at, "type", text, WORDS(authorizer_type_names));
    if (type == AUTHORIZER_TYPES)
        return false;
    if (type != AUTHORIZER_WEBHOOK && seen->types >> type & 1) {
        field_error(&r->faults, FIELD_DUPLICATE, &path, field_quoted(&r->faults, text), "%s", "");
        return false;
    }
    seen->types |= 1U << type;
    *ret = (enum authorizer_type)type;
    return true;
}

static int read_authorizer(struct reader *r, struct seen *seen, const struct value *v,
                           const struct field_path *at, struct authorizer_config *ret)
{
    static const struct str known[] = { STR("type"), STR("name"), STR("webhook") };
    const struct value *webhook = value_get(v, STR("webhook"));
    struct field_path path = field_child(at, STR("webhook"));
    struct str type;
    int e = need(r, v, VALUE_OBJECT, at);
    if (e < 0)
        return e;
    note_unknown(r, v, at, WORDS(known));
    e = read_text(r, v, at, "type", &type);
    if (e < 0)
        return e;
    e = read_text(r, v, at, "name", &ret->name);
    if (e < 0)
        return e;
    e = need(r, webhook, VALUE_OBJECT, &path);
    if (e < 0)
        return e;
    if (!check_type(r, seen, at, type, &ret->type))
        return 0;
    check_name(r, seen, at, ret->name);
    seen->n++;
    if (ret->type == AUTHORIZER_WEBHOOK && !is_absent(webhook))
        return read_webhook(r, webhook, at, &ret->webhook);
    if (ret->type == AUTHORIZER_WEBHOOK)
        field_required(&r->faults, &path, "required when type=Webhook");
    else if (!is_absent(webhook))
        field_error(&r->faults, FIELD_INVALID, &path, STR("\"non-null\""),
                    "may only be specified when type=Webhook");
    return 0;
}

static int read_authorizers(struct reader *r, const struct value *list,
                            struct authorization_config *ret)
{
    struct field_path path = { .name = STR("authorizers") };
    int e = need(r, list, VALUE_ARRAY, &path);
    if (e < 0)
        return e;
    if (is_absent(list) || !list->n) {
        field_required(&r->faults, &path, "at least one authorization mode must be defined");
        return 0;
    }
    if (list->n > AUTHORIZATION_AUTHORIZERS_MAX)
        return err_set(r->err, ERR_INVALID, "authorizers must not be more than %d",
                       AUTHORIZATION_AUTHORIZERS_MAX);
    struct authorizer_config *all = arena_array(r->arena, struct authorizer_config, list->n);
    struct seen seen = { .at = all };
    for (size_t i = 0; i < list->n; i++) {
        struct field_path one = field_index(&path, i);
        e = read_authorizer(r, &seen, value_at(list, i), &one, &all[seen.n]);
        if (e < 0)
            return e;
    }
    *ret = (struct authorization_config){ all, seen.n };
    return 0;
}

/* ---- The whole ---- */

static int check_kind(struct reader *r, const struct value *doc)
{
    static const struct str versions[] = { STR("v1"), STR("v1beta1"), STR("v1alpha1") };
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion");
    if (!value_is(doc, VALUE_OBJECT) || !kind.n)
        return err_set(r->err, ERR_INVALID, "Object 'Kind' is missing");
    if (!version.n)
        return err_set(r->err, ERR_INVALID, "Object 'apiVersion' is missing");
    if (!str_starts(version, GROUP) || !words_have(str_skip(version, GROUP.n), WORDS(versions)) ||
        !str_eq(kind, STR("AuthorizationConfiguration")))
        return err_set(r->err, ERR_INVALID,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(kind), STR_ARG(version));
    return 0;
}

/* Faults that upstream finds once the form is right: joined, in brackets if they are several. */
struct late_faults {
    struct buf text;
    size_t n;
};

static void check_names(const struct authorization_config *config, struct late_faults *ret)
{
    static const struct str names[] = {
        [AUTHORIZER_ABAC] = STR("abac"),
        [AUTHORIZER_ALWAYS_ALLOW] = STR("alwaysallow"),
        [AUTHORIZER_ALWAYS_DENY] = STR("alwaysdeny"),
        [AUTHORIZER_NODE] = STR("node"),
        [AUTHORIZER_RBAC] = STR("rbac"),
        [AUTHORIZER_WEBHOOK] = STR("webhook"),
    };
    for (size_t i = 0; i < config->n; i++) {
        const struct authorizer_config *c = &config->at[i];
        struct str type = authorizer_type_names[c->type], name = names[c->type];
        if (c->type == AUTHORIZER_WEBHOOK || str_eq(name, c->name))
            continue;
        buf_printf(&ret->text,
                   "%sexpected name " STR_FMT " for authorizer " STR_FMT " instead of " STR_FMT,
                   ret->n++ ? ", " : "", STR_ARG(name), STR_ARG(type), STR_ARG(c->name));
    }
}

static void check_required(const struct reader *r, const struct authorization_config *config,
                           struct late_faults *ret)
{
    unsigned missing = r->reading->required;
    const char *space = "";
    for (size_t i = 0; i < config->n; i++)
        missing &= ~(1U << config->at[i].type);
    if (!missing)
        return;
    buf_printf(&ret->text, "%smissing required types: [", ret->n++ ? ", " : "");
    for (size_t i = 0; i < AUTHORIZER_TYPES; i++) {
        if (!(missing >> i & 1))
            continue;
        buf_printf(&ret->text, "%s" STR_FMT, space, STR_ARG(authorizer_type_names[i]));
        space = " ";
    }
    buf_byte(&ret->text, ']');
}

static int check_server(struct reader *r, const struct authorization_config *config)
{
    struct late_faults faults = { 0 };
    int e = 0;
    check_names(config, &faults);
    check_required(r, config, &faults);
    if (faults.n)
        e = err_set(r->err, ERR_INVALID, faults.n > 1 ? "[" STR_FMT "]" : STR_FMT,
                    STR_ARG(buf_str(&faults.text)));
    buf_done(&faults.text);
    return e;
}

static int read_document(struct reader *r, struct str text, struct authorization_config *ret)
{
    static const struct str known[] = { STR("apiVersion"), STR("kind"), STR("authorizers") };
    struct value doc;
    struct str duplicate = STR("");
    const struct yaml_options opt = { .ret_duplicate = &duplicate };
    int e = yaml_read(r->arena, text, &opt, &doc, r->err);
    if (e < 0)
        return e;
    e = check_kind(r, &doc);
    if (e < 0)
        return e;
    if (duplicate.n)
        return err_set(r->err, ERR_INVALID,
                       "strict decoding error: key \"" STR_FMT "\" already set in map",
                       STR_ARG(duplicate));
    note_unknown(r, &doc, NULL, WORDS(known));
    e = read_authorizers(r, value_get(&doc, STR("authorizers")), ret);
    if (e < 0)
        return e;
    if (r->n_unknown)
        return err_set(r->err, ERR_INVALID, "strict decoding error: " STR_FMT,
                       STR_ARG(buf_str(&r->unknown)));
    return 0;
}

static int read_all(struct reader *r, struct str text, struct authorization_config *ret)
{
    if (text.n) {
        int e = read_document(r, text, ret);
        if (e < 0)
            return err_wrap(r->err, "failed to load AuthorizationConfiguration from file");
    } else {
        (void)read_authorizers(r, NULL, ret);
    }
    if (r->faults.n)
        return err_set(r->err, ERR_INVALID, STR_FMT, STR_ARG(field_errors_text(&r->faults)));
    return check_server(r, ret);
}

int authorization_config_read(struct arena *a, struct str text,
                              const struct authorization_reading *reading,
                              struct authorization_config *ret, struct err *err)
{
    struct reader r = {
        .arena = a, .reading = reading, .faults = FIELD_ERRORS_INIT(a), .err = err
    };
    *ret = (struct authorization_config){ 0 };
    int e = read_all(&r, text, ret);
    buf_done(&r.unknown);
    return e;
}
