#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "admission/memory.h"
#include "base/buf.h"
#include "base/json.h"

/* The cluster that a request sees. */
struct seen {
    const struct suite *suite;
    struct admission_memory *memory;
    struct arena arena;
    struct buf said;
};

/* A copy with other quotes. */
static const char *requoted(struct arena *a, struct str text, char from, char to)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < text.n; i++)
        buf_byte(&out, text.p[i] == from ? to : text.p[i]);
    return str_cstr(a, buf_str(&out));
}

static struct value tree(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value v;
    const char *json = requoted(a, str_of(text), '\'', '"');
    if (json_read(a, str_of(json), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static int read_one(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                    struct value *ret, struct err *err)
{
    struct seen *seen = arg;
    (void)group, (void)ns, (void)err;
    for (size_t i = 0; i < seen->suite->n_objects; i++) {
        const struct suite_object *o = &seen->suite->objects[i];
        if (!str_eq(o->plural, plural) || !str_eq(o->name, name))
            continue;
        *ret = tree(&seen->arena, o->obj);
        return 1;
    }
    return 0;
}

static int read_each(void *arg, struct str group, struct str plural, struct str mark,
                     admission_take *take, void *to, struct err *err)
{
    struct seen *seen = arg;
    (void)group, (void)mark, (void)err;
    for (size_t i = 0; i < seen->suite->n_objects; i++) {
        struct value obj = tree(&seen->arena, seen->suite->objects[i].obj);
        if (str_eq(seen->suite->objects[i].plural, plural))
            (void)take(to, &obj);
    }
    return 0;
}

static int read_each_in(void *arg, struct str group, struct str plural, struct str ns,
                        admission_take *take, void *to, struct err *err)
{
    (void)ns;
    return read_each(arg, group, plural, STR(""), take, to, err);
}

static int read_each_quota(void *arg, struct str ns, admission_take *take, void *to,
                           uint64_t *ret_rev, struct err *err)
{
    *ret_rev = 0;
    return read_each_in(arg, STR(""), STR("resourcequotas"), ns, take, to, err);
}

static bool allows(void *arg, const struct access *q)
{
    struct seen *seen = arg;
    const char *text = seen->suite->allowed;
    const char *asked = str_cstr(
        &seen->arena, arena_printf(&seen->arena, STR_FMT " " STR_FMT " " STR_FMT ";",
                                   STR_ARG(q->verb), STR_ARG(q->resource), STR_ARG(q->name)));
    return text && strstr(text, asked);
}

/* ---- Objects by their kinds ---- */

static const struct kind_resource *find_resource(struct str api_version, struct str kind)
{
    const struct kind_type *t = kind_find(api_version, kind);
    const struct kind_version *v = t ? kind_version_find(t->group, t->version) : NULL;
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (v->resources[i].type == t)
            return &v->resources[i];
    return NULL;
}

static int find_kind(void *arg, struct str api_version, struct str kind, bool *ret_namespaced)
{
    const struct kind_resource *r = find_resource(api_version, kind);
    (void)arg;
    if (r)
        *ret_namespaced = r->namespaced;
    return r != NULL;
}

static int each_of_kind(void *arg, const struct admission_wanted *wanted, admission_take *take,
                        void *to, struct err *err)
{
    struct seen *seen = arg;
    const struct kind_resource *r = find_resource(wanted->api_version, wanted->kind);
    (void)err;
    for (size_t i = 0; r && i < seen->suite->n_objects; i++) {
        const struct suite_object *o = &seen->suite->objects[i];
        struct value obj = tree(&seen->arena, o->obj);
        const struct value *meta = value_get(&obj, STR("metadata"));
        if (str_eq(o->plural, r->plural) && (!wanted->name.n || str_eq(o->name, wanted->name)) &&
            (!wanted->ns.n || str_eq(value_text(meta, "namespace"), wanted->ns)) &&
            (!wanted->labels || labels_match_value(wanted->labels, value_get(meta, STR("labels")))))
            (void)take(to, &obj);
    }
    return 0;
}

/* ---- What is said ---- */

static void warn(void *arg, struct str text)
{
    struct seen *seen = arg;
    buf_printf(&seen->said, "! " STR_FMT "\n", STR_ARG(text));
}

static void annotate(void *arg, struct str key, struct str value)
{
    struct seen *seen = arg;
    buf_printf(&seen->said, STR_FMT "=" STR_FMT "\n", STR_ARG(key), STR_ARG(value));
}

static const struct value *maybe_tree(struct arena *a, const char *text, struct value *ret)
{
    if (!text)
        return NULL;
    *ret = tree(a, text);
    return ret;
}

/* What the plugins make of the row's object: the object, or why it was refused. */
static const char *admit(struct seen *seen, const struct suite_row *row)
{
    static const struct admission_cluster cluster = { .read = read_one,
                                                      .each = read_each,
                                                      .each_in = read_each_in,
                                                      .each_quota = read_each_quota,
                                                      .find_kind = find_kind,
                                                      .each_of_kind = each_of_kind,
                                                      .allows = allows,
                                                      .annotate = annotate,
                                                      .warn = warn };
    struct arena *a = &seen->arena;
    struct value obj, old_obj;
    const struct value *now = maybe_tree(a, row->obj, &obj);
    const struct kind_resource *r = kind_stored_named(str_of(row->group), str_of(row->plural));
    struct admission_request req = {
        .arena = a,
        .resource = r,
        .stored = r,
        .operation = !row->obj      ? ADMISSION_DELETE
                     : row->old_obj ? ADMISSION_UPDATE
                                    : ADMISSION_CREATE,
        .ns = str_of(row->ns ? row->ns : "ns"),
        .ns_is = seen->suite->looks ? ADMISSION_NAMESPACE_UNREAD : ADMISSION_NAMESPACE_THERE,
        .sub = str_of(row->sub),
        .user = seen->suite->user,
        .old_obj = maybe_tree(a, row->old_obj, &old_obj),
        .cluster = &cluster,
        .arg = seen,
        .choice = seen->suite->choice,
        .config = seen->suite->config,
        .clock = seen->suite->clock,
        .memory = seen->memory,
    };
    req.name = row->name ? str_of(row->name)
                         : value_str(value_dig(now ? now : req.old_obj, "metadata", "name"));
    struct err err = ERR_INIT(a);
    if (admission_mutate(&req, now ? &obj : NULL, &err) < 0 ||
        admission_validate(&req, now, &err) < 0)
        return str_cstr(a, err.msg);
    if (!now)
        return "";
    autobuf text = { 0 };
    json_write(&text, now);
    return requoted(a, buf_str(&text), '"', '\'');
}

static const char *expected(const struct suite_row *row)
{
    if (row->refused)
        return row->refused;
    return row->becomes ? row->becomes : row->obj ? row->obj : "";
}

void suite_check(const struct suite *s, const struct suite_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct seen seen = { .suite = s, .memory = admission_memory_new() };
        arena_init(&seen.arena);
        assert_string_equal(admit(&seen, &rows[i]), expected(&rows[i]));
        if (rows[i].said)
            assert_string_equal(str_cstr(&seen.arena, buf_str(&seen.said)), rows[i].said);
        buf_done(&seen.said);
        admission_memory_free(seen.memory);
        arena_done(&seen.arena);
    }
}

bool suite_is_admitted(const struct suite *s, const struct suite_row *row)
{
    struct seen seen = { .suite = s, .memory = admission_memory_new() };
    arena_init(&seen.arena);
    bool ret = strcmp(admit(&seen, row), row->obj) == 0;
    admission_memory_free(seen.memory);
    arena_done(&seen.arena);
    return ret;
}
