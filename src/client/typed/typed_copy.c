/* typed_copy.c - structs to structs, deep. */
#include "client/typed/typed_item.h"

#include "base/banned.h"

static void copy_struct(struct spn_arena *a, const struct spn_struct *t, const void *from,
                        void *to);
static void copy_items(struct spn_arena *a, const struct spn_field *f,
                       const struct typed_items *from, struct typed_items *to);

static struct spn_text copy_text(struct spn_arena *a, struct spn_text t)
{
    return t.p ? spn_arena_text(a, t) : t;
}

static const struct spn_value *copy_value(struct spn_arena *a, const struct spn_value *v)
{
    return v ? spn_value_copy(a, v) : NULL;
}

/* `to` is zero, or has the same bytes as `from`. */
static void copy_item(struct spn_arena *a, const struct spn_field *f, const void *from, void *to)
{
    if (f->what != SPN_IS_STRUCT)
        memcpy(to, from, typed_item_size(f));
    switch ((enum spn_what)f->what) {
    case SPN_IS_TEXT:
    case SPN_IS_BYTES:
        *(struct spn_text *)to = copy_text(a, *(const struct spn_text *)from);
        return;
    case SPN_IS_NUMBER:
        ((struct spn_number *)to)->exact = copy_text(a, ((const struct spn_number *)from)->exact);
        return;
    case SPN_IS_INT_OR_TEXT:
        ((struct spn_int_or_text *)to)->text =
            copy_text(a, ((const struct spn_int_or_text *)from)->text);
        return;
    case SPN_IS_VALUE:
        *(const struct spn_value **)to = copy_value(a, *(const struct spn_value *const *)from);
        return;
    case SPN_IS_STRUCT:
        copy_struct(a, f->type, from, to);
        return;
    case SPN_IS_NESTED:
        copy_items(a, f->inner, from, to);
        return;
    case SPN_IS_BOOL:
    case SPN_IS_INT:
        return;
    }
}

static void copy_items(struct spn_arena *a, const struct spn_field *f,
                       const struct typed_items *from, struct typed_items *to)
{
    if (!from->p)
        return;
    to->n = from->n;
    to->p = spn_arena_alloc(a, (from->n ? from->n : 1) * typed_stride(f));
    for (size_t i = 0; i < from->n; i++) {
        if (f->shape == SPN_MAP)
            *typed_name(f, to, i) = copy_text(a, *typed_name(f, from, i));
        copy_item(a, f, typed_item(f, from, i), typed_item_edit(f, to, i));
    }
}

static void copy_field(struct spn_arena *a, const struct spn_field *f, const void *from, void *to)
{
    if (f->shape != SPN_ONE) {
        copy_items(a, f, from, to);
        return;
    }
    const void *inner;
    switch ((enum spn_what)f->what) {
    case SPN_IS_BOOL:
        *(struct spn_bool *)to = *(const struct spn_bool *)from;
        return;
    case SPN_IS_INT:
        *(struct spn_int *)to = *(const struct spn_int *)from;
        return;
    case SPN_IS_STRUCT:
        inner = *(const void *const *)from;
        *(void **)to = inner ? spn_typed_copy(f->type, a, inner) : NULL;
        return;
    default:
        copy_item(a, f, from, to);
    }
}

static void copy_struct(struct spn_arena *a, const struct spn_struct *t, const void *from, void *to)
{
    for (size_t i = 0; i < t->n_fields; i++)
        copy_field(a, &t->fields[i], typed_at(from, &t->fields[i]),
                   typed_at_edit(to, &t->fields[i]));
    const struct spn_value *rest = *typed_rest(t, from);
    if (rest)
        *typed_rest_edit(t, to) = spn_value_copy(a, rest);
}

void *spn_typed_copy(const struct spn_struct *t, struct spn_arena *a, const void *s)
{
    void *copy = spn_arena_alloc(a, t->size);
    copy_struct(a, t, s, copy);
    return copy;
}
