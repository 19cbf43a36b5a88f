#include "api/validate/declared.h"

#include "api/names.h"
#include "api/validate/validate_common.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Formats ---- */

static void invalid(struct field_errors *e, const struct field_path *path, struct str shown,
                    const char *prefix, const char *why)
{
    field_error(e, FIELD_INVALID, path, field_quoted(e, shown), "%s%s", prefix, why);
}

static void check_part(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                       const char *prefix, struct str text)
{
    struct name_faults faults = { 0 };
    if (name_check(rule, text, &faults))
        return;
    for (size_t i = 0; i < faults.n; i++) {
        struct str words = arena_printf(e->arena, "%s%s", faults.list[i].part, faults.list[i].why);
        invalid(e, path, text, prefix, str_cstr(e->arena, words));
    }
}

static void check_short_name(struct field_errors *e, const struct field_path *path, struct str text)
{
    if (text.n > NAME_LABEL_MAX)
        invalid(e, path, text, "", "must be no more than 63 bytes");
    struct str start = str_take(text, NAME_LABEL_MAX);
    struct name_faults faults = { 0 };
    if (!name_check(NAME_LABEL, text.n > NAME_LABEL_MAX ? start : text, &faults))
        invalid(e, path, text, faults.list[0].part, faults.list[0].why);
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_caseless_subdomain(struct str text)
{
    char before = '.';
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool good = is_alnum(c) || (c == '.' && is_alnum(before)) || (c == '-' && before != '.');
        if (!good)
            return false;
        before = c;
    }
    return is_alnum(before);
}

static void check_caseless(struct field_errors *e, const struct field_path *path, struct str text)
{
    if (text.n > NAME_SUBDOMAIN_MAX)
        invalid(e, path, text, "", "must be no more than 253 bytes");
    if (!is_caseless_subdomain(text))
        invalid(e, path, text, "",
                "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and "
                "must start and end with an alphanumeric character (e.g. 'Example.com', regex used "
                "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)"
                "*')");
}

static bool is_uuid(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return text.n == 36;
}

static void check_pool_name(struct field_errors *e, const struct field_path *path, struct str text)
{
    if (text.n > NAME_SUBDOMAIN_MAX)
        field_too_long(e, path, NAME_SUBDOMAIN_MAX);
    struct str rest = text;
    for (size_t i = 0; rest.p || i == 0; i++) {
        struct str part = str_cut(&rest, '/');
        struct str prefix = arena_printf(e->arena, "segment %zu: ", i);
        const char *words = str_cstr(e->arena, prefix);
        if (part.n == 0)
            invalid(e, path, text, words, "must not be empty");
        else
            check_part(e, path, NAME_LONG, words, part);
    }
}

static void check_identifier(struct field_errors *e, const struct field_path *path, struct str id)
{
    enum { IDENTIFIER_MAX = 32 };
    bool good = id.n > 0 && !(id.p[0] >= '0' && id.p[0] <= '9');
    for (size_t i = 0; i < id.n; i++)
        good = good && (is_alnum(id.p[i]) || id.p[i] == '_');
    if (id.n > IDENTIFIER_MAX)
        field_too_long(e, path, IDENTIFIER_MAX);
    if (!good)
        invalid(e, path, id, "",
                "a valid C identifier must start with alphabetic character or '_', followed by a "
                "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
                "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

static void check_full_name(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct str name = text, domain = str_cut(&name, '/');
    if (!name.p) {
        check_identifier(e, path, domain);
        invalid(e, path, text, "",
                "a fully qualified name must be a domain and a name separated by a slash");
        return;
    }
    if (str_find(name, '/') >= 0)
        return; /* so upstream has it */
    if (domain.n == 0)
        invalid(e, path, STR(""), "", "prefix must not be empty");
    if (domain.n > NAME_LABEL_MAX)
        field_too_long(e, path, NAME_LABEL_MAX);
    if (domain.n)
        check_part(e, path, NAME_LONG, "prefix: ", domain);
    if (name.n == 0)
        invalid(e, path, STR(""), "", "name must not be empty");
    else
        check_identifier(e, path, name);
}

static void check_extended_name(struct field_errors *e, const struct field_path *path,
                                struct str text)
{
    if (str_find(text, '/') < 0)
        invalid(e, path, text, "",
                "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
    else if (memmem(text.p, text.n, "kubernetes.io/", 14))
        invalid(e, path, text, "", "must not have \"kubernetes.io/\" domain");
    if (str_starts(text, STR("requests.")))
        invalid(e, path, text, "", "must not have \"requests.\" prefix");
    autobuf quota = { 0 };
    struct name_faults faults = { 0 };
    buf_str_add(&quota, STR("requests."));
    buf_str_add(&quota, text);
    (void)name_check(NAME_QUALIFIED, buf_str(&quota), &faults);
    for (size_t i = 0; i < faults.n; i++)
        invalid(e, path, text, faults.list[i].part, faults.list[i].why);
}

void declared_check_format(struct field_errors *e, const struct field_path *path,
                           enum declared_format format, struct str text)
{
    switch (format) {
    case DECLARED_ANY:
        break;
    case DECLARED_SHORT_NAME:
        check_short_name(e, path, text);
        break;
    case DECLARED_LONG_NAME:
        check_part(e, path, NAME_LONG, "", text);
        break;
    case DECLARED_LONG_NAME_CASELESS:
        check_caseless(e, path, text);
        break;
    case DECLARED_LABEL_KEY:
        check_part(e, path, NAME_QUALIFIED, "", text);
        break;
    case DECLARED_UUID:
        if (!is_uuid(text))
            invalid(e, path, text, "", "must be a lowercase UUID in 8-4-4-4-12 format");
        break;
    case DECLARED_POOL_NAME:
        check_pool_name(e, path, text);
        break;
    case DECLARED_FULL_NAME:
        check_full_name(e, path, text);
        break;
    case DECLARED_EXTENDED_NAME:
        check_extended_name(e, path, text);
        break;
    }
}

/* ---- Values ---- */

static bool is_set(const struct value *v, bool zero_counts)
{
    if (!v || v->type == VALUE_NULL)
        return false;
    bool list = v->type == VALUE_ARRAY;
    if (zero_counts && !list)
        return true;
    switch (v->type) {
    case VALUE_BOOL:
        return v->b;
    case VALUE_INT:
        return v->i != 0;
    default:
        return v->n != 0;
    }
}

static bool same(const struct value *a, const struct value *b)
{
    if (!is_set(a, true) || !is_set(b, true))
        return is_set(a, true) == is_set(b, true);
    return value_eq(a, b);
}

/* Whether two items of a list are the same one: by their keys, or as a whole. */
static bool is_same_item(const struct declared_field *f, const struct value *a,
                         const struct value *b)
{
    if (!f->keys[0].p)
        return value_eq(a, b);
    for (size_t i = 0; i < DECLARED_KEYS_MAX && f->keys[i].p; i++)
        if (!same(value_get(a, f->keys[i]), value_get(b, f->keys[i])))
            return false;
    return true;
}

enum { COMPARED_MAX = 1000 }; /* items that each is compared with; the lists are short */

static void check_unique(struct field_errors *e, const struct field_path *path,
                         const struct declared_field *f, const struct value *list)
{
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = 0; k < i && k < COMPARED_MAX; k++) {
            const struct value *item = &list->items[i];
            if (!is_same_item(f, &list->items[k], item))
                continue;
            struct field_path at = field_index(path, i);
            bool text = item->type == VALUE_STRING;
            field_error(e, FIELD_DUPLICATE, &at,
                        text ? field_quoted(e, value_str(item)) : field_json(e, item), "%s", "");
            break;
        }
}

static size_t count_chars(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static void check_lengths(struct field_errors *e, const struct field_path *path,
                          const struct declared_field *f, struct str text)
{
    if (f->max_bytes && text.n > f->max_bytes)
        field_too_long(e, path, f->max_bytes);
    if (f->max_chars && text.n > f->max_chars && count_chars(text) > f->max_chars)
        field_error(e, FIELD_TOO_LONG, path, STR(""), "may not be more than %u character%s",
                    (unsigned)f->max_chars, f->max_chars == 1 ? "" : "s");
}

static void check_value(struct field_errors *e, const struct field_path *path,
                        const struct declared_field *f, const struct value *v)
{
    size_t n = 0;
    while (n < DECLARED_VALUES_MAX && f->values[n].p)
        n++;
    for (size_t i = 0; i < n; i++)
        if (str_eq(f->values[i], value_str(v)))
            return;
    if (n)
        field_not_supported(e, path, field_json(e, v), f->values, n);
}

/* The old item that the new one at that index was; it is mostly still there. */
static const struct value *paired_item(const struct declared_field *f, const struct value *old_list,
                                       const struct value *item, size_t index)
{
    if (!value_is(old_list, VALUE_ARRAY))
        return NULL;
    if (index < old_list->n && is_same_item(f, &old_list->items[index], item))
        return &old_list->items[index];
    for (size_t i = 0; i < old_list->n && i < COMPARED_MAX; i++)
        if (is_same_item(f, &old_list->items[i], item))
            return &old_list->items[i];
    return NULL;
}

static void check_items(struct field_errors *e, const struct field_path *path,
                        const struct declared_field *f, const struct value *list,
                        const struct value *old_list)
{
    bool paired = old_list && (f->keys[0].p || !f->type);
    size_t i = 0;
    value_each_item (item, list) {
        struct field_path at = field_index(path, i);
        const struct value *old = paired ? paired_item(f, old_list, item, i) : NULL;
        i++;
        if (old && value_eq(item, old))
            continue;
        if (f->format)
            declared_check_format(e, &at, f->format, value_str(item));
        if (f->max_item_bytes && value_str(item).n > f->max_item_bytes)
            field_too_long(e, &at, f->max_item_bytes);
        check_value(e, &at, f, item);
        if (f->type)
            declared_check(e, &at, f->type, item, old);
    }
}

static void check_map(struct field_errors *e, const struct field_path *path,
                      const struct declared_field *f, const struct value *map,
                      const struct value *old_map)
{
    value_each_field (entry, map) {
        const struct value *old = validate_map_member(old_map, entry->key);
        if (f->format && !old)
            declared_check_format(e, path, f->format, entry->key);
        struct field_path at = field_key(path, entry->key);
        if (f->type && !(old && value_eq(&entry->val, old)))
            declared_check(e, &at, f->type, &entry->val, old);
    }
}

static void check_scalar(struct field_errors *e, const struct field_path *path,
                         const struct declared_field *f, const struct value *v)
{
    int64_t number = 0;
    declared_check_format(e, path, f->format, value_str(v));
    check_lengths(e, path, f, value_str(v));
    if ((f->flags & DECLARED_MIN) && (!v || value_to_int(v, &number)) && number < f->min)
        field_error(e, FIELD_INVALID, path, arena_printf(e->arena, "%lld", (long long)number),
                    "must be greater than or equal to %lld", (long long)f->min);
    check_value(e, path, f, v);
}

/* What ends the checks of a field when it is at fault. */
static bool passes_first(struct field_errors *e, const struct field_path *path,
                         const struct declared_field *f, const struct value *v,
                         const struct value *old, bool update)
{
    size_t before = e->n;
    bool set = is_set(v, f->flags & DECLARED_POINTER);
    if ((f->flags & DECLARED_REQUIRED) && !set)
        field_required(e, path, "");
    if ((f->flags & DECLARED_FORBIDDEN) && set)
        field_error(e, FIELD_FORBIDDEN, path, STR(""), "%s", "");
    if ((f->flags & DECLARED_IMMUTABLE) && update)
        field_error(e, FIELD_INVALID, path, STR("null"), "field is immutable");
    if ((f->flags & DECLARED_NO_MODIFY) && update && set && is_set(old, true))
        field_error(e, FIELD_INVALID, path, STR("null"), "field cannot be modified once set");
    if (f->max_items && set && v->n > f->max_items)
        field_error(e, FIELD_TOO_MANY, path, arena_printf(e->arena, "%u", (unsigned)v->n),
                    "must have at most %u item%s", (unsigned)f->max_items,
                    f->max_items == 1 ? "" : "s");
    return e->n == before;
}

static void check_field(struct field_errors *e, const struct field_path *parent,
                        const struct declared_field *f, const struct value *obj,
                        const struct value *old_obj)
{
    const struct value *v = value_get(obj, f->name), *old = value_get(old_obj, f->name);
    struct field_path path = field_child(parent, f->name);
    if (old_obj && same(v, old))
        return;
    if (!passes_first(e, &path, f, v, old, old_obj != NULL))
        return;
    if (value_is(v, VALUE_ARRAY)) {
        if (f->flags & DECLARED_UNIQUE)
            check_unique(e, &path, f, v);
        check_items(e, &path, f, v, old);
        return;
    }
    if (f->flags & DECLARED_MAP) {
        check_map(e, &path, f, v, old);
        return;
    }
    bool there = is_set(v, true);
    if (f->type && (there || (f->flags & DECLARED_STRUCT)))
        declared_check(e, &path, f->type, v, old);
    else if (!f->type && there)
        check_scalar(e, &path, f, v);
}

/* "`a`, `b`" of all members, or "a, b" of those that are set. */
static void add_members(struct buf *out, const struct declared_union *u,
                        const struct value *only_of)
{
    const char *tick = only_of ? "" : "`";
    for (size_t i = 0; i < DECLARED_MEMBERS_MAX && u->members[i].p; i++)
        if (!only_of || is_set(value_get(only_of, u->members[i]), true))
            buf_printf(out, "%s%s" STR_FMT "%s", out->n ? ", " : "", tick, STR_ARG(u->members[i]),
                       tick);
}

static void check_union(struct field_errors *e, const struct field_path *path,
                        const struct declared_union *u, const struct value *obj,
                        const struct value *old_obj)
{
    size_t n_set = 0;
    bool changed = !old_obj;
    for (size_t i = 0; i < DECLARED_MEMBERS_MAX && u->members[i].p; i++) {
        bool set = is_set(value_get(obj, u->members[i]), true);
        changed = changed || set != is_set(value_get(old_obj, u->members[i]), true);
        n_set += set;
    }
    if (!changed || n_set == 1)
        return;
    autobuf all = { 0 }, given = { 0 };
    add_members(&all, u, NULL);
    add_members(&given, u, obj);
    struct str shown =
        n_set ? arena_printf(e->arena, "\"{" STR_FMT "}\"", STR_ARG(buf_str(&given))) : STR("\"\"");
    field_error(e, FIELD_INVALID, path, shown, "must specify %sone of: " STR_FMT,
                n_set ? "exactly " : "", STR_ARG(buf_str(&all)));
}

static void check_needs(struct field_errors *e, const struct field_path *path, struct str field,
                        struct str other, const struct value *obj, const struct value *old_obj)
{
    bool set = is_set(value_get(obj, field), true), there = is_set(value_get(obj, other), true);
    if (old_obj && set == is_set(value_get(old_obj, field), true) &&
        there == is_set(value_get(old_obj, other), true))
        return;
    struct field_path at = field_child(path, other);
    if (set && !there)
        field_error(e, FIELD_REQUIRED, &at, STR(""), "must be set when " STR_FMT " is set",
                    STR_ARG(field));
}

void declared_check(struct field_errors *e, const struct field_path *path,
                    const struct declared_type *type, const struct value *obj,
                    const struct value *old_obj)
{
    if (type->one_of)
        check_union(e, path, type->one_of, obj, old_obj);
    for (size_t i = 0; i < 2 && type->needs[i].field.p; i++)
        check_needs(e, path, type->needs[i].field, type->needs[i].other, obj, old_obj);
    for (const struct declared_field *f = type->fields; f->name.p; f++)
        check_field(e, path, f, obj, old_obj);
}
