/* dns_zone.c - see its header. */
#include "dns/dns_zone.h"

#include <string.h>

#include "api/ip.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "base/banned.h"

#define SERVICE_LABEL "kubernetes.io/service-name"

enum { SRV_WEIGHT = 100, CLASS_IN = 1, ALIASES_MAX = 8 };

/* ---- Indices ---- */

static void index_address(const struct spn_value *text, struct spn_index_values *out)
{
    struct ip ip;
    char canonical[IP_TEXT_MAX];
    if (ip_parse(str_in(spn_value_text(text)), &ip))
        spn_index_put(out, text_out(ip_format(&ip, canonical)));
}

static void service_ips(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *ips = spn_value_dig(spn_object_value(o, a), "spec", "clusterIPs");
    for (size_t i = 0; i < spn_value_count(ips); i++)
        index_address(spn_value_at(ips, i), out);
}

static void slice_service(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_index_values *out)
{
    (void)arg;
    struct spn_text ns = spn_object_namespace(o), name = spn_object_label(o, a, SERVICE_LABEL);
    if (name.n)
        spn_index_put(out, spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name)));
}

static void slice_ips(void *arg, const struct spn_object *o, struct spn_arena *a,
                      struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *endpoints = spn_value_get(spn_object_value(o, a), "endpoints");
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        const struct spn_value *ips = spn_value_get(spn_value_at(endpoints, i), "addresses");
        for (size_t k = 0; k < spn_value_count(ips); k++)
            index_address(spn_value_at(ips, k), out);
    }
}

void dns_zone_add_indices(const struct dns_zone *z)
{
    (void)spn_cache_add_index(z->services, "ip", service_ips, NULL, NULL);
    (void)spn_cache_add_index(z->slices, "service", slice_service, NULL, NULL);
    (void)spn_cache_add_index(z->slices, "ip", slice_ips, NULL, NULL);
}

/* ---- An answer in the making ---- */

struct making {
    const struct dns_zone *zone;
    struct arena *arena;
    const struct dns_question *question;
    struct dns_reply *reply;
    struct dns_name asked; /* the question's name, or what an alias leads to */
    bool exists;           /* the name does, whatever is known of it */
    unsigned n_aliases;
};

static bool wants(const struct making *m, uint16_t type)
{
    return m->question->type == type;
}

/* `prefix` labels in front of a name. */
static struct dns_name name_with(struct arena *a, const struct str *prefix, size_t n,
                                 struct dns_name rest)
{
    struct str *labels = arena_array(a, struct str, n + rest.n + 1);
    memcpy(labels, prefix, n * sizeof(*labels));
    if (rest.n)
        memcpy(labels + n, rest.labels, rest.n * sizeof(*labels));
    return (struct dns_name){ labels, n + rest.n };
}

static void add(const struct making *m, struct dns_records *to, struct dns_record r)
{
    r.ttl = m->zone->ttl;
    dns_records_add(m->arena, to, &r);
}

static void add_start_of_authority(const struct making *m, struct dns_records *to)
{
    const struct str ns[] = { STR("ns"), STR("dns") };
    add(m, to,
        (struct dns_record){ .name = m->zone->name,
                             .type = DNS_SOA,
                             .serial = 1,
                             .target = name_with(m->arena, ns, ARRAY_LEN(ns), m->zone->name) });
}

static bool address_of(const struct spn_value *text, struct arena *a, uint16_t *ret_type,
                       struct str *ret)
{
    struct ip ip;
    if (!ip_parse(str_in(spn_value_text(text)), &ip))
        return false;
    const bool is_four = ip.is_v4 || ip.is_mapped;
    *ret_type = is_four ? DNS_A : DNS_AAAA;
    *ret = arena_str(a, (struct str){ (const char *)ip.bytes, is_four ? 4 : 16 });
    return true;
}

static void add_address(const struct making *m, struct dns_records *to, struct dns_name name,
                        const struct spn_value *text)
{
    struct dns_record r = { .name = name };
    if (address_of(text, m->arena, &r.type, &r.bytes))
        add(m, to, r);
}

/* ---- Services ---- */

/* What the labels in front of NAMESPACE.svc say. */
struct wanted {
    struct str service, ns;
    struct str host;           /* empty: all */
    struct str port, protocol; /* empty: all */
    struct dns_name name;      /* of the service */
};

static struct spn_text service_key(const struct making *m, const struct wanted *w)
{
    return text_out(
        arena_printf(m->arena, STR_FMT "/" STR_FMT, STR_ARG(w->ns), STR_ARG(w->service)));
}

static bool is_port(const struct wanted *w, const struct spn_value *port)
{
    struct str protocol = str_in(spn_value_text(spn_value_get(port, "protocol")));
    if (!w->port.n)
        return true;
    return str_eq_nocase(str_in(spn_value_text(spn_value_get(port, "name"))), w->port) &&
           str_eq_nocase(protocol.n ? protocol : STR("TCP"), w->protocol);
}

static void add_service_port(const struct making *m, const struct spn_value *port,
                             struct dns_name target)
{
    int64_t number = 0;
    (void)spn_value_int(spn_value_get(port, "port"), &number);
    add(m, &m->reply->answers,
        (struct dns_record){ .name = m->question->name,
                             .type = DNS_SRV,
                             .weight = SRV_WEIGHT,
                             .port = (uint16_t)number,
                             .target = target });
}

/* How many of the ports are meant; SRV records for them, if these are asked for. */
static size_t take_ports(const struct making *m, const struct wanted *w,
                         const struct spn_value *ports, struct dns_name target)
{
    size_t n = 0;
    for (size_t i = 0; i < spn_value_count(ports); i++) {
        const struct spn_value *port = spn_value_at(ports, i);
        if (!is_port(w, port))
            continue;
        n++;
        if (wants(m, DNS_SRV))
            add_service_port(m, port, target);
    }
    return n;
}

/* All records of one SRV answer share the load evenly. */
static void share_weight(struct dns_records *answers)
{
    size_t n = 0;
    for (size_t i = 0; i < answers->n; i++)
        n += answers->list[i].type == DNS_SRV;
    for (size_t i = 0; i < answers->n; i++)
        if (answers->list[i].type == DNS_SRV)
            answers->list[i].weight = (uint16_t)(n < SRV_WEIGHT ? SRV_WEIGHT / n : 1);
}

static void add_cluster_ips(struct making *m, const struct wanted *w, const struct spn_value *spec)
{
    const struct spn_value *ips = spn_value_get(spec, "clusterIPs");
    if (take_ports(m, w, spn_value_get(spec, "ports"), w->name) == 0 && w->port.n)
        return;
    m->exists = true;
    for (size_t i = 0; i < spn_value_count(ips); i++) {
        const struct spn_value *ip = spn_value_at(ips, i);
        if (wants(m, DNS_SRV))
            add_address(m, &m->reply->additional, w->name, ip);
        else
            add_address(m, &m->reply->answers, m->asked, ip);
    }
}

/* The host name of an endpoint, or its address with dashes. */
static struct str host_of(struct arena *a, const struct spn_value *endpoint,
                          const struct spn_value *address)
{
    struct str name = str_in(spn_value_text(spn_value_get(endpoint, "hostname")));
    if (name.n)
        return name;
    struct str ip = str_in(spn_value_text(address));
    char *dashed = arena_alloc(a, ip.n + 1, 1);
    for (size_t i = 0; i < ip.n; i++)
        dashed[i] = (char)(ip.p[i] == '.' || ip.p[i] == ':' ? '-' : ip.p[i]);
    return (struct str){ dashed, ip.n };
}

static bool is_ready(const struct spn_value *endpoint)
{
    const struct spn_value *ready = spn_value_dig(endpoint, "conditions", "ready");
    return spn_value_type(ready) == SPN_NULL || spn_value_is_true(ready);
}

static void add_endpoint(struct making *m, const struct wanted *w, const struct spn_value *ports,
                         const struct spn_value *endpoint, const struct spn_value *address)
{
    const struct str host = host_of(m->arena, endpoint, address);
    if (w->host.n && !str_eq_nocase(host, w->host))
        return;
    const struct dns_name name = name_with(m->arena, &host, 1, w->name);
    if (take_ports(m, w, ports, name) == 0 && w->port.n)
        return;
    m->exists = true;
    if (wants(m, DNS_SRV))
        add_address(m, &m->reply->additional, name, address);
    else
        add_address(m, &m->reply->answers, m->asked, address);
}

static void add_slice(struct making *m, const struct wanted *w, const struct spn_value *slice)
{
    const struct spn_value *endpoints = spn_value_get(slice, "endpoints");
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        const struct spn_value *endpoint = spn_value_at(endpoints, i);
        const struct spn_value *addresses = spn_value_get(endpoint, "addresses");
        if (!is_ready(endpoint))
            continue;
        for (size_t k = 0; k < spn_value_count(addresses); k++)
            add_endpoint(m, w, spn_value_get(slice, "ports"), endpoint, spn_value_at(addresses, k));
    }
}

static void add_endpoints(struct making *m, const struct wanted *w)
{
    struct spn_objects slices = { 0 };
    if (spn_cache_by_index(m->zone->slices, "service", service_key(m, w), &slices, NULL) < 0)
        return;
    for (size_t i = 0; i < slices.n; i++)
        add_slice(m, w, spn_object_value(slices.items[i], arena_out(m->arena)));
    spn_objects_done(&slices);
}

static enum dns_zone_verdict answer_name(struct making *m);

/* An alias is followed as long as it stays in the zone. */
static enum dns_zone_verdict add_alias(struct making *m, const struct wanted *w, struct str to)
{
    struct dns_name target, rest;
    if (w->host.n || w->port.n || !dns_name_parse(m->arena, to, &target) || !target.n)
        return DNS_ZONE_ANSWERED;
    m->exists = true;
    if (!wants(m, DNS_A) && !wants(m, DNS_AAAA) && !wants(m, DNS_CNAME))
        return DNS_ZONE_ANSWERED;
    add(m, &m->reply->answers,
        (struct dns_record){ .name = m->asked, .type = DNS_CNAME, .target = target });
    if (wants(m, DNS_CNAME) || ++m->n_aliases > ALIASES_MAX)
        return DNS_ZONE_ANSWERED;
    m->asked = target;
    return dns_name_below(target, m->zone->name, &rest) ? answer_name(m) : DNS_ZONE_ALIAS;
}

static bool is_headless(const struct spn_value *spec)
{
    return spn_text_eq(spn_value_text(spn_value_get(spec, "clusterIP")), SPN_TEXT("None"));
}

static enum dns_zone_verdict answer_service(struct making *m, const struct wanted *w)
{
    struct spn_object *o = spn_cache_get(m->zone->services, service_key(m, w));
    if (!o)
        return DNS_ZONE_ANSWERED;
    enum dns_zone_verdict verdict = DNS_ZONE_ANSWERED;
    const struct spn_value *spec = spn_value_get(spn_object_value(o, arena_out(m->arena)), "spec");
    if (spn_text_eq(spn_value_text(spn_value_get(spec, "type")), SPN_TEXT("ExternalName")))
        verdict = add_alias(m, w, str_in(spn_value_text(spn_value_get(spec, "externalName"))));
    else if (is_headless(spec) || w->host.n)
        add_endpoints(m, w);
    else
        add_cluster_ips(m, w, spec);
    spn_object_unref(o);
    return verdict;
}

/* ---- Names ---- */

static bool has_namespace(const struct dns_zone *z, struct str ns)
{
    struct spn_object *o = spn_cache_get(z->namespaces, text_out(ns));
    spn_object_unref(o);
    return o != NULL;
}

/* Without its leading underscore; empty if it has none. */
static struct str service_word(struct str label)
{
    return str_starts(label, STR("_")) ? str_skip(label, 1) : STR("");
}

/* `front` is what stands before NAMESPACE.svc.ZONE. */
static enum dns_zone_verdict answer_below_svc(struct making *m, struct dns_name front,
                                              struct str ns)
{
    struct wanted w = { .service = front.labels[front.n - 1], .ns = ns };
    w.name = (struct dns_name){ m->asked.labels + (front.n - 1), m->asked.n - (front.n - 1) };
    if (front.n == 2)
        w.host = front.labels[0];
    if (front.n == 3) {
        w.port = service_word(front.labels[0]);
        w.protocol = service_word(front.labels[1]);
        if (!w.port.n || !w.protocol.n)
            return DNS_ZONE_ANSWERED;
    }
    return front.n > 3 ? DNS_ZONE_ANSWERED : answer_service(m, &w);
}

/* 10-0-0-1, or 2001-db8--1. */
static void answer_below_pod(struct making *m, struct dns_name front)
{
    static const char separators[] = { '.', ':' };
    for (size_t i = 0; i < sizeof(separators) && front.n == 1; i++) {
        struct str dashed = front.labels[0];
        char *text = arena_alloc(m->arena, dashed.n + 1, 1);
        for (size_t k = 0; k < dashed.n; k++)
            text[k] = (char)(dashed.p[k] == '-' ? separators[i] : dashed.p[k]);
        struct spn_value *ip =
            spn_value_new_text(arena_out(m->arena), (struct spn_text){ text, dashed.n });
        struct dns_record r = { 0 };
        if (!address_of(ip, m->arena, &r.type, &r.bytes))
            continue;
        m->exists = true;
        add_address(m, &m->reply->answers, m->asked, ip);
        return;
    }
}

static void answer_apex(struct making *m)
{
    const struct str ns[] = { STR("ns"), STR("dns") };
    m->exists = true;
    if (wants(m, DNS_SOA))
        add_start_of_authority(m, &m->reply->answers);
    if (wants(m, DNS_NS))
        add(m, &m->reply->answers,
            (struct dns_record){ .name = m->asked,
                                 .type = DNS_NS,
                                 .target = name_with(m->arena, ns, 2, m->zone->name) });
}

/* The names of this server itself. False: it is none of them. */
static bool answer_own(struct making *m, struct dns_name rest)
{
    if (rest.n == 1 && str_eq(rest.labels[0], STR("dns-version"))) {
        m->exists = true;
        add(m, &m->reply->answers,
            (struct dns_record){ .name = m->asked, .type = DNS_TXT, .bytes = STR("1.1.0") });
        return true;
    }
    if (!str_eq(rest.labels[rest.n - 1], STR("dns")))
        return false;
    m->exists = rest.n == 1 || (rest.n == 2 && str_eq(rest.labels[0], STR("ns")));
    for (size_t i = 0; rest.n == 2 && m->exists && i < ARRAY_LEN(m->zone->own); i++)
        if (m->zone->own[i].n)
            add(m, &m->reply->answers,
                (struct dns_record){ .name = m->asked,
                                     .type = i == 0 ? DNS_A : DNS_AAAA,
                                     .bytes = m->zone->own[i] });
    return true;
}

static enum dns_zone_verdict answer_name(struct making *m)
{
    struct dns_name rest;
    m->exists = false;
    (void)dns_name_below(m->asked, m->zone->name, &rest);
    if (!rest.n) {
        answer_apex(m);
        return DNS_ZONE_ANSWERED;
    }
    if (answer_own(m, rest))
        return DNS_ZONE_ANSWERED;
    const bool is_svc = str_eq(rest.labels[rest.n - 1], STR("svc"));
    if (!is_svc && !str_eq(rest.labels[rest.n - 1], STR("pod")))
        return DNS_ZONE_ANSWERED;
    m->exists = rest.n == 1 || (rest.n == 2 && has_namespace(m->zone, rest.labels[0]));
    if (rest.n < 3 || !has_namespace(m->zone, rest.labels[rest.n - 2]))
        return DNS_ZONE_ANSWERED;
    const struct dns_name front = { rest.labels, rest.n - 2 };
    if (is_svc)
        return answer_below_svc(m, front, rest.labels[rest.n - 2]);
    answer_below_pod(m, front);
    return DNS_ZONE_ANSWERED;
}

/* Only what was asked for, and aliases. */
static void keep_type(const struct making *m, struct dns_records *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].type == m->question->type || all->list[i].type == DNS_CNAME)
            all->list[n++] = all->list[i];
    all->n = n;
}

/* Clients take the first address: each question, whose id is random, begins with another one. */
static void take_turns(const struct making *m, struct dns_records *all)
{
    size_t first = 0;
    while (first < all->n && all->list[first].type == DNS_CNAME)
        first++;
    const size_t n = all->n - first;
    if (n < 2)
        return;
    struct dns_record *turned = arena_array(m->arena, struct dns_record, n);
    for (size_t i = 0; i < n; i++)
        turned[i] = all->list[first + (i + m->question->id) % n];
    memcpy(all->list + first, turned, n * sizeof(*turned));
}

static enum dns_zone_verdict answer_zone(struct making *m)
{
    enum dns_zone_verdict verdict = answer_name(m);
    keep_type(m, &m->reply->answers);
    take_turns(m, &m->reply->answers);
    share_weight(&m->reply->answers);
    if (verdict == DNS_ZONE_ANSWERED && !m->exists)
        m->reply->code = DNS_NO_NAME;
    if (verdict == DNS_ZONE_ANSWERED && (!m->exists || !m->reply->answers.n))
        add_start_of_authority(m, &m->reply->authority);
    return verdict;
}

/* ---- Addresses to names ---- */

/* 1.0.0.10.in-addr.arpa: numbers from the last to the first. */
static struct str reversed(struct arena *a, struct dns_name front, bool is_four)
{
    autobuf text = { 0 };
    if (front.n != (is_four ? 4 : 32))
        return STR("");
    for (size_t i = front.n; i-- > 0;) {
        buf_str_add(&text, front.labels[i]);
        if (i && (is_four || i % 4 == 0))
            buf_byte(&text, is_four ? '.' : ':');
    }
    struct ip ip;
    char canonical[IP_TEXT_MAX];
    return ip_parse(buf_str(&text), &ip) ? arena_str(a, ip_format(&ip, canonical)) : STR("");
}

static void add_pointer(struct making *m, const struct str *front, size_t n)
{
    const struct dns_name target = name_with(m->arena, front, n, m->zone->name);
    add(m, &m->reply->answers,
        (struct dns_record){ .name = m->asked, .type = DNS_PTR, .target = target });
}

static void add_service_names(struct making *m, struct str ip)
{
    struct spn_objects found = { 0 };
    if (spn_cache_by_index(m->zone->services, "ip", text_out(ip), &found, NULL) < 0)
        return;
    for (size_t i = 0; i < found.n; i++) {
        const struct str front[] = {
            arena_str(m->arena, str_in(spn_object_name(found.items[i]))),
            arena_str(m->arena, str_in(spn_object_namespace(found.items[i]))), STR("svc")
        };
        add_pointer(m, front, ARRAY_LEN(front));
    }
    spn_objects_done(&found);
}

static void add_slice_names(struct making *m, const struct spn_object *o, struct str ip)
{
    struct spn_arena *a = arena_out(m->arena);
    const struct spn_value *endpoints = spn_value_get(spn_object_value(o, a), "endpoints");
    const struct str service = str_in(spn_object_label(o, a, SERVICE_LABEL));
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        const struct spn_value *endpoint = spn_value_at(endpoints, i);
        const struct spn_value *addresses = spn_value_get(endpoint, "addresses");
        for (size_t k = 0; k < spn_value_count(addresses); k++) {
            const struct spn_value *address = spn_value_at(addresses, k);
            if (!str_eq(str_in(spn_value_text(address)), ip))
                continue;
            const struct str front[] = { host_of(m->arena, endpoint, address), service,
                                         arena_str(m->arena, str_in(spn_object_namespace(o))),
                                         STR("svc") };
            add_pointer(m, front, ARRAY_LEN(front));
        }
    }
}

static void add_endpoint_names(struct making *m, struct str ip)
{
    struct spn_objects found = { 0 };
    if (spn_cache_by_index(m->zone->slices, "ip", text_out(ip), &found, NULL) < 0)
        return;
    for (size_t i = 0; i < found.n; i++)
        add_slice_names(m, found.items[i], ip);
    spn_objects_done(&found);
}

/* Addresses that are not the cluster's are asked of others. */
static enum dns_zone_verdict answer_reverse(struct making *m, struct dns_name front, bool is_four)
{
    const struct str ip = reversed(m->arena, front, is_four);
    if (!ip.n || !wants(m, DNS_PTR))
        return DNS_ZONE_FOREIGN;
    add_service_names(m, ip);
    if (!m->reply->answers.n)
        add_endpoint_names(m, ip);
    return m->reply->answers.n ? DNS_ZONE_ANSWERED : DNS_ZONE_FOREIGN;
}

enum dns_zone_verdict dns_zone_answer(const struct dns_zone *z, struct arena *a,
                                      const struct dns_question *q, struct dns_reply *ret)
{
    static const struct str four[] = { STR("in-addr"), STR("arpa") };
    static const struct str six[] = { STR("ip6"), STR("arpa") };
    struct making m = { .zone = z, .arena = a, .question = q, .reply = ret, .asked = q->name };
    struct dns_name front;
    *ret = (struct dns_reply){ .is_ours = true, .recurses = true };
    if (q->class != CLASS_IN) {
        ret->code = DNS_REFUSED;
        return DNS_ZONE_ANSWERED;
    }
    if (dns_name_below(q->name, z->name, &front))
        return answer_zone(&m);
    if (dns_name_below(q->name, (struct dns_name){ four, 2 }, &front))
        return answer_reverse(&m, front, true);
    if (dns_name_below(q->name, (struct dns_name){ six, 2 }, &front))
        return answer_reverse(&m, front, false);
    return DNS_ZONE_FOREIGN;
}
