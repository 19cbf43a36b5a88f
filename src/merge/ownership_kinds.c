/* What the kind tables say of server-side apply. */
#include "merge/ownership.h"

#include "base/banned.h"

enum mode {
    ANYTHING, /* objects field by field, everything else as a leaf; `at` is NULL */
    TYPE,     /* a struct kind_type */
    FIELD,    /* all of a struct kind_field */
    ITEM,     /* an item of its list or map */
    NOWHERE,  /* a field that a struct does not have; `at` is NULL */
};

static const struct ownership_place anything = { NULL, ANYTHING };

struct ownership_place ownership_kind(const struct kind_type *type)
{
    return (struct ownership_place){ type, TYPE };
}

/* The type of a single struct that stands there; NULL if it is none, or has no fields in JSON. */
static const struct kind_type *type_at(struct ownership_place place)
{
    const struct kind_type *t = NULL;
    const struct kind_field *f = place.at;
    if (place.mode == TYPE)
        t = place.at;
    else if (place.mode == ITEM || (place.mode == FIELD && f->shape == KIND_SINGLE))
        t = f->scalar == KIND_STRUCT ? f->type : NULL;
    return t;
}

/* A RawExtension is not: upstream sees in it a Go struct that shows no fields. */
static bool is_free_form(const struct kind_field *f)
{
    return f->scalar == KIND_ANY || f->scalar == KIND_FIELDS_V1;
}

static enum ownership_form form_of_object(const struct value *v)
{
    return !v || v->type == VALUE_OBJECT || v->type == VALUE_NULL ? OWNERSHIP_FIELDS
                                                                  : OWNERSHIP_LEAF;
}

static enum ownership_form form_of_single(struct ownership_place place, const struct value *v)
{
    const struct kind_type *t = type_at(place);
    const struct kind_field *f = place.mode == FIELD || place.mode == ITEM ? place.at : NULL;
    enum kind_merge merge = f && place.mode == FIELD ? f->merge : KIND_MERGE_UNSAID;
    if (merge == KIND_MERGE_ATOMIC || (f && !t && !is_free_form(f)))
        return OWNERSHIP_LEAF;
    if (!t)
        return form_of_object(v);
    if (t->form == KIND_FORM_STRINGS || t->form == KIND_FORM_ANY ||
        (merge == KIND_MERGE_UNSAID && (t->flags & KIND_ATOMIC)))
        return OWNERSHIP_LEAF;
    return t->form == KIND_FORM_OBJECT ? OWNERSHIP_FIELDS : form_of_object(v);
}

static struct ownership_shape shape(struct ownership_place place, const struct value *v)
{
    const struct kind_field *f = place.mode == FIELD ? place.at : NULL;
    if (f && f->shape == KIND_LIST && f->merge == KIND_MERGE_SET)
        return (struct ownership_shape){ .form = OWNERSHIP_SET };
    if (f && f->shape == KIND_LIST && f->merge == KIND_MERGE_MAP)
        return (struct ownership_shape){ OWNERSHIP_KEYED, f->list_keys, f->n_list_keys };
    if (f && f->shape == KIND_LIST)
        return (struct ownership_shape){ .form = OWNERSHIP_LEAF };
    if (f && f->shape == KIND_MAP)
        return (struct ownership_shape){ .form = f->merge == KIND_MERGE_ATOMIC ? OWNERSHIP_LEAF
                                                                               : OWNERSHIP_FIELDS };
    return (struct ownership_shape){ .form = form_of_single(place, v) };
}

static bool is_type_meta(const struct kind_type *t, struct str name)
{
    return (t->flags & KIND_HAS_TYPE_META) &&
           (str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")));
}

static bool field(struct ownership_place place, struct str name, struct ownership_place *ret)
{
    static const struct kind_field text = { .scalar = KIND_STRING };
    const struct kind_type *t = type_at(place);
    const struct kind_field *outer = place.at, *f = NULL;
    *ret = anything;
    if (t && t->form == KIND_FORM_OBJECT)
        f = is_type_meta(t, name) ? &text : kind_field_find(t, name);
    else if (place.mode == FIELD && outer->shape == KIND_MAP)
        *ret = (struct ownership_place){ outer, ITEM };
    if (f)
        *ret = (struct ownership_place){ f, FIELD };
    else if (t && t->form == KIND_FORM_OBJECT)
        ret->mode = NOWHERE;
    return f;
}

static struct ownership_place item(struct ownership_place list)
{
    return list.mode == FIELD ? (struct ownership_place){ list.at, ITEM } : anything;
}

/* OpenAPI tells a default also of fields that an encoder always writes: the zero value. */
static const struct value *zero_of(const struct kind_field *f)
{
    static const struct value empty = { .type = VALUE_STRING, .text = "" };
    static const struct value zero = { .type = VALUE_INT };
    if (f->flags & (KIND_POINTER | KIND_OMIT_EMPTY) || f->shape != KIND_SINGLE)
        return NULL;
    if (f->scalar == KIND_STRING)
        return &empty;
    return f->scalar == KIND_INT32 || f->scalar == KIND_INT64 ? &zero : NULL;
}

static const struct value *key_default(struct ownership_place list, struct str key)
{
    const struct kind_type *t = type_at(item(list));
    const struct kind_field *f = t ? kind_field_find(t, key) : NULL;
    if (!f)
        return NULL;
    return f->default_value && (f->flags & KIND_DEFAULT_TOLD) ? f->default_value : zero_of(f);
}

static enum ownership_type type_of_scalar(const struct kind_field *f)
{
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRING:
    case KIND_BYTES:
    case KIND_DURATION:
        return OWNERSHIP_TEXT;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
        return OWNERSHIP_NUMBER;
    case KIND_BOOL:
        return OWNERSHIP_BOOLEAN;
    case KIND_TIME:
    case KIND_MICRO_TIME:
    case KIND_QUANTITY:
    case KIND_INT_OR_STRING:
        return OWNERSHIP_SCALAR;
    case KIND_RAW:
    case KIND_FIELDS_V1:
        return OWNERSHIP_MAP;
    default:
        return OWNERSHIP_ANYTHING;
    }
}

static enum ownership_type type(struct ownership_place place)
{
    const struct kind_type *t = type_at(place);
    const struct kind_field *f = place.at;
    if (place.mode == NOWHERE)
        return OWNERSHIP_NOWHERE;
    if (place.mode == FIELD && f->shape != KIND_SINGLE)
        return f->shape == KIND_LIST ? OWNERSHIP_LIST : OWNERSHIP_MAP;
    if (t && t->form != KIND_FORM_OBJECT)
        return t->form == KIND_FORM_STRINGS ? OWNERSHIP_LIST : OWNERSHIP_ANYTHING;
    if (t)
        return OWNERSHIP_MAP;
    return place.at ? type_of_scalar(f) : OWNERSHIP_ANYTHING;
}

const struct ownership_schema ownership_kinds = { shape, field, item, key_default, type };
