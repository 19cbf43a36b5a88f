/* Types: the constants, the ones that are made, and their names. Names of properties are escaped
 * here too, since they are how object types and trees meet. */
#include "base/idiom.h"
#include "cel/internal.h"

#include <stdlib.h>

#include "base/buf.h"

#include "base/banned.h"

#define NAMED(kind_, name_)                                                                 \
    {                                                                                       \
        .kind = (kind_), .name = { name_, sizeof(name_) - 1 }, .max_size = CEL_SIZE_UNKNOWN \
    }
/* Scalars of one size count as nothing in estimates, as upstream has them. */
#define SCALAR(kind_, name_)                                   \
    {                                                          \
        .kind = (kind_), .name = { name_, sizeof(name_) - 1 }, \
    }
#define WITH_PARAM(kind_, name_, param)                                                            \
    {                                                                                              \
        .kind = (kind_), .name = { name_, sizeof(name_) - 1 }, .n_params = 1, .params = { param }, \
        .max_size = CEL_SIZE_UNKNOWN                                                               \
    }

const struct cel_type cel_dyn = NAMED(CEL_DYN, "dyn");
const struct cel_type cel_any = NAMED(CEL_ANY, "google.protobuf.Any");
const struct cel_type cel_null = SCALAR(CEL_NULL, "null_type");
const struct cel_type cel_bool = SCALAR(CEL_BOOL, "bool");
const struct cel_type cel_int = SCALAR(CEL_INT, "int");
const struct cel_type cel_uint = SCALAR(CEL_UINT, "uint");
const struct cel_type cel_double = SCALAR(CEL_DOUBLE, "double");
const struct cel_type cel_string = NAMED(CEL_STRING, "string");
const struct cel_type cel_bytes = NAMED(CEL_BYTES, "bytes");
const struct cel_type cel_timestamp = SCALAR(CEL_TIMESTAMP, "google.protobuf.Timestamp");
const struct cel_type cel_duration = SCALAR(CEL_DURATION, "google.protobuf.Duration");
const struct cel_type cel_int_or_string = NAMED(CEL_DYN, "dyn");

const struct cel_type cel_quantity = NAMED(CEL_OBJECT, "kubernetes.Quantity");
const struct cel_type cel_url = NAMED(CEL_OBJECT, "kubernetes.URL");
const struct cel_type cel_semver = NAMED(CEL_OBJECT, "kubernetes.Semver");
const struct cel_type cel_ip = NAMED(CEL_OPAQUE, "net.IP");
const struct cel_type cel_cidr = NAMED(CEL_OPAQUE, "net.CIDR");
const struct cel_type cel__format = NAMED(CEL_OBJECT, "kubernetes.NamedFormat");
const struct cel_type cel_authorizer = NAMED(CEL_OBJECT, "kubernetes.authorization.Authorizer");
const struct cel_type cel__path_check = NAMED(CEL_OBJECT, "kubernetes.authorization.PathCheck");
const struct cel_type cel__group_check = NAMED(CEL_OBJECT, "kubernetes.authorization.GroupCheck");
const struct cel_type cel__resource_check =
    NAMED(CEL_OBJECT, "kubernetes.authorization.ResourceCheck");
const struct cel_type cel_request_resource_authorizer =
    NAMED(CEL_OBJECT, "kubernetes.authorization.ResourceCheck");
const struct cel_type cel__decision = NAMED(CEL_OBJECT, "kubernetes.authorization.Decision");

const struct cel_type cel__error = SCALAR(CEL_ERROR, "!error!");
const struct cel_type cel__type = SCALAR(CEL_TYPE, "type");
const struct cel_type cel__A = NAMED(CEL_PARAM, "A");
const struct cel_type cel__B = NAMED(CEL_PARAM, "B");
const struct cel_type cel__list_A = WITH_PARAM(CEL_LIST, "list", &cel__A);
const struct cel_type cel__list_dyn = WITH_PARAM(CEL_LIST, "list", &cel_dyn);
const struct cel_type cel__list_bool = WITH_PARAM(CEL_LIST, "list", &cel_bool);
const struct cel_type cel__list_int = WITH_PARAM(CEL_LIST, "list", &cel_int);
const struct cel_type cel__list_uint = WITH_PARAM(CEL_LIST, "list", &cel_uint);
const struct cel_type cel__list_double = WITH_PARAM(CEL_LIST, "list", &cel_double);
const struct cel_type cel__list_string = WITH_PARAM(CEL_LIST, "list", &cel_string);
const struct cel_type cel__list_bytes = WITH_PARAM(CEL_LIST, "list", &cel_bytes);
const struct cel_type cel__list_timestamp = WITH_PARAM(CEL_LIST, "list", &cel_timestamp);
const struct cel_type cel__list_duration = WITH_PARAM(CEL_LIST, "list", &cel_duration);
const struct cel_type cel__map_AB = {
    .kind = CEL_MAP,
    .name = { "map", 3 },
    .n_params = 2,
    .params = { &cel__A, &cel__B },
    .max_size = CEL_SIZE_UNKNOWN,
};
static const struct cel_type map_dyn = {
    .kind = CEL_MAP,
    .name = { "map", 3 },
    .n_params = 2,
    .params = { &cel_dyn, &cel_dyn },
    .max_size = CEL_SIZE_UNKNOWN,
};
const struct cel_type cel__optional_A = WITH_PARAM(CEL_OPTIONAL, "optional_type", &cel__A);
const struct cel_type cel__optional_B = WITH_PARAM(CEL_OPTIONAL, "optional_type", &cel__B);
const struct cel_type cel__list_optional_A = WITH_PARAM(CEL_LIST, "list", &cel__optional_A);
const struct cel_type cel__optional_list_A =
    WITH_PARAM(CEL_OPTIONAL, "optional_type", &cel__list_A);
const struct cel_type cel__optional_map_AB =
    WITH_PARAM(CEL_OPTIONAL, "optional_type", &cel__map_AB);

static const struct cel_type *new_type(struct arena *a, enum cel_kind kind, struct str name,
                                       const struct cel_type *first, const struct cel_type *second)
{
    struct cel_type *t = arena_new(a, struct cel_type);
    t->kind = kind;
    t->name = name;
    t->params[0] = first;
    t->params[1] = second;
    t->n_params = second ? 2 : 1;
    t->max_size = CEL_SIZE_UNKNOWN;
    return t;
}

const struct cel_type *cel_type_list(struct arena *a, const struct cel_type *item)
{
    return new_type(a, CEL_LIST, STR("list"), item, NULL);
}

const struct cel_type *cel_type_map(struct arena *a, const struct cel_type *key,
                                    const struct cel_type *val)
{
    return new_type(a, CEL_MAP, STR("map"), key, val);
}

const struct cel_type *cel_type_optional(struct arena *a, const struct cel_type *t)
{
    return new_type(a, CEL_OPTIONAL, STR("optional_type"), t, NULL);
}

/* ---- Objects with a list of fields ---- */

enum { SORTED_FROM = 16 };

struct field_list {
    const struct cel_field *fields;
    const struct cel_field **by_key; /* sorted, if there are many; else NULL */
    size_t n;
};

static struct str key_of(const struct cel_field *f)
{
    return f->key.n ? f->key : f->name;
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(key_of(*(const struct cel_field *const *)a),
                   key_of(*(const struct cel_field *const *)b));
}

static const struct cel_field *find_key(const struct field_list *list, struct str key)
{
    const struct cel_field wanted = { .name = key }, *p = &wanted;
    if (list->by_key) {
        const struct cel_field **found =
            bsearch(&p, list->by_key, list->n, sizeof(p), compare_keys);
        return found ? *found : NULL;
    }
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(key_of(&list->fields[i]), key))
            return &list->fields[i];
    return NULL;
}

/* Names differ from keys only where something was escaped, and then there are underscores. */
static const struct cel_field *find_name(const struct field_list *list, struct str name)
{
    const struct cel_field *f = find_key(list, name);
    if (f && str_eq(f->name, name))
        return f;
    bool is_escaped = memmem(name.p, name.n, "__", 2);
    for (size_t i = 0; (is_escaped || !list->by_key) && i < list->n; i++)
        if (str_eq(list->fields[i].name, name))
            return &list->fields[i];
    /* A word that expressions reserve need not be escaped where only a field can stand. */
    bool is_word = f && f->name.n == name.n + 4 && str_starts(f->name, STR("__")) &&
                   str_starts(str_skip(f->name, 2), name);
    return is_word ? f : NULL;
}

static bool give(const struct cel_field *f, struct cel_field *ret)
{
    if (!f)
        return false;
    *ret = *f;
    ret->key = key_of(f);
    return true;
}

static bool listed_by_name(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    return give(find_name(object->handle, name), ret);
}

static bool listed_by_key(const struct cel_type *object, struct str key, struct cel_field *ret)
{
    return give(find_key(object->handle, key), ret);
}

const struct cel_type *cel_type_object(struct arena *a, struct str name,
                                       const struct cel_field *fields, size_t n)
{
    static const struct cel_fields listed = { listed_by_name, listed_by_key };
    struct field_list *list = arena_new(a, struct field_list);
    struct cel_type *t = arena_new(a, struct cel_type);
    *list = (struct field_list){ .fields = fields, .n = n };
    if (n > SORTED_FROM) {
        list->by_key = arena_array(a, const struct cel_field *, n);
        for (size_t i = 0; i < n; i++)
            list->by_key[i] = &fields[i];
        qsort(list->by_key, n, sizeof(*list->by_key), compare_keys);
    }
    t->kind = CEL_OBJECT;
    t->name = name;
    t->fields = &listed;
    t->handle = list;
    return t;
}

const struct cel_type *cel_type_rows(struct arena *a, const char *name, const struct cel_row *rows,
                                     size_t n)
{
    struct cel_field *fields = arena_array(a, struct cel_field, n);
    for (size_t i = 0; i < n; i++)
        fields[i] = (struct cel_field){ .type = rows[i].type, .name = str_of(rows[i].name) };
    return cel_type_object(a, str_of(name), fields, n);
}

/* ---- Names ---- */

static void add_text(struct buf *out, const struct cel_type *t)
{
    static const char *const short_names[] = {
        [CEL_ANY] = "any",           [CEL_NULL] = "null",     [CEL_TIMESTAMP] = "timestamp",
        [CEL_DURATION] = "duration", [CEL_ERROR] = "!error!",
    };
    if (t->kind <= CEL_ERROR && short_names[t->kind]) {
        buf_str_add(out, str_of(short_names[t->kind]));
        return;
    }
    if (t->wrapper)
        buf_str_add(out, STR("wrapper("));
    buf_str_add(out, t->name);
    for (unsigned i = 0; i < t->n_params; i++) {
        buf_str_add(out, i ? STR(", ") : STR("("));
        add_text(out, t->params[i]);
    }
    if (t->n_params || t->wrapper)
        buf_byte(out, ')');
}

struct str cel_type_text(struct arena *a, const struct cel_type *t)
{
    autobuf out = { 0 };
    add_text(&out, t);
    return arena_str(a, buf_str(&out));
}

const struct cel_type *cel__type_named(struct str name)
{
    static const struct cel_type *const types[] = {
        &cel_bool,      &cel_bytes, &cel_double,      &cel_duration, &cel_int,
        &cel__list_dyn, &map_dyn,   &cel_null,        &cel_string,   &cel_timestamp,
        &cel__type,     &cel_uint,  &cel__optional_A, &cel_ip,       &cel_cidr,
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(types[i]->name, name))
            return types[i];
    return NULL;
}

const struct cel_type *cel__type_of(const struct cel_value *v)
{
    static const struct cel_type *const types[] = {
        [CEL_NULL] = &cel_null,         [CEL_BOOL] = &cel_bool,
        [CEL_INT] = &cel_int,           [CEL_UINT] = &cel_uint,
        [CEL_DOUBLE] = &cel_double,     [CEL_STRING] = &cel_string,
        [CEL_BYTES] = &cel_bytes,       [CEL_TIMESTAMP] = &cel_timestamp,
        [CEL_DURATION] = &cel_duration, [CEL_LIST] = &cel__list_dyn,
        [CEL_MAP] = &map_dyn,           [CEL_OPTIONAL] = &cel__optional_A,
        [CEL_TYPE] = &cel__type,        [CEL_ERROR] = &cel__error,
    };
    if (v->kind == CEL_OBJECT || v->kind == CEL_OPAQUE)
        return v->declared;
    return types[v->kind];
}

bool cel__type_same(const struct cel_type *x, const struct cel_type *y)
{
    if (x == y)
        return true;
    if (x->kind != y->kind || x->n_params != y->n_params || !str_eq(x->name, y->name))
        return false;
    for (unsigned i = 0; i < x->n_params; i++)
        if (!cel__type_same(x->params[i], y->params[i]))
            return false;
    return true;
}

bool cel__type_admits(struct cel__eval *ev, const struct cel_type *t, const struct cel_value *v)
{
    switch (t->kind) {
    case CEL_DYN:
    case CEL_ANY:
    case CEL_PARAM:
        return true;
    case CEL_OPTIONAL:
        return v->kind == CEL_OPTIONAL;
    case CEL_OBJECT:
    case CEL_OPAQUE:
        return (v->kind == CEL_OBJECT || v->kind == CEL_OPAQUE) && v->declared &&
               str_eq(t->name, v->declared->name);
    case CEL_LIST: {
        if (v->kind != CEL_LIST || !cel__size(v))
            return v->kind == CEL_LIST;
        struct cel_value first = cel__item(ev, v, 0);
        return cel__type_admits(ev, t->params[0], &first);
    }
    case CEL_MAP: {
        struct cel_value key, val;
        size_t pos = 0;
        if (v->kind != CEL_MAP || !cel__map_next(ev, v, &pos, &key, &val))
            return v->kind == CEL_MAP;
        return cel__type_admits(ev, t->params[0], &key) && cel__type_admits(ev, t->params[1], &val);
    }
    default:
        return t->kind == v->kind;
    }
}

/* ---- Escaped names of properties ---- */

static bool is_keyword(struct str s)
{
    struct str words = STR("true false null in as break const continue else for function if import "
                           "let loop package namespace return var void while");
    while (words.n)
        if (str_eq(str_cut(&words, ' '), s))
            return true;
    return false;
}

static const struct {
    struct str plain, escaped;
} escapes[] = {
    { { "__", 2 }, { "__underscores__", 15 } },
    { { ".", 1 }, { "__dot__", 7 } },
    { { "-", 1 }, { "__dash__", 8 } },
    { { "/", 1 }, { "__slash__", 9 } },
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool cel_escape(struct arena *a, struct str key, struct str *ret)
{
    autobuf out = { 0 };
    bool changed = false;
    if (!key.n || (key.p[0] >= '0' && key.p[0] <= '9'))
        return false;
    if (is_keyword(key)) {
        *ret = arena_printf(a, "__" STR_FMT "__", STR_ARG(key));
        return true;
    }
    for (size_t i = 0; i < key.n;) {
        size_t k = 0;
        while (k < 4 && !str_starts(str_skip(key, i), escapes[k].plain))
            k++;
        if (k < 4) {
            buf_str_add(&out, escapes[k].escaped);
            i += escapes[k].plain.n;
            changed = true;
        } else if (is_word(key.p[i])) {
            buf_byte(&out, key.p[i++]);
        } else {
            return false;
        }
    }
    *ret = changed ? arena_str(a, buf_str(&out)) : key;
    return true;
}

/* Bytes of the leftmost "__word__" at the front of `s`, or 0. */
static size_t escape_span(struct str s)
{
    size_t i = 2;
    if (!str_starts(s, STR("__")))
        return 0;
    while (i < s.n && s.p[i] != '_')
        i++;
    return i > 2 && str_starts(str_skip(s, i), STR("__")) ? i + 2 : 0;
}

bool cel_unescape(struct arena *a, struct str name, struct str *ret)
{
    autobuf out = { 0 };
    bool changed = false;
    for (size_t i = 0; i < name.n;) {
        struct str rest = str_skip(name, i);
        size_t n = escape_span(rest), k = 0;
        if (!n) {
            buf_byte(&out, name.p[i++]);
            continue;
        }
        struct str escaped = str_take(rest, n);
        changed = true;
        i += n;
        while (k < 4 && !str_eq(escaped, escapes[k].escaped))
            k++;
        if (k < 4)
            buf_str_add(&out, escapes[k].plain);
        else if (n == name.n && is_keyword(str_take(str_skip(escaped, 2), n - 4)))
            buf_str_add(&out, str_take(str_skip(escaped, 2), n - 4));
        else
            return false;
    }
    *ret = changed ? arena_str(a, buf_str(&out)) : name;
    return true;
}
