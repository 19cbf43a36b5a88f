#include "controllers/endpoints/slice_io.h"

#include "controllers/common/caches.h"
#include "controllers/common/refusal.h"
#include "base/banned.h"

#define INDEX "sampan.service"

static const struct spn_target slices = SPN_AT("discovery.k8s.io", "v1", "endpointslices", "", "");

/* ---- The cache ---- */

static struct spn_text service_of(const struct spn_object *o, struct spn_arena *a)
{
    return spn_object_label(o, a, SLICE_SERVICE_LABEL);
}

static void index_by_service(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_index_values *out)
{
    (void)arg;
    struct spn_text name = service_of(o, a);
    if (name.n)
        spn_index_put(out, spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                            SPN_ARG(spn_object_namespace(o)), SPN_ARG(name)));
}

static bool is_ours(const struct slice_io *io, const struct spn_object *o, struct spn_arena *a)
{
    return spn_text_eq(spn_object_label(o, a, SLICE_MANAGED_BY), spn_text_of(io->manager));
}

static void map_slice(void *arg, const struct spn_object *o, struct spn_arena *a,
                      struct spn_keys *out)
{
    struct spn_text name = service_of(o, a);
    if (name.n && is_ours(arg, o, a))
        spn_keys_put(out, spn_object_namespace(o), name);
}

void slice_io_watch(struct slice_io *io, struct spn_manager *m, struct spn_controller *c)
{
    io->writes = own_writes_new();
    io->slices = caches_get(m, slices);
    /* Another controller may have made the index before. */
    (void)spn_cache_add_index(io->slices, INDEX, index_by_service, NULL, NULL);
    spn_controller_source(c, &(struct spn_source){ .of.what = slices,
                                                   .map = map_slice,
                                                   .map_arg = io,
                                                   .when = spn_when_version_changes });
}

void slice_io_done(struct slice_io *io)
{
    io->writes = own_writes_free(io->writes);
}

bool slice_io_get(struct slice_io *io, struct spn_work *w, struct slice_set *ret)
{
    if (!own_writes_are_seen(io->writes, w->key, io->slices))
        return false;
    *ret = (struct slice_set){ 0 };
    (void)spn_cache_by_index(io->slices, INDEX, w->key, &ret->held, NULL);
    ret->items = spn_arena_alloc(w->arena, (ret->held.n + 1) * sizeof(*ret->items));
    for (size_t i = 0; i < ret->held.n; i++)
        if (is_ours(io, ret->held.items[i], w->arena))
            ret->items[ret->n++] = spn_object_value(ret->held.items[i], w->arena);
    return true;
}

void slice_set_done(struct slice_set *s)
{
    spn_objects_done(&s->held);
}

/* ---- The server ---- */

static struct spn_target target_of(const struct spn_work *w, const struct spn_value *slice)
{
    struct spn_target at = slices;
    at.ns = w->ns;
    at.name = spn_value_text(spn_value_dig(slice, "metadata", "name"));
    if (!at.name.p)
        at.name = SPN_TEXT("");
    return at;
}

static int create_all(struct slice_io *io, struct spn_work *w, const struct slice_list *l,
                      struct spn_err *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct spn_target at = target_of(w, l->items[i]);
        struct spn_value *made;
        int r = spn_client_create(w->client, &at, l->items[i], &w->how, w->arena, &made, err);
        if (r < 0)
            return refusal_is_terminating(err) ? 0 : r;
        own_writes_note(io->writes, w->key, made);
    }
    return 0;
}

static int update_all(struct slice_io *io, struct spn_work *w, const struct slice_list *l,
                      struct spn_err *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct spn_target at = target_of(w, l->items[i]);
        struct spn_value *made;
        int r = spn_client_update(w->client, &at, l->items[i], &w->how, w->arena, &made, err);
        if (r < 0)
            return r;
        own_writes_note(io->writes, w->key, made);
    }
    return 0;
}

static int delete_all(struct slice_io *io, struct spn_work *w, const struct slice_list *l,
                      struct spn_err *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct spn_target at = target_of(w, l->items[i]);
        int r = spn_client_delete(w->client, &at, NULL, &w->how, w->arena, NULL, err);
        if (r < 0 && r != -SPN_NOT_FOUND)
            return r;
        own_writes_note_deleted(io->writes, w->key, l->items[i]);
    }
    return 0;
}

int slice_io_write(struct slice_io *io, struct spn_work *w, const struct slice_plan *plan,
                   bool creates, struct spn_err *err)
{
    int r = creates ? create_all(io, w, &plan->create, err) : 0;
    if (r < 0)
        return r;
    r = update_all(io, w, &plan->update, err);
    return r < 0 ? r : delete_all(io, w, &plan->remove, err);
}
