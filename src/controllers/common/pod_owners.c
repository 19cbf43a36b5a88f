#include "controllers/common/pod_owners.h"

#include "controllers/common/claim.h"
#include "controllers/common/owned.h"
#include "base/banned.h"

/* ---- Selectors ---- */

/* The object form, whatever the kind has. */
const struct spn_value *pod_owners_selector(const struct pod_owners *c, struct spn_arena *a,
                                            const struct spn_value *owner)
{
    const struct spn_value *s = spn_value_dig(owner, "spec", "selector");
    if (!c->has_plain_selector || !s)
        return s;
    struct spn_value *wrapped = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, wrapped, "matchLabels", spn_value_copy(a, s));
    return wrapped;
}

/* ---- Which sets a change of a pod is about ---- */

bool pod_owners_key(const struct pod_owners *c, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_text *ret)
{
    struct spn_owner owner;
    if (!owned_by_kind(pod, a, c->kind, c->group, &owner))
        return false;
    struct spn_text key = spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(spn_object_namespace(pod)), SPN_ARG(owner.name));
    struct spn_object *set = spn_cache_get(c->owners, key);
    const bool is_owner = set && spn_text_eq(spn_object_uid(set), owner.uid);
    spn_object_unref(set);
    if (is_owner)
        *ret = key;
    return is_owner;
}

/* By a key "NS/NAME". */
static void put(const struct pod_owners *c, struct spn_text key, struct spn_text ns,
                struct spn_keys *out)
{
    const size_t skipped = ns.n + 1;
    if (c->note)
        c->note(c->note_arg, key);
    spn_keys_put(out, ns, (struct spn_text){ key.p + skipped, key.n - skipped });
}

static bool selects(const struct pod_owners *c, struct spn_arena *a, const struct spn_object *set,
                    const struct spn_value *pod_meta)
{
    struct labels_selector selector;
    const struct spn_value *v = spn_object_value(set, a);
    struct spn_value *pod = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, pod, "metadata", pod_meta);
    return claim_selector(a, pod_owners_selector(c, a, v), &selector, NULL) == 0 &&
           !labels_empty(&selector) && claim_matches(&selector, pod);
}

/* A pod without an owner is about all sets that could adopt it. */
static void map_orphan(const struct pod_owners *c, const struct spn_object *pod,
                       struct spn_arena *a, struct spn_keys *out)
{
    struct spn_objects all = { 0 };
    spn_cache_list(c->owners, spn_object_namespace(pod), false, &all);
    for (size_t i = 0; i < all.n; i++)
        if (selects(c, a, all.items[i], spn_object_meta(pod, a)))
            put(c, spn_object_key(all.items[i]), spn_object_namespace(pod), out);
    spn_objects_done(&all);
}

static void map_pod(void *arg, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_keys *out)
{
    const struct pod_owners *c = arg;
    struct spn_owner owner;
    struct spn_text key;
    if (!spn_object_controller(pod, a, &owner)) {
        if (!spn_object_is_deleting(pod))
            map_orphan(c, pod, a, out);
    } else if (pod_owners_key(c, pod, a, &key)) {
        put(c, key, spn_object_namespace(pod), out);
    }
}

/* ---- What was expected and is seen now ---- */

static void observe(const struct pod_owners *c, const struct spn_object *pod, bool is_creation)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_text key;
    if (pod_owners_key(c, pod, a, &key)) {
        if (is_creation)
            expectations_created(c->expected, key);
        else
            expectations_deleted(c->expected, key, spn_object_key(pod));
    }
    spn_arena_free(a);
}

static bool when_pod(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    const struct pod_owners *c = arg;
    if (!new_o)
        observe(c, old_o, false);
    else if (spn_object_is_deleting(new_o))
        observe(c, new_o, false);
    else if (!old_o)
        observe(c, new_o, true);
    return spn_when_version_changes(NULL, old_o, new_o);
}

/* One that was deleted and made anew expects nothing. */
static bool when_owner(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    const struct pod_owners *c = arg;
    if (old_o && (!new_o || !spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o))))
        expectations_forget(c->expected, spn_object_key(old_o));
    return true;
}

/* ---- Adding ---- */

struct spn_controller *pod_owners_add(struct spn_manager *m, struct pod_owners *c,
                                      const struct spn_controller_options *opt)
{
    static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
    struct spn_controller_options all = *opt;
    if (!all.when) {
        all.when = when_owner;
        all.when_arg = c;
    }
    struct spn_controller *controller = spn_manager_add(m, &all);
    spn_controller_source(
        controller,
        &(struct spn_source){
            .of.what = pods, .map = map_pod, .map_arg = c, .when = when_pod, .when_arg = c });
    return controller;
}
