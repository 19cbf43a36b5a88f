/* The walk: document order on the way in, because that is the order in which Go's decoder meets
 * mistakes; table order on the way out. A struct's fields are put into slots in table order (inline
 * structs in their place), then what Go's encoder would leave out is dropped. */
#include "api/typed.h"

#include <assert.h>
#include <stdlib.h>

#include "api/typed_reader.h"
#include "base/map.h"
#include "base/banned.h"

enum { SLOTS_NEAR = 64, META_SLOTS = 2, PAIRWISE_MAX = 16, HINT_REACH = 6 };

static const struct kind_field meta_fields[META_SLOTS] = {
    { .name = { "kind", 4 }, .scalar = KIND_STRING, .flags = KIND_OMIT_EMPTY },
    { .name = { "apiVersion", 10 }, .scalar = KIND_STRING, .flags = KIND_OMIT_EMPTY },
};

static int read_field(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                      struct value *ret);
static int read_type(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                     struct value *ret);

static bool is_absent(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

/* ---- Slots ---- */

static size_t count_slots(const struct kind_type *t)
{
    size_t n = t->n_fields;
    for (size_t i = 0; i < t->n_fields; i++)
        if (t->fields[i].flags & KIND_INLINE)
            n += count_slots(t->fields[i].type) - 1;
    return n;
}

static size_t slot_of(const struct kind_type *t, size_t field)
{
    size_t slot = field;
    for (size_t i = 0; i < field; i++)
        if (t->fields[i].flags & KIND_INLINE)
            slot += count_slots(t->fields[i].type) - 1;
    return slot;
}

struct place {
    const struct kind_field *field;
    size_t slot;
};

/* Documents written by a server have their fields in table order: `*hint` is where the last one
 * was found. */
static struct place find_place(const struct kind_type *t, struct str name, size_t *hint)
{
    for (size_t i = *hint; i < t->n_fields && i < *hint + HINT_REACH; i++) {
        const struct kind_field *f = &t->fields[i];
        if (str_eq(f->name, name) && !(f->flags & KIND_INLINE)) {
            *hint = i + 1;
            return (struct place){ f, slot_of(t, i) };
        }
    }
    const struct kind_field *f = kind_field_find(t, name);
    if (!f)
        return (struct place){ 0 };
    if (f >= t->fields && f < t->fields + t->n_fields) {
        *hint = (size_t)(f - t->fields) + 1;
        return (struct place){ f, slot_of(t, *hint - 1) };
    }
    for (size_t i = 0; i < t->n_fields; i++) {
        if (!(t->fields[i].flags & KIND_INLINE))
            continue;
        size_t from_start = 0;
        struct place inner = find_place(t->fields[i].type, name, &from_start);
        if (inner.field)
            return (struct place){ inner.field, slot_of(t, i) + inner.slot };
    }
    return (struct place){ 0 };
}

/* A slot whose key is still NULL has not been met. */
struct slots {
    struct value_field *p;
    size_t n, meta;
    struct value_field near[SLOTS_NEAR];
};

static void slots_init(struct arena *a, struct slots *s, const struct kind_type *t)
{
    s->meta = t->flags & KIND_HAS_TYPE_META ? META_SLOTS : 0;
    s->n = count_slots(t) + s->meta;
    s->p = s->near;
    if (s->n > SLOTS_NEAR)
        s->p = arena_alloc(a, s->n * sizeof(*s->p), alignof(struct value_field));
    memset(s->p, 0, s->n * sizeof(*s->p));
}

static struct place find_in_struct(const struct kind_type *t, const struct slots *s,
                                   struct str name, size_t *hint)
{
    for (size_t i = 0; i < s->meta; i++)
        if (str_eq(meta_fields[i].name, name))
            return (struct place){ &meta_fields[i], i };
    struct place p = find_place(t, name, hint);
    p.slot += s->meta;
    return p;
}

/* ---- Structs ---- */

/* What `omitempty` leaves out. A struct stays, and so do the types that are structs in Go: times,
 * quantities, IntOrString. */
static bool is_empty(const struct kind_field *f, const struct value *v)
{
    if (v->type == VALUE_NULL)
        return f->flags & KIND_POINTER || f->shape != KIND_SINGLE || f->scalar == KIND_BYTES ||
               f->scalar == KIND_ANY ||
               (f->scalar == KIND_STRUCT && f->type->form == KIND_FORM_STRINGS);
    if (f->shape != KIND_SINGLE)
        return !v->n;
    if (f->flags & KIND_POINTER)
        return false;
    switch (f->scalar) {
    case KIND_STRING:
    case KIND_BYTES:
        return !v->n;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
        return v->type == VALUE_INT && v->i == 0;
    case KIND_BOOL:
        return !v->b;
    default:
        return false;
    }
}

static bool is_left_out(const struct kind_field *f, const struct value *v)
{
    if (f->flags & KIND_EMPTY_TOLD && v->type != VALUE_NULL)
        return false;
    if (f->flags & KIND_OMIT_ZERO)
        return v->type == VALUE_NULL || (v->type == VALUE_OBJECT && !v->n);
    return f->flags & KIND_OMIT_EMPTY && is_empty(f, v);
}

/* Moves what is written to the front of the slots. */
struct settling {
    struct slots *slots;
    size_t from, to;
};

static int settle_field(struct typed_reader *r, struct settling *s, const struct kind_field *f)
{
    struct value_field *slot = &s->slots->p[s->from++];
    if (!slot->key.p) {
        if (f->flags & KIND_POINTER && f->flags & KIND_OMIT_EMPTY)
            return 0;
        int bad = read_field(r, f, NULL, &slot->val);
        if (bad < 0)
            return bad;
    }
    if (!is_left_out(f, &slot->val))
        s->slots->p[s->to++] = (struct value_field){ f->name, slot->val };
    return 0;
}

static int settle(struct typed_reader *r, struct settling *s, const struct kind_type *t)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        int bad = f->flags & KIND_INLINE ? settle(r, s, f->type) : settle_field(r, s, f);
        if (bad < 0)
            return bad;
    }
    return 0;
}

static int write_struct(struct typed_reader *r, const struct kind_type *t, struct slots *slots,
                        struct value *ret)
{
    struct settling s = { slots, 0, 0 };
    for (size_t i = 0; i < slots->meta; i++)
        (void)settle_field(r, &s, &meta_fields[i]);
    int bad = settle(r, &s, t);
    if (bad < 0)
        return bad;
    *ret = value_object();
    ret->n = (uint32_t)s.to;
    if (s.to)
        ret->fields = arena_dup(r->arena, slots->p, s.to * sizeof(*slots->p));
    return 0;
}

/* A null that comes after a value leaves a plain value as it is. */
static bool keeps_earlier(const struct kind_field *f, const struct value *in)
{
    return in->type == VALUE_NULL && f->shape == KIND_SINGLE && !(f->flags & KIND_POINTER) &&
           (f->scalar <= KIND_BOOL || f->scalar == KIND_DOUBLE);
}

static int read_member(struct typed_reader *r, const struct kind_type *t, struct slots *slots,
                       const struct value_field *in, size_t *hint)
{
    struct place p = find_in_struct(t, slots, in->key, hint);
    if (!p.field) {
        typed__note(r, "unknown", in->key);
        return 0;
    }
    struct value_field *slot = &slots->p[p.slot];
    if (slot->key.p) {
        typed__note(r, "duplicate", in->key);
        if (keeps_earlier(p.field, &in->val))
            return 0;
    }
    struct typed_frame frame = { .up = r->top, .step = TYPED_FIELD, .name = in->key, .owner = t };
    r->top = &frame;
    int bad = read_field(r, p.field, &in->val, &slot->val);
    r->top = frame.up;
    slot->key = p.field->name;
    return bad;
}

/* The slots of one struct, of a tree that the server has made: its fields are read in the order of
 * the table. Until then a slot has what is to be read. */
static int read_made(struct typed_reader *r, const struct kind_type *t, struct slots *slots,
                     const struct value *in)
{
    struct place near[SLOTS_NEAR] = { 0 }, *places = near;
    size_t hint = 0;
    if (slots->n > SLOTS_NEAR)
        places = arena_array(r->arena, struct place, slots->n);
    value_each_field (f, in) {
        struct place p = find_in_struct(t, slots, f->key, &hint);
        if (!p.field) {
            typed__note(r, "unknown", f->key);
            continue;
        }
        slots->p[p.slot] = (struct value_field){ p.field->name, f->val };
        places[p.slot] = p;
    }
    for (size_t i = 0; i < slots->n; i++) {
        struct value_field *slot = &slots->p[i];
        const struct value val = slot->val;
        if (!places[i].field)
            continue;
        struct typed_frame frame = {
            .up = r->top, .step = TYPED_FIELD, .name = slot->key, .owner = t
        };
        r->top = &frame;
        int bad = read_field(r, places[i].field, &val, &slot->val);
        r->top = frame.up;
        if (bad < 0)
            return bad;
    }
    return 0;
}

static int read_members(struct typed_reader *r, const struct kind_type *t, struct slots *slots,
                        const struct value *in)
{
    size_t hint = 0;
    value_each_field (f, in) {
        int bad = read_member(r, t, slots, f, &hint);
        if (bad < 0)
            return bad;
    }
    return 0;
}

/* NULL if it is not worth remembering. */
static struct typed_memo *memo_for(struct typed_reader *r, const struct kind_type *t,
                                   const struct value *in)
{
    if (in && in->n && !value_is_shared(in))
        return NULL;
    return &r->memos[((uintptr_t)t / alignof(max_align_t)) % TYPED_MEMOS];
}

static bool memo_is_of(const struct typed_memo *m, const struct typed_reader *r,
                       const struct kind_type *t, const struct value *in)
{
    uint32_t n = in ? in->n : 0;
    return m->type == t && m->n == n && m->is_map == r->is_map &&
           m->fields == (n ? in->fields : NULL);
}

static void memo_keep(struct typed_memo *m, const struct typed_reader *r, const struct kind_type *t,
                      const struct value *in, struct value *read)
{
    uint32_t n = in ? in->n : 0;
    *m = (struct typed_memo){
        t, n ? in->fields : NULL, n, r->is_map, r->deepest - r->depth, value_share(read),
    };
}

static int too_deep(struct typed_reader *r)
{
    return err_set(r->err, ERR_BAD_REQUEST, "exceeded max depth");
}

static int memo_use(const struct typed_memo *m, struct typed_reader *r, struct value *ret)
{
    size_t deepest = r->depth + m->height;
    if (deepest > TYPED_DEPTH_MAX)
        return too_deep(r);
    r->deepest = deepest > r->deepest ? deepest : r->deepest;
    *ret = m->read;
    return 0;
}

static size_t n_said(const struct typed_reader *r)
{
    return (r->notes ? r->notes->n : 0) + (r->saved.p != NULL) + r->has_empty;
}

static int read_struct(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                       struct value *ret)
{
    struct slots slots;
    if (!is_absent(in) && in->type != VALUE_OBJECT) {
        if (r->is_map)
            return typed__map_mismatch(r, in, "struct");
        typed__mismatch(r, in, typed__go_struct(r->arena, t), false);
        in = NULL;
    }
    if (r->depth >= TYPED_DEPTH_MAX)
        return too_deep(r);
    struct typed_memo *memo = memo_for(r, t, in);
    if (memo && memo_is_of(memo, r, t, in))
        return memo_use(memo, r, ret);
    size_t said = n_said(r), outside = r->deepest;
    r->deepest = ++r->depth;
    slots_init(r->arena, &slots, t);
    int bad = r->is_map ? read_made(r, t, &slots, in) : read_members(r, t, &slots, in);
    if (bad == 0)
        bad = write_struct(r, t, &slots, ret);
    r->depth--;
    if (bad == 0 && memo && said == n_said(r))
        memo_keep(memo, r, t, in, ret);
    if (outside > r->deepest)
        r->deepest = outside;
    return bad;
}

/* ---- Types whose JSON is not an object of their fields ---- */

static const struct kind_field string_field = { .scalar = KIND_STRING };

static int read_element(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                        struct value *ret)
{
    if (f->scalar == KIND_STRUCT)
        return read_type(r, f->type, in, ret);
    return r->is_map ? typed__map_scalar(r, f, in, ret) : typed__scalar(r, f, in, ret);
}

/* An empty list is the same as none: storage cannot tell them apart. */
static struct value empty_of(struct typed_reader *r, const struct value *in)
{
    if (!r->keeps_empty)
        return value_null();
    r->has_empty = true;
    return in->type == VALUE_ARRAY ? value_array() : value_object();
}

static int read_items(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                      struct value *ret)
{
    if (!in->n) {
        *ret = empty_of(r, in);
        return 0;
    }
    struct value *items = arena_alloc(r->arena, in->n * sizeof(*items), alignof(struct value));
    struct typed_frame frame = { .up = r->top, .step = TYPED_ITEM };
    r->top = &frame;
    int bad = 0;
    for (; bad == 0 && frame.index < in->n; frame.index++)
        bad = arena_spent(r->arena)
                  ? allowance_error(r->arena->allowance, r->err)
                  : read_element(r, f, &in->items[frame.index], &items[frame.index]);
    r->top = frame.up;
    if (bad < 0)
        return bad;
    *ret = value_array();
    ret->n = in->n;
    ret->items = items;
    return 0;
}

static int read_strings(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                        struct value *ret)
{
    *ret = value_null();
    if (is_absent(in))
        return 0;
    if (in->type == VALUE_ARRAY)
        return read_items(r, &string_field, in, ret);
    if (r->is_map)
        return typed__map_mismatch(r, in, "slice");
    typed__mismatch(r, in, typed__go_struct(r->arena, t), false);
    return 0;
}

static const struct kind_field *schema_field(const struct kind_type *t)
{
    const struct kind_field *f = kind_field_find(t, STR("schema"));
    assert(f && f->scalar == KIND_STRUCT);
    return f;
}

/* The decoder of such a type starts another one, whose first mismatch ends everything. */
static int read_schema(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                       struct value *ret)
{
    const struct typed_frame *outer = r->opaque;
    struct str saved = r->saved;
    bool is_map = r->is_map;
    if (!outer)
        r->opaque = r->top;
    r->saved = (struct str){ 0 };
    r->is_map = false;
    int bad = 0;
    if (in->type == VALUE_OBJECT)
        bad = read_element(r, schema_field(t), in, ret);
    else
        bad = read_items(
            r, t->form == KIND_FORM_SCHEMA_OR_STRINGS ? &string_field : schema_field(t), in, ret);
    r->opaque = outer;
    r->is_map = is_map;
    if (bad == 0 && r->saved.p)
        return err_set(r->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(r->saved));
    r->saved = saved;
    return bad;
}

static int read_schema_or(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                          struct value *ret)
{
    bool or_bool = t->form == KIND_FORM_SCHEMA_OR_BOOL;
    *ret = or_bool ? value_bool(false) : value_null();
    if (is_absent(in))
        return 0;
    if (in->type == VALUE_OBJECT || (in->type == VALUE_ARRAY && !or_bool))
        return read_schema(r, t, in, ret);
    if (!or_bool)
        return 0; /* Go's decoder takes anything else for nothing */
    if (in->type != VALUE_BOOL)
        return err_set(r->err, ERR_BAD_REQUEST, "boolean or JSON schema expected");
    *ret = *in;
    return 0;
}

static int read_type(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                     struct value *ret)
{
    switch ((enum kind_json_form)t->form) {
    case KIND_FORM_OBJECT:
        return read_struct(r, t, in, ret);
    case KIND_FORM_STRINGS:
        return read_strings(r, t, in, ret);
    case KIND_FORM_ANY:
        *ret = in ? value_borrow(in) : value_null();
        return 0;
    default:
        return read_schema_or(r, t, in, ret);
    }
}

/* ---- Lists and maps ---- */

static int by_key_then_place(const void *pa, const void *pb)
{
    const struct value_field *a = *(const struct value_field *const *)pa;
    const struct value_field *b = *(const struct value_field *const *)pb;
    int c = str_cmp(a->key, b->key);
    return c ? c : (a > b) - (a < b);
}

/* In the order of keys; of equal ones the last counts. */
static void sort_entries(struct arena *a, struct value *map)
{
    size_t n = map->n, kept = 0;
    const struct value_field **order = arena_array(a, const struct value_field *, n);
    for (size_t i = 0; i < n; i++)
        order[i] = &map->fields[i];
    qsort(order, n, sizeof(*order), by_key_then_place);
    struct value_field *sorted = arena_alloc(a, n * sizeof(*sorted), alignof(struct value_field));
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(order[i]->key, order[i + 1]->key))
            sorted[kept++] = *order[i];
    map->fields = sorted;
    map->n = (uint32_t)kept;
}

/* Whether the key of entry `i` stands among the earlier ones; `seen` is used for large maps. */
static bool is_repeated(const struct value *in, size_t i, struct map *seen)
{
    const struct value_field *fields = in->fields;
    if (in->n > PAIRWISE_MAX)
        return map_set(seen, fields[i].key, in->fields + i);
    for (size_t j = 0; j < i; j++)
        if (str_eq(fields[j].key, fields[i].key))
            return true;
    return false;
}

static int read_entries(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                        struct value *ret)
{
    struct map seen = { 0 };
    struct typed_frame frame = { .up = r->top, .step = TYPED_KEY };
    bool sorted = true;
    int bad = 0;
    *ret = value_object();
    ret->n = in->n;
    ret->fields = arena_alloc(r->arena, in->n * sizeof(*ret->fields), alignof(struct value_field));
    for (size_t i = 0; bad == 0 && i < in->n; i++) {
        struct str key = in->fields[i].key;
        sorted = sorted && (!i || str_cmp(in->fields[i - 1].key, key) < 0);
        if (r->notes && is_repeated(in, i, &seen))
            typed__note(r, "duplicate", key);
        frame.name = key;
        r->top = &frame;
        ret->fields[i].key = key;
        bad = read_element(r, f, &in->fields[i].val, &ret->fields[i].val);
        if (f->scalar == KIND_BYTES && ret->fields[i].val.type == VALUE_NULL)
            ret->fields[i].val = value_string(STR("")); /* storage knows no null in a map */
        r->top = frame.up;
    }
    map_done(&seen);
    if (bad == 0 && !sorted)
        sort_entries(r->arena, ret);
    return bad;
}

static int read_field(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                      struct value *ret)
{
    bool single = f->shape == KIND_SINGLE;
    if (is_absent(in) && (!single || f->flags & KIND_POINTER)) {
        *ret = value_null();
        return 0;
    }
    if (single)
        return read_element(r, f, in, ret);
    enum value_type wanted = f->shape == KIND_LIST ? VALUE_ARRAY : VALUE_OBJECT;
    if (in->type != wanted) {
        if (r->is_map)
            return typed__map_mismatch(r, in, f->shape == KIND_LIST ? "slice" : "map");
        typed__mismatch(r, in, typed__go_type(r->arena, f), false);
        *ret = value_null();
        return 0;
    }
    if (!in->n) {
        *ret = empty_of(r, in);
        return 0;
    }
    return f->shape == KIND_LIST ? read_items(r, f, in, ret) : read_entries(r, f, in, ret);
}

static int read_all(struct typed_reader *r, const struct kind_type *t, const struct value *in,
                    struct value *ret)
{
    if (t->custom)
        return t->custom->read(r->arena, t, in, r->notes, ret, r->err);
    struct value out;
    if (r->notes)
        r->notes->n = 0;
    int bad = read_type(r, t, in, &out);
    if (bad < 0)
        return bad;
    if (r->saved.p)
        return err_set(r->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(r->saved));
    *ret = out;
    return 0;
}

int typed_read(struct arena *a, const struct kind_type *t, const struct value *in,
               struct typed_notes *notes, struct value *ret, struct err *err)
{
    struct typed_reader r = { .arena = a, .err = err, .notes = notes };
    return read_all(&r, t, in, ret);
}

int typed_read_made(struct arena *a, const struct kind_type *t, const struct value *in,
                    struct typed_notes *notes, struct value *ret, struct err *err)
{
    struct typed_reader r = {
        .arena = a, .err = err, .notes = notes, .keeps_empty = true, .is_map = true
    };
    return read_all(&r, t, in, ret);
}

int typed_read_sent(struct arena *a, const struct kind_type *t, const struct value *in,
                    struct typed_notes *notes, struct value *ret, struct err *err)
{
    struct typed_reader r = { .arena = a, .err = err, .notes = notes, .keeps_empty = true };
    return read_all(&r, t, in, ret);
}

int typed_read_checked(struct arena *a, const struct kind_type *t, const struct value *in,
                       bool *ret_has_empty, struct value *ret, struct err *err)
{
    struct typed_reader r = { .arena = a, .err = err, .keeps_empty = true };
    int bad = read_all(&r, t, in, ret);
    *ret_has_empty = r.has_empty;
    return bad;
}
