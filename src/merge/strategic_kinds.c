/* The rules of strategic merge patch as the kind tables tell them. Upstream reads them from the
 * tags of Go structs; the words of its refusals speak of those. */
#include "merge/strategic.h"

#include "api/go/quote.h"
#include "base/banned.h"

/* What is no struct of the tables: a Go map, and structs that show no fields. */
static const struct kind_type go_map = { .name = { "map", 3 } };
static const struct kind_type raw_extension = { .name = { "RawExtension", 12 } };
static const struct kind_type fields_v1 = { .name = { "FieldsV1", 8 } };
static const struct kind_type any_json = { .name = { "JSON", 4 } };

static const struct kind_type *type_below(const struct kind_field *f)
{
    if (f->shape == KIND_MAP)
        return &go_map;
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRUCT:
        return f->type;
    case KIND_RAW:
        return &raw_extension;
    case KIND_FIELDS_V1:
        return &fields_v1;
    default:
        return &any_json;
    }
}

/* Go's decoder takes a name in another case for a field that has none of its own. */
static const struct kind_field *find_nocase(const struct kind_type *t, struct str name)
{
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (str_eq_nocase(f->name, name))
            return f;
        const struct kind_field *inner = f->flags & KIND_INLINE ? find_nocase(f->type, name) : NULL;
        if (inner)
            return inner;
    }
    return NULL;
}

static const struct kind_field *find(const struct kind_type *t, struct str name)
{
    if (t->form != KIND_FORM_OBJECT)
        return NULL;
    const struct kind_field *f = kind_field_find(t, name);
    return f ? f : find_nocase(t, name);
}

static int no_such_field(const struct kind_type *t, struct str name, struct err *err)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, name);
    return err_set(err, ERR_UNKNOWN,
                   "unable to find api field in struct " STR_FMT " for the json field " STR_FMT,
                   STR_ARG(t->name), STR_ARG(buf_str(&quoted)));
}

static int field(const void *where, struct str name, bool is_list, struct strategic_field *ret,
                 struct err *err)
{
    const struct kind_type *t = where;
    if (t == &go_map)
        return err_set(err, ERR_UNKNOWN,
                       "merging an object in json but data type is not struct, instead is: map");
    const struct kind_field *f = find(t, name);
    if (!f)
        return no_such_field(t, name, err);
    if (is_list && f->shape != KIND_LIST && !(f->flags & KIND_POINTER))
        return err_set(err, ERR_UNKNOWN, "expected slice or array type, but got: struct");
    *ret = (struct strategic_field){
        .merge = f->flags & KIND_PATCH_MERGE,
        .replace = f->flags & KIND_PATCH_REPLACE,
        .retain_keys = f->flags & KIND_RETAIN_KEYS,
        .merge_key = f->patch_key,
        .below = type_below(f),
    };
    return 0;
}

const struct strategic_rules strategic_kinds = { field };
