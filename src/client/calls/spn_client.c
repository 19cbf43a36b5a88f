/* spn_client.c - the verbs. */
#include <sampan/client.h>

#include "base/json.h"
#include "client/calls/client_codec.h"
#include "client/calls/client.h"
#include "client/calls/patch_many.h"
#include "base/banned.h"

static const struct spn_call usual;

static struct str cstr(const char *text)
{
    return text ? str_of(text) : STR("");
}

/* One request as the verbs make it. */
struct verb {
    const char *method;
    const struct spn_target *at;
    const struct spn_call *how;
    struct client_query query;
    struct str content_type, body;
    enum codec_form form; /* of the answer */
    bool is_object;       /* the body is one of the place's kind */
};

/* The type of what is sent and answered, if it is to be protobuf. */
static const struct kind_type *proto_type(const struct spn_client *c, const struct verb *v)
{
    return client_speaks_protobuf(c) ? codec_type_at(v->at) : NULL;
}

static int make_request(struct spn_client *c, struct verb *v, struct spn_arena *a,
                        struct client_request *ret, struct spn_err *err)
{
    *ret = (struct client_request){ .method = str_of(v->method),
                                    .accept = codec_accept(v->form, proto_type(c, v) != NULL),
                                    .content_type = v->content_type,
                                    .body = v->body };
    int r = client_path(arena_in(a), v->at, &v->query, &ret->path, err);
    buf_done(&v->query.text);
    return r;
}

static int run(struct spn_client *c, struct verb *v, struct spn_arena *a, struct str *ret,
               struct spn_err *err)
{
    struct client_request req;
    int r = make_request(c, v, a, &req, err);
    return r < 0 ? r : client_call(c, &req, v->how, arena_in(a), ret, err);
}

static int run_read(struct spn_client *c, struct verb *v, struct spn_arena *a,
                    struct spn_value **ret, struct spn_err *err)
{
    struct str text;
    struct err why = ERR_INIT(arena_in(a));
    int r = run(c, v, a, &text, err);
    if (r < 0 || !ret)
        return r;
    struct value *answer = arena_new(arena_in(a), struct value);
    if (codec_read(arena_in(a), text, answer, &why) < 0) {
        (void)err_out(err, &why, SPN_MALFORMED);
        (void)spn_err_wrap(err, "the answer to %s", v->method);
        return -SPN_MALFORMED;
    }
    *ret = value_out_edit(answer);
    return 0;
}

/* What every write may say. */
static struct verb write_verb(struct spn_client *c, const char *method, const struct spn_target *at,
                              const struct spn_call *how)
{
    struct verb v = { .method = method, .at = at, .how = how ? how : &usual };
    query_add(&v.query, "fieldManager",
              v.how->manager ? str_of(v.how->manager) : client_manager(c));
    query_add(&v.query, "fieldValidation", cstr(v.how->validation));
    query_add(&v.query, "dryRun", v.how->dry_run ? STR("All") : STR(""));
    return v;
}

static int run_write(struct spn_client *c, struct verb *v, const struct spn_value *obj,
                     struct spn_arena *a, struct spn_value **ret, struct spn_err *err)
{
    autobuf body = { 0 };
    if (v->is_object && codec_write_proto(&body, proto_type(c, v), value_in(obj)))
        v->content_type = CODEC_PROTO;
    else
        json_write(&body, value_in(obj));
    v->body = buf_str(&body);
    return run_read(c, v, a, ret, err);
}

int spn_client_get(struct spn_client *c, const struct spn_target *at, const struct spn_call *how,
                   struct spn_arena *a, struct spn_value **ret, struct spn_err *err)
{
    struct verb v = { .method = "GET", .at = at, .how = how ? how : &usual };
    query_add(&v.query, "resourceVersion", cstr(v.how->resource_version));
    v.form = v.how->metadata_only ? CODEC_METADATA : CODEC_WHOLE;
    return run_read(c, &v, a, ret, err);
}

int spn_client_create(struct spn_client *c, const struct spn_target *at,
                      const struct spn_value *obj, const struct spn_call *how, struct spn_arena *a,
                      struct spn_value **ret, struct spn_err *err)
{
    struct verb v = write_verb(c, "POST", at, how);
    struct spn_target collection = *at;
    if (!at->sub.n) /* a subresource is posted to by its object's name */
        collection.name = SPN_TEXT("");
    v.at = &collection;
    v.content_type = CODEC_JSON;
    v.is_object = true;
    return run_write(c, &v, obj, a, ret, err);
}

int spn_client_update(struct spn_client *c, const struct spn_target *at,
                      const struct spn_value *obj, const struct spn_call *how, struct spn_arena *a,
                      struct spn_value **ret, struct spn_err *err)
{
    struct verb v = write_verb(c, "PUT", at, how);
    v.content_type = CODEC_JSON;
    v.is_object = true;
    return run_write(c, &v, obj, a, ret, err);
}

static struct verb patch_verb(struct spn_client *c, const struct spn_target *at,
                              enum spn_patch_kind kind, struct spn_text patch,
                              const struct spn_call *how)
{
    static const struct str types[] = {
        [SPN_JSON_PATCH] = STR("application/json-patch+json"),
        [SPN_MERGE_PATCH] = STR("application/merge-patch+json"),
        [SPN_STRATEGIC_PATCH] = STR("application/strategic-merge-patch+json"),
    };
    struct verb v = write_verb(c, "PATCH", at, how);
    v.content_type = types[kind];
    v.body = str_in(patch);
    return v;
}

int spn_client_patch(struct spn_client *c, const struct spn_target *at, enum spn_patch_kind kind,
                     struct spn_text patch, const struct spn_call *how, struct spn_arena *a,
                     struct spn_value **ret, struct spn_err *err)
{
    struct verb v = patch_verb(c, at, kind, patch, how);
    return run_read(c, &v, a, ret, err);
}

void client_patch_many(struct spn_client *c, enum spn_patch_kind kind, struct patch_one *all,
                       size_t n, const struct spn_call *how, struct spn_arena *a)
{
    struct client_request *reqs = arena_array(arena_in(a), struct client_request, n);
    int *results = arena_array(arena_in(a), int, n);
    for (size_t i = 0; i < n; i++) {
        struct verb v = patch_verb(c, &all[i].at, kind, all[i].patch, how);
        results[i] = make_request(c, &v, a, &reqs[i], NULL);
    }
    client_call_many(c, reqs, n, how, arena_in(a), results);
    for (size_t i = 0; i < n; i++)
        all[i].result = results[i];
}

int spn_client_apply(struct spn_client *c, const struct spn_target *at, const struct spn_value *obj,
                     const struct spn_call *how, struct spn_arena *a, struct spn_value **ret,
                     struct spn_err *err)
{
    struct verb v = write_verb(c, "PATCH", at, how);
    query_add_bool(&v.query, "force", v.how->force);
    v.content_type = STR("application/apply-patch+yaml");
    return run_write(c, &v, obj, a, ret, err);
}

/* ---- Deleting ---- */

/* All options are in the body: servers do not look at the query of a DELETE that has one. */
static struct value delete_options(struct arena *a, const struct spn_delete *what,
                                   const struct spn_call *how)
{
    static const struct spn_delete as_usual;
    struct value v = value_object(), conditions = value_object(), dry_run = value_array();
    value_put_new(a, &v, STR("kind"), value_string(STR("DeleteOptions")));
    value_put_new(a, &v, STR("apiVersion"), value_string(STR("v1")));
    what = what ? what : &as_usual;
    if (how->dry_run) {
        value_put_item(a, &dry_run, value_string(STR("All")));
        value_put_new(a, &v, STR("dryRun"), dry_run);
    }
    if (what->propagation)
        value_put_new(a, &v, STR("propagationPolicy"), value_string(str_of(what->propagation)));
    if (what->grace_seconds)
        value_put_new(a, &v, STR("gracePeriodSeconds"), value_int(*what->grace_seconds));
    if (what->uid.n)
        value_put_new(a, &conditions, STR("uid"), value_string(str_in(what->uid)));
    if (what->resource_version.n)
        value_put_new(a, &conditions, STR("resourceVersion"),
                      value_string(str_in(what->resource_version)));
    if (conditions.n)
        value_put_new(a, &v, STR("preconditions"), conditions);
    return v;
}

int spn_client_delete(struct spn_client *c, const struct spn_target *at,
                      const struct spn_delete *what, const struct spn_call *how,
                      struct spn_arena *a, struct spn_value **ret, struct spn_err *err)
{
    struct verb v = { .method = "DELETE", .at = at, .how = how ? how : &usual };
    struct value options = delete_options(arena_in(a), what, v.how);
    v.content_type = CODEC_JSON;
    return run_write(c, &v, value_out(&options), a, ret, err);
}

static void add_selection(struct verb *v, const struct spn_select *which)
{
    if (!which)
        return;
    query_add(&v->query, "labelSelector", cstr(which->labels));
    query_add(&v->query, "fieldSelector", cstr(which->fields));
    query_add(&v->query, "continue", str_in(which->resume));
    query_add_int(&v->query, "limit", which->limit);
}

int spn_client_delete_all(struct spn_client *c, const struct spn_target *at,
                          const struct spn_select *which, const struct spn_delete *what,
                          const struct spn_call *how, struct spn_arena *a, struct spn_err *err)
{
    struct verb v = { .method = "DELETE", .at = at, .how = how ? how : &usual };
    struct value options = delete_options(arena_in(a), what, v.how);
    add_selection(&v, which);
    v.content_type = CODEC_JSON;
    return run_write(c, &v, value_out(&options), a, NULL, err);
}

/* ---- Listing ---- */

int spn_client_list(struct spn_client *c, const struct spn_target *at,
                    const struct spn_select *which, const struct spn_call *how, struct spn_arena *a,
                    struct spn_value **ret, struct spn_err *err)
{
    struct verb v = { .method = "GET", .at = at, .how = how ? how : &usual };
    add_selection(&v, which);
    query_add(&v.query, "resourceVersion", cstr(v.how->resource_version));
    query_add_bool(&v.query, "includeUninitialized", client_shows_uninitialized(c));
    v.form = v.how->metadata_only ? CODEC_METADATA_LIST : CODEC_WHOLE;
    return run_read(c, &v, a, ret, err);
}

int spn_client_raw(struct spn_client *c, const char *method, struct spn_text path,
                   struct spn_text content_type, struct spn_text body, const struct spn_call *how,
                   struct spn_arena *a, struct spn_text *ret, struct spn_err *err)
{
    const struct client_request req = { .method = str_of(method),
                                        .path = str_in(path),
                                        .accept = STR("application/json, */*"),
                                        .content_type = str_in(content_type),
                                        .body = str_in(body) };
    struct str text;
    if (!path.n || path.p[0] != '/')
        return spn_err_set(err, SPN_BAD_REQUEST, "a path starts with a slash");
    int r = client_call(c, &req, how, arena_in(a), &text, err);
    if (r == 0 && ret)
        *ret = text_out(text);
    return r;
}

int spn_target_path(const struct spn_target *at, struct spn_arena *a, struct spn_text *ret,
                    struct spn_err *err)
{
    const struct client_query none = { 0 };
    struct str path;
    int r = client_path(arena_in(a), at, &none, &path, err);
    if (r == 0)
        *ret = text_out(path);
    return r;
}

int spn_client_send(struct spn_client *c, const struct spn_request *req, const struct spn_call *how,
                    struct spn_arena *a, struct spn_answer *ret, struct spn_err *err)
{
    enum { MORE_MAX = 8 };
    struct str body;
    const struct client_request out = { .method = str_of(req->method),
                                        .path = str_in(req->path),
                                        .accept = STR("application/json, */*"),
                                        .content_type = str_in(req->content_type),
                                        .body = str_in(req->body),
                                        .more = req->headers,
                                        .n_more = req->n_headers,
                                        .ret_status = &ret->status };
    if (!req->path.n || req->path.p[0] != '/')
        return spn_err_set(err, SPN_BAD_REQUEST, "a path starts with a slash");
    if (req->n_headers > MORE_MAX)
        return spn_err_set(err, SPN_BAD_REQUEST, "no more than %d headers", MORE_MAX);
    int r = client_call(c, &out, how, arena_in(a), &body, err);
    if (r == 0)
        ret->body = text_out(body);
    return r;
}
