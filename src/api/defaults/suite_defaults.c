#include "api/defaults/suite_defaults.h"

#include "api/typed.h"
#include "base/json.h"

struct value suite_defaults_typed(struct arena *a, const struct kind_type *t,
                                  const struct value *in)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (typed_read(a, t, in, NULL, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

struct value suite_defaults_object(struct arena *a, const char *api_version, const char *kind,
                                   const char *body)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    if (!t)
        fail_msg("there is no %s %s", api_version, kind);
    struct value in = suite_json(a, body), obj = suite_defaults_typed(a, t, &in);
    defaults_apply(a, t, &obj);
    obj = suite_defaults_typed(a, t, &obj);
    struct value again = value_clone(a, &obj);
    defaults_apply(a, t, &again);
    again = suite_defaults_typed(a, t, &again);
    assert_true(value_eq(&obj, &again));
    return obj;
}

static bool is_good(struct arena *a, const struct suite_default *row)
{
    struct value obj = suite_defaults_object(a, row->api_version, row->kind, row->body);
    const struct value *got = suite_json_at(a, &obj, row->path);
    struct value want = row->want ? suite_json(a, row->want) : value_null();
    if (row->want ? got && value_eq(got, &want) : !got)
        return true;
    autobuf text = { 0 };
    json_write(&text, got ? got : &want);
    print_error("%s %s %s: %s is %s" STR_FMT ", not %s\n", row->api_version, row->kind, row->body,
                row->path, got ? "" : "absent ", STR_ARG(buf_str(&text)),
                row->want ? row->want : "absent");
    return false;
}

void suite_defaults_run(const struct suite_default *rows, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        good = is_good(&a, &rows[i]) && good;
        arena_done(&a);
    }
    assert_true(good);
}
