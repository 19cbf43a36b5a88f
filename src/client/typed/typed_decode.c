/* typed_decode.c - trees to structs. */
#include "client/typed/typed_item.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/banned.h"

/* Where the decoder is, for messages: each frame hangs behind the one around it. */
struct place {
    const struct place *up;
    struct str name; /* of a field; .p is NULL: an item */
    size_t index;
    unsigned depth;
};

struct decoder {
    struct arena *arena;
    struct spn_err *err;
};

/* ---- Messages ---- */

static void write_place(struct buf *out, const struct place *at)
{
    if (!at->up)
        return;
    write_place(out, at->up);
    if (!at->name.p)
        buf_printf(out, "[%zu]", at->index);
    else
        buf_printf(out, "%s" STR_FMT, out->n ? "." : "", STR_ARG(at->name));
}

static const char *type_word(const struct value *v)
{
    static const char *const words[] = {
        [VALUE_NULL] = "null",        [VALUE_BOOL] = "a boolean", [VALUE_INT] = "a number",
        [VALUE_NUMBER] = "a number",  [VALUE_STRING] = "text",    [VALUE_ARRAY] = "a list",
        [VALUE_OBJECT] = "an object",
    };
    return words[v->type];
}

static int misfit(struct decoder *d, const struct place *at, const struct value *v,
                  const char *wanted)
{
    autobuf path = { 0 };
    write_place(&path, at);
    return spn_err_set(d->err, SPN_MALFORMED, STR_FMT ": is %s and should be %s",
                       STR_ARG(path.n ? buf_str(&path) : STR("the object")), type_word(v), wanted);
}

static int too_deep(struct decoder *d)
{
    return spn_err_set(d->err, SPN_MALFORMED, "structs lie more than %u deep in each other",
                       LIMIT_TYPED_DEPTH);
}

/* ---- Items: what lies in lists and maps ---- */

static int decode_struct(struct decoder *d, const struct spn_struct *t, const struct value *v,
                         const struct place *at, void *to);
static int decode_items(struct decoder *d, const struct spn_field *f, const struct value *v,
                        const struct place *at, struct typed_items *to);

static int decode_text(struct decoder *d, const struct value *v, const struct place *at,
                       struct spn_text *to)
{
    if (v->type != VALUE_STRING)
        return misfit(d, at, v, "text");
    *to = spn_value_text(value_out(v));
    return 0;
}

static int decode_bytes(struct decoder *d, const struct value *v, const struct place *at,
                        struct spn_text *to)
{
    autobuf bytes = { 0 };
    if (v->type != VALUE_STRING || !base64_decode(&bytes, value_str(v)))
        return misfit(d, at, v, "bytes in base64");
    *to = spn_arena_text(arena_out(d->arena), text_out(buf_str(&bytes)));
    return 0;
}

static int decode_number(struct decoder *d, const struct value *v, const struct place *at,
                         struct spn_number *to)
{
    if (!value_to_double(v, &to->value))
        return misfit(d, at, v, "a number");
    to->is_set = true;
    if (v->type == VALUE_NUMBER)
        to->exact = (struct spn_text){ v->text, v->n };
    else
        to->exact = spn_arena_printf(arena_out(d->arena), "%lld", (long long)v->i);
    return 0;
}

static int decode_int_or_text(struct decoder *d, const struct value *v, const struct place *at,
                              struct spn_int_or_text *to)
{
    if (v->type != VALUE_INT && v->type != VALUE_STRING)
        return misfit(d, at, v, "an integer or text");
    to->is_set = true;
    if (v->type == VALUE_INT)
        to->value = v->i;
    else
        to->text = spn_value_text(value_out(v));
    return 0;
}

static int decode_int(struct decoder *d, const struct value *v, const struct place *at, int64_t *to)
{
    return value_to_int(v, to) ? 0 : misfit(d, at, v, "an integer of 64 bits");
}

static int decode_bool(struct decoder *d, const struct value *v, const struct place *at, bool *to)
{
    if (v->type != VALUE_BOOL)
        return misfit(d, at, v, "a boolean");
    *to = v->b;
    return 0;
}

static int decode_item(struct decoder *d, const struct spn_field *f, const struct value *v,
                       const struct place *at, void *to)
{
    switch ((enum spn_what)f->what) {
    case SPN_IS_TEXT:
        return decode_text(d, v, at, to);
    case SPN_IS_BYTES:
        return decode_bytes(d, v, at, to);
    case SPN_IS_BOOL:
        return decode_bool(d, v, at, to);
    case SPN_IS_INT:
        return decode_int(d, v, at, to);
    case SPN_IS_NUMBER:
        return decode_number(d, v, at, to);
    case SPN_IS_INT_OR_TEXT:
        return decode_int_or_text(d, v, at, to);
    case SPN_IS_VALUE:
        *(const struct spn_value **)to = value_out(v);
        return 0;
    case SPN_IS_STRUCT:
        return decode_struct(d, f->type, v, at, to);
    case SPN_IS_NESTED: /* a list in a map may be null, as Go writes one that was never made */
        return v->type == VALUE_NULL ? 0 : decode_items(d, f->inner, v, at, to);
    }
    return 0;
}

static int decode_list(struct decoder *d, const struct spn_field *f, const struct value *v,
                       const struct place *at, struct typed_items *to)
{
    if (v->type != VALUE_ARRAY)
        return misfit(d, at, v, "a list");
    for (size_t i = 0; i < v->n; i++) {
        const struct place below = { .up = at, .index = i, .depth = at->depth + 1 };
        int r = decode_item(d, f, &v->items[i], &below, typed_item_edit(f, to, i));
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode_map(struct decoder *d, const struct spn_field *f, const struct value *v,
                      const struct place *at, struct typed_items *to)
{
    if (v->type != VALUE_OBJECT)
        return misfit(d, at, v, "an object");
    for (size_t i = 0; i < v->n; i++) {
        struct str key = v->fields[i].key;
        const struct place below = { .up = at, .name = key, .depth = at->depth + 1 };
        *typed_name(f, to, i) = (struct spn_text){ key.p ? key.p : "", key.n };
        int r = decode_item(d, f, &v->fields[i].val, &below, typed_item_edit(f, to, i));
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode_items(struct decoder *d, const struct spn_field *f, const struct value *v,
                        const struct place *at, struct typed_items *to)
{
    if (at->depth > LIMIT_TYPED_DEPTH)
        return too_deep(d);
    bool has_items = v->type == VALUE_ARRAY || v->type == VALUE_OBJECT;
    size_t n = has_items ? v->n : 0;
    /* Room for one at least: an empty list has a pointer, too. */
    to->p = arena_zalloc(d->arena, n ? n : 1, typed_stride(f), alignof(max_align_t));
    to->n = n;
    return f->shape == SPN_LIST ? decode_list(d, f, v, at, to) : decode_map(d, f, v, at, to);
}

/* ---- Fields ---- */

static int decode_inner(struct decoder *d, const struct spn_field *f, const struct value *v,
                        const struct place *at, void **to)
{
    void *inner = arena_zalloc(d->arena, 1, f->type->size, alignof(max_align_t));
    int r = decode_struct(d, f->type, v, at, inner);
    if (r < 0)
        return r;
    *to = inner;
    return 0;
}

static int decode_field(struct decoder *d, const struct spn_field *f, const struct value *v,
                        const struct place *at, void *to)
{
    if (f->shape != SPN_ONE)
        return decode_items(d, f, v, at, to);
    if (f->what == SPN_IS_STRUCT)
        return decode_inner(d, f, v, at, to);
    if (f->what == SPN_IS_BOOL) {
        struct spn_bool *b = to;
        b->is_set = true;
        return decode_bool(d, v, at, &b->value);
    }
    if (f->what == SPN_IS_INT) {
        struct spn_int *i = to;
        i->is_set = true;
        return decode_int(d, v, at, &i->value);
    }
    return decode_item(d, f, v, at, to);
}

static bool is_named(const struct spn_field *f, struct str name)
{
    return strncmp(f->name, name.p ? name.p : "", name.n) == 0 && f->name[name.n] == '\0';
}

/* Fields mostly come in the order of the table, so the search starts behind the last one found. */
static const struct spn_field *find_field(const struct spn_struct *t, struct str name, size_t *hint)
{
    if (memchr(name.p ? name.p : "", '\0', name.n))
        return NULL;
    for (size_t i = 0; i < t->n_fields; i++) {
        size_t k = (*hint + i) % t->n_fields;
        if (is_named(&t->fields[k], name)) {
            *hint = k + 1;
            return &t->fields[k];
        }
    }
    return NULL;
}

static void keep(struct decoder *d, struct spn_value **rest, const struct value_field *vf)
{
    if (!*rest)
        *rest = spn_value_new(arena_out(d->arena), SPN_OBJECT);
    value_put_new(d->arena, value_in_edit(*rest), vf->key, value_borrow(&vf->val));
}

static int decode_struct(struct decoder *d, const struct spn_struct *t, const struct value *v,
                         const struct place *at, void *to)
{
    if (at->depth > LIMIT_TYPED_DEPTH)
        return too_deep(d);
    if (v->type != VALUE_OBJECT)
        return misfit(d, at, v, "an object");
    size_t hint = 0;
    value_each_field (vf, v) {
        const struct spn_field *f = find_field(t, vf->key, &hint);
        if (!f || vf->val.type == VALUE_NULL) {
            keep(d, typed_rest_edit(t, to), vf);
            continue;
        }
        const struct place below = { .up = at, .name = vf->key, .depth = at->depth + 1 };
        int r = decode_field(d, f, &vf->val, &below, typed_at_edit(to, f));
        if (r < 0)
            return r;
    }
    return 0;
}

int spn_typed_decode(const struct spn_struct *t, struct spn_arena *a, const struct spn_value *v,
                     void *ret, struct spn_err *err)
{
    struct decoder d = { arena_in(a), err };
    void *s = spn_arena_alloc(a, t->size);
    if (v && spn_value_type(v) != SPN_NULL) {
        int r = decode_struct(&d, t, value_in(v), &(struct place){ 0 }, s);
        if (r < 0)
            return r;
    }
    memcpy(ret, &s, sizeof(void *));
    return 0;
}
