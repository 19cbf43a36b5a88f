#include "server/custom/custom_objects.h"

#include "server/object/stored.h"

#include "base/banned.h"

enum { PAGE = 100 };

/* The prefix of its objects, and only where nothing built in lies there. */
static bool prefix_of(struct arena *a, const struct value *crd, struct str *ret)
{
    struct str group = value_str(value_dig(crd, "spec", "group")),
               plural = value_str(value_dig(crd, "spec", "names", "plural"));
    *ret = arena_printf(a, "/registry/" STR_FMT "/" STR_FMT "/", STR_ARG(group), STR_ARG(plural));
    struct str bare = str_take(*ret, ret->n - 1);
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            if (str_eq(kind_versions[v].resources[i].etcd_prefix, bare))
                return false;
    return group.n && plural.n;
}

/* Marked for deletion, as a DELETE would. */
static void mark(struct api *api, struct arena *a, struct value *obj)
{
    int64_t generation = 0;
    struct value *meta = value_edit(a, obj, STR("metadata"));
    (void)value_to_int(value_get(meta, STR("generation")), &generation);
    struct str now =
        clock_format(clock_wall_ns(api->clock), false, arena_alloc(a, CLOCK_TEXT_BYTES, 1));
    value_put(a, meta, STR("deletionTimestamp"), value_string(now));
    value_put(a, meta, STR("deletionGracePeriodSeconds"), value_int(0));
    value_put(a, meta, STR("generation"), value_int(generation + 1));
}

/* The operation that ends one object; none if it waits already. */
static bool end_of(struct api *api, struct arena *a, const struct store_entry *e,
                   struct store_op *ret, bool *ret_waits)
{
    struct value meta, obj;
    struct err err = ERR_INIT(a);
    *ret = (struct store_op){ .type = STORE_DELETE,
                              .key = arena_str(a, e->key),
                              .expect_rev = e->mod_rev };
    *ret_waits = false;
    if (stored_read_meta(a, e, &meta, &err) < 0)
        return true;
    const struct value *finalizers = value_dig(&meta, "metadata", "finalizers");
    *ret_waits = value_is(finalizers, VALUE_ARRAY) && finalizers->n;
    if (!*ret_waits)
        return true;
    if (value_dig(&meta, "metadata", "deletionTimestamp") ||
        stored_read(a, NULL, e, &obj, &err) < 0)
        return false;
    mark(api, a, &obj);
    autobuf bytes = { 0 };
    stored_write_like(&bytes, e, &obj);
    ret->type = STORE_PUT;
    ret->value = arena_str(a, buf_str(&bytes));
    return true;
}

struct page {
    struct store_op ops[PAGE];
    size_t n, waiting;
    bool more;
};

static int read_page(struct api *api, struct arena *a, struct str prefix, struct str *start,
                     struct page *ret, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    *ret = (struct page){ .n = 0 };
    store_range_begin(snap, prefix, *start);
    size_t looked = 0;
    while (looked < PAGE && (r = store_range_next(snap, &e, err)) == 1) {
        bool waits;
        looked++;
        *start = arena_printf(a, STR_FMT "%c", STR_ARG(e.key), '\0');
        if (end_of(api, a, &e, &ret->ops[ret->n], &waits))
            ret->n++;
        ret->waiting += waits;
    }
    ret->more = looked == PAGE;
    store_snap_end(snap);
    return r < 0 ? r : 0;
}

/* One transaction each: a watch sees them one after the other. Who was faster is met again. */
static int commit(struct api *api, struct page *page, bool *ret_again, struct err *err)
{
    for (size_t i = 0; i < page->n; i++) {
        struct store_txn txn = { .ops = &page->ops[i], .n_ops = 1 };
        int r = store_commit(api->store, &txn, err);
        if (r < 0 && r != -ERR_CONFLICT)
            return r;
        *ret_again |= r == -ERR_CONFLICT;
        err_clear(err);
    }
    return 0;
}

static int delete_pages(struct api *api, struct arena *a, struct str prefix, size_t *ret_left,
                        bool *ret_again, struct err *err)
{
    struct str start = STR("");
    struct page page = { .more = true };
    *ret_left = 0;
    *ret_again = false;
    while (page.more) {
        int r = read_page(api, a, prefix, &start, &page, err);
        if (r < 0)
            return r;
        r = commit(api, &page, ret_again, err);
        if (r < 0)
            return r;
        *ret_left += page.waiting;
    }
    return 0;
}

static int delete_rounds(struct api *api, struct str prefix, size_t *ret_left, struct err *err)
{
    for (bool again = true; again;) {
        struct arena a;
        arena_init(&a);
        int r = delete_pages(api, &a, prefix, ret_left, &again, err);
        arena_done(&a);
        if (r < 0)
            return r;
    }
    return 0;
}

int custom_objects_delete(struct api *api, const struct value *crd, size_t *ret_left,
                          struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct str prefix;
    *ret_left = 0;
    int r = prefix_of(&a, crd, &prefix) ? delete_rounds(api, prefix, ret_left, err) : 0;
    arena_done(&a);
    return r;
}
