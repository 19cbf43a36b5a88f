/* Lists and maps from the inside.
 *
 * Each is either a wrapped tree, read in place, or an array in the arena. Arrays are shared by
 * views: adding to the view that ends where the array ends appends in place, so that a fold which
 * collects items is linear; every other view goes on seeing what it saw. The sum of long lists is a
 * node above them, so that x + x takes no memory to speak of, however often it is done; few of
 * these nodes are above each other. Big maps are looked up by hash, whatever they are made of. */
#include "cel/internal.h"

#include "base/json.h"
#include "base/map.h"

#include "base/banned.h"

enum {
    INDEX_FROM = 16, /* fields or entries from which on looking up uses hashes */
    INDEXES = 256,   /* chains of them */
    SHARE_FROM = 64, /* items that are rather shared than copied */
    SUM_DEPTH = 40,  /* sums above each other; then they become an array */
};
#define SUM_SIZE (UINT64_C(1) << 48) /* more items than that nobody counts */

/* ---- Lists ---- */

size_t cel__code_points(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xc0) != 0x80;
    return n;
}

size_t cel__size(const struct cel_value *v)
{
    return v->form == CEL__TREE ? v->tree->n : v->n;
}

struct cel_value cel__item(struct cel__eval *ev, const struct cel_value *list, size_t i)
{
    while (list->form == CEL__SUM) {
        const struct cel_sum *sum = list->sum;
        size_t n = cel__size(&sum->left);
        list = i < n ? &sum->left : &sum->right;
        i = i < n ? i : i - n;
    }
    if (list->form == CEL__ITEMS)
        return list->list->items[i];
    const struct cel_type *type = list->declared;
    return cel_wrap(ev->arena, &list->tree->items[i],
                    type->kind == CEL_LIST ? type->params[0] : &cel_dyn);
}

bool cel__list_next(struct cel__eval *ev, const struct cel_value *list, size_t *pos,
                    struct cel_value *ret)
{
    size_t i = (*pos)++;
    if (i >= cel__size(list) || !cel__work(ev, 1))
        return false;
    *ret = list->form == CEL__ITEMS ? list->list->items[i] : cel__item(ev, list, i);
    return true;
}

struct cel_value cel__list_new(struct cel__eval *ev, size_t cap)
{
    struct cel_list *list = arena_new(ev->arena, struct cel_list);
    if (cap > SHARE_FROM && !cel__afford(ev, cap * sizeof(struct cel_value)))
        cap = 0;
    list->items = arena_alloc(ev->arena, cap * sizeof(struct cel_value), alignof(max_align_t));
    list->cap = cap;
    return (struct cel_value){ .kind = CEL_LIST, .form = CEL__ITEMS, .list = list };
}

static bool has_room(const struct cel_value *v, size_t more)
{
    return v->n == v->list->n && v->list->cap - v->list->n >= more;
}

static bool list_reserve(struct cel__eval *ev, struct cel_value *v, size_t more)
{
    struct cel_list *list = v->list;
    if (has_room(v, more))
        return true;
    /* Somebody else has added to it, or it is full: this view goes on with a copy. */
    struct cel_value copy = cel__list_new(ev, (v->n + more) * 2);
    if (ev->exceeded)
        return false;
    if (v->n)
        memcpy(copy.list->items, list->items, v->n * sizeof(struct cel_value));
    copy.list->n = copy.n = v->n;
    if (!list->shared)
        list->shared = true;
    *v = copy;
    return true;
}

void cel__list_push(struct cel__eval *ev, struct cel_value *list, struct cel_value item)
{
    if (!has_room(list, 1) && !list_reserve(ev, list, 1))
        return;
    list->list->items[list->list->n++] = item;
    list->n++;
}

static struct cel_value list_items(struct cel__eval *ev, const struct cel_value *v, size_t more)
{
    if (v->form == CEL__ITEMS)
        return *v;
    struct cel_value items = cel__list_new(ev, cel__size(v) + more), item;
    for (size_t i = 0; cel__list_next(ev, v, &i, &item);)
        cel__list_push(ev, &items, item);
    return items;
}

/* ---- Sets and lists with keys ---- */

static bool can_be_key(const struct cel_value *key)
{
    return key->kind == CEL_BOOL || key->kind == CEL_INT || key->kind == CEL_UINT ||
           key->kind == CEL_DOUBLE || key->kind == CEL_STRING;
}

struct cel_value cel__item_key(struct cel__eval *ev, const struct cel_type *list,
                               const struct cel_value *item)
{
    autobuf text = { 0 };
    if (list->list_type == CEL_LIST_SET)
        return can_be_key(item) ? *item : cel_of_string(cel__print(ev, item));
    for (size_t i = 0; i < list->n_map_keys; i++) {
        bool is_tree = item->kind == CEL_MAP && item->form == CEL__TREE;
        const struct value *v = is_tree ? value_get(item->tree, list->map_keys[i]) : NULL;
        if (v)
            json_write(&text, v);
        buf_byte(&text, ',');
    }
    return cel_of_string(arena_str(ev->arena, buf_str(&text)));
}

/* Adds those items of `y` that `x` has not; of a list with keys, an item with the keys of an old
 * one takes its place. */
static struct cel_value merge_lists(struct cel__eval *ev, const struct cel_value *x,
                                    const struct cel_value *y)
{
    const struct cel_type *type = x->declared;
    size_t n = cel__size(x), m = cel__size(y);
    struct cel_value merged = cel__list_new(ev, n + m), places = cel__map_new(ev, n + m);
    for (size_t i = 0; i < n + m && cel__work(ev, 1); i++) {
        struct cel_value item = i < n ? cel__item(ev, x, i) : cel__item(ev, y, i - n);
        struct cel_value key = cel__item_key(ev, type, &item), place;
        if (i >= n && cel__map_find(ev, &places, &key, &place) > 0) {
            if (type->list_type == CEL_LIST_MAP)
                merged.list->items[place.i] = item;
            continue;
        }
        cel__map_put(ev, &places, key, cel_of_int((int64_t)merged.n), false);
        cel__list_push(ev, &merged, item);
    }
    return merged;
}

static unsigned sum_depth(const struct cel_value *v)
{
    return v->form == CEL__SUM ? v->sum->depth : 0;
}

static struct cel_value make_sum(struct cel__eval *ev, const struct cel_value *x,
                                 const struct cel_value *y)
{
    unsigned depth = sum_depth(x) > sum_depth(y) ? sum_depth(x) : sum_depth(y);
    struct cel_sum *sum = arena_new(ev->arena, struct cel_sum);
    *sum = (struct cel_sum){ *x, *y, depth + 1 };
    return (struct cel_value){
        .kind = CEL_LIST, .form = CEL__SUM, .sum = sum, .n = cel__size(x) + cel__size(y)
    };
}

/* Would an array of both mean to copy much that others have, too? */
static bool is_worth_sharing(const struct cel_value *x, const struct cel_value *y)
{
    if (cel__size(y) >= SHARE_FROM)
        return true;
    if (cel__size(x) < SHARE_FROM)
        return false;
    return x->form != CEL__ITEMS || (x->list->shared && !has_room(x, cel__size(y)));
}

struct cel_value cel__list_concat(struct cel__eval *ev, const struct cel_value *x,
                                  const struct cel_value *y)
{
    if (x->form == CEL__TREE && x->declared->list_type != CEL_LIST_ATOMIC)
        return merge_lists(ev, x, y);
    size_t m = cel__size(y);
    if (!cel__size(x) && y->form != CEL__TREE)
        return *y;
    if (cel__size(x) + m > SUM_SIZE)
        cel__exceed(ev);
    if (sum_depth(x) < SUM_DEPTH && sum_depth(y) < SUM_DEPTH && is_worth_sharing(x, y))
        return make_sum(ev, x, y);
    struct cel_value sum = list_items(ev, x, m), item;
    if (!list_reserve(ev, &sum, m))
        return sum;
    for (size_t i = 0; cel__list_next(ev, y, &i, &item);)
        cel__list_push(ev, &sum, item);
    return sum;
}

struct cel_value cel_of_list(struct arena *a, const struct cel_value *items, size_t n)
{
    struct cel__eval ev = cel__outside(a);
    struct cel_value list = cel__list_new(&ev, n);
    for (size_t i = 0; i < n; i++)
        cel__list_push(&ev, &list, items[i]);
    return list;
}

/* ---- Maps ---- */

/* Finds the fields of a big tree by hash; made when it is first asked. */
struct cel__index {
    struct cel__index *next;
    const struct value *tree;
    uint32_t *slots;
    size_t n_slots;
};

static size_t slots_for(size_t n)
{
    size_t slots = 32;
    while (slots < n * 2)
        slots *= 2;
    return slots;
}

static struct cel__index *index_of(struct cel__eval *ev, const struct value *tree)
{
    if (!ev->indexes)
        ev->indexes = arena_array(ev->arena, struct cel__index *, INDEXES);
    struct str address = { (const char *)&tree, sizeof(tree) };
    struct cel__index **chain = &ev->indexes[map_hash(address) % INDEXES];
    for (struct cel__index *i = *chain; i; i = i->next)
        if (i->tree == tree)
            return i;
    cel__work(ev, tree->n);
    struct cel__index *index = arena_new(ev->arena, struct cel__index);
    index->tree = tree;
    index->n_slots = slots_for(tree->n);
    index->slots = arena_array(ev->arena, uint32_t, index->n_slots);
    for (uint32_t i = 0; i < tree->n; i++) {
        size_t at = map_hash(tree->fields[i].key) & (index->n_slots - 1);
        while (index->slots[at])
            at = (at + 1) & (index->n_slots - 1);
        index->slots[at] = i + 1;
    }
    index->next = *chain;
    *chain = index;
    return index;
}

static const struct value *tree_field(struct cel__eval *ev, const struct value *tree,
                                      struct str key)
{
    if (!cel__work_on_text(ev, key.n))
        return NULL;
    if (tree->n <= INDEX_FROM)
        return value_get(tree, key);
    const struct cel__index *index = index_of(ev, tree);
    size_t at = map_hash(key) & (index->n_slots - 1);
    for (; index->slots[at]; at = (at + 1) & (index->n_slots - 1)) {
        const struct value_field *f = &tree->fields[index->slots[at] - 1];
        if (str_eq(f->key, key))
            return &f->val;
    }
    return NULL;
}

/* Null fields of objects are as good as absent; those of maps are not. */
static int tree_find(struct cel__eval *ev, const struct cel_value *map, struct str key,
                     struct cel_value *ret)
{
    const struct cel_type *type = map->declared;
    struct cel_field field = { .type = &cel_dyn, .key = key };
    if (type->kind == CEL_OBJECT) {
        if (!type->fields || !type->fields->by_name(type, key, &field))
            return 0;
    } else if (type->kind == CEL_MAP) {
        field.type = type->params[1];
    }
    const struct value *v = tree_field(ev, map->tree, field.key);
    if (!v || (type->kind == CEL_OBJECT && v->type == VALUE_NULL))
        return 0;
    *ret = cel_wrap(ev->arena, v, field.type);
    return 1;
}

struct cel_value cel__map_new(struct cel__eval *ev, size_t cap)
{
    struct cel_map *map = arena_new(ev->arena, struct cel_map);
    if (cap > SHARE_FROM && !cel__afford(ev, cap * sizeof(struct cel__entry)))
        cap = 0;
    map->entries = arena_alloc(ev->arena, cap * sizeof(struct cel__entry), alignof(max_align_t));
    map->cap = cap;
    return (struct cel_value){ .kind = CEL_MAP, .form = CEL__ENTRIES, .map = map };
}

static bool same_key(const struct cel_value *x, const struct cel_value *y)
{
    if (x->kind != y->kind)
        return false;
    if (x->kind == CEL_STRING)
        return str_eq(cel__str(x), cel__str(y));
    return x->kind == CEL_BOOL ? x->b == y->b : x->kind == CEL_DOUBLE ? x->d == y->d : x->u == y->u;
}

static void slots_add(struct cel_map *map, uint32_t entry)
{
    size_t at = cel__hash(&map->entries[entry].key) & (map->n_slots - 1);
    while (map->slots[at])
        at = (at + 1) & (map->n_slots - 1);
    map->slots[at] = entry + 1;
}

static void slots_rebuild(struct cel__eval *ev, struct cel_map *map)
{
    map->n_slots = slots_for(map->cap);
    map->slots = arena_array(ev->arena, uint32_t, map->n_slots);
    for (uint32_t i = 0; i < map->n; i++)
        slots_add(map, i);
}

static struct cel__entry *entries_find(const struct cel_value *v, const struct cel_value *key)
{
    const struct cel_map *map = v->map;
    if (!map->slots) {
        for (size_t i = 0; i < v->n; i++)
            if (same_key(&map->entries[i].key, key))
                return &map->entries[i];
        return NULL;
    }
    size_t at = cel__hash(key) & (map->n_slots - 1);
    for (; map->slots[at]; at = (at + 1) & (map->n_slots - 1)) {
        uint32_t i = map->slots[at] - 1;
        if (i < v->n && same_key(&map->entries[i].key, key))
            return &map->entries[i];
    }
    return NULL;
}

/* A number finds a key that is the same number of another kind, if its own is not there. */
static struct cel__entry *entries_find_number(const struct cel_value *v,
                                              const struct cel_value *key)
{
    struct cel_value as_int = cel_of_int(0), as_uint = cel_of_uint(0);
    bool has_int = key->kind == CEL_UINT && key->u <= INT64_MAX;
    bool has_uint = key->kind == CEL_INT && key->i >= 0;
    as_int.u = as_uint.u = key->u;
    if (key->kind == CEL_DOUBLE) {
        has_int = cel__double_to_int(key->d, &as_int.i);
        has_uint = cel__double_to_uint(key->d, &as_uint.u);
    }
    struct cel__entry *e = has_int ? entries_find(v, &as_int) : NULL;
    return !e && has_uint ? entries_find(v, &as_uint) : e;
}

static bool map_reserve(struct cel__eval *ev, struct cel_value *v)
{
    struct cel_map *map = v->map;
    if (v->n == map->n && map->n < map->cap)
        return true;
    struct cel_value copy = cel__map_new(ev, v->n * 2 + 4);
    if (ev->exceeded)
        return false;
    if (v->n)
        memcpy(copy.map->entries, map->entries, v->n * sizeof(struct cel__entry));
    copy.map->n = copy.n = v->n;
    if (v->n >= INDEX_FROM)
        slots_rebuild(ev, copy.map);
    *v = copy;
    return true;
}

bool cel__map_put(struct cel__eval *ev, struct cel_value *map, struct cel_value key,
                  struct cel_value val, bool replace)
{
    if (key.kind == CEL_STRING)
        cel__work_on_text(ev, key.n);
    struct cel__entry *there = entries_find(map, &key);
    if (there) {
        if (replace)
            there->val = val;
        return false;
    }
    if (!map_reserve(ev, map))
        return false;
    struct cel_map *m = map->map;
    m->entries[m->n++] = (struct cel__entry){ key, val };
    map->n++;
    if (m->slots)
        slots_add(m, (uint32_t)m->n - 1);
    else if (m->n > INDEX_FROM)
        slots_rebuild(ev, m);
    return true;
}

int cel__map_find(struct cel__eval *ev, const struct cel_value *map, const struct cel_value *key,
                  struct cel_value *ret)
{
    if (map->form == CEL__TREE) {
        if (key->kind == CEL_STRING)
            return tree_find(ev, map, cel__str(key), ret);
        /* What was read through a schema only has text for keys, and says so. */
        if (cel__type_is_dyn(map->declared))
            return 0;
        *ret = CEL__NO_OVERLOAD;
        return -1;
    }
    if (key->kind == CEL_STRING && !cel__work_on_text(ev, key->n))
        return 0;
    struct cel__entry *e = can_be_key(key) ? entries_find(map, key) : NULL;
    if (!e && (key->kind == CEL_INT || key->kind == CEL_UINT || key->kind == CEL_DOUBLE))
        e = entries_find_number(map, key);
    if (!e)
        return 0;
    *ret = e->val;
    return 1;
}

static bool tree_next(struct cel__eval *ev, const struct cel_value *map, size_t *pos,
                      struct cel_value *ret_key, struct cel_value *ret_val)
{
    const struct cel_type *type = map->declared;
    for (; *pos < map->tree->n; ++*pos) {
        const struct value_field *f = &map->tree->fields[*pos];
        struct cel_field field = { .type = &cel_dyn, .name = f->key };
        if (type->kind == CEL_OBJECT && (!type->fields || f->val.type == VALUE_NULL ||
                                         !type->fields->by_key(type, f->key, &field)))
            continue;
        if (type->kind == CEL_MAP)
            field.type = type->params[1];
        ++*pos;
        *ret_key = cel_of_string(field.name);
        if (ret_val)
            *ret_val = cel_wrap(ev->arena, &f->val, field.type);
        return true;
    }
    return false;
}

bool cel__map_next(struct cel__eval *ev, const struct cel_value *map, size_t *pos,
                   struct cel_value *ret_key, struct cel_value *ret_val)
{
    if (!cel__work(ev, 1))
        return false;
    if (map->form == CEL__TREE)
        return tree_next(ev, map, pos, ret_key, ret_val);
    if (*pos >= map->n)
        return false;
    const struct cel__entry *e = &map->map->entries[(*pos)++];
    *ret_key = e->key;
    if (ret_val)
        *ret_val = e->val;
    return true;
}

struct cel_value cel_of_map(struct arena *a, const struct cel_value *keys,
                            const struct cel_value *vals, size_t n)
{
    struct cel__eval ev = cel__outside(a);
    struct cel_value map = cel__map_new(&ev, n);
    for (size_t i = 0; i < n; i++)
        cel__map_put(&ev, &map, keys[i], vals[i], true);
    return map;
}
