/* controller_source.c - from a change of some object to keys of those that have to be looked at. */
#include "client/controller/controller_internal.h"

#include <assert.h>

#include "base/banned.h"

/* What was there before, or is only seen again, can wait for what changes now. */
enum { PRIORITY_LOW = -100, PRIORITY_USUAL = 0 };

struct spn_keys {
    struct spn_controller *controller;
    struct spn_arena *arena;
    int priority;
};

/* ---- Keys ---- */

void spn_keys_put(struct spn_keys *out, struct spn_text ns, struct spn_text name)
{
    struct spn_text key =
        ns.n ? spn_arena_printf(out->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name)) : name;
    spn_queue_add_priority(out->controller->queue, key, out->priority);
}

void spn_controller_enqueue(struct spn_controller *c, struct spn_text ns, struct spn_text name)
{
    struct spn_arena *a = spn_arena_new();
    spn_keys_put(&(struct spn_keys){ c, a, PRIORITY_USUAL }, ns, name);
    spn_arena_free(a);
}

/* "apps/v1" is of the group "apps", "v1" of the core. */
static struct spn_text group_of(struct spn_text api_version)
{
    const char *slash = api_version.n ? memchr(api_version.p, '/', api_version.n) : NULL;
    return (struct spn_text){ api_version.p, slash ? (size_t)(slash - api_version.p) : 0 };
}

static void put_owner(const struct controller_source *s, const struct spn_object *o,
                      struct spn_keys *out)
{
    const struct spn_controller_options *c = &s->controller->opt;
    struct spn_owner owner;
    if (!spn_object_controller(o, s->arena, &owner) ||
        !spn_text_eq(owner.kind, spn_text_of(c->kind)) ||
        !spn_text_eq(group_of(owner.api_version), c->what.group))
        return;
    struct spn_text none = { "", 0 };
    spn_keys_put(out, c->has_no_namespace ? none : spn_object_namespace(o), owner.name);
}

static void put_keys(struct controller_source *s, const struct spn_object *o, int priority)
{
    struct spn_keys out = { s->controller, s->arena, priority };
    if (s->is_own)
        spn_queue_add_priority(s->controller->queue, spn_object_key(o), priority);
    else if (s->opt.map)
        s->opt.map(s->opt.map_arg, o, s->arena, &out);
    else
        put_owner(s, o, &out);
    spn_arena_reset(s->arena);
}

/* ---- Handlers ---- */

static bool matters(const struct controller_source *s, const struct spn_object *old_o,
                    const struct spn_object *new_o)
{
    return !s->opt.when || s->opt.when(s->opt.when_arg, old_o, new_o);
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    if (matters(arg, NULL, o))
        put_keys(arg, o, is_initial ? PRIORITY_LOW : PRIORITY_USUAL);
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct controller_source *s = arg;
    if (!matters(s, old_o, new_o))
        return;
    bool is_same = spn_text_eq(spn_object_version(old_o), spn_object_version(new_o));
    int priority = is_same ? PRIORITY_LOW : PRIORITY_USUAL;
    if (!s->is_own && !is_same)
        put_keys(s, old_o, priority);
    put_keys(s, new_o, priority);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)is_last_known;
    if (matters(arg, o, NULL))
        put_keys(arg, o, PRIORITY_USUAL);
}

bool spn_when_generation_changes(void *arg, const struct spn_object *old_o,
                                 const struct spn_object *new_o)
{
    (void)arg;
    return !old_o || !new_o || spn_object_generation(old_o) != spn_object_generation(new_o);
}

bool spn_when_version_changes(void *arg, const struct spn_object *old_o,
                              const struct spn_object *new_o)
{
    (void)arg;
    return !old_o || !new_o || !spn_text_eq(spn_object_version(old_o), spn_object_version(new_o));
}

/* ---- Sources ---- */

static void index_by_controller(void *arg, const struct spn_object *o, struct spn_arena *a,
                                struct spn_index_values *out)
{
    (void)arg;
    struct spn_owner owner;
    if (spn_object_controller(o, a, &owner))
        spn_index_put(out, owner.uid);
}

static struct spn_text kept(struct arena *a, struct spn_text t)
{
    return text_out(arena_str(a, str_in(t)));
}

void controller_source_add(struct spn_controller *c, const struct spn_source *s, bool is_own)
{
    struct arena *a = &c->manager->arena;
    assert(!c->manager->has_run);
    struct controller_source *src = arena_new(a, struct controller_source);
    src->controller = c;
    src->opt = *s;
    src->opt.of.what = (struct spn_target){ .group = kept(a, s->of.what.group),
                                            .version = kept(a, s->of.what.version),
                                            .plural = kept(a, s->of.what.plural),
                                            .ns = kept(a, s->of.what.ns),
                                            .name = kept(a, s->of.what.name) };
    src->is_own = is_own;
    src->arena = spn_arena_new();
    src->informer = spn_informers_get(c->manager->informers, &s->of);
    if (!is_own && !s->map) /* another controller may have made the index before */
        (void)spn_cache_add_index(spn_informer_cache(src->informer), CONTROLLER_INDEX,
                                  index_by_controller, NULL, NULL);
    src->next = c->sources;
    c->sources = src;
}

void controller_source_listen(struct controller_source *s)
{
    const struct spn_handler h = {
        .arg = s, .on_add = on_add, .on_update = on_update, .on_delete = on_delete
    };
    spn_informer_handle(s->informer, &h);
}

bool controller_source_is_of(const struct controller_source *s, const struct spn_target *what)
{
    const struct spn_target *x = &s->opt.of.what;
    return spn_text_eq(x->plural, what->plural) && spn_text_eq(x->group, what->group) &&
           spn_text_eq(x->version, what->version);
}

void spn_controller_source(struct spn_controller *c, const struct spn_source *s)
{
    controller_source_add(c, s, false);
}

void spn_controller_owns(struct spn_controller *c, const struct spn_target *what)
{
    controller_source_add(c, &(struct spn_source){ .of.what = *what }, false);
}

void spn_controller_watches(struct spn_controller *c, const struct spn_target *what,
                            spn_map_fn *map, void *arg)
{
    assert(map);
    const struct spn_source s = { .of.what = *what, .map = map, .map_arg = arg };
    controller_source_add(c, &s, false);
}
