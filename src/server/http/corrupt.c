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

int corrupt_unconverted(struct str key, uint64_t rev, int r, struct err *err)
{
    if (r != -ERR_UNKNOWN || !err)
        return r;
    key = short_key(key);
    struct str text = arena_printf(err->arena,
                                   "StorageError: corrupt object, Code: 7, Key: " STR_FMT
                                   ", ResourceVersion: 0, AdditionalErrorMsg: object not "
                                   "decodable revision=%llu: " STR_FMT,
                                   STR_ARG(key), (unsigned long long)rev, STR_ARG(err->msg));
    err_clear(err);
    r = err_set(err, ERR_INTERNAL, "Internal error occurred: " STR_FMT, STR_ARG(text));
    err_add_cause(err, STR(""), STR(""), text);
    return r;
}

void corrupt_event(bool is_deleted, const struct err *why, struct err *err)
{
    struct str text =
        arena_printf(err->arena, "data from the storage is not transformable revision=0: " STR_FMT,
                     STR_ARG(store_fault(why)));
    if (is_deleted) {
        (void)err_set(err, ERR_STORE_READ,
                      "saw a DELETED event, but object data is corrupt - " STR_FMT, STR_ARG(text));
        return;
    }
    (void)err_set(err, ERR_DAMAGED, "Internal error occurred: " STR_FMT, STR_ARG(text));
    err_add_cause(err, STR(""), STR(""), text);
}

/* ---- Lists ---- */

enum { PAGE_OBJECTS = 1000 };

static bool is_readable(struct arena *a, const struct store_entry *e)
{
    struct value obj;
    bool is_read = stored_read(a, NULL, e, &obj, NULL) == 0;
    arena_reset(a);
    return is_read;
}

/* A list that fails, and how far it has looked. */
struct naming {
    struct call *call;
    struct err *err; /* gets a cause for each object */
    struct arena scratch;
    struct buf start; /* the key to go on from */
    size_t n;         /* objects that are named, and one if there are more */
};

static void name_one(struct naming *nm, const struct store_entry *e, uint64_t rev,
                     const struct err *why)
{
    struct call *c = nm->call;
    if (nm->n++ == LIMIT_LIST_DAMAGED) {
        err_add_cause(nm->err, STR("FieldValueTooMany"), STR(""),
                      STR("too many errors, the list is truncated"));
        return;
    }
    struct str key = arena_str(c->arena, e->key);
    note(c->api->store, key, rev);
    err_add_cause(nm->err, STR("UnexpectedServerResponse"), key,
                  storage_error(c->arena, key, rev, store_fault(why)));
}

/* Some objects of the range: 1, 0 at its end or if enough are named, or an error. */
static int name_some(struct naming *nm, struct store_snap *snap, struct err *why)
{
    for (int i = 0; i < PAGE_OBJECTS; i++) {
        struct store_entry e = { 0 };
        int r = store_range_next(snap, &e, why);
        if (r <= 0 && r != -ERR_DAMAGED)
            return r;
        if (r < 0 || !is_readable(&nm->scratch, &e))
            name_one(nm, &e, r > 0 ? e.mod_rev : 0, why);
        if (nm->n > LIMIT_LIST_DAMAGED)
            return 0;
        err_clear(why);
        buf_reset(&nm->start);
        buf_str_add(&nm->start, e.key);
        buf_byte(&nm->start, '\0');
    }
    return 1;
}

/* In pieces: what a snapshot has opened it holds until it ends. */
static void name_all(struct naming *nm, struct str prefix)
{
    struct store_snap *snap;
    struct err why = ERR_INIT(nm->call->arena);
    int r;
    do {
        if (store_snap_begin(nm->call->api->store, 0, &snap, &why) < 0)
            return;
        store_range_begin(snap, prefix, buf_str(&nm->start));
        r = name_some(nm, snap, &why);
        store_snap_end(snap);
    } while (r > 0);
}

int corrupt_list(struct call *c, struct str prefix, struct err *err)
{
    const struct kind_resource *res = c->req.resource;
    err_clear(err);
    int r = err_set(err, ERR_STORE_READ,
                    "failed to read one or more " STR_FMT "%s" STR_FMT " from the storage",
                    STR_ARG(res->plural), res->group.n ? "." : "", STR_ARG(res->group));
    err->about =
        (struct err_about){ .name = STR("list"), .group = res->group, .kind = res->plural };
    struct naming nm = { .call = c, .err = err };
    arena_init(&nm.scratch);
    name_all(&nm, prefix);
    arena_done(&nm.scratch);
    buf_done(&nm.start);
    return r;
}
