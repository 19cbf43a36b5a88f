#include "server/custom/custom_scale.h"

#include "api/go/quote.h"
#include "merge/unstructured.h"
#include "base/banned.h"

static int wrong_type(struct str path, const struct value *v, const char *wanted, struct err *err)
{
    autobuf shown = { 0 };
    unstructured_print(&shown, v);
    return err_set(err, ERR_UNKNOWN,
                   STR_FMT " accessor error: " STR_FMT " is of the type %s, expected %s",
                   STR_ARG(path), STR_ARG(buf_str(&shown)),
                   v->type == VALUE_NULL ? "<nil>" : unstructured_type(v), wanted);
}

/* Numbers of a Scale have 32 bits. */
static int read_number(struct str path, const struct value *v, int64_t *ret, struct err *err)
{
    *ret = 0;
    if (!v)
        return 0;
    if (v->type != VALUE_INT)
        return wrong_type(path, v, "int64", err);
    *ret = (int32_t)(uint32_t)(uint64_t)v->i;
    return 0;
}

int custom_scale_read(const struct schema_scale *paths, const struct value *obj,
                      struct scale_parts *ret, struct err *err)
{
    const struct value *replicas = schema_scale_value(obj, paths->spec_replicas),
                       *running = schema_scale_value(obj, paths->status_replicas),
                       *selector =
                           paths->selector.n ? schema_scale_value(obj, paths->selector) : NULL;
    *ret = (struct scale_parts){ .has_replicas = replicas, .selector = value_str(selector) };
    int r = read_number(paths->spec_replicas, replicas, &ret->replicas, err);
    if (r < 0)
        return r;
    r = read_number(paths->status_replicas, running, &ret->running, err);
    if (r < 0)
        return r;
    if (selector && selector->type != VALUE_STRING)
        return wrong_type(paths->selector, selector, "string", err);
    return 0;
}

static struct str quoted(struct err *err, struct str path)
{
    autobuf text = { 0 };
    quote_go(&text, path);
    return arena_str(err->arena, buf_str(&text));
}

int custom_scale_refuse(const struct schema_scale *paths, struct err *err)
{
    struct str why = arena_printf(err->arena, "the spec replicas field " STR_FMT " does not exist",
                                  STR_ARG(quoted(err, paths->spec_replicas)));
    int r = err_set(err, ERR_INTERNAL, "Internal error occurred: " STR_FMT, STR_ARG(why));
    err_add_cause(err, STR(""), STR(""), why);
    return r;
}

int custom_scale_write(struct arena *a, const struct schema_scale *paths, int64_t replicas,
                       struct value *obj, struct err *err)
{
    if (replicas == CUSTOM_SCALE_UNSET)
        return err_set(err, ERR_BAD_REQUEST, "the spec replicas field " STR_FMT " cannot be empty",
                       STR_ARG(quoted(err, paths->spec_replicas)));
    struct str rest = str_skip(paths->spec_replicas, 1); /* it begins with a dot */
    struct str step = str_cut(&rest, '.');
    while (rest.p) {
        struct str path = str_take(paths->spec_replicas, paths->spec_replicas.n - rest.n - 1);
        obj = value_ensure(a, obj, step);
        if (!obj)
            return err_set(err, ERR_UNKNOWN,
                           "value cannot be set because " STR_FMT
                           " is not a map[string]interface{}",
                           STR_ARG(path));
        step = str_cut(&rest, '.');
    }
    value_put(a, obj, step, value_int(replicas));
    return 0;
}
