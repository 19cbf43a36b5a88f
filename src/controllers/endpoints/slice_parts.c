/* slice_parts.c - what all EndpointSlices have in common, whoever makes them. */
#include <stdlib.h>

#include "base/str.h"
#include "controllers/endpoints/slices.h"
#include "base/banned.h"

void slice_list_add(struct spn_arena *a, struct slice_list *l, struct spn_value *slice)
{
    struct spn_value **more = spn_arena_alloc(a, (l->n + 1) * sizeof(struct spn_value *));
    for (size_t i = 0; i < l->n; i++)
        more[i] = l->items[i];
    more[l->n++] = slice;
    l->items = more;
}

static int by_text(const void *x, const void *y)
{
    const struct spn_text *a = x, *b = y;
    return str_cmp((struct str){ a->p, a->n }, (struct str){ b->p, b->n });
}

static struct spn_text joined(struct spn_arena *a, struct spn_text *texts, size_t n)
{
    struct spn_text all = SPN_TEXT("");
    if (n)
        qsort(texts, n, sizeof(*texts), by_text);
    for (size_t i = 0; i < n; i++)
        all = spn_arena_printf(a, SPN_FMT "\n" SPN_FMT, SPN_ARG(all), SPN_ARG(texts[i]));
    return all;
}

struct spn_text slice_ports_key(struct spn_arena *a, const struct spn_value *ports)
{
    size_t n = spn_value_count(ports);
    struct spn_text *texts = spn_arena_alloc(a, (n + 1) * sizeof(*texts));
    for (size_t i = 0; i < n; i++) {
        const struct spn_value *p = spn_value_at(ports, i);
        int64_t number = -1;
        (void)spn_value_int(spn_value_get(p, "port"), &number);
        texts[i] =
            spn_arena_printf(a, SPN_FMT " %lld " SPN_FMT " " SPN_FMT,
                             SPN_ARG(spn_value_text(spn_value_get(p, "name"))), (long long)number,
                             SPN_ARG(spn_value_text(spn_value_get(p, "protocol"))),
                             SPN_ARG(spn_value_text(spn_value_get(p, "appProtocol"))));
    }
    return joined(a, texts, n);
}

struct spn_text slice_endpoint_key(struct spn_arena *a, const struct spn_value *endpoint)
{
    const struct spn_value *addresses = spn_value_get(endpoint, "addresses");
    const struct spn_value *ref = spn_value_get(endpoint, "targetRef");
    size_t n = spn_value_count(addresses);
    struct spn_text *texts = spn_arena_alloc(a, (n + 1) * sizeof(*texts));
    for (size_t i = 0; i < n; i++)
        texts[i] = spn_value_text(spn_value_at(addresses, i));
    return spn_arena_printf(a, SPN_FMT "\n\n" SPN_FMT "\n" SPN_FMT "/" SPN_FMT,
                            SPN_ARG(joined(a, texts, n)),
                            SPN_ARG(spn_value_text(spn_value_get(endpoint, "hostname"))),
                            SPN_ARG(spn_value_text(spn_value_get(ref, "namespace"))),
                            SPN_ARG(spn_value_text(spn_value_get(ref, "name"))));
}

static bool same_field(const struct spn_value *x, const struct spn_value *y, const char *key)
{
    const struct spn_value *a = spn_value_get(x, key), *b = spn_value_get(y, key);
    return !a == !b && (!a || spn_value_eq(a, b));
}

static bool same_fields(const struct spn_value *x, const struct spn_value *y,
                        const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!same_field(x, y, keys[i]))
            return false;
    return true;
}

bool slice_endpoint_eq(const struct spn_value *x, const struct spn_value *y)
{
    static const char *const whole[] = { "nodeName", "zone" };
    static const char *const conditions[] = { "ready", "serving", "terminating" };
    static const char *const ref[] = {
        "kind", "namespace", "name", "uid", "apiVersion", "fieldPath"
    };
    return same_fields(x, y, whole, 2) &&
           same_fields(spn_value_get(x, "conditions"), spn_value_get(y, "conditions"), conditions,
                       3) &&
           same_fields(spn_value_get(x, "targetRef"), spn_value_get(y, "targetRef"), ref, 6);
}

static bool is_owned_by(const struct spn_value *slice, const struct spn_value *owner,
                        const char *kind)
{
    const struct spn_value *refs = spn_value_dig(slice, "metadata", "ownerReferences");
    struct spn_text uid = spn_value_text(spn_value_dig(owner, "metadata", "uid"));
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *r = spn_value_at(refs, i);
        if (spn_text_eq(spn_value_text(spn_value_get(r, "uid")), uid) &&
            spn_text_eq(spn_value_text(spn_value_get(r, "kind")), spn_text_of(kind)))
            return true;
    }
    return false;
}

static struct spn_text type_of(const struct spn_value *slice)
{
    return spn_value_text(spn_value_get(slice, "addressType"));
}

void slices_recycle(struct spn_arena *a, const struct spn_value *owner, const char *owner_kind,
                    struct slice_plan *plan)
{
    struct slice_list left = { 0 };
    for (size_t i = 0; i < plan->remove.n; i++) {
        struct spn_value *old = plan->remove.items[i];
        struct spn_value *next = plan->create.n ? plan->create.items[plan->create.n - 1] : NULL;
        if (!next || !spn_text_eq(type_of(old), type_of(next)) ||
            !is_owned_by(old, owner, owner_kind)) {
            slice_list_add(a, &left, old);
            continue;
        }
        spn_value_set_text(a, spn_value_ensure(a, next, "metadata"), "name",
                           spn_value_text(spn_value_dig(old, "metadata", "name")));
        plan->create.n--;
        slice_list_add(a, &plan->update, next);
    }
    plan->remove = left;
}

struct spn_value *slice_new(struct spn_arena *a, const struct spn_value *owner,
                            const char *owner_kind, bool is_v6)
{
    struct spn_value *slice = spn_value_new(a, SPN_OBJECT);
    const struct spn_value *of = spn_value_get(owner, "metadata");
    spn_value_set_text(a, slice, "apiVersion", SPN_TEXT("discovery.k8s.io/v1"));
    spn_value_set_text(a, slice, "kind", SPN_TEXT("EndpointSlice"));
    struct spn_value *meta = spn_value_ensure(a, slice, "metadata");
    spn_value_set_text(a, meta, "namespace", spn_value_text(spn_value_get(of, "namespace")));
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT), *refs = spn_value_new(a, SPN_ARRAY);
    spn_value_set_text(a, ref, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, ref, "kind", spn_text_of(owner_kind));
    spn_value_set_text(a, ref, "name", spn_value_text(spn_value_get(of, "name")));
    spn_value_set_text(a, ref, "uid", spn_value_text(spn_value_get(of, "uid")));
    spn_value_set_bool(a, ref, "controller", true);
    spn_value_set_bool(a, ref, "blockOwnerDeletion", true);
    spn_value_push(a, refs, ref);
    spn_value_set(a, meta, "ownerReferences", refs);
    spn_value_set_text(a, slice, "addressType", is_v6 ? SPN_TEXT("IPv6") : SPN_TEXT("IPv4"));
    return slice;
}

void slice_set_list(struct spn_arena *a, struct spn_value *slice, const char *key,
                    struct spn_value *list)
{
    spn_value_set(a, slice, key, spn_value_count(list) ? list : spn_value_new(a, SPN_NULL));
}
