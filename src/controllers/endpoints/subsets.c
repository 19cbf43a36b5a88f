#include "controllers/endpoints/subsets.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/endpoints/backends.h"
#include "base/banned.h"

/* More addresses than this are not told. */
enum { CAPACITY = 1000 };

#define TRIGGER_TIME  "endpoints.kubernetes.io/last-change-trigger-time"
#define OVER_CAPACITY "endpoints.kubernetes.io/over-capacity"
#define MANAGED_BY    "endpoints.kubernetes.io/managed-by"
#define HEADLESS      "service.kubernetes.io/headless"
#define MANAGER       "endpoint-controller"

/* ---- One form ---- */

enum state { ABSENT, READY, UNREADY };

/* Which address has which port, in what state. */
struct table {
    const struct spn_value **addresses, **ports; /* a port that is NULL: none at all */
    size_t n_addresses, n_ports;
    size_t width;          /* of a row */
    unsigned char *states; /* of each port a row */
    struct map by_address; /* to the place in `addresses` */
};

static struct spn_text json_of(struct spn_arena *a, const struct spn_value *v)
{
    return v ? spn_value_json(a, v) : SPN_TEXT("");
}

static int by_json(const void *x, const void *y)
{
    const struct spn_text *a = x, *b = y;
    return str_cmp((struct str){ a->p, a->n }, (struct str){ b->p, b->n });
}

/* An address is another one if it is of another pod. */
static size_t address_index(struct spn_arena *a, struct table *t, const struct spn_value *address)
{
    struct spn_text key = spn_arena_printf(
        a, SPN_FMT " " SPN_FMT, SPN_ARG(spn_value_text(spn_value_get(address, "ip"))),
        SPN_ARG(spn_value_text(spn_value_dig(address, "targetRef", "uid"))));
    const struct spn_value **place = map_get(&t->by_address, (struct str){ key.p, key.n });
    if (!place) {
        place = &t->addresses[t->n_addresses++];
        *place = address;
        (void)map_set(&t->by_address, (struct str){ key.p, key.n }, place);
    }
    return (size_t)(place - t->addresses);
}

static size_t port_index(struct table *t, const struct spn_value *port)
{
    size_t i = 0;
    while (i < t->n_ports && !(t->ports[i] == port || (port && spn_value_eq(t->ports[i], port))))
        i++;
    if (i == t->n_ports)
        t->ports[t->n_ports++] = port;
    return i;
}

static size_t count_in(const struct spn_value *subsets, const char *one, const char *two)
{
    size_t n = 0;
    for (size_t i = 0; i < spn_value_count(subsets); i++) {
        const struct spn_value *s = spn_value_at(subsets, i);
        n += spn_value_count(spn_value_get(s, one));
        n += two ? spn_value_count(spn_value_get(s, two)) : 1;
    }
    return n;
}

/* An address that is also seen unready is unready. */
static void note(struct spn_arena *a, struct table *t, size_t port,
                 const struct spn_value *addresses, enum state state)
{
    for (size_t i = 0; i < spn_value_count(addresses); i++) {
        unsigned char *s =
            &t->states[port * t->width + address_index(a, t, spn_value_at(addresses, i))];
        if (*s != UNREADY)
            *s = (unsigned char)state;
    }
}

static void note_ports(struct table *t, const struct spn_value *subsets)
{
    for (size_t i = 0; i < spn_value_count(subsets); i++) {
        const struct spn_value *ports = spn_value_get(spn_value_at(subsets, i), "ports");
        size_t n = spn_value_count(ports);
        for (size_t k = 0; k < (n ? n : 1); k++)
            (void)port_index(t, n ? spn_value_at(ports, k) : NULL);
    }
}

static struct table table_of(struct spn_arena *a, const struct spn_value *subsets)
{
    size_t most_ports = count_in(subsets, "ports", NULL) + 1;
    struct table t = { .width = count_in(subsets, "addresses", "notReadyAddresses") + 1 };
    t.addresses = spn_arena_alloc(a, t.width * sizeof(*t.addresses));
    t.ports = spn_arena_alloc(a, most_ports * sizeof(*t.ports));
    note_ports(&t, subsets);
    t.states = spn_arena_alloc(a, t.width * (t.n_ports + 1));
    for (size_t i = 0; i < spn_value_count(subsets); i++) {
        const struct spn_value *s = spn_value_at(subsets, i), *ports = spn_value_get(s, "ports");
        size_t n = spn_value_count(ports);
        for (size_t k = 0; k < (n ? n : 1); k++) {
            size_t port = port_index(&t, n ? spn_value_at(ports, k) : NULL);
            note(a, &t, port, spn_value_get(s, "addresses"), READY);
            note(a, &t, port, spn_value_get(s, "notReadyAddresses"), UNREADY);
        }
    }
    map_done(&t.by_address);
    return t;
}

/* Copies of values, in the order of their text. */
static void put_sorted(struct spn_arena *a, struct spn_value *subset, const char *key,
                       struct spn_text *texts, size_t n)
{
    if (n == 0)
        return;
    struct spn_value *all = spn_value_new(a, SPN_ARRAY), *v;
    qsort(texts, n, sizeof(*texts), by_json);
    for (size_t i = 0; i < n; i++)
        if (spn_value_read_json(a, texts[i], &v, NULL) == 0)
            spn_value_push(a, all, v);
    spn_value_set(a, subset, key, all);
}

static void put_addresses(struct spn_arena *a, struct spn_value *subset, const struct table *t,
                          const unsigned char *row, enum state state, const char *key)
{
    struct spn_text *texts = spn_arena_alloc(a, (t->n_addresses + 1) * sizeof(*texts));
    size_t n = 0;
    for (size_t i = 0; i < t->n_addresses; i++)
        if (row[i] == state)
            texts[n++] = json_of(a, t->addresses[i]);
    put_sorted(a, subset, key, texts, n);
}

/* The subset of all ports that have the same addresses as port `first`, which are taken. */
static struct spn_value *subset_of(struct spn_arena *a, const struct table *t, size_t first,
                                   bool *taken)
{
    const unsigned char *row = &t->states[first * t->width];
    struct spn_text *texts = spn_arena_alloc(a, (t->n_ports + 1) * sizeof(*texts));
    size_t n = 0;
    struct spn_value *subset = spn_value_new(a, SPN_OBJECT);
    put_addresses(a, subset, t, row, READY, "addresses");
    put_addresses(a, subset, t, row, UNREADY, "notReadyAddresses");
    for (size_t p = first; p < t->n_ports; p++) {
        if (taken[p] || memcmp(row, &t->states[p * t->width], t->width) != 0)
            continue;
        taken[p] = true;
        if (t->ports[p])
            texts[n++] = json_of(a, t->ports[p]);
    }
    put_sorted(a, subset, "ports", texts, n);
    return subset;
}

struct spn_value *subsets_repacked(struct spn_arena *a, const struct spn_value *subsets)
{
    const struct table t = table_of(a, subsets);
    bool *taken = spn_arena_alloc(a, t.n_ports + 1);
    struct spn_text *texts = spn_arena_alloc(a, (t.n_ports + 1) * sizeof(*texts));
    struct spn_value *holder = spn_value_new(a, SPN_OBJECT);
    size_t n = 0;
    for (size_t p = 0; p < t.n_ports; p++)
        if (!taken[p])
            texts[n++] = spn_value_json(a, subset_of(a, &t, p, taken));
    put_sorted(a, holder, "subsets", texts, n);
    struct spn_value *all = spn_value_edit(a, holder, "subsets");
    return all ? all : spn_value_new(a, SPN_ARRAY);
}

/* ---- From pods ---- */

static bool wants_v6(const struct spn_value *service, const struct spn_value *pod)
{
    const struct spn_value *families = spn_value_dig(service, "spec", "ipFamilies");
    struct spn_text ip = spn_value_text(spn_value_dig(service, "spec", "clusterIP"));
    if (spn_value_count(families))
        return spn_text_eq(spn_value_text(spn_value_at(families, 0)), SPN_TEXT("IPv6"));
    if (!service_has_ip(service))
        ip = spn_value_text(spn_value_dig(pod, "status", "podIP"));
    return ip.n && memchr(ip.p, ':', ip.n);
}

static struct spn_value *address_of(struct spn_arena *a, const struct spn_value *service,
                                    const struct spn_value *pod)
{
    struct spn_text ip = backend_address(a, pod, wants_v6(service, pod));
    if (!ip.n)
        return NULL;
    struct spn_value *address = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, address, "ip", ip);
    if (backend_has_hostname(pod, service))
        spn_value_set_text(a, address, "hostname",
                           spn_value_text(spn_value_dig(pod, "spec", "hostname")));
    spn_value_set_text(a, address, "nodeName",
                       spn_value_text(spn_value_dig(pod, "spec", "nodeName")));
    spn_value_set(a, address, "targetRef", backend_ref(a, pod));
    return address;
}

static struct spn_value *port_of(struct spn_arena *a, const struct spn_value *service_port,
                                 int64_t number)
{
    struct spn_value *port = spn_value_new(a, SPN_OBJECT);
    struct spn_text name = spn_value_text(spn_value_get(service_port, "name"));
    struct spn_text app = spn_value_text(spn_value_get(service_port, "appProtocol"));
    if (name.n)
        spn_value_set_text(a, port, "name", name);
    spn_value_set_int(a, port, "port", number);
    spn_value_set_text(a, port, "protocol",
                       spn_value_text(spn_value_get(service_port, "protocol")));
    if (app.p)
        spn_value_set_text(a, port, "appProtocol", app);
    return port;
}

static void add_subset(struct spn_arena *a, struct spn_value *subsets,
                       const struct spn_value *address, struct spn_value *port, bool is_ready)
{
    struct spn_value *s = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, list, spn_value_copy(a, address));
    spn_value_set(a, s, is_ready ? "addresses" : "notReadyAddresses", list);
    if (port) {
        struct spn_value *ports = spn_value_new(a, SPN_ARRAY);
        spn_value_push(a, ports, port);
        spn_value_set(a, s, "ports", ports);
    }
    spn_value_push(a, subsets, s);
}

static void add_pod(struct spn_arena *a, struct spn_value *subsets, const struct spn_value *service,
                    const struct spn_value *pod)
{
    const struct spn_value *ports = spn_value_dig(service, "spec", "ports");
    const struct spn_value *address = address_of(a, service, pod);
    bool is_ready = service_publishes_unready(service) || pod_is_ready(pod);
    int64_t number;
    if (!address)
        return;
    if (!spn_value_count(ports) && service_says_none(service))
        add_subset(a, subsets, address, NULL, is_ready);
    for (size_t i = 0; i < spn_value_count(ports); i++)
        if (backend_port(pod, spn_value_at(ports, i), &number))
            add_subset(a, subsets, address, port_of(a, spn_value_at(ports, i), number), is_ready);
}

struct spn_value *subsets_of_pods(struct spn_arena *a, const struct spn_value *service,
                                  const struct spn_value *const *pods, size_t n_pods)
{
    struct spn_value *subsets = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < n_pods; i++)
        if (backend_counts(pods[i], service_publishes_unready(service)))
            add_pod(a, subsets, service, pods[i]);
    return subsets_repacked(a, subsets);
}

/* ---- Not too many ---- */

static size_t total_of(const struct spn_value *subsets, const char *key)
{
    size_t n = 0;
    for (size_t i = 0; i < spn_value_count(subsets); i++)
        n += spn_value_count(spn_value_get(spn_value_at(subsets, i), key));
    return n;
}

static void shorten(struct spn_arena *a, struct spn_value *subset, const char *key, size_t n)
{
    struct spn_value *list = spn_value_edit(a, subset, key);
    while (list && spn_value_count(list) > n)
        spn_value_remove_at(a, list, spn_value_count(list) - 1);
    if (list && n == 0)
        spn_value_remove(a, subset, key);
}

/* Each subset keeps its share. Ready ones stay before those that are not. */
static bool truncate(struct spn_arena *a, struct spn_value *subsets)
{
    size_t ready = total_of(subsets, "addresses");
    size_t unready = total_of(subsets, "notReadyAddresses");
    if (ready + unready <= CAPACITY)
        return false;
    bool cuts_ready = ready > CAPACITY;
    const char *key = cuts_ready ? "addresses" : "notReadyAddresses";
    size_t max = cuts_ready ? CAPACITY : CAPACITY - ready, total = cuts_ready ? ready : unready;
    size_t left = max;
    for (size_t i = 0; i < spn_value_count(subsets); i++) {
        struct spn_value *s = spn_value_edit_at(a, subsets, i);
        size_t has = spn_value_count(spn_value_get(s, key));
        size_t share = (size_t)ceil((double)has / (double)total * (double)max);
        share = share < left ? share : left;
        shorten(a, s, key, share);
        if (cuts_ready)
            shorten(a, s, "notReadyAddresses", 0);
        left -= has < share ? has : share;
    }
    return true;
}

/* ---- The object ---- */

static bool labels_are_right(const struct spn_value *now, const struct spn_value *wanted)
{
    size_t extra = 0;
    for (size_t i = 0; i < spn_value_count(now); i++) {
        struct spn_text key = spn_value_key_at(now, i);
        if (spn_text_eq(key, SPN_TEXT(HEADLESS)) || spn_text_eq(key, SPN_TEXT(MANAGED_BY)))
            extra++;
        else if (!spn_value_eq(spn_value_at(now, i), spn_value_get_text(wanted, key)))
            return false;
    }
    return spn_text_eq(spn_value_text(spn_value_get(now, MANAGED_BY)), SPN_TEXT(MANAGER)) &&
           spn_value_count(wanted) == spn_value_count(now) - extra;
}

static bool is_right(struct spn_arena *a, const struct spn_value *service,
                     const struct spn_value *now, const struct spn_value *subsets)
{
    const struct spn_value *has = spn_value_get(now, "subsets");
    bool is_over = spn_value_dig(now, "metadata", "annotations", OVER_CAPACITY);
    return spn_value_eq(subsets_repacked(a, has), subsets) &&
           labels_are_right(spn_value_dig(now, "metadata", "labels"),
                            spn_value_dig(service, "metadata", "labels")) &&
           total_of(has, "addresses") + total_of(has, "notReadyAddresses") <= CAPACITY && !is_over;
}

static void set_labels(struct spn_arena *a, struct spn_value *meta, const struct spn_value *service)
{
    const struct spn_value *given = spn_value_dig(service, "metadata", "labels");
    struct spn_value *labels = given ? spn_value_copy(a, given) : spn_value_new(a, SPN_OBJECT);
    if (service_has_ip(service))
        spn_value_remove(a, labels, HEADLESS);
    else
        spn_value_set_text(a, labels, HEADLESS, SPN_TEXT(""));
    spn_value_set_text(a, labels, MANAGED_BY, SPN_TEXT(MANAGER));
    spn_value_set(a, meta, "labels", labels);
}

static struct spn_value *new_endpoints(struct spn_arena *a, const struct spn_value *service)
{
    struct spn_value *e = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, e, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, e, "kind", SPN_TEXT("Endpoints"));
    struct spn_value *meta = spn_value_ensure(a, e, "metadata");
    spn_value_set_text(a, meta, "name", spn_value_text(spn_value_dig(service, "metadata", "name")));
    spn_value_set_text(a, meta, "namespace",
                       spn_value_text(spn_value_dig(service, "metadata", "namespace")));
    return e;
}

struct spn_value *subsets_wanted(struct spn_arena *a, const struct spn_value *service,
                                 const struct spn_value *now, struct spn_value *subsets,
                                 struct spn_text trigger_time)
{
    if (now && is_right(a, service, now, subsets))
        return NULL;
    struct spn_value *e = now ? spn_value_copy(a, now) : new_endpoints(a, service);
    struct spn_value *meta = spn_value_ensure(a, e, "metadata");
    set_labels(a, meta, service);
    struct spn_value *notes = spn_value_ensure(a, meta, "annotations");
    spn_value_set_text(a, notes, TRIGGER_TIME, trigger_time);
    if (truncate(a, subsets))
        spn_value_set_text(a, notes, OVER_CAPACITY, SPN_TEXT("truncated"));
    else
        spn_value_remove(a, notes, OVER_CAPACITY);
    spn_value_set(a, e, "subsets", subsets);
    return e;
}
