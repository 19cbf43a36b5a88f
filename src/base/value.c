/* How sharing works. A container header that carries VALUE_SHARED points to an array that others
 * may look at too. Invariant: an array is changed in place only through a path of headers none of
 * which is SHARED. The first edit through a SHARED header copies that one array, marks the
 * containers in the copy SHARED, and clears the mark on the header itself.
 *
 * Arrays that grew by edits have room for a power of two, cap_class - 1 its logarithm; an array
 * that a reader made (cap_class 0) has room for exactly `n`. */
#include "base/value.h"

#include <assert.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/walk.h"
#include "base/banned.h"

enum { VALUE_SHARED = 1 };

struct value value_number(struct str text)
{
    int64_t i;
    bool is_minus_zero = text.n == 2 && text.p[0] == '-' && text.p[1] == '0';
    if (!is_minus_zero && str_to_i64(text, &i))
        return value_int(i);
    return (struct value){ .type = VALUE_NUMBER, .n = (uint32_t)text.n, .text = text.p };
}

static const struct value_field *find_field(const struct value *obj, struct str key)
{
    value_each_field (f, obj) {
        if (str_eq(f->key, key))
            return f;
    }
    return NULL;
}

const struct value *value_get(const struct value *obj, struct str key)
{
    const struct value_field *f = find_field(obj, key);
    return f ? &f->val : NULL;
}

const struct value *value_at(const struct value *arr, size_t i)
{
    return value_is(arr, VALUE_ARRAY) && i < arr->n ? &arr->items[i] : NULL;
}

struct str value_str(const struct value *v)
{
    return value_is(v, VALUE_STRING) ? (struct str){ v->text, v->n } : STR("");
}

bool value_to_int(const struct value *v, int64_t *ret)
{
    if (!value_is(v, VALUE_INT))
        return false;
    *ret = v->i;
    return true;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert(c_locale);
}

bool value_to_double(const struct value *v, double *ret)
{
    if (value_is(v, VALUE_INT)) {
        *ret = (double)v->i;
        return true;
    }
    if (!value_is(v, VALUE_NUMBER))
        return false;
    /* An embedding program may have set a locale whose decimal point is a comma. */
    (void)pthread_once(&c_locale_once, make_c_locale);
    autofree char *text = mem_alloc((size_t)v->n + 1);
    memcpy(text, v->text, v->n);
    text[v->n] = '\0';
    *ret = strtod_l(text, NULL, c_locale);
    return true;
}

const struct value *value_dig_path(const struct value *v, const char *const *path, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        v = value_get(v, str_of(path[i]));
    return v;
}

/* Equality keeps a list of pairs that are still to be compared. */
struct pair {
    const struct value *a, *b;
};

struct pairs {
    struct pair *p;
    size_t n, cap;
};

static void pairs_done(struct pairs *todo)
{
    free(todo->p);
}

static void add_pair(struct pairs *todo, const struct value *a, const struct value *b)
{
    if (todo->n == todo->cap) {
        todo->cap = todo->cap ? 2 * todo->cap : 64;
        todo->p = mem_resize(todo->p, todo->cap, sizeof(*todo->p));
    }
    todo->p[todo->n++] = (struct pair){ a, b };
}

static bool leaf_eq(const struct value *a, const struct value *b)
{
    switch ((enum value_type)a->type) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a->b == b->b;
    case VALUE_INT:
        return a->i == b->i;
    default:
        return str_eq((struct str){ a->text, a->n }, (struct str){ b->text, b->n });
    }
}

static bool same_keys_in_order(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(a->fields[i].key, b->fields[i].key))
            return false;
    return true;
}

/* By key, and duplicates in the order they stand in. */
static int compare_fields(const void *pa, const void *pb)
{
    const struct value_field *a = *(const struct value_field *const *)pa;
    const struct value_field *b = *(const struct value_field *const *)pb;
    int c = str_cmp(a->key, b->key);
    return c ? c : (a > b) - (a < b);
}

static const struct value_field **sorted_fields(const struct value *obj)
{
    const struct value_field **sorted = mem_array(obj->n, sizeof(*sorted));
    for (uint32_t i = 0; i < obj->n; i++)
        sorted[i] = &obj->fields[i];
    qsort(sorted, obj->n, sizeof(*sorted), compare_fields);
    return sorted;
}

static bool add_reordered_fields(struct pairs *todo, const struct value *a, const struct value *b)
{
    autofree const struct value_field **in_a = sorted_fields(a);
    autofree const struct value_field **in_b = sorted_fields(b);
    for (uint32_t i = 0; i < a->n; i++) {
        if (!str_eq(in_a[i]->key, in_b[i]->key))
            return false;
        add_pair(todo, &in_a[i]->val, &in_b[i]->val);
    }
    return true;
}

/* Compares one pair and leaves their children to be compared later. */
static bool pair_eq(struct pairs *todo, const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    if (!walk_is_container(a))
        return leaf_eq(a, b);
    if (a->n != b->n)
        return false;
    if (a->n == 0 || a->items == b->items)
        return true;
    if (a->type == VALUE_OBJECT && !same_keys_in_order(a, b))
        return add_reordered_fields(todo, a, b);
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->type == VALUE_OBJECT)
            add_pair(todo, &a->fields[i].val, &b->fields[i].val);
        else
            add_pair(todo, &a->items[i], &b->items[i]);
    }
    return true;
}

bool value_eq(const struct value *a, const struct value *b)
{
    if (!a || !b)
        return a == b;
    __attribute__((cleanup(pairs_done))) struct pairs todo = { 0 };
    bool same = pair_eq(&todo, a, b);
    while (same && todo.n) {
        struct pair next = todo.p[--todo.n];
        same = pair_eq(&todo, next.a, next.b);
    }
    return same;
}

struct value value_borrow(const struct value *v)
{
    struct value copy = *v;
    if (walk_is_container(v))
        copy.flags |= VALUE_SHARED;
    return copy;
}

struct value value_share(struct value *v)
{
    *v = value_borrow(v);
    return *v;
}

bool value_is_shared(const struct value *v)
{
    return v->flags & VALUE_SHARED;
}

bool value_is_twin(const struct value *a, const struct value *b)
{
    if (a->type != b->type || a->n != b->n || !walk_is_container(a))
        return false;
    return !a->n || (a->items == b->items && value_is_shared(a) && value_is_shared(b));
}

static size_t child_size(const struct value *v)
{
    return v->type == VALUE_OBJECT ? sizeof(struct value_field) : sizeof(struct value);
}

static void clone_text(struct arena *a, struct value *v)
{
    if (v->type == VALUE_STRING || v->type == VALUE_NUMBER)
        v->text = arena_str(a, (struct str){ v->text, v->n }).p;
}

static void *dup_children(struct arena *a, const struct value *v)
{
    size_t bytes = v->n * child_size(v);
    void *copy = arena_alloc(a, bytes, alignof(struct value_field));
    memcpy(copy, v->items, bytes);
    return copy;
}

struct value value_clone(struct arena *a, const struct value *v)
{
    struct value root = *v;
    autowalk w; /* containers that have their own array but whose children are still the old ones */
    walk_init(&w);
    struct value *at = &root;
    for (;;) {
        at->flags = 0;
        at->cap_class = 0;
        clone_text(a, at);
        if (walk_is_container(at) && at->n) {
            at->items = dup_children(a, at);
            walk_enter(&w, at);
        }
        while (w.n && walk_top(&w)->next == walk_top(&w)->v->n)
            w.n--;
        if (!w.n)
            return root;
        struct walk_frame *top = walk_top(&w);
        uint32_t i = top->next++;
        if (top->v->type == VALUE_ARRAY) {
            at = &top->v->items[i];
        } else {
            top->v->fields[i].key = arena_str(a, top->v->fields[i].key);
            at = &top->v->fields[i].val;
        }
    }
}

static size_t capacity(const struct value *v)
{
    return v->cap_class ? (size_t)1 << (v->cap_class - 1) : v->n;
}

static uint16_t class_for(size_t n)
{
    return n <= 1 ? 1 : (uint16_t)(65 - __builtin_clzl(n - 1));
}

static void share_children(struct value *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        (void)value_share(v->type == VALUE_OBJECT ? &v->fields[i].val : &v->items[i]);
}

static void reallocate(struct arena *a, struct value *v, size_t need)
{
    assert(need <= UINT32_MAX);
    uint16_t class = class_for(need);
    size_t bytes = ((size_t)1 << (class - 1)) * child_size(v);
    if (v->flags & VALUE_SHARED) {
        void *copy = arena_alloc(a, bytes, alignof(struct value_field));
        if (v->n)
            memcpy(copy, v->items, v->n * child_size(v));
        v->items = copy;
        v->flags &= (uint8_t)~VALUE_SHARED;
        share_children(v);
    } else {
        size_t old_bytes = capacity(v) * child_size(v);
        v->items = arena_grow(a, v->items, old_bytes, bytes, alignof(struct value_field));
    }
    v->cap_class = class;
}

/* Makes the array of `v` its own, with room for `more` children. */
static void own(struct arena *a, struct value *v, size_t more)
{
    size_t need = v->n + more;
    if ((v->flags & VALUE_SHARED) || need > capacity(v))
        reallocate(a, v, need);
}

struct value *value_edit(struct arena *a, struct value *obj, struct str key)
{
    const struct value_field *f = find_field(obj, key);
    if (!f)
        return NULL;
    size_t i = (size_t)(f - obj->fields);
    own(a, obj, 0);
    return &obj->fields[i].val;
}

struct value *value_edit_at(struct arena *a, struct value *arr, size_t i)
{
    if (!value_at(arr, i))
        return NULL;
    own(a, arr, 0);
    return &arr->items[i];
}

struct value *value_edit_nth(struct arena *a, struct value *obj, size_t i)
{
    if (!value_is(obj, VALUE_OBJECT) || i >= obj->n)
        return NULL;
    own(a, obj, 0);
    return &obj->fields[i].val;
}

struct value *value_add(struct arena *a, struct value *obj, struct str key, struct value v)
{
    assert(obj->type == VALUE_OBJECT);
    own(a, obj, 1);
    assert(obj->fields);
    struct value_field *f = &obj->fields[obj->n++];
    *f = (struct value_field){ key, v };
    return &f->val;
}

struct value *value_set(struct arena *a, struct value *obj, struct str key, struct value v)
{
    assert(obj->type == VALUE_OBJECT);
    struct value *old = value_edit(a, obj, key);
    if (!old)
        return value_add(a, obj, key, v);
    *old = v;
    return old;
}

bool value_remove(struct arena *a, struct value *obj, struct str key)
{
    const struct value_field *first = find_field(obj, key);
    if (!first)
        return false;
    uint32_t kept = (uint32_t)(first - obj->fields);
    own(a, obj, 0);
    for (uint32_t i = kept; i < obj->n; i++)
        if (!str_eq(obj->fields[i].key, key))
            obj->fields[kept++] = obj->fields[i];
    obj->n = kept;
    return true;
}

struct value *value_push(struct arena *a, struct value *arr, struct value v)
{
    return value_insert(a, arr, arr->n, v);
}

struct value *value_insert(struct arena *a, struct value *arr, size_t i, struct value v)
{
    assert(arr->type == VALUE_ARRAY && i <= arr->n);
    own(a, arr, 1);
    struct value *at = &arr->items[i];
    memmove(at + 1, at, (arr->n - i) * sizeof(*at));
    *at = v;
    arr->n++;
    return at;
}

void value_remove_at(struct arena *a, struct value *arr, size_t i)
{
    assert(arr->type == VALUE_ARRAY && i < arr->n);
    own(a, arr, 0);
    struct value *at = &arr->items[i];
    memmove(at, at + 1, (arr->n - i - 1) * sizeof(*at));
    arr->n--;
}

struct value *value_ensure(struct arena *a, struct value *obj, struct str key)
{
    struct value *v = value_edit(a, obj, key);
    if (!v)
        return value_add(a, obj, key, value_object());
    if (v->type == VALUE_NULL)
        *v = value_object();
    return v->type == VALUE_OBJECT ? v : NULL;
}
