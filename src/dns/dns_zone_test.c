/* A small cluster, and what its names mean. */
#include "dns/dns_zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "client/bridge.h"

static struct arena arena;
static struct dns_zone zone;

static const char *const namespaces[] = { "default", "shop" };
static const char *const services[] = {
    "{'metadata':{'name':'web','namespace':'shop'},'spec':{'type':'ClusterIP','clusterIP':'10.96.0."
    "7',"
    "'clusterIPs':['10.96.0.7','fd00::7'],'ports':[{'name':'http','port':80,'protocol':'TCP'},"
    "{'name':'dns','port':53,'protocol':'UDP'}]}}",
    "{'metadata':{'name':'db','namespace':'shop'},'spec':{'clusterIP':'None','clusterIPs':['None'],"
    "'ports':[{'name':'pg','port':5432}]}}",
    "{'metadata':{'name':'empty','namespace':'shop'},'spec':{'clusterIP':'None','clusterIPs':['"
    "None']}}",
    "{'metadata':{'name':'out','namespace':'shop'},'spec':{'type':'ExternalName',"
    "'externalName':'www.example.com'}}",
    "{'metadata':{'name':'in','namespace':'shop'},'spec':{'type':'ExternalName',"
    "'externalName':'web.shop.svc.cluster.local'}}",
    "{'metadata':{'name':'circle','namespace':'shop'},'spec':{'type':'ExternalName',"
    "'externalName':'circle.shop.svc.cluster.local'}}",
};
static const char *const slices[] = {
    "{'metadata':{'name':'db-1','namespace':'shop','labels':{'kubernetes.io/service-name':'db'}},"
    "'addressType':'IPv4','ports':[{'name':'pg','port':5432,'protocol':'TCP'}],'endpoints':["
    "{'addresses':['10.1.0.1'],'hostname':'db-0','conditions':{'ready':true}},"
    "{'addresses':['10.1.0.2'],'conditions':{}},"
    "{'addresses':['10.1.0.3'],'hostname':'db-2','conditions':{'ready':false}}]}",
    "{'metadata':{'name':'db-2','namespace':'shop','labels':{'kubernetes.io/service-name':'db'}},"
    "'addressType':'IPv6','ports':[{'name':'pg','port':5432,'protocol':'TCP'}],'endpoints':["
    "{'addresses':['fd00::1'],'hostname':'db-0','conditions':{'ready':true}}]}",
    "{'metadata':{'name':'web-1','namespace':'shop','labels':{'kubernetes.io/service-name':'web'}},"
    "'addressType':'IPv4','ports':[{'name':'http','port':8080,'protocol':'TCP'}],'endpoints':["
    "{'addresses':['10.1.0.9'],'conditions':{'ready':true}}]}",
};

static void put(struct spn_cache *cache, const char *text)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_text json = spn_arena_text(a, spn_text_of(text));
    struct spn_value *v;
    struct spn_object *o;
    for (char *p = (char *)json.p; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_int_equal(spn_value_read_json(a, json, &v, NULL), 0);
    assert_int_equal(spn_object_new(v, &o, NULL), 0);
    spn_cache_put(cache, o, NULL);
    spn_object_unref(o);
    spn_arena_free(a);
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    zone = (struct dns_zone){ .ttl = 30,
                              .own = { STR("\x0a\x60\0\x0a") },
                              .services = spn_cache_new(),
                              .slices = spn_cache_new(),
                              .namespaces = spn_cache_new() };
    assert_true(dns_name_parse(&arena, STR("cluster.local"), &zone.name));
    dns_zone_add_indices(&zone);
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        put(zone.namespaces,
            arena_printf(&arena, "{'metadata':{'name':'%s'}}%c", namespaces[i], 0).p);
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        put(zone.services, services[i]);
    for (size_t i = 0; i < ARRAY_LEN(slices); i++)
        put(zone.slices, slices[i]);
    return 0;
}

static int end(void **state)
{
    (void)state;
    spn_cache_free(zone.services);
    spn_cache_free(zone.slices);
    spn_cache_free(zone.namespaces);
    arena_done(&arena);
    return 0;
}

static void add_words(struct buf *out, const struct dns_record *r)
{
    const unsigned char *b = (const unsigned char *)r->bytes.p;
    if (out->n)
        buf_byte(out, ' ');
    if (r->type == DNS_A)
        buf_printf(out, "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
    else if (r->type == DNS_AAAA)
        buf_printf(out, "%02x%02x::%x", b[0], b[1], b[15]);
    else if (r->type == DNS_TXT)
        buf_str_add(out, r->bytes);
    else if (r->type == DNS_SRV)
        buf_printf(out, "%d:%d:", r->weight, r->port);
    if (r->type != DNS_A && r->type != DNS_AAAA && r->type != DNS_TXT)
        buf_str_add(out, dns_name_text(&arena, r->target));
}

static const struct {
    const char *name;
    uint16_t type;
    enum dns_zone_verdict verdict;
    enum dns_code code;
    const char *answers; /* in any order */
} names[] = {
    { "web.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.96.0.7" },
    { "WEB.Shop.svc.Cluster.Local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.96.0.7" },
    { "web.shop.svc.cluster.local", DNS_AAAA, DNS_ZONE_ANSWERED, DNS_OK, "fd00::7" },
    { "web.shop.svc.cluster.local", DNS_TXT, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "web.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_OK,
      "50:80:web.shop.svc.cluster.local. 50:53:web.shop.svc.cluster.local." },
    { "_http._tcp.web.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_OK,
      "100:80:web.shop.svc.cluster.local." },
    { "_http._tcp.web.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.96.0.7" },
    { "_http._udp.web.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "_none._tcp.web.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "http.tcp.web.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "10-1-0-9.web.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.1.0.9" },
    { "web.default.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "web.absent.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    /* headless */
    { "db.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.1.0.1 10.1.0.2" },
    { "db.shop.svc.cluster.local", DNS_AAAA, DNS_ZONE_ANSWERED, DNS_OK, "fd00::1" },
    { "db-0.db.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.1.0.1" },
    { "10-1-0-2.db.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.1.0.2" },
    { "10-1-0-2.db.shop.svc.cluster.local", DNS_AAAA, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "db-2.db.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "_pg._tcp.db.shop.svc.cluster.local", DNS_SRV, DNS_ZONE_ANSWERED, DNS_OK,
      "33:5432:db-0.db.shop.svc.cluster.local. 33:5432:10-1-0-2.db.shop.svc.cluster.local. "
      "33:5432:db-0.db.shop.svc.cluster.local." },
    { "empty.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    /* aliases */
    { "out.shop.svc.cluster.local", DNS_A, DNS_ZONE_ALIAS, DNS_OK, "www.example.com." },
    { "out.shop.svc.cluster.local", DNS_CNAME, DNS_ZONE_ANSWERED, DNS_OK, "www.example.com." },
    { "out.shop.svc.cluster.local", DNS_TXT, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "in.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK,
      "web.shop.svc.cluster.local. 10.96.0.7" },
    /* pods */
    { "10-1-0-1.shop.pod.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.1.0.1" },
    { "10-1-0-1.shop.pod.cluster.local", DNS_AAAA, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "fd00--1.shop.pod.cluster.local", DNS_AAAA, DNS_ZONE_ANSWERED, DNS_OK, "fd00::1" },
    { "10-1-0.shop.pod.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "10-1-0-1.absent.pod.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "a.10-1-0-1.shop.pod.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    /* what lies between */
    { "shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "absent.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "" },
    { "cluster.local", DNS_NS, DNS_ZONE_ANSWERED, DNS_OK, "ns.dns.cluster.local." },
    { "cluster.local", DNS_SOA, DNS_ZONE_ANSWERED, DNS_OK, "ns.dns.cluster.local." },
    { "ns.dns.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_OK, "10.96.0.10" },
    { "dns-version.cluster.local", DNS_TXT, DNS_ZONE_ANSWERED, DNS_OK, "1.1.0" },
    { "other.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    { "a.b.c.d.e.web.shop.svc.cluster.local", DNS_A, DNS_ZONE_ANSWERED, DNS_NO_NAME, "" },
    /* addresses */
    { "7.0.96.10.in-addr.arpa", DNS_PTR, DNS_ZONE_ANSWERED, DNS_OK, "web.shop.svc.cluster.local." },
    { "1.0.1.10.in-addr.arpa", DNS_PTR, DNS_ZONE_ANSWERED, DNS_OK,
      "db-0.db.shop.svc.cluster.local." },
    { "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa", DNS_PTR,
      DNS_ZONE_ANSWERED, DNS_OK, "web.shop.svc.cluster.local." },
    { "1.2.3.4.in-addr.arpa", DNS_PTR, DNS_ZONE_FOREIGN, DNS_OK, "" },
    { "300.0.96.10.in-addr.arpa", DNS_PTR, DNS_ZONE_FOREIGN, DNS_OK, "" },
    { "0.96.10.in-addr.arpa", DNS_PTR, DNS_ZONE_FOREIGN, DNS_OK, "" },
    /* others' */
    { "www.example.com", DNS_A, DNS_ZONE_FOREIGN, DNS_OK, "" },
    { "local", DNS_A, DNS_ZONE_FOREIGN, DNS_OK, "" },
    { "", DNS_NS, DNS_ZONE_FOREIGN, DNS_OK, "" },
};

/* The same words, in any order. */
static bool has_words(struct str got, struct str wanted)
{
    bool has = got.n == wanted.n;
    while (has && wanted.n) {
        struct str word = str_cut(&wanted, ' ');
        has = memmem(got.p, got.n, word.p, word.n) != NULL;
    }
    return has;
}

static void each_name_means_what_it_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct dns_question q = { .type = names[i].type, .class = 1 };
        struct dns_reply reply;
        autobuf words = { 0 };
        assert_true(dns_name_parse(&arena, str_of(names[i].name), &q.name));
        enum dns_zone_verdict v = dns_zone_answer(&zone, &arena, &q, &reply);
        for (size_t k = 0; k < reply.answers.n; k++)
            add_words(&words, &reply.answers.list[k]);
        if (v != names[i].verdict || reply.code != names[i].code ||
            !has_words(buf_str(&words), str_of(names[i].answers)))
            fail_msg("%s (%d): verdict %d, code %d, " STR_FMT, names[i].name, names[i].type, (int)v,
                     (int)reply.code, STR_ARG(buf_str(&words)));
        if (v == DNS_ZONE_ANSWERED) /* who finds nothing is told for how long that is so */
            assert_int_equal(reply.authority.n, reply.answers.n == 0);
    }
}

static void a_circle_of_aliases_ends(void **state)
{
    struct dns_question q = { .type = DNS_A, .class = 1 };
    struct dns_reply reply;
    (void)state;
    assert_true(dns_name_parse(&arena, STR("circle.shop.svc.cluster.local"), &q.name));
    assert_int_equal(dns_zone_answer(&zone, &arena, &q, &reply), DNS_ZONE_ANSWERED);
    assert_true(reply.answers.n < 20);
}

static void addresses_take_turns(void **state)
{
    struct dns_question q = { .type = DNS_A, .class = 1 };
    struct dns_reply first, second;
    (void)state;
    assert_true(dns_name_parse(&arena, STR("db.shop.svc.cluster.local"), &q.name));
    (void)dns_zone_answer(&zone, &arena, &q, &first);
    q.id = 1;
    (void)dns_zone_answer(&zone, &arena, &q, &second);
    assert_true(str_eq(first.answers.list[0].bytes, second.answers.list[1].bytes));
    assert_true(str_eq(first.answers.list[1].bytes, second.answers.list[0].bytes));
}

static void targets_come_with_their_addresses(void **state)
{
    struct dns_question q = { .type = DNS_SRV, .class = 1 };
    struct dns_reply reply;
    (void)state;
    assert_true(dns_name_parse(&arena, STR("_pg._tcp.db.shop.svc.cluster.local"), &q.name));
    (void)dns_zone_answer(&zone, &arena, &q, &reply);
    assert_int_equal(reply.additional.n, 3);
    assert_true(dns_name_eq(reply.additional.list[0].name, reply.answers.list[0].target));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_means_what_it_should),
        cmocka_unit_test(a_circle_of_aliases_ends),
        cmocka_unit_test(addresses_take_turns),
        cmocka_unit_test(targets_come_with_their_addresses),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
