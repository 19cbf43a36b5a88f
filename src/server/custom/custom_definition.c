#include "server/custom/custom_definition.h"

#include <stdlib.h>

#include "api/convert/convert.h"
#include "api/go/go_url.h"
#include "api/typed.h"
#include "api/validate/validate.h"
#include "base/log.h"
#include "merge/managed.h"
#include "server/custom/custom.h"
#include "server/custom/custom_objects.h"
#include "server/object/stored.h"

#include "base/banned.h"

#define FINALIZER STR("customresourcecleanup.apiextensions.k8s.io")

bool custom_definition_is(const struct kind_resource *r)
{
    return str_eq(r->group, STR("apiextensions.k8s.io")) &&
           str_eq(r->plural, STR("customresourcedefinitions"));
}

/* ---- Conditions ---- */

struct condition {
    struct str type, status, reason, message;
};

static struct value *find_condition(struct arena *a, struct value *list, struct str type)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(value_str(value_get(value_at(list, i), STR("type"))), type))
            return value_edit_at(a, list, i);
    return NULL;
}

static struct value *conditions_of(struct arena *a, struct value *crd)
{
    struct value *status = value_ensure(a, crd, STR("status"));
    struct value *list = value_edit(a, status, STR("conditions"));
    return value_is(list, VALUE_ARRAY) ? list
                                       : value_set(a, status, STR("conditions"), value_array());
}

static void set_condition(struct arena *a, struct value *crd, const struct condition *c,
                          struct str now)
{
    struct value *list = conditions_of(a, crd), *found = find_condition(a, list, c->type);
    if (!found) {
        found = value_push(a, list, value_object());
        value_put_new(a, found, STR("type"), value_string(c->type));
        value_put_new(a, found, STR("status"), value_string(STR("")));
    }
    if (!str_eq(value_str(value_get(found, STR("status"))), c->status))
        value_put(a, found, STR("lastTransitionTime"), value_string(now));
    value_put(a, found, STR("status"), value_string(c->status));
    value_put(a, found, STR("reason"), value_string(c->reason));
    value_put(a, found, STR("message"), value_string(c->message));
}

static bool is_condition_true(const struct value *crd, struct str type)
{
    value_each_item (it, value_dig(crd, "status", "conditions"))
        if (str_eq(value_str(value_get(it, STR("type"))), type))
            return str_eq(value_str(value_get(it, STR("status"))), STR("True"));
    return false;
}

static void drop_condition(struct arena *a, struct value *crd, struct str type)
{
    struct value *list = conditions_of(a, crd);
    for (size_t i = 0; i < list->n; i++) {
        if (!str_eq(value_str(value_get(value_at(list, i), STR("type"))), type))
            continue;
        value_remove_at(a, list, i);
        return;
    }
}

/* ---- Names ---- */

/* The definitions of a group besides one. */
struct others {
    struct custom **all;
    size_t n;
    struct str group, but;
};

static bool is_other(const struct others *o, const struct custom *c)
{
    return str_eq(c->group, o->group) && !str_eq(c->name, o->but);
}

static bool has_resource(const struct custom *c, struct str name)
{
    const struct kind_resource *r = c->n_versions ? &c->versions[0].resource : NULL;
    if (!r)
        return false;
    for (size_t i = 0; i < r->n_short; i++)
        if (str_eq(r->short_names[i], name))
            return true;
    return str_eq(r->plural, name) || str_eq(r->singular, name);
}

static bool is_resource_taken(const struct others *o, struct str name)
{
    for (size_t i = 0; i < o->n; i++)
        if (is_other(o, o->all[i]) && has_resource(o->all[i], name))
            return true;
    return false;
}

static bool is_kind_taken(const struct others *o, struct str name)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct custom *c = o->all[i];
        if (is_other(o, c) && c->n_versions &&
            (str_eq(c->kind, name) || str_eq(c->versions[0].list_type.name, name)))
            return true;
    }
    return false;
}

/* A name that is wanted becomes one that is accepted, unless somebody else has it. */
static void accept_name(struct arena *a, const struct value *wanted, struct value *accepted,
                        struct str field, bool taken, const char *reason, struct condition *ret)
{
    struct str name = value_str(value_get(wanted, field));
    if (taken && !str_eq(name, value_str(value_get(accepted, field)))) {
        ret->status = STR("False");
        ret->reason = str_of(reason);
        ret->message = arena_printf(a, "\"" STR_FMT "\" is already in use", STR_ARG(name));
        return;
    }
    if (name.n)
        value_put(a, accepted, field, value_string(arena_str(a, name)));
}

static void accept_short_names(struct arena *a, const struct value *wanted, struct value *accepted,
                               const struct others *o, struct condition *ret)
{
    const struct value *names = value_get(wanted, STR("shortNames"));
    autobuf faults = { 0 };
    size_t n = 0;
    value_each_item (it, names) {
        bool has = false;
        value_each_item (mine, value_get(accepted, STR("shortNames")))
            has |= str_eq(value_str(mine), value_str(it));
        if (!has && is_resource_taken(o, value_str(it)))
            buf_printf(&faults, "%s\"" STR_FMT "\" is already in use", n++ ? ", " : "",
                       STR_ARG(value_str(it)));
    }
    if (n) {
        ret->status = STR("False");
        ret->reason = STR("ShortNamesConflict");
        ret->message = n == 1 ? arena_str(a, buf_str(&faults))
                              : arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_str(&faults)));
    } else if (names) {
        value_put(a, accepted, STR("shortNames"), value_borrow(names));
    } else {
        value_drop(a, accepted, STR("shortNames"));
    }
}

static void accept_names(struct arena *a, struct value *crd, const struct others *o, struct str now)
{
    const struct value *wanted = value_dig(crd, "spec", "names");
    struct value *accepted =
        value_ensure(a, value_ensure(a, crd, STR("status")), STR("acceptedNames"));
    struct condition names = { STR("NamesAccepted"), STR("True"), STR("NoConflicts"),
                               STR("no conflicts found") };
    struct str plural = value_str(value_get(wanted, STR("plural"))),
               singular = value_str(value_get(wanted, STR("singular"))),
               kind = value_str(value_get(wanted, STR("kind"))),
               list_kind = value_str(value_get(wanted, STR("listKind")));
    accept_name(a, wanted, accepted, STR("plural"), is_resource_taken(o, plural), "PluralConflict",
                &names);
    accept_name(a, wanted, accepted, STR("singular"), is_resource_taken(o, singular),
                "SingularConflict", &names);
    accept_short_names(a, wanted, accepted, o, &names);
    accept_name(a, wanted, accepted, STR("kind"), is_kind_taken(o, kind), "KindConflict", &names);
    accept_name(a, wanted, accepted, STR("listKind"), is_kind_taken(o, list_kind),
                "ListKindConflict", &names);
    const struct value *categories = value_get(wanted, STR("categories"));
    if (categories)
        value_put(a, accepted, STR("categories"), value_borrow(categories));
    else
        value_drop(a, accepted, STR("categories"));
    set_condition(a, crd, &names, now);
}

/* Conditions that somebody set by hand are his: without a change of names nothing is decided. */
static bool has_all_names(const struct value *crd)
{
    const struct value *wanted = value_dig(crd, "spec", "names"),
                       *accepted = value_dig(crd, "status", "acceptedNames");
    return wanted && accepted && value_eq(wanted, accepted);
}

static void establish(struct arena *a, struct value *crd, struct str now)
{
    bool accepted = is_condition_true(crd, STR("NamesAccepted"));
    if (is_condition_true(crd, STR("Established")) || (!accepted && has_all_names(crd)))
        return;
    struct condition yes = { STR("Established"), STR("True"), STR("InitialNamesAccepted"),
                             STR("the initial names have been accepted") },
                     no = { STR("Established"), STR("False"), STR("NotAccepted"),
                            STR("not all names are accepted") };
    set_condition(a, crd, accepted ? &yes : &no, now);
}

/* ---- Policies ---- */

static bool is_protected(struct str group)
{
    return str_eq(group, STR("k8s.io")) || str_ends(group, STR(".k8s.io")) ||
           str_eq(group, STR("kubernetes.io")) || str_ends(group, STR(".kubernetes.io"));
}

static void note_approval(struct arena *a, struct value *crd, struct str now)
{
    if (!is_protected(value_str(value_dig(crd, "spec", "group"))))
        return;
    struct str given = value_str(
        value_get(value_dig(crd, "metadata", "annotations"), STR("api-approved.kubernetes.io")));
    struct go_url url;
    bool is_url = given.n && !go_url_parse(a, given, &url) && url.scheme.n && url.host.n;
    struct condition c = { STR("KubernetesAPIApprovalPolicyConformant"), STR("False"),
                           STR("InvalidAnnotation"),
                           STR("protected groups must have approval annotation "
                               "\"api-approved.kubernetes.io\" with either a URL or a reason "
                               "starting with \"unapproved\", see "
                               "https://github.com/kubernetes/enhancements/pull/1111") };
    if (!given.n) {
        c.reason = STR("MissingAnnotation");
        c.message = STR("protected groups must have approval annotation "
                        "\"api-approved.kubernetes.io\", see "
                        "https://github.com/kubernetes/enhancements/pull/1111");
    } else if (str_starts(given, STR("unapproved"))) {
        c.reason = STR("UnapprovedAnnotation");
        c.message = arena_printf(a, "not approved: \"" STR_FMT "\"", STR_ARG(given));
    } else if (is_url) {
        c.status = STR("True");
        c.reason = STR("ApprovedAnnotation");
        c.message = arena_printf(a, "approved in " STR_FMT, STR_ARG(given));
    }
    set_condition(a, crd, &c, now);
}

static void note_structure(struct arena *a, struct value *crd, struct str now)
{
    struct field_errors e = FIELD_ERRORS_INIT(a);
    validate_structure(&e, crd);
    if (!e.n) {
        drop_condition(a, crd, STR("NonStructuralSchema"));
        return;
    }
    autobuf list = { 0 };
    for (const struct err_cause *c = e.first; c; c = c->next)
        buf_printf(&list, "%s" STR_FMT ": " STR_FMT, c == e.first ? "" : ", ", STR_ARG(c->field),
                   STR_ARG(c->msg));
    struct condition c = { STR("NonStructuralSchema"), STR("True"), STR("Violations"),
                           e.n == 1 ? arena_str(a, buf_str(&list))
                                    : arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_str(&list))) };
    set_condition(a, crd, &c, now);
}

/* ---- Into the store ---- */

static struct str now_text(struct api *api, struct arena *a)
{
    return clock_format(clock_wall_ns(api->clock), false, arena_alloc(a, CLOCK_TEXT_BYTES, 1));
}

static void note_manager(struct arena *a, const struct value *old, struct value *crd,
                         struct str now)
{
    const struct kind_type *type = custom_definitions()->type;
    struct err err = ERR_INIT(a);
    struct value nothing = value_object(), empty;
    if (typed_read(a, type, &nothing, NULL, &empty, &err) < 0)
        return;
    struct managed_request req = {
        .schema = &ownership_kinds,
        .place = ownership_kind(type),
        .manager = STR("kube-apiserver"),
        .api_version = convert_api_version(a, type),
        .subresource = STR("status"),
        .now = now,
        .empty = &empty,
        .versions = &managed_kinds,
    };
    (void)managed_update(a, &req, old, crd, &err);
}

/* Replaces it, or removes it where `crd` is NULL: 0, 1 if somebody was faster, or an error. */
static int write_definition(struct api *api, struct arena *a, struct str name, struct value *crd,
                            uint64_t rev, struct err *err)
{
    autobuf bytes = { 0 };
    struct value settled;
    if (crd) {
        int r = typed_read(a, custom_definitions()->type, crd, NULL, &settled, err);
        if (r < 0)
            return r;
        stored_write(&bytes, NULL, &settled);
    }
    struct store_op op = {
        .type = crd ? STORE_PUT : STORE_DELETE,
        .key = stored_key(a, custom_definitions(), STR(""), name),
        .value = buf_str(&bytes),
        .expect_rev = rev,
    };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    int r = store_commit(api->store, &txn, err);
    if (r != -ERR_CONFLICT)
        return r;
    err_clear(err);
    return 1;
}

/* ---- Settling ---- */

static void free_all(struct custom **all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        custom_unref(all[i]);
    free(all);
}

/* 0, 1 to begin again, or an error. */
static int settle_once(struct api *api, struct str name, struct others *o, struct arena *a,
                       struct err *err)
{
    struct value crd, old;
    uint64_t rev;
    int r = custom_read_definition(api->custom, a, name, &crd, &rev, err);
    if (r <= 0)
        return r;
    old = value_share(&crd);
    struct str now = now_text(api, a);
    o->group = value_str(value_dig(&crd, "spec", "group"));
    if (!has_all_names(&crd))
        accept_names(a, &crd, o, now);
    establish(a, &crd, now);
    note_approval(a, &crd, now);
    note_structure(a, &crd, now);
    if (value_eq(&crd, &old))
        return 0;
    note_manager(a, &old, &crd, now);
    return write_definition(api, a, name, &crd, rev, err);
}

static int settle_one(struct api *api, struct str name, struct err *err)
{
    int r = 1;
    while (r == 1) {
        struct arena a;
        arena_init(&a);
        struct others o = { .but = name };
        o.all = custom_list_all(api->custom, &o.n);
        struct err why = ERR_INIT(&a);
        r = settle_once(api, name, &o, &a, &why);
        if (r < 0)
            r = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
        free_all(o.all, o.n);
        arena_done(&a);
    }
    return r < 0 ? r : custom_kinds_refresh(api->custom, name, err);
}

static int settle_each(struct api *api, struct custom **all, size_t n, struct str but,
                       struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i]->names_accepted || str_eq(all[i]->name, but))
            continue;
        int r = settle_one(api, all[i]->name, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Names that this definition has given up may be what others of its group wait for. */
static int settle_waiting(struct api *api, struct str name, struct err *err)
{
    size_t n;
    struct custom **all = custom_list_all(api->custom, &n);
    int r = settle_each(api, all, n, name, err);
    free_all(all, n);
    return r;
}

static int settle_with_others(struct api *api, struct str name, struct err *err)
{
    int r = settle_one(api, name, err);
    return r < 0 ? r : settle_waiting(api, name, err);
}

int custom_definition_settle(struct api *api, struct str name, struct err *err)
{
    custom_kinds_begin(api->custom);
    int r = settle_with_others(api, name, err);
    custom_kinds_end(api->custom);
    if (api->on_kinds_changed)
        api->on_kinds_changed(api);
    return r;
}

/* ---- The end ---- */

static bool has_finalizer(const struct value *crd)
{
    value_each_item (it, value_dig(crd, "metadata", "finalizers"))
        if (str_eq(value_str(it), FINALIZER))
            return true;
    return false;
}

void custom_definition_mark_deleted(struct arena *a, struct value *crd, struct str now)
{
    if (!has_finalizer(crd)) {
        struct value *meta = value_ensure(a, crd, STR("metadata"));
        struct value *list = value_edit(a, meta, STR("finalizers"));
        if (!value_is(list, VALUE_ARRAY))
            list = value_set(a, meta, STR("finalizers"), value_array());
        value_put_item(a, list, value_string(FINALIZER));
    }
    value_put(a, value_ensure(a, crd, STR("metadata")), STR("deletionTimestamp"),
              value_string(now));
    struct condition c = { STR("Terminating"), STR("True"), STR("InstanceDeletionPending"),
                           STR("CustomResourceDefinition marked for deletion; CustomResource "
                               "deletion will begin soon") };
    set_condition(a, crd, &c, now);
}

static void drop_finalizer(struct arena *a, struct value *crd)
{
    struct value *meta = value_edit(a, crd, STR("metadata"));
    struct value *list = value_edit(a, meta, STR("finalizers"));
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        if (!str_eq(value_str(value_at(list, i)), FINALIZER))
            continue;
        value_remove_at(a, list, i);
        break;
    }
    if (value_is(list, VALUE_ARRAY) && !list->n)
        value_drop(a, meta, STR("finalizers"));
}

/* Whether it is marked for deletion, of which only its metadata is read. */
static int is_marked(struct api *api, struct arena *a, struct str name, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    struct value meta;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, custom_definitions(), STR(""), name), &e, err);
    if (r == 1 && stored_read_meta(a, &e, &meta, err) < 0)
        r = -(int)err->code;
    bool marked = r == 1 && value_dig(&meta, "metadata", "deletionTimestamp");
    store_snap_end(snap);
    return r < 0 ? r : marked;
}

/* 0 if it is gone or does not wait any more; 1 to begin again; or an error. */
static int finish_once(struct api *api, struct str name, struct arena *a, struct err *err)
{
    struct value crd;
    uint64_t rev;
    int r = is_marked(api, a, name, err);
    if (r == 1)
        r = custom_read_definition(api->custom, a, name, &crd, &rev, err);
    if (r <= 0 || !value_dig(&crd, "metadata", "deletionTimestamp") || !has_finalizer(&crd))
        return r < 0 ? r : 0;
    /* First everybody must know: who lets go of an object that is met here looks for this. */
    r = custom_kinds_refresh(api->custom, name, err);
    if (r < 0)
        return r;
    struct value old = value_share(&crd);
    struct str now = now_text(api, a);
    bool established = is_condition_true(&crd, STR("Established"));
    size_t left = 0;
    if (established)
        r = custom_objects_delete(api, &crd, &left, err);
    if (r < 0)
        return r;
    struct condition waits = { STR("Terminating"), STR("True"), STR("InstanceDeletionInProgress"),
                               STR("CustomResource deletion is in progress") },
                     done = { STR("Terminating"), STR("False"), STR("InstanceDeletionCompleted"),
                              STR("removed all instances") },
                     never = { STR("Terminating"), STR("False"), STR("NeverEstablished"),
                               STR("resource was never established") };
    set_condition(a, &crd, left ? &waits : established ? &done : &never, now);
    if (!left)
        drop_finalizer(a, &crd);
    bool gone = !left && !value_dig(&crd, "metadata", "finalizers");
    if (left && value_eq(&crd, &old))
        return 0;
    return write_definition(api, a, name, gone ? NULL : &crd, rev, err);
}

int custom_definition_finish(struct api *api, struct str name, struct err *err)
{
    int r = 1;
    while (r == 1) {
        struct arena a;
        arena_init(&a);
        struct err why = ERR_INIT(&a);
        r = finish_once(api, name, &a, &why);
        if (r < 0)
            r = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
        arena_done(&a);
    }
    return r < 0 ? r : custom_definition_settle(api, name, err);
}

static int finish_each(struct api *api, struct custom **all, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i]->established && all[i]->names_accepted && !all[i]->terminating)
            continue;
        int r = custom_definition_finish(api, all[i]->name, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int custom_definition_resume(struct api *api, struct err *err)
{
    size_t n;
    struct custom **all = custom_list_all(api->custom, &n);
    int r = finish_each(api, all, n, err);
    free_all(all, n);
    return r;
}
