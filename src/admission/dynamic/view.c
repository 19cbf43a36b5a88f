#include "admission/dynamic/view.h"

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/banned.h"

struct str view_namespace(const struct admission_request *req)
{
    bool is_namespace = !req->stored->group.n && str_eq(req->stored->plural, STR("namespaces"));
    return is_namespace ? req->name : req->ns;
}

int view_internal_error(struct str why, struct err *err)
{
    struct str text = arena_str(err->arena, why);
    err_clear(err);
    int r = err_set(err, ERR_INTERNAL, "Internal error occurred: " STR_FMT, STR_ARG(text));
    err_add_cause(err, STR(""), STR(""), text);
    return r;
}

/* ---- Objects ---- */

static const struct kind_type *type_of_trees(const struct admission_request *req)
{
    return req->type ? req->type : req->stored->type;
}

static bool is_same_kind(const struct kind_type *t, const struct kind_type *trees)
{
    return t && (t->custom || convert_same_kind(t, trees));
}

/* Of what is written to, or through, a path of this version. */
static const struct kind_type *type_in(const struct admission_request *req,
                                       const struct kind_resource *as)
{
    const struct kind_type *trees = type_of_trees(req);
    if (!req->sub.n)
        return is_same_kind(as->type, trees) ? as->type : trees;
    const struct kind_subresource *sub = kind_subresource_find(as, req->sub);
    return sub && is_same_kind(sub->type, trees) ? sub->type : trees;
}

static void name_type(struct arena *a, const struct kind_type *t, struct value *obj)
{
    value_put(a, obj, STR("kind"), value_string(t->name));
    value_put(a, obj, STR("apiVersion"), value_string(convert_api_version(a, t)));
}

static int show(struct admission_request *req, const struct value *obj, const struct kind_type *to,
                const struct value **ret, struct err *err)
{
    const struct kind_type *from = type_of_trees(req);
    struct value in, *out;
    *ret = NULL;
    if (!obj)
        return 0;
    in = value_borrow(obj);
    out = arena_new(req->arena, struct value);
    int r = to->custom && req->cluster->convert
                ? req->cluster->convert(req->arg, from, to, &in, out, err)
                : convert_object(req->arena, from, to, &in, out, err);
    if (r < 0)
        return view_internal_error(err->msg, err);
    name_type(req->arena, to, out);
    *ret = out;
    return 0;
}

int view_make(struct admission_request *req, const struct value *obj,
              const struct kind_resource *as, struct view *ret, struct err *err)
{
    *ret = (struct view){ .resource = as, .type = type_in(req, as) };
    int r = show(req, obj, ret->type, &ret->obj, err);
    return r < 0 ? r : show(req, req->old_obj, ret->type, &ret->old_obj, err);
}

/* ---- The request ---- */

static void put_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put_new(a, obj, key, value_string(text));
}

static struct value name_kind(struct arena *a, const struct kind_type *t)
{
    struct value ret = value_object();
    value_put_new(a, &ret, STR("group"), value_string(t->group));
    value_put_new(a, &ret, STR("version"), value_string(t->version));
    value_put_new(a, &ret, STR("kind"), value_string(t->name));
    return ret;
}

static struct value name_resource(struct arena *a, const struct kind_resource *r)
{
    struct value ret = value_object();
    value_put_new(a, &ret, STR("group"), value_string(r->group));
    value_put_new(a, &ret, STR("version"), value_string(r->version));
    value_put_new(a, &ret, STR("resource"), value_string(r->plural));
    return ret;
}

static struct value texts(struct arena *a, const struct str *list, size_t n)
{
    struct value ret = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &ret, value_string(list[i]));
    return ret;
}

/* What the server does of its own it does by this name. */
static const struct user *user_of(const struct admission_request *req)
{
    static const struct str groups[] = { STR("system:masters") };
    static const struct user server = { .name = STR("system:apiserver"),
                                        .groups = groups,
                                        .n_groups = 1 };
    return req->user ? req->user : &server;
}

static struct value tell_user(struct arena *a, const struct user *u)
{
    struct value ret = value_object(), extra = value_object();
    put_text(a, &ret, STR("username"), u->name);
    put_text(a, &ret, STR("uid"), u->uid);
    if (u->n_groups)
        value_put_new(a, &ret, STR("groups"), texts(a, u->groups, u->n_groups));
    for (size_t i = 0; i < u->n_extra; i++)
        value_put_new(a, &extra, u->extra[i].key,
                      texts(a, u->extra[i].values, u->extra[i].n_values));
    if (u->n_extra)
        value_put_new(a, &ret, STR("extra"), extra);
    return ret;
}

static struct str operation_name(enum admission_operation operation)
{
    switch (operation) {
    case ADMISSION_CREATE:
        return STR("CREATE");
    case ADMISSION_UPDATE:
        return STR("UPDATE");
    case ADMISSION_DELETE:
        return STR("DELETE");
    case ADMISSION_CONNECT:
        return STR("CONNECT");
    }
    return STR("");
}

struct value view_request(struct admission_request *req, const struct view *v, struct str uid)
{
    struct arena *a = req->arena;
    struct value ret = value_object();
    put_text(a, &ret, STR("uid"), uid);
    value_put_new(a, &ret, STR("kind"), name_kind(a, v->type));
    value_put_new(a, &ret, STR("resource"), name_resource(a, v->resource));
    put_text(a, &ret, STR("subResource"), req->sub);
    value_put_new(a, &ret, STR("requestKind"), name_kind(a, type_in(req, req->resource)));
    value_put_new(a, &ret, STR("requestResource"), name_resource(a, req->resource));
    put_text(a, &ret, STR("requestSubResource"), req->sub);
    put_text(a, &ret, STR("name"), req->name);
    put_text(a, &ret, STR("namespace"), view_namespace(req));
    value_put_new(a, &ret, STR("operation"), value_string(operation_name(req->operation)));
    value_put_new(a, &ret, STR("userInfo"), tell_user(a, user_of(req)));
    value_put_new(a, &ret, STR("dryRun"), value_bool(req->dry_run));
    return ret;
}

/* ---- What comes back ---- */

/* "core.ConfigMap", as Go names the types of objects that are not in any version. */
static struct str internal_name(struct arena *a, const struct kind_type *t)
{
    struct str rest = t->group.n ? t->group : STR("core"), package = str_cut(&rest, '.');
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(package), STR_ARG(t->name));
}

/* An object of another kind is read as one, and then found not to be what was asked for. */
static int refuse_kind(struct admission_request *req, const struct view *v,
                       const struct value *changed, struct err *err)
{
    struct str api_version = value_text(changed, "apiVersion"), kind = value_text(changed, "kind");
    const struct kind_type *other = kind_find(api_version, kind);
    struct value ignored;
    if (!other) {
        (void)err_set(err, ERR_INTERNAL,
                      "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                      "\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
                      STR_ARG(kind), STR_ARG(api_version));
        return view_internal_error(err->msg, err);
    }
    if (typed_read(req->arena, other, changed, NULL, &ignored, err) < 0)
        return view_internal_error(err->msg, err);
    return err_set(err, ERR_UNKNOWN,
                   "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "): unknown conversion",
                   STR_ARG(other->version), STR_ARG(other->name),
                   STR_ARG(internal_name(req->arena, v->type)));
}

/* A custom object is nothing but what it says of itself. */
static int no_kind(const struct value *changed, struct err *err)
{
    autobuf words = { 0 };
    buf_str_add(&words, STR("Object 'Kind' is missing in '"));
    json_write(&words, changed);
    buf_byte(&words, '\'');
    return view_internal_error(buf_str(&words), err);
}

/* Whoever says nothing of it means the same kind. */
static bool is_of_kind(struct admission_request *req, const struct view *v,
                       const struct value *changed)
{
    struct str api_version = value_text(changed, "apiVersion"), kind = value_text(changed, "kind");
    return (!kind.n || str_eq(kind, v->type->name)) &&
           (!api_version.n || str_eq(api_version, convert_api_version(req->arena, v->type)));
}

static int take(struct admission_request *req, const struct view *v, const struct value *changed,
                struct value *obj, struct err *err)
{
    struct arena *a = req->arena;
    struct value typed, live = value_share(obj);
    int r = typed_read(a, v->type, changed, NULL, &typed, err);
    if (r < 0)
        return r;
    name_type(a, v->type, &typed); /* it may have been taken away */
    defaults_apply(a, v->type, &typed);
    return convert_take(a, v->type, type_of_trees(req), &typed, &live, obj, err);
}

int view_take(struct admission_request *req, const struct view *v, struct value *changed,
              struct value *obj, struct err *err)
{
    if (v->type->custom && !value_text(changed, "kind").n)
        return no_kind(changed, err);
    if (!is_of_kind(req, v, changed))
        return refuse_kind(req, v, changed, err);
    int r = take(req, v, changed, obj, err);
    return r < 0 ? view_internal_error(err->msg, err) : 0;
}
