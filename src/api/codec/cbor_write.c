/* No recursion: open containers are levels on a heap stack. The sorted fields of all open maps lie
 * on a second stack, each level's behind those of the level above it in the tree. */
#include "api/codec/cbor.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "api/codec/cbor_number.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/banned.h"

enum { TAG_BASE64 = 22, TAG_SELF_DESCRIBED = 55799 };

/* What a value is by the kind's table; of no type where the table does not say. */
struct slot {
    const struct kind_type *type;
    uint8_t scalar, shape;
};

static const struct slot untyped = { .scalar = KIND_ANY, .shape = KIND_SINGLE };

struct level {
    const struct value *v; /* an array or object */
    struct slot slot;
    size_t next, n;
    size_t first; /* of its fields in `order` */
};

struct writer {
    struct buf *out;
    struct level *levels;
    size_t n, cap;
    const struct value_field **order;
    size_t n_order, cap_order;
};

void cbor_write_head(struct buf *out, enum cbor_major major, uint64_t n)
{
    int bytes = n < 24 ? 0 : n <= UINT8_MAX ? 1 : n <= UINT16_MAX ? 2 : n <= UINT32_MAX ? 4 : 8;
    unsigned info = bytes == 0 ? (unsigned)n : 24 + (unsigned)__builtin_ctz((unsigned)bytes);
    buf_byte(out, (char)((unsigned)major << 5 | info));
    for (int i = bytes - 1; i >= 0; i--)
        buf_byte(out, (char)(n >> 8 * i));
}

void cbor_write_tag(struct buf *out)
{
    cbor_write_head(out, CBOR_TAG, TAG_SELF_DESCRIBED);
}

void cbor_write_string(struct buf *out, struct str s)
{
    cbor_write_head(out, CBOR_BYTES, s.n);
    buf_str_add(out, s);
}

static void put_bits(struct buf *out, uint8_t first, uint64_t bits, int bytes)
{
    buf_byte(out, (char)first);
    for (int i = bytes - 1; i >= 0; i--)
        buf_byte(out, (char)(bits >> 8 * i));
}

static void write_double(struct buf *out, const struct value *v)
{
    double d = 0;
    uint16_t half;
    (void)value_to_double(v, &d);
    if (!isfinite(d))
        d = signbit(d) ? -DBL_MAX : DBL_MAX;
    if (cbor_to_half(d, &half)) {
        put_bits(out, 0xf9, half, 2);
    } else if (fabs(d) <= (double)FLT_MAX && (double)(float)d == d) {
        float f = (float)d;
        uint32_t bits;
        memcpy(&bits, &f, sizeof(bits));
        put_bits(out, 0xfa, bits, 4);
    } else {
        uint64_t bits;
        memcpy(&bits, &d, sizeof(bits));
        put_bits(out, 0xfb, bits, 8);
    }
}

static void write_text(struct buf *out, struct slot slot, struct str text)
{
    autobuf bytes = { 0 };
    if (slot.scalar == KIND_BYTES && slot.shape == KIND_SINGLE && base64_decode(&bytes, text)) {
        cbor_write_head(out, CBOR_TAG, TAG_BASE64);
        text = buf_str(&bytes);
    }
    cbor_write_string(out, text);
}

/* As the bytes of the keys' encodings compare: a shorter one has the smaller head. Of equal names
 * the later field comes later. */
static int by_encoding(const void *left, const void *right)
{
    const struct value_field *a = *(const struct value_field *const *)left;
    const struct value_field *b = *(const struct value_field *const *)right;
    if (a->key.n != b->key.n)
        return a->key.n < b->key.n ? -1 : 1;
    int c = str_cmp(a->key, b->key);
    return c ? c : a < b ? -1 : 1;
}

/* Puts the fields of an object on the stack, sorted, the last of each name; returns how many. */
static size_t push_order(struct writer *w, const struct value *obj)
{
    if (w->cap_order - w->n_order < obj->n) {
        w->cap_order = 2 * w->cap_order + obj->n;
        w->order = mem_resize(w->order, w->cap_order, sizeof(*w->order));
    }
    const struct value_field **order = w->order + w->n_order;
    size_t n = 0, kept = 0;
    value_each_field (f, obj)
        order[n++] = f;
    if (n > 1)
        qsort(order, n, sizeof(*order), by_encoding);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(order[i]->key, order[i + 1]->key))
            order[kept++] = order[i];
    w->n_order += kept;
    return kept;
}

static void enter(struct writer *w, struct slot slot, const struct value *v)
{
    bool map = v->type == VALUE_OBJECT;
    struct level l = { .v = v, .slot = slot, .n = v->n, .first = w->n_order };
    if (map && v->n)
        l.n = push_order(w, v);
    cbor_write_head(w->out, map ? CBOR_MAP : CBOR_ARRAY, l.n);
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 16;
        w->levels = mem_resize(w->levels, w->cap, sizeof(*w->levels));
    }
    w->levels[w->n++] = l;
}

static void write_value(struct writer *w, struct slot slot, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        buf_byte(w->out, (char)0xf6);
        break;
    case VALUE_BOOL:
        buf_byte(w->out, (char)(v->b ? 0xf5 : 0xf4));
        break;
    case VALUE_INT:
        if (v->i >= 0)
            cbor_write_head(w->out, CBOR_POSITIVE, (uint64_t)v->i);
        else
            cbor_write_head(w->out, CBOR_NEGATIVE, ~(uint64_t)v->i);
        break;
    case VALUE_NUMBER:
        write_double(w->out, v);
        break;
    case VALUE_STRING:
        write_text(w->out, slot, value_str(v));
        break;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        enter(w, slot, v);
        break;
    }
}

static struct slot slot_of_field(struct slot parent, struct str key)
{
    if (parent.shape == KIND_MAP)
        return (struct slot){ .type = parent.type, .scalar = parent.scalar };
    if (parent.shape != KIND_SINGLE || parent.scalar != KIND_STRUCT ||
        parent.type->form != KIND_FORM_OBJECT)
        return untyped;
    const struct kind_field *f = kind_field_find(parent.type, key);
    return f ? (struct slot){ .type = f->type, .scalar = f->scalar, .shape = f->shape } : untyped;
}

static struct slot slot_of_item(struct slot parent)
{
    if (parent.shape != KIND_LIST)
        return untyped;
    return (struct slot){ .type = parent.type, .scalar = parent.scalar };
}

static void write_child(struct writer *w, struct level *l)
{
    size_t i = l->next++;
    if (l->v->type == VALUE_ARRAY) {
        write_value(w, slot_of_item(l->slot), value_at(l->v, i));
        return;
    }
    const struct value_field *f = w->order[l->first + i];
    cbor_write_string(w->out, f->key);
    write_value(w, slot_of_field(l->slot, f->key), &f->val);
}

void cbor_write_item(struct buf *out, const struct kind_type *t, const struct value *v)
{
    struct writer w = { .out = out };
    struct slot root = { .type = t, .scalar = KIND_STRUCT };
    write_value(&w, t ? root : untyped, v);
    while (w.n) {
        struct level *top = &w.levels[w.n - 1];
        if (top->next < top->n) {
            write_child(&w, top);
            continue;
        }
        w.n_order = top->first;
        w.n--;
    }
    free(w.levels);
    free(w.order);
}

void cbor_write(struct buf *out, const struct kind_type *t, const struct value *v)
{
    cbor_write_tag(out);
    cbor_write_item(out, t, v);
}
