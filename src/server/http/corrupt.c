#include "server/http/corrupt.h"

#include "base/limits.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* The key as the registry has it; the storage puts its own prefix in front. */
static struct str short_key(struct str key)
{
    static const struct str registry = { "/registry", 9 };
    return str_starts(key, registry) ? str_skip(key, registry.n) : key;
}

/* Why the store could not give it: the codec says so, or its sum was wrong. */
static struct str store_fault(const struct err *err)
{
    return err->causes ? err->causes->msg : STR("the checksum does not match");
}

static struct str storage_error(struct arena *a, struct str key, uint64_t rev, struct str fault)
{
    return arena_printf(
        a,
        "StorageError: corrupt object, Code: 7, Key: " STR_FMT
        ", ResourceVersion: 0, AdditionalErrorMsg: %s revision=%llu: " STR_FMT,
        STR_ARG(key), rev ? "object not decodable" : "data from the storage is not transformable",
        (unsigned long long)rev, STR_ARG(rev ? STR("the stored bytes are no object") : fault));
}

static void note(struct store *s, struct str key, uint64_t rev)
{
    if (rev)
        store_note_damaged(s, key, STR("its bytes are no object"));
}

int corrupt_object(struct store *s, struct str key, uint64_t rev, int r, struct err *err)
{
    if (r != -ERR_DAMAGED)
        return r;
    note(s, key, rev);
    if (!err)
        return r;
    struct str text = storage_error(err->arena, short_key(key), rev, store_fault(err));
    err_clear(err);
    r = err_set(err, ERR_DAMAGED, "Internal error occurred: " STR_FMT, STR_ARG(text));
    err_add_cause(err, STR(""), STR(""), text);
    return r;
}

/* ---- Lists ---- */

static bool is_readable(struct arena *a, const struct store_entry *e)
{
    struct value obj;
    bool is_read = stored_read(a, NULL, e, &obj, NULL) == 0;
    arena_reset(a);
    return is_read;
}

/* The next one that cannot be read: 1, 0 at the end, or an error. */
static int next_corrupt(struct store_snap *snap, struct arena *scratch, struct store_entry *ret,
                        uint64_t *ret_rev, struct err *err)
{
    for (;;) {
        int r = store_range_next(snap, ret, err);
        *ret_rev = r > 0 ? ret->mod_rev : 0;
        if (r == -ERR_DAMAGED || (r > 0 && !is_readable(scratch, ret)))
            return 1;
        if (r <= 0)
            return r;
    }
}

static int name_all(struct call *c, struct store_snap *snap, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch);
    struct store_entry e = { 0 };
    struct err ignored = ERR_INIT(c->arena);
    uint64_t rev;
    size_t n = 0;
    int r;
    while ((r = next_corrupt(snap, &scratch, &e, &rev, &ignored)) > 0 && n++ < LIMIT_LIST_DAMAGED) {
        struct str key = arena_str(c->arena, e.key);
        note(c->api->store, key, rev);
        err_add_cause(err, STR("UnexpectedServerResponse"), key,
                      storage_error(c->arena, key, rev, store_fault(&ignored)));
        err_clear(&ignored);
    }
    if (n > LIMIT_LIST_DAMAGED)
        err_add_cause(err, STR("FieldValueTooMany"), STR(""),
                      STR("too many errors, the list is truncated"));
    arena_done(&scratch);
    return r;
}

int corrupt_list(struct call *c, struct str prefix, struct err *err)
{
    struct store_snap *snap;
    const struct kind_resource *res = c->req.resource;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    err_clear(err);
    r = err_set(err, ERR_STORE_READ,
                "failed to read one or more " STR_FMT "%s" STR_FMT " from the storage",
                STR_ARG(res->plural), res->group.n ? "." : "", STR_ARG(res->group));
    err->about =
        (struct err_about){ .name = STR("list"), .group = res->group, .kind = res->plural };
    store_range_begin(snap, prefix, STR(""));
    (void)name_all(c, snap, err);
    store_snap_end(snap);
    return r;
}
