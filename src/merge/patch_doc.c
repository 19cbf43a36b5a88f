/* A box is reached only through the one slot that holds it: what `move` takes away is put elsewhere
 * as it is, and what `copy` repeats is written out first. */
#include "merge/patch_doc.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "merge/sorted.h"
#include "base/banned.h"

enum { PIECE_FIRST = 8, PIECE_MAX = 512 };

/* A few items of a list that stand in a row. */
struct piece {
    struct patch_slot *slots;
    uint32_t n, cap;
};

struct patch_box {
    struct patch_box *next; /* of all boxes of the document */
    bool is_list;
    struct map fields; /* of an object: name to slot */
    struct piece *pieces;
    size_t n_pieces, cap_pieces;
    size_t n; /* items */
};

void patch_doc_init(struct patch_doc *d, struct arena *a, const struct value *tree)
{
    *d = (struct patch_doc){ .arena = a, .root = { .v = value_borrow(tree) } };
}

void patch_doc_done(struct patch_doc *d)
{
    for (struct patch_box *box = d->boxes; box; box = box->next) {
        map_done(&box->fields);
        free(box->pieces);
    }
}

/* ---- opening ---- */

static struct piece *add_piece(struct arena *a, struct patch_box *box, size_t at, uint32_t cap)
{
    if (box->n_pieces == box->cap_pieces) {
        box->cap_pieces = box->cap_pieces ? 2 * box->cap_pieces : 1;
        box->pieces = mem_resize(box->pieces, box->cap_pieces, sizeof(*box->pieces));
    }
    struct piece *piece = &box->pieces[at];
    memmove(piece + 1, piece, (box->n_pieces - at) * sizeof(*piece));
    box->n_pieces++;
    *piece = (struct piece){ .cap = cap };
    piece->slots = arena_alloc(a, cap * sizeof(*piece->slots), alignof(struct patch_slot));
    return piece;
}

static void fill_list(struct arena *a, struct patch_box *box, const struct value *list)
{
    struct piece *piece = NULL;
    for (uint32_t i = 0; i < list->n; i++) {
        if (!piece || piece->n == PIECE_MAX / 2) {
            uint32_t left = list->n - i;
            uint32_t cap = left < PIECE_FIRST / 2 ? PIECE_FIRST : 2 * left;
            piece = add_piece(a, box, box->n_pieces, cap < PIECE_MAX ? cap : PIECE_MAX);
        }
        piece->slots[piece->n++] = (struct patch_slot){ .v = value_borrow(&list->items[i]) };
    }
    box->n = list->n;
}

static void set_field(struct arena *a, struct patch_box *box, struct str key,
                      struct patch_slot slot)
{
    struct patch_slot *place = arena_new(a, struct patch_slot);
    *place = slot;
    (void)map_set(&box->fields, key, place);
}

/* NULL if there is nothing inside: neither an object nor a list. */
static struct patch_box *open_slot(struct patch_doc *d, struct patch_slot *slot)
{
    if (slot->box)
        return slot->box;
    if (slot->v.type != VALUE_ARRAY && slot->v.type != VALUE_OBJECT)
        return NULL;
    struct patch_box *box = arena_new(d->arena, struct patch_box);
    box->is_list = slot->v.type == VALUE_ARRAY;
    box->next = d->boxes;
    d->boxes = box;
    if (box->is_list)
        fill_list(d->arena, box, &slot->v);
    value_each_field (f, &slot->v)
        set_field(d->arena, box, f->key, (struct patch_slot){ .v = value_borrow(&f->val) });
    slot->box = box;
    return box;
}

/* ---- pointers ---- */

/* "~1" is a slash, "~0" a tilde, in one pass; any other tilde stands for itself. */
static struct str unescape(struct arena *a, struct str token)
{
    if (str_find(token, '~') < 0)
        return token;
    char *out = arena_alloc(a, token.n, 1);
    size_t n = 0;
    for (size_t i = 0; i < token.n; i++) {
        char after = i + 1 < token.n ? token.p[i + 1] : '\0';
        bool escaped = token.p[i] == '~' && (after == '0' || after == '1');
        out[n++] = escaped ? "~/"[after - '0'] : token.p[i];
        i += escaped;
    }
    return (struct str){ out, n };
}

bool patch_doc_find(struct patch_doc *d, struct str pointer, struct patch_box **ret,
                    struct str *ret_key)
{
    struct str rest = pointer;
    (void)str_cut(&rest, '/');
    struct patch_slot *slot = &d->root;
    while (rest.p) {
        struct patch_box *box = slot ? open_slot(d, slot) : NULL;
        if (!box)
            return false;
        struct str key = unescape(d->arena, str_cut(&rest, '/'));
        if (!rest.p) {
            *ret = box;
            *ret_key = key;
            return true;
        }
        if (!patch_box_get(box, key, &slot))
            return false;
    }
    return false;
}

/* ---- boxes ---- */

bool patch_box_is_list(const struct patch_box *box)
{
    return box->is_list;
}

bool patch_index(struct str text, int64_t *ret)
{
    bool is_negative = text.n && text.p[0] == '-';
    if (text.n && (text.p[0] == '-' || text.p[0] == '+'))
        text = str_skip(text, 1);
    uint64_t i;
    if (!str_to_u64(text, &i) || i > INT64_MAX)
        return false;
    *ret = is_negative ? -(int64_t)i : (int64_t)i;
    return true;
}

static bool read_index(struct str text, size_t count, size_t *ret)
{
    int64_t i;
    if (!patch_index(text, &i) || (i < 0 && (size_t)-i > count))
        return false;
    *ret = i < 0 ? count - (size_t)-i : (size_t)i;
    return *ret < count;
}

/* The piece that holds item `*i`, which becomes the place in it. An index behind the last item is
 * in the last piece. */
static size_t find_piece(const struct patch_box *box, size_t *i)
{
    size_t at = 0;
    while (at + 1 < box->n_pieces && *i >= box->pieces[at].n)
        *i -= box->pieces[at++].n;
    return at;
}

bool patch_box_get(const struct patch_box *box, struct str key, struct patch_slot **ret)
{
    if (!box->is_list) {
        *ret = map_get(&box->fields, key);
        return true;
    }
    size_t i;
    if (!read_index(key, box->n, &i))
        return false;
    size_t at = find_piece(box, &i);
    *ret = &box->pieces[at].slots[i];
    return true;
}

/* Gives the piece room for one more; the second half of a full one becomes a piece of its own. */
static size_t make_room(struct arena *a, struct patch_box *box, size_t at, size_t *i)
{
    struct piece *piece = &box->pieces[at];
    if (piece->n < piece->cap)
        return at;
    if (piece->cap < PIECE_MAX) {
        size_t old_bytes = piece->cap * sizeof(*piece->slots);
        piece->slots =
            arena_grow(a, piece->slots, old_bytes, 2 * old_bytes, alignof(struct patch_slot));
        piece->cap *= 2;
        return at;
    }
    struct piece *second = add_piece(a, box, at + 1, PIECE_MAX);
    piece = second - 1;
    uint32_t half = piece->n / 2;
    second->n = piece->n - half;
    memcpy(second->slots, piece->slots + half, second->n * sizeof(*second->slots));
    piece->n = half;
    if (*i <= half)
        return at;
    *i -= half;
    return at + 1;
}

static void insert(struct arena *a, struct patch_box *box, size_t i, struct patch_slot slot)
{
    if (!box->n_pieces)
        (void)add_piece(a, box, 0, PIECE_FIRST);
    size_t at = find_piece(box, &i);
    at = make_room(a, box, at, &i);
    struct piece *piece = &box->pieces[at];
    memmove(&piece->slots[i + 1], &piece->slots[i], (piece->n - i) * sizeof(slot));
    piece->slots[i] = slot;
    piece->n++;
    box->n++;
}

bool patch_box_add(struct patch_doc *d, struct patch_box *box, struct str key,
                   struct patch_slot slot)
{
    if (!box->is_list) {
        set_field(d->arena, box, key, slot);
        return true;
    }
    size_t i = box->n;
    if (!str_eq(key, STR("-")) && !read_index(key, box->n + 1, &i))
        return false;
    insert(d->arena, box, i, slot);
    return true;
}

bool patch_box_remove(struct patch_box *box, struct str key)
{
    if (!box->is_list)
        return map_remove(&box->fields, key) != NULL;
    size_t i;
    if (!read_index(key, box->n, &i))
        return false;
    size_t at = find_piece(box, &i);
    struct piece *piece = &box->pieces[at];
    piece->n--;
    box->n--;
    memmove(&piece->slots[i], &piece->slots[i + 1], (piece->n - i) * sizeof(*piece->slots));
    if (!piece->n) {
        box->n_pieces--;
        memmove(piece, piece + 1, (box->n_pieces - at) * sizeof(*piece));
    }
    return true;
}

/* ---- comparing and writing, without recursion ---- */

struct task {
    const struct patch_slot *slot;
    const struct value *with; /* comparing */
    struct value *ret;        /* writing */
    size_t depth;
};

struct tasks {
    struct task *p;
    size_t n, cap;
};

static void tasks_done(struct tasks *todo)
{
    mem_cleanup_free(&todo->p);
}

static void add_task(struct tasks *todo, struct task task)
{
    if (todo->n == todo->cap) {
        todo->cap = todo->cap ? 2 * todo->cap : 32;
        todo->p = mem_resize(todo->p, todo->cap, sizeof(*todo->p));
    }
    todo->p[todo->n++] = task;
}

static bool list_eq(struct tasks *todo, const struct patch_box *box, const struct value *list)
{
    if (!value_is(list, VALUE_ARRAY) || list->n != box->n)
        return false;
    const struct value *item = list->items;
    for (size_t at = 0; at < box->n_pieces; at++)
        for (uint32_t i = 0; i < box->pieces[at].n; i++)
            add_task(todo, (struct task){ &box->pieces[at].slots[i], .with = item++ });
    return true;
}

static bool object_eq(struct arena *a, struct tasks *todo, const struct patch_box *box,
                      const struct value *obj)
{
    struct sorted fields = sorted_fields(a, obj);
    if (!value_is(obj, VALUE_OBJECT) || fields.n != box->fields.n)
        return false;
    for (size_t i = 0; i < fields.n; i++) {
        const struct patch_slot *slot = map_get(&box->fields, fields.fields[i]->key);
        if (!slot)
            return false;
        add_task(todo, (struct task){ slot, .with = &fields.fields[i]->val });
    }
    return true;
}

bool patch_slot_eq(struct arena *a, const struct patch_slot *slot, const struct value *v)
{
    __attribute__((cleanup(tasks_done))) struct tasks todo = { 0 };
    add_task(&todo, (struct task){ slot, .with = v });
    bool same = true;
    while (same && todo.n) {
        struct task task = todo.p[--todo.n];
        const struct patch_box *box = task.slot->box;
        if (!box)
            same = value_eq(&task.slot->v, task.with);
        else if (box->is_list)
            same = list_eq(&todo, box, task.with);
        else
            same = object_eq(a, &todo, box, task.with);
    }
    return same;
}

static struct value write_list(struct arena *a, struct tasks *todo, const struct patch_box *box,
                               size_t depth)
{
    struct value *items = arena_alloc(a, box->n * sizeof(*items), alignof(struct value));
    size_t n = 0;
    for (size_t at = 0; at < box->n_pieces; at++)
        for (uint32_t i = 0; i < box->pieces[at].n; i++)
            add_task(todo, (struct task){ &box->pieces[at].slots[i], .ret = &items[n++],
                                          .depth = depth });
    return (struct value){ .type = VALUE_ARRAY, .n = (uint32_t)n, .items = items };
}

static int compare_keys(const void *pa, const void *pb)
{
    return str_cmp(((const struct value_field *)pa)->key, ((const struct value_field *)pb)->key);
}

/* In the order of names, as Go writes a map. */
static struct value write_object(struct arena *a, struct tasks *todo, const struct patch_box *box,
                                 size_t depth)
{
    struct value_field *fields =
        arena_alloc(a, box->fields.n * sizeof(*fields), alignof(struct value_field));
    size_t n = 0, pos = 0;
    void *slot;
    while (map_next(&box->fields, &pos, &fields[n].key, &slot))
        n++;
    if (n)
        qsort(fields, n, sizeof(*fields), compare_keys);
    for (size_t i = 0; i < n; i++) {
        slot = map_get(&box->fields, fields[i].key);
        add_task(todo, (struct task){ slot, .ret = &fields[i].val, .depth = depth });
    }
    return (struct value){ .type = VALUE_OBJECT, .n = (uint32_t)n, .fields = fields };
}

bool patch_slot_write(struct arena *a, const struct patch_slot *slot, size_t max_depth,
                      struct value *ret)
{
    __attribute__((cleanup(tasks_done))) struct tasks todo = { 0 };
    add_task(&todo, (struct task){ slot, .ret = ret, .depth = 1 });
    while (todo.n) {
        struct task task = todo.p[--todo.n];
        const struct patch_box *box = task.slot->box;
        if (box && task.depth > max_depth)
            return false;
        if (!box)
            *task.ret = value_borrow(&task.slot->v);
        else if (box->is_list)
            *task.ret = write_list(a, &todo, box, task.depth + 1);
        else
            *task.ret = write_object(a, &todo, box, task.depth + 1);
    }
    return true;
}
