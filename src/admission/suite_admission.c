#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"

/* The cluster that a request sees. */
struct seen {
    const struct suite *suite;
    struct arena arena;
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

static bool allows(void *arg, const struct access *q)
{
    struct seen *seen = arg;
    const char *text = seen->suite->allowed;
    const char *asked = str_cstr(
        &seen->arena, arena_printf(&seen->arena, STR_FMT " " STR_FMT " " STR_FMT ";",
                                   STR_ARG(q->verb), STR_ARG(q->resource), STR_ARG(q->name)));
    return text && strstr(text, asked);
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
                                                      .allows = allows };
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
        .sub = str_of(row->sub),
        .user = seen->suite->user,
        .old_obj = maybe_tree(a, row->old_obj, &old_obj),
        .cluster = &cluster,
        .arg = seen,
        .choice = seen->suite->choice,
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
        struct seen seen = { .suite = s };
        arena_init(&seen.arena);
        assert_string_equal(admit(&seen, &rows[i]), expected(&rows[i]));
        arena_done(&seen.arena);
    }
}
