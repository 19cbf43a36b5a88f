#include "server/verbs/patch.h"

#include <stdlib.h>

#include "admission/xray.h"
#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/typed.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/json.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/sorted.h"
#include "merge/strategic.h"
#include "merge/unstructured.h"
#include "server/audit/audit_event.h"
#include "server/object/encode.h"
#include "api/errors.h"
#include "server/registry/hub.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* ---- Reading ---- */

static const struct media_type {
    struct str word;
    enum patch_kind kind;
} media_types[] = {
    { STR("application/json-patch+json"), PATCH_JSON },
    { STR("application/merge-patch+json"), PATCH_MERGE },
    { STR("application/strategic-merge-patch+json"), PATCH_STRATEGIC },
    { STR("application/apply-patch+yaml"), PATCH_APPLY },
    { STR("application/apply-patch+cbor"), PATCH_APPLY },
};

static bool find_kind(struct str type, enum patch_kind *ret)
{
    const struct media_type *row = words_row(type, media_types);
    if (!row)
        return false;
    *ret = row->kind;
    return true;
}

/* Upstream's router takes a list with something known in it, and only its handler refuses that. */
static bool has_known(struct str list)
{
    enum patch_kind ignored;
    while (list.n) {
        struct str one = str_cut(&list, ',');
        if (find_kind(str_trim(str_cut(&one, ';')), &ignored))
            return true;
    }
    return false;
}

static int read_kind(struct call *c, enum patch_kind *ret, struct err *err)
{
    struct str given = http_header_get(c->http, STR("content-type")), rest = given;
    bool custom = c->stored->type->custom; /* whose fields do not say how they merge */
    if (find_kind(str_cut(&rest, ';'), ret) && !(custom && *ret == PATCH_STRATEGIC))
        return 0;
    if (custom || has_known(given))
        return err_set(err, ERR_UNSUPPORTED_MEDIA_TYPE,
                       "the body of the request was in an unknown format - accepted media types "
                       "include: application/json-patch+json, application/merge-patch+json, "
                       "%sapplication/apply-patch+yaml",
                       custom ? "" : "application/strategic-merge-patch+json, ");
    int r = err_set(err, ERR_UNSUPPORTED_MEDIA_TYPE, "415: Unsupported Media Type");
    err->about.kind = STR("");
    return r;
}

static const char *go_type(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return names[v->type];
}

/* Both merge patches are objects. Who does not want to hear of faults may also send a list, which
 * then is what becomes of the object. */
static int check_merge(const struct patch *p, struct err *err)
{
    bool is_merge = p->kind == PATCH_MERGE, is_lax = p->options.validation == DECODE_IGNORE;
    if (p->body.type == VALUE_OBJECT || (!is_merge && p->body.type == VALUE_NULL) ||
        (is_merge && is_lax && p->body.type == VALUE_ARRAY))
        return 0;
    if (is_merge && (is_lax || p->body.type == VALUE_NULL))
        return err_set(err, ERR_BAD_REQUEST, "Invalid JSON Patch");
    return err_set(err, ERR_BAD_REQUEST,
                   "%sjson: cannot unmarshal %s into Go value of type map[string]interface {}",
                   is_merge ? "error decoding patch: " : "", go_type(&p->body));
}

static int read_config(struct patch *p, struct err *err)
{
    p->apply = (struct apply){
        .call = p->call,
        .managers = p->managers,
        .validation = p->options.validation,
        .force = p->options.force,
    };
    int r = apply_read(&p->apply, err);
    if (r == 0 && !p->apply.unread.n)
        audit_event_patch(p->call->audit, &p->apply.config);
    return r;
}

int patch_read(struct call *c, struct patch *ret, struct err *err)
{
    const struct kind_type *type = c->req.sub ? c->req.sub->type : c->req.resource->type;
    *ret = (struct patch){ .call = c, .type = type };
    int r = read_kind(c, &ret->kind, err);
    if (r < 0)
        return r;
    r = options_read_patch(c, ret->kind == PATCH_APPLY, &ret->options, err);
    if (r < 0)
        return r;
    ret->managers = managers_request(c, &ret->options, type);
    if (ret->kind == PATCH_APPLY)
        return read_config(ret, err);
    if (json_read(c->arena, c->http->body, NULL, &ret->body, NULL) < 0)
        return err_set(err, ERR_BAD_REQUEST, "invalid JSON patch");
    audit_event_patch(c->audit, &ret->body);
    return 0;
}

/* Whether the body is a patch of its kind at all. Only asked about an object that is there. */
static int check_body(struct patch *p, struct err *err)
{
    struct arena *a = p->call->arena;
    p->notes.n = 0;
    if (p->kind == PATCH_JSON)
        return json_patch_check(a, &p->body,
                                p->options.validation == DECODE_IGNORE ? NULL : &p->notes, err);
    struct str path = value_find_duplicate(a, &p->body);
    if (path.n)
        p->notes.notes[p->notes.n++] =
            arena_printf(a, "duplicate field \"" STR_FMT "\"", STR_ARG(path));
    value_drop_duplicates(a, &p->body);
    return check_merge(p, err);
}

/* ---- Applying ---- */

static int edit(struct patch *p, struct value *doc, struct err *err)
{
    struct arena *a = p->call->arena;
    switch (p->kind) {
    case PATCH_JSON:
        return json_patch_apply(a, &p->body, doc, err);
    case PATCH_MERGE:
        merge_patch_apply(a, &p->body, doc);
        return 0;
    case PATCH_STRATEGIC:
        if (p->body.type == VALUE_NULL)
            return 0;
        return strategic_apply(a, &strategic_kinds, p->type, &p->body, doc, err);
    case PATCH_APPLY:
        break;
    }
    return 0;
}

/* What was made of the document is no object of its kind. Upstream shows the document, or of a
 * strategic patch the patch. */
static int not_an_object(struct patch *p, const struct value *doc, struct str why, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(p->call->arena);
    struct field_path path = { .name = STR("patch") };
    autobuf text = { 0 };
    struct value shown = p->type->custom ? sorted_copy(p->call->arena, doc) : value_borrow(doc);
    if (p->kind == PATCH_STRATEGIC)
        unstructured_print(&text, &p->body);
    else
        json_write(&text, &shown);
    field_error(&e, FIELD_INVALID, &path, field_quoted(&e, buf_str(&text)), STR_FMT, STR_ARG(why));
    return field_errors_report(&e, STR(""), STR(""), STR(""), err);
}

static void add_notes(struct buf *list, struct patch *p, const struct typed_notes *notes)
{
    for (size_t i = 0; i < notes->n && i < TYPED_NOTES_MAX; i++) {
        if (p->options.validation == DECODE_WARN)
            call_warn(p->call, notes->notes[i]);
        buf_printf(list, "%s" STR_FMT, list->n ? ", " : "", STR_ARG(notes->notes[i]));
    }
}

/* What is odd about the patch, and then about what it made. */
static int heed_notes(struct patch *p, const struct value *doc, const struct typed_notes *notes,
                      struct err *err)
{
    autobuf list = { 0 };
    add_notes(&list, p, &p->notes);
    add_notes(&list, p, notes);
    if (p->options.validation != DECODE_STRICT || !list.n)
        return 0;
    return not_an_object(
        p, doc,
        arena_printf(p->call->arena, "strict decoding error: " STR_FMT, STR_ARG(buf_str(&list))),
        err);
}

/* Why an object that has become another kind cannot be read: it is not one of that kind, or that
 * kind is not the one wanted. */
static struct str why_another_kind(struct arena *a, const struct kind_type *type,
                                   const struct value *doc)
{
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion");
    const struct kind_type *other = kind_find(version, kind);
    struct value ignored;
    struct err why = ERR_INIT(a);
    if (!other)
        return arena_printf(a,
                            "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                            "\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
                            STR_ARG(kind), STR_ARG(version));
    if (typed_read(a, other, doc, NULL, &ignored, &why) < 0)
        return why.msg;
    return arena_printf(
        a, "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT "): unknown conversion",
        STR_ARG(other->version), STR_ARG(kind), STR_ARG(encode_package(type->group)),
        STR_ARG(type->name));
}

/* A custom object that has become another is held to its kind like one that was sent so. */
static int check_custom_type(struct patch *p, const struct kind_type *type, const struct value *doc,
                             struct err *err)
{
    struct arena *a = p->call->arena;
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct field_path kind_path = { .name = STR("kind") }, path = { .name = STR("apiVersion") };
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion"),
               group = version, wanted = convert_api_version(a, type);
    if (!kind.n) {
        autobuf text = { 0 };
        struct value shown = sorted_copy(a, doc);
        json_write(&text, &shown);
        return not_an_object(
            p, doc,
            arena_printf(a, "Object 'Kind' is missing in '" STR_FMT "'", STR_ARG(buf_str(&text))),
            err);
    }
    if (!version.n)
        return err_set(err, ERR_INTERNAL,
                       "Internal error occurred: Object 'apiVersion' is missing in 'object has no "
                       "apiVersion field'");
    if (!str_eq(kind, type->name))
        field_error(&e, FIELD_INVALID, &kind_path, field_quoted(&e, kind), "must be " STR_FMT,
                    STR_ARG(type->name));
    if (!str_eq(version, wanted))
        field_error(&e, FIELD_INVALID, &path, field_quoted(&e, version), "must be " STR_FMT,
                    STR_ARG(wanted));
    group = str_find(version, '/') < 0 ? STR("") : str_cut(&group, '/');
    return field_errors_report(&e, group, kind, value_str(value_dig(doc, "metadata", "name")), err);
}

/* The patch must leave the object what it is. */
static int check_type(struct patch *p, const struct kind_type *type, const struct value *doc,
                      struct err *err)
{
    struct arena *a = p->call->arena;
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion");
    if (doc->type != VALUE_OBJECT)
        return not_an_object(
            p, doc,
            arena_printf(a,
                         "couldn't get version/kind; json parse error: json: cannot unmarshal %s "
                         "into Go value of type struct { APIVersion string "
                         "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                         "\"json:\\\"kind,omitempty\\\"\" }",
                         go_type(doc)),
            err);
    if (type->custom)
        return check_custom_type(p, type, doc, err);
    if ((!kind.n || str_eq(kind, type->name)) &&
        (!version.n || str_eq(version, convert_api_version(a, type))))
        return 0;
    return not_an_object(p, doc, why_another_kind(a, type, doc), err);
}

/* A document that has lost its apiVersion is taken for upstream's inner form of the kind, whose
 * fields have other names: nothing of it is known, and there is nothing in it. */
static int read_unversioned(struct patch *p, const struct value *patched, struct value *ret,
                            struct err *err)
{
    struct arena *a = p->call->arena;
    struct typed_notes notes = { .n = 0 };
    value_each_field (f, patched)
        if (!str_eq(f->key, STR("kind")) && !str_eq(f->key, STR("apiVersion")) &&
            notes.n < TYPED_NOTES_MAX)
            notes.notes[notes.n++] =
                arena_printf(a, "unknown field \"" STR_FMT "\"", STR_ARG(f->key));
    *ret = value_object();
    return heed_notes(p, patched, &notes, err);
}

static bool is_unversioned(const struct patch *p, const struct value *patched)
{
    return p->kind != PATCH_STRATEGIC && !p->type->custom && !value_text(patched, "apiVersion").n;
}

int patch_object(struct patch *p, const struct value *doc, struct value *ret, struct err *err)
{
    struct arena *a = p->call->arena;
    const struct kind_type *type = p->type;
    xray_stage(p->call->xray, "patch", type->name, doc);
    if (p->kind == PATCH_APPLY)
        return apply_object(&p->apply, type, doc, ret, err);
    struct value patched = value_borrow(doc);
    int r = check_body(p, err);
    if (r < 0)
        return r;
    r = edit(p, &patched, err);
    if (r < 0)
        return r;
    if (p->kind != PATCH_STRATEGIC) /* which is no document and cannot change these */
        r = check_type(p, type, &patched, err);
    if (r < 0)
        return r;
    if (is_unversioned(p, &patched))
        return read_unversioned(p, &patched, ret, err);
    struct typed_notes notes = { .n = 0 };
    struct err why = ERR_INIT(a);
    int (*read)(struct arena *, const struct kind_type *, const struct value *,
                struct typed_notes *, struct value *, struct err *) =
        p->kind == PATCH_STRATEGIC ? typed_read_made : typed_read_sent;
    if (read(a, type, &patched, &notes, ret, &why) < 0)
        return not_an_object(p, &patched, why.msg, err);
    if (p->kind == PATCH_STRATEGIC) /* upstream walks a map there, by name */
        qsort(notes.notes, notes.n < TYPED_NOTES_MAX ? notes.n : TYPED_NOTES_MAX,
              sizeof(notes.notes[0]), words_compare);
    r = heed_notes(p, &patched, &notes, err);
    if (r < 0)
        return r;
    value_put(a, ret, STR("kind"), value_string(type->name));
    value_put(a, ret, STR("apiVersion"), value_string(convert_api_version(a, type)));
    xray_stage(p->call->xray, "defaults", type->name, ret);
    defaults_apply(a, type, ret);
    decode_keep_reset(a, &patched, ret);
    return 0;
}

/* ---- The verb ---- */

enum { APPLY_TRIES = 100 };

static int to_storage(struct patch *p, const struct registry_entry *now, struct value *patched,
                      struct value *ret, struct err *err)
{
    struct call *c = p->call;
    int r = verb_update_check_name(c, patched, err);
    if (r < 0)
        return r;
    r = hub_take(c, patched, now ? &now->obj : NULL, ret, err);
    if (r < 0 || p->kind == PATCH_APPLY) /* whose managers are known already */
        return r;
    return managers_own(c, p->managers, now, patched, ret, err);
}

static int change(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                  struct err *err)
{
    struct patch *p = u->arg;
    struct call *c = p->call;
    struct value stored = value_borrow(&now->obj), doc, patched;
    int r = convert_object(c->arena, c->stored->type, p->type, &stored, &doc, err);
    if (r < 0)
        return r;
    r = patch_object(p, &doc, &patched, err);
    if (r < 0)
        return r;
    return to_storage(p, now, &patched, ret, err);
}

/* What is applied and not there is created. */
static int create(struct patch *p, struct value *ret, struct err *err)
{
    struct call *c = p->call;
    struct value made;
    int r = patch_object(p, NULL, &made, err);
    if (r < 0)
        return r;
    struct str uid = value_str(value_dig(&made, "metadata", "uid"));
    if (uid.n)
        return error_conflict(
            err, c->req.resource, c->req.name,
            arena_printf(c->arena,
                         "uid mismatch: the provided object specified uid " STR_FMT
                         ", and no existing object was found",
                         STR_ARG(uid)));
    r = to_storage(p, NULL, &made, ret, err);
    if (r < 0)
        return r;
    value_drop(c->arena, value_ensure(c->arena, ret, STR("metadata")), STR("resourceVersion"));
    return registry_create(c, p->options.dry_run, ret, err);
}

/* 200, 201 if it was not there, or an error. */
static int patch(struct call *c, struct value *ret, struct err *err)
{
    struct patch p;
    xray_stage(c->xray, "decode", STR("patch"), NULL);
    int r = patch_read(c, &p, err);
    if (r < 0)
        return r;
    struct registry_update u = {
        .change = change,
        .arg = &p,
        .sub = c->req.sub ? c->req.sub->name : STR(""),
        .dry_run = p.options.dry_run,
        .tries_again = true,
    };
    for (int i = 0; i < APPLY_TRIES; i++) {
        r = registry_update(c, c->req.name, &u, ret, err);
        if (r != -ERR_NOT_FOUND || p.kind != PATCH_APPLY || c->req.sub)
            return r < 0 ? r : 200;
        err_clear(err);
        r = create(&p, ret, err);
        if (r != -ERR_EXISTS) /* else somebody was faster */
            return r < 0 ? r : 201;
        err_clear(err);
    }
    return error_modified(err, c->req.resource, c->req.name);
}

void verb_patch(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    int status = patch(c, &obj, &err);
    if (status < 0)
        call_fail(c, &err);
    else
        call_object(c, status, c->stored->type, &obj);
}
