/* FieldsV1: the trie of a set as JSON. Each step is the name of a field, "." says that the path
 * itself is a member, and a step with nothing in it is a member too. */
#include "merge/fieldset.h"

#include "api/go/gofloat.h"
#include "base/json.h"
#include "base/limits.h"
#include "merge/sorted.h"

#include "base/banned.h"

enum { VALUE_DEPTH = 32 }; /* of what stands behind "v:" and "k:", scalars as a rule */

/* ---- reading ---- */

/* Lets objects compare field by field, whatever order they were written in. */
static struct value in_order(struct arena *a, const struct value *v)
{
    if (v->type == VALUE_ARRAY) {
        struct value list = value_array();
        value_each_item (it, v)
            value_put_item(a, &list, in_order(a, it));
        return list;
    }
    if (v->type != VALUE_OBJECT)
        return *v;
    struct value obj = value_object();
    struct sorted s = sorted_fields(a, v);
    for (size_t i = 0; i < s.n; i++)
        value_put_new(a, &obj, s.fields[i]->key, in_order(a, &s.fields[i]->val));
    return obj;
}

static int json_part(struct arena *a, struct str text, bool must_be_object,
                     struct fieldset_step *ret, struct err *err)
{
    struct value v;
    int r = json_read(a, text, &(struct json_options){ .max_depth = VALUE_DEPTH }, &v, err);
    if (r < 0)
        return r;
    if (must_be_object && v.type != VALUE_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "a key must be an object: " STR_FMT, STR_ARG(text));
    ret->v = in_order(a, &v);
    return 0;
}

static int index_part(struct str text, struct fieldset_step *ret, struct err *err)
{
    int64_t i;
    struct str digits = str_starts(text, STR("+")) ? str_skip(text, 1) : text;
    if (!str_to_i64(digits, &i))
        return err_set(err, ERR_BAD_REQUEST, "not an index: " STR_FMT, STR_ARG(text));
    ret->v = value_int(i);
    return 0;
}

int fieldset_step_read(struct arena *a, struct str text, struct fieldset_step *ret, struct err *err)
{
    if (text.n < 2)
        return err_set(err, ERR_BAD_REQUEST, "key must be 2 characters long: " STR_FMT,
                       STR_ARG(text));
    if (text.p[1] != ':')
        return err_set(err, ERR_BAD_REQUEST, "missing colon: " STR_FMT, STR_ARG(text));
    struct str rest = str_skip(text, 2);
    switch (text.p[0]) {
    case 'f':
        *ret = fieldset_name(rest);
        return 0;
    case 'k':
        ret->type = FIELDSET_KEY;
        return json_part(a, rest, true, ret, err);
    case 'v':
        ret->type = FIELDSET_VALUE;
        return json_part(a, rest, false, ret, err);
    case 'i':
        ret->type = FIELDSET_INDEX;
        return index_part(rest, ret, err);
    default:
        return -ERR_NOT_FOUND;
    }
}

/* `*ret_member`: the path that leads here is a member. */
static int read_level(struct arena *a, const struct value *fields, size_t depth,
                      const struct fieldset **ret, bool *ret_member, struct err *err)
{
    struct fieldset_builder b = { .arena = a };
    *ret_member = false;
    if (depth > LIMIT_FIELD_DEPTH)
        return err_set(err, ERR_BAD_REQUEST, "field paths of more than %u steps",
                       LIMIT_FIELD_DEPTH);
    if (fields->type != VALUE_OBJECT && fields->type != VALUE_NULL)
        return err_set(err, ERR_BAD_REQUEST, "a set of fields must be an object");
    value_each_field (f, fields) {
        struct fieldset_step step = { 0 };
        const struct fieldset *below = NULL;
        bool is_member = false;
        if (str_eq(f->key, STR("."))) {
            *ret_member = true;
            continue;
        }
        int r = fieldset_step_read(a, f->key, &step, err);
        if (r == -ERR_NOT_FOUND)
            continue;
        if (r < 0)
            return r;
        r = read_level(a, &f->val, depth + 1, &below, &is_member, err);
        if (r < 0)
            return r;
        fieldset_add(&b, step, is_member, below);
    }
    *ret = fieldset_build(&b);
    *ret_member = *ret_member || !*ret;
    return 0;
}

int fieldset_read(struct arena *a, const struct value *fields, const struct fieldset **ret,
                  struct err *err)
{
    bool ignored;
    return read_level(a, fields, 0, ret, &ignored, err);
}

/* ---- writing ---- */

/* Go escapes these three inside the JSON that a step is made of, though not around it. */
static void add_escaped(struct buf *out, struct str json)
{
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_byte(out, c);
    }
}

static void add_value(struct arena *a, struct buf *out, const struct value *v)
{
    double d;
    if (v->type == VALUE_NUMBER && value_to_double(v, &d) && d - d == 0) {
        buf_str_add(out, gofloat_text(a, d));
        return;
    }
    autobuf json = { 0 };
    json_write(&json, v);
    add_escaped(out, buf_str(&json));
}

static void add_key(struct arena *a, struct buf *out, const struct value *key)
{
    const char *before = "{";
    value_each_field (f, key) {
        buf_str_add(out, str_of(before));
        json_write_string(out, f->key);
        buf_byte(out, ':');
        add_value(a, out, &f->val);
        before = ",";
    }
    buf_str_add(out, key->n ? STR("}") : STR("{}"));
}

struct str fieldset_step_text(struct arena *a, const struct fieldset_step *step)
{
    static const struct str prefixes[] = { STR("f:"), STR("k:"), STR("v:"), STR("i:") };
    autobuf out = { 0 };
    buf_str_add(&out, prefixes[step->type]);
    if (step->type == FIELDSET_NAME)
        buf_str_add(&out, value_str(&step->v));
    else if (step->type == FIELDSET_KEY)
        add_key(a, &out, &step->v);
    else
        add_value(a, &out, &step->v);
    return arena_str(a, buf_str(&out));
}

static struct value write_level(struct arena *a, const struct fieldset *s, bool is_member)
{
    struct value obj = value_object();
    if (is_member && s)
        value_put_new(a, &obj, STR("."), value_object());
    for (size_t i = 0; s && i < s->n; i++) {
        const struct fieldset_entry *e = &s->entries[i];
        value_put_new(a, &obj, fieldset_step_text(a, &e->step),
                      write_level(a, e->below, e->is_member));
    }
    return obj;
}

struct value fieldset_write(struct arena *a, const struct fieldset *s)
{
    return write_level(a, s, false);
}
