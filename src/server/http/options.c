#include "server/http/options.h"

#include "api/field_errors.h"
#include "api/go/quote.h"
#include "base/idiom.h"
#include "base/utf8.h"
#include "base/banned.h"

enum { MANAGER_MAX = 128 };

static const struct str meta_group = { "meta.k8s.io", 11 };

static struct value param_list(struct call *c, struct str key)
{
    struct value list = value_array();
    for (size_t i = 0; i < c->req.n_params; i++)
        if (str_eq(c->req.params[i].key, key))
            value_put_item(c->arena, &list, value_string(c->req.params[i].value));
    return list;
}

/* ---- dryRun, fieldManager, fieldValidation ---- */

static void check_dry_run(struct field_errors *e, const struct value *list, bool *ret)
{
    static const struct str all[] = { { "All", 3 } };
    struct field_path path = { .name = STR("dryRun") };
    *ret = value_is(list, VALUE_ARRAY) && list->n > 0;
    value_each_item (it, list) {
        if (str_eq(value_str(it), all[0]))
            continue;
        field_not_supported(e, &path, field_json(e, list), all, 1);
        return;
    }
}

static void check_manager(struct field_errors *e, struct str manager)
{
    struct field_path path = { .name = STR("fieldManager") };
    struct str shown = field_quoted(e, manager);
    if (manager.n > MANAGER_MAX)
        field_too_long(e, &path, MANAGER_MAX);
    for (struct str rest = manager; rest.n;) {
        size_t at = manager.n - rest.n;
        size_t n = utf8_step(rest.p, rest.n);
        uint32_t code = n ? utf8_decode(rest.p, n) : 0xfffd;
        if (!n || !quote_is_printable(code))
            field_error(e, FIELD_INVALID, &path, shown,
                        "invalid character U+%04X (at position %zu)", code, at);
        rest = str_skip(rest, n ? n : 1);
    }
}

static enum decode_validation check_validation(struct field_errors *e, struct str text)
{
    static const struct str values[] = {
        { "", 0 }, { "Ignore", 6 }, { "Strict", 6 }, { "Warn", 4 }
    };
    struct field_path path = { .name = STR("fieldValidation") };
    if (!text.n || str_eq(text, STR("Warn")))
        return DECODE_WARN;
    if (str_eq(text, STR("Ignore")))
        return DECODE_IGNORE;
    if (!str_eq(text, STR("Strict")))
        field_not_supported(e, &path, field_quoted(e, text), values, 4);
    return DECODE_STRICT;
}

static int read_options(struct call *c, struct field_errors *e, const char *kind,
                        struct write_options *ret, struct err *err)
{
    struct value dry_run = param_list(c, STR("dryRun"));
    *ret = (struct write_options){ .manager = request_param(&c->req, STR("fieldManager")) };
    check_manager(e, ret->manager);
    check_dry_run(e, &dry_run, &ret->dry_run);
    ret->validation = check_validation(e, request_param(&c->req, STR("fieldValidation")));
    return field_errors_report(e, meta_group, str_of(kind), STR(""), err);
}

int options_read(struct call *c, const char *kind, struct write_options *ret, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    return read_options(c, &e, kind, ret, err);
}

int options_read_patch(struct call *c, bool is_apply, struct write_options *ret, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path manager = { .name = STR("fieldManager") }, force = { .name = STR("force") };
    if (is_apply && !request_param(&c->req, manager.name).n)
        field_error(&e, FIELD_REQUIRED, &manager, STR(""), "is required for apply patch");
    if (!is_apply && request_param(&c->req, force.name).p)
        field_error(&e, FIELD_FORBIDDEN, &force, STR(""),
                    "may not be specified for non-apply patch");
    int r = read_options(c, &e, "PatchOptions", ret, err);
    ret->force = request_flag(&c->req, force.name);
    return r;
}

/* ---- DeleteOptions ---- */

/* As a tree of DeleteOptions, so that there is one way on from here. */
static int delete_params(struct call *c, struct value *ret, struct err *err)
{
    *ret = value_object();
    struct value dry_run = param_list(c, STR("dryRun"));
    if (dry_run.n)
        value_put_new(c->arena, ret, STR("dryRun"), dry_run);
    int64_t seconds;
    int r = request_int(&c->req, STR("gracePeriodSeconds"), &seconds, err);
    if (r < 0)
        return r;
    if (r == 1)
        value_put_new(c->arena, ret, STR("gracePeriodSeconds"), value_int(seconds));
    static const struct str flags[] = {
        { "orphanDependents", 16 },
        { "ignoreStoreReadErrorWithClusterBreakingPotential", 48 },
    };
    for (size_t i = 0; i < 2; i++) {
        if (request_param(&c->req, flags[i]).p)
            value_put_new(c->arena, ret, flags[i], value_bool(request_flag(&c->req, flags[i])));
    }
    struct str policy = request_param(&c->req, STR("propagationPolicy"));
    if (policy.p)
        value_put_new(c->arena, ret, STR("propagationPolicy"), value_string(policy));
    return 0;
}

static void check_propagation(struct field_errors *e, const struct value *options,
                              struct delete_options *ret)
{
    static const struct {
        struct str name;
        enum options_propagation value;
    } policies[] = {
        { { "Orphan", 6 }, OPTIONS_ORPHAN },
        { { "Background", 10 }, OPTIONS_BACKGROUND },
        { { "Foreground", 10 }, OPTIONS_FOREGROUND },
    };
    static const struct str names[] = {
        { "Foreground", 10 }, { "Background", 10 }, { "Orphan", 6 }, { "nil", 3 }
    };
    struct field_path path = { .name = STR("propagationPolicy") };
    const struct value *policy = value_get(options, STR("propagationPolicy")),
                       *orphan = value_get(options, STR("orphanDependents"));
    if (value_is(orphan, VALUE_BOOL))
        ret->propagation = orphan->b ? OPTIONS_ORPHAN : OPTIONS_BACKGROUND;
    if (!policy)
        return;
    if (orphan)
        field_error(e, FIELD_INVALID, &path, field_quoted(e, value_str(policy)),
                    "orphanDependents and deletionPropagation cannot be both set");
    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        if (!str_eq(value_str(policy), policies[i].name))
            continue;
        ret->propagation = policies[i].value;
        return;
    }
    field_not_supported(e, &path, field_quoted(e, value_str(policy)), names, 4);
}

static void take_preconditions(const struct value *options, struct delete_options *ret)
{
    const struct value *uid = value_dig(options, "preconditions", "uid"),
                       *revision = value_dig(options, "preconditions", "resourceVersion");
    if (uid)
        ret->uid = value_str(uid);
    if (revision)
        ret->revision = value_str(revision);
}

int options_delete_of(struct call *c, const struct value *options, struct delete_options *ret,
                      struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    *ret = (struct delete_options){ .grace = -1, .sent = options };
    check_propagation(&e, options, ret);
    check_dry_run(&e, value_get(options, STR("dryRun")), &ret->dry_run);
    ret->grace_given = value_to_int(value_get(options, STR("gracePeriodSeconds")), &ret->grace);
    const struct value *ignore =
        value_get(options, STR("ignoreStoreReadErrorWithClusterBreakingPotential"));
    ret->ignore_read_error = value_is(ignore, VALUE_BOOL) && ignore->b;
    take_preconditions(options, ret);
    return field_errors_report(&e, meta_group, STR("DeleteOptions"), STR(""), err);
}

int options_read_delete(struct call *c, struct delete_options *ret, struct err *err)
{
    struct value *options = arena_new(c->arena, struct value);
    int r =
        c->http->body.n ? decode_delete_options(c, options, err) : delete_params(c, options, err);
    if (r < 0)
        return r;
    r = options_delete_of(c, options, ret, err);
    if (r < 0)
        return r;
    if (ret->propagation == OPTIONS_DEFAULT && str_eq(c->stored->plural, STR("jobs")))
        call_warn(c, STR("child pods are preserved by default when jobs are deleted; set "
                         "propagationPolicy=Background to remove them or set "
                         "propagationPolicy=Orphan to suppress this warning"));
    return 0;
}

/* ---- As others see them ---- */

static struct value new_options(struct arena *a, const char *kind)
{
    struct value ret = value_object();
    value_put_new(a, &ret, STR("kind"), value_string(str_of(kind)));
    value_put_new(a, &ret, STR("apiVersion"), value_string(STR("meta.k8s.io/v1")));
    return ret;
}

struct value options_tell(struct call *c, const char *kind)
{
    static const struct str texts[] = { STR("fieldManager"), STR("fieldValidation") };
    struct value ret = new_options(c->arena, kind), dry_run = param_list(c, STR("dryRun"));
    if (dry_run.n)
        value_put_new(c->arena, &ret, STR("dryRun"), dry_run);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (request_param(&c->req, texts[i]).n)
            value_put_new(c->arena, &ret, texts[i], value_string(request_param(&c->req, texts[i])));
    return ret;
}

struct value options_tell_delete(struct call *c, const struct delete_options *o)
{
    struct value ret = new_options(c->arena, "DeleteOptions"), conditions = value_object();
    value_each_field (f, o->sent)
        if (!value_get(&ret, f->key))
            value_put_new(c->arena, &ret, f->key, value_borrow(&f->val));
    if (o->grace_given)
        value_put(c->arena, &ret, STR("gracePeriodSeconds"), value_int(o->grace));
    if (o->uid.p)
        value_put_new(c->arena, &conditions, STR("uid"), value_string(o->uid));
    if (o->revision.p)
        value_put_new(c->arena, &conditions, STR("resourceVersion"), value_string(o->revision));
    if (conditions.n)
        value_put(c->arena, &ret, STR("preconditions"), conditions);
    return ret;
}
