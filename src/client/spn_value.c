#include <sampan/value.h>

#include "base/json.h"
#include "base/yaml.h"
#include "client/bridge.h"
#include "base/banned.h"

_Static_assert((int)SPN_OBJECT == (int)VALUE_OBJECT && (int)SPN_NULL == (int)VALUE_NULL,
               "types are in one order");

/* ---- Documents ---- */

int spn_value_read_json(struct spn_arena *a, struct spn_text text, struct spn_value **ret,
                        struct spn_err *err)
{
    struct value *v = arena_new(arena_in(a), struct value);
    struct err why = ERR_INIT(arena_in(a));
    if (json_read(arena_in(a), str_in(text), NULL, v, &why) < 0)
        return err_out(err, &why, SPN_MALFORMED);
    *ret = value_out_edit(v);
    return 0;
}

int spn_value_read_yaml(struct spn_arena *a, struct spn_text text, struct spn_value **ret,
                        struct spn_err *err)
{
    struct value *v = arena_new(arena_in(a), struct value);
    struct err why = ERR_INIT(arena_in(a));
    if (yaml_read(arena_in(a), str_in(text), NULL, v, &why) < 0)
        return err_out(err, &why, SPN_MALFORMED);
    *ret = value_out_edit(v);
    return 0;
}

struct spn_text spn_value_json(struct spn_arena *a, const struct spn_value *v)
{
    autobuf out = { 0 };
    json_write(&out, value_in(v));
    return spn_arena_text(a, text_out(buf_str(&out)));
}

/* ---- Looking ---- */

enum spn_type spn_value_type(const struct spn_value *v)
{
    return v ? (enum spn_type)value_in(v)->type : SPN_NULL;
}

const struct spn_value *spn_value_get(const struct spn_value *obj, const char *key)
{
    return value_out(value_get(value_in(obj), str_of(key)));
}

const struct spn_value *spn_value_get_text(const struct spn_value *obj, struct spn_text key)
{
    return value_out(value_get(value_in(obj), str_in(key)));
}

size_t spn_value_count(const struct spn_value *v)
{
    bool has_parts = value_is(value_in(v), VALUE_ARRAY) || value_is(value_in(v), VALUE_OBJECT);
    return has_parts ? value_in(v)->n : 0;
}

const struct spn_value *spn_value_at(const struct spn_value *v, size_t i)
{
    const struct value *in = value_in(v);
    if (value_is(in, VALUE_OBJECT))
        return i < in->n ? value_out(&in->fields[i].val) : NULL;
    return value_out(value_at(in, i));
}

const struct spn_value *spn_value_find(const struct spn_value *list, const char *key,
                                       struct spn_text text)
{
    for (size_t i = 0; i < spn_value_count(list); i++) {
        const struct spn_value *item = spn_value_at(list, i), *v = spn_value_get(item, key);
        if (spn_value_type(v) == SPN_STRING && spn_text_eq(spn_value_text(v), text))
            return item;
    }
    return NULL;
}

struct spn_text spn_value_key_at(const struct spn_value *obj, size_t i)
{
    const struct value *in = value_in(obj);
    if (!value_is(in, VALUE_OBJECT) || i >= in->n)
        return (struct spn_text){ NULL, 0 };
    return text_out(in->fields[i].key);
}

const struct spn_value *spn_value_dig_path(const struct spn_value *v, const char *const *path,
                                           size_t n)
{
    return value_out(value_dig_path(value_in(v), path, n));
}

struct spn_text spn_value_text(const struct spn_value *v)
{
    if (!value_is(value_in(v), VALUE_STRING))
        return (struct spn_text){ NULL, 0 };
    struct str s = value_str(value_in(v));
    return (struct spn_text){ s.p ? s.p : "", s.n };
}

bool spn_value_int(const struct spn_value *v, int64_t *ret)
{
    return value_to_int(value_in(v), ret);
}

bool spn_value_double(const struct spn_value *v, double *ret)
{
    return value_to_double(value_in(v), ret);
}

bool spn_value_is_true(const struct spn_value *v)
{
    return value_is_true(value_in(v));
}

bool spn_value_eq(const struct spn_value *a, const struct spn_value *b)
{
    if (!a || !b)
        return a == b;
    return value_eq(value_in(a), value_in(b));
}

/* ---- Making ---- */

static struct spn_value *new_value(struct spn_arena *a, struct value v)
{
    struct value *ret = arena_new(arena_in(a), struct value);
    *ret = v;
    return value_out_edit(ret);
}

struct spn_value *spn_value_new(struct spn_arena *a, enum spn_type type)
{
    if (type == SPN_STRING)
        return new_value(a, value_string(STR("")));
    if (type == SPN_NUMBER)
        return new_value(a, value_int(0));
    return new_value(a, (struct value){ .type = (uint8_t)type });
}

struct spn_value *spn_value_new_text(struct spn_arena *a, struct spn_text t)
{
    return new_value(a, value_string(str_in(t)));
}

struct spn_value *spn_value_new_int(struct spn_arena *a, int64_t i)
{
    return new_value(a, value_int(i));
}

struct spn_value *spn_value_new_bool(struct spn_arena *a, bool b)
{
    return new_value(a, value_bool(b));
}

struct spn_value *spn_value_copy(struct spn_arena *a, const struct spn_value *v)
{
    return v ? new_value(a, value_clone(arena_in(a), value_in(v))) : NULL;
}

/* ---- Changing ---- */

/* Keys are copied: a caller may have made them on his stack. */
static struct str key_in(struct spn_arena *a, const char *key)
{
    return arena_str(arena_in(a), str_of(key));
}

struct spn_value *spn_value_set(struct spn_arena *a, struct spn_value *obj, const char *key,
                                const struct spn_value *v)
{
    return value_out_edit(value_set(arena_in(a), value_in_edit(obj), key_in(a, key), *value_in(v)));
}

void spn_value_set_text(struct spn_arena *a, struct spn_value *obj, const char *key,
                        struct spn_text t)
{
    value_put(arena_in(a), value_in_edit(obj), key_in(a, key), value_string(str_in(t)));
}

void spn_value_set_int(struct spn_arena *a, struct spn_value *obj, const char *key, int64_t i)
{
    value_put(arena_in(a), value_in_edit(obj), key_in(a, key), value_int(i));
}

void spn_value_set_bool(struct spn_arena *a, struct spn_value *obj, const char *key, bool b)
{
    value_put(arena_in(a), value_in_edit(obj), key_in(a, key), value_bool(b));
}

struct spn_value *spn_value_ensure(struct spn_arena *a, struct spn_value *obj, const char *key)
{
    return value_out_edit(value_ensure(arena_in(a), value_in_edit(obj), key_in(a, key)));
}

struct spn_value *spn_value_edit(struct spn_arena *a, struct spn_value *obj, const char *key)
{
    return value_out_edit(value_edit(arena_in(a), value_in_edit(obj), str_of(key)));
}

struct spn_value *spn_value_edit_at(struct spn_arena *a, struct spn_value *arr, size_t i)
{
    return value_out_edit(value_edit_at(arena_in(a), value_in_edit(arr), i));
}

struct spn_value *spn_value_push(struct spn_arena *a, struct spn_value *arr,
                                 const struct spn_value *v)
{
    return value_out_edit(value_push(arena_in(a), value_in_edit(arr), *value_in(v)));
}

void spn_value_remove(struct spn_arena *a, struct spn_value *obj, const char *key)
{
    value_drop(arena_in(a), value_in_edit(obj), str_of(key));
}

void spn_value_remove_at(struct spn_arena *a, struct spn_value *arr, size_t i)
{
    value_remove_at(arena_in(a), value_in_edit(arr), i);
}
