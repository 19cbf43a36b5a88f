/* What differs between two trees, as a list for people. */
#include "admission/xray.h"
#include "base/banned.h"

enum { CHANGES_MAX = 1000 };

struct walk {
    struct arena *arena;
    struct value list;
};

/* A step of a path as JSON pointers have it. */
static struct str below(struct arena *a, struct str path, struct str key)
{
    autobuf out = { 0 };
    buf_str_add(&out, path);
    buf_byte(&out, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~' || key.p[i] == '/')
            buf_str_add(&out, key.p[i] == '~' ? STR("~0") : STR("~1"));
        else
            buf_byte(&out, key.p[i]);
    }
    return arena_str(a, buf_str(&out));
}

static void note(struct walk *w, struct str path, const struct value *was, const struct value *now)
{
    struct value one = value_object();
    struct str op = !was ? STR("add") : !now ? STR("remove") : STR("replace");
    if (w->list.n >= CHANGES_MAX)
        return;
    value_put(w->arena, &one, STR("op"), value_string(op));
    value_put(w->arena, &one, STR("path"), value_string(path));
    if (was)
        value_put(w->arena, &one, STR("was"), value_borrow(was));
    if (now)
        value_put(w->arena, &one, STR("value"), value_borrow(now));
    value_put_item(w->arena, &w->list, one);
}

static void compare(struct walk *w, struct str path, const struct value *was,
                    const struct value *now);

static void compare_fields(struct walk *w, struct str path, const struct value *was,
                           const struct value *now)
{
    value_each_field (f, was)
        compare(w, below(w->arena, path, f->key), &f->val, value_get(now, f->key));
    value_each_field (f, now)
        if (!value_get(was, f->key))
            note(w, below(w->arena, path, f->key), NULL, &f->val);
}

static struct str at(struct walk *w, struct str path, size_t i)
{
    return arena_printf(w->arena, STR_FMT "/%zu", STR_ARG(path), i);
}

/* What is the same in front and behind stays out of it: an item that was put in or taken out in the
 * middle is one change. */
static void compare_items(struct walk *w, struct str path, const struct value *was,
                          const struct value *now)
{
    size_t n = was->n < now->n ? was->n : now->n, front = 0, back = 0;
    while (front < n && value_eq(value_at(was, front), value_at(now, front)))
        front++;
    while (back < n - front &&
           value_eq(value_at(was, was->n - 1 - back), value_at(now, now->n - 1 - back)))
        back++;
    size_t was_end = was->n - back, now_end = now->n - back;
    for (size_t i = front; i < was_end || i < now_end; i++)
        compare(w, at(w, path, i), i < was_end ? value_at(was, i) : NULL,
                i < now_end ? value_at(now, i) : NULL);
}

static void compare(struct walk *w, struct str path, const struct value *was,
                    const struct value *now)
{
    if (was && now && value_eq(was, now))
        return;
    if (value_is(was, VALUE_OBJECT) && value_is(now, VALUE_OBJECT))
        compare_fields(w, path, was, now);
    else if (value_is(was, VALUE_ARRAY) && value_is(now, VALUE_ARRAY))
        compare_items(w, path, was, now);
    else
        note(w, path, was, now);
}

struct value xray_changes(struct arena *a, const struct value *was, const struct value *now)
{
    struct walk w = { .arena = a, .list = value_array() };
    if (was || now)
        compare(&w, STR(""), was, now);
    return w.list;
}
