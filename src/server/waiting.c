#include "server/waiting.h"

#include "server/core/uninitialized.h"
#include "server/http/reply.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum { NAMED_MAX = 1000 };

struct report {
    struct buf out;
    size_t n;
};

/* "/registry/example.com/things" is things.example.com. */
static void write_resource(struct buf *out, struct str prefix)
{
    for (size_t v = 0; v < n_kind_versions; v++) {
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (!str_eq(r->etcd_prefix, prefix) || kind_stored(r) != r)
                continue;
            buf_printf(out, STR_FMT "%s" STR_FMT, STR_ARG(r->plural), r->group.n ? "." : "",
                       STR_ARG(r->group));
            return;
        }
    }
    struct str rest = str_skip(prefix, STR("/registry/").n), group = str_cut(&rest, '/');
    buf_printf(out, STR_FMT "." STR_FMT, STR_ARG(rest), STR_ARG(group));
}

static void write_reason(struct buf *out, const struct value *meta)
{
    const struct value *initializers = value_dig(meta, "metadata", "initializers"),
                       *pending = value_get(initializers, STR("pending"));
    if (value_get(initializers, STR("result")))
        buf_str_add(out, STR(" was refused by an initializer\n"));
    else
        buf_printf(out, " waits for " STR_FMT "\n",
                   STR_ARG(value_str(value_get(value_at(pending, 0), STR("name")))));
}

static void report(struct report *to, struct str prefix, const struct store_entry *e)
{
    struct value meta;
    if (to->n++ >= NAMED_MAX)
        return;
    write_resource(&to->out, prefix);
    buf_printf(&to->out, " " STR_FMT, STR_ARG(str_skip(e->key, prefix.n + 1)));
    struct arena a;
    arena_init(&a);
    if (stored_read_meta(&a, e, &meta, NULL) == 0)
        write_reason(&to->out, &meta);
    arena_done(&a);
}

static int look_through(struct api *api, struct str prefix, struct report *to, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, arena_printf(err->arena, STR_FMT "/", STR_ARG(prefix)), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1)
        if (stored_is_uninitialized(&e))
            report(to, prefix, &e);
    store_snap_end(snap);
    return r;
}

static int look_everywhere(struct api *api, struct report *to, struct err *err)
{
    struct str *prefixes;
    size_t n = uninitialized_list(api->uninitialized, err->arena, &prefixes);
    for (size_t i = 0; i < n; i++) {
        int r = look_through(api, prefixes[i], to, err);
        if (r < 0)
            return r;
    }
    if (to->n > NAMED_MAX)
        buf_printf(&to->out, "and %zu more\n", to->n - NAMED_MAX);
    return 0;
}

static void run(struct http_exchange *x, void *arg)
{
    struct api *api = arg;
    struct err err = ERR_INIT(http_arena(x));
    struct report to = { 0 };
    if (api->uninitialized && look_everywhere(api, &to, &err) < 0)
        reply_error(x, &err);
    else
        reply_text(x, 200, arena_str(http_arena(x), buf_str(&to.out)));
    buf_done(&to.out);
}

void waiting_serve(struct api *api, struct http_exchange *x)
{
    (void)http_to_worker(x, api->read_workers, run, api);
}
