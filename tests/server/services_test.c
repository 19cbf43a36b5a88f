/* Addresses and node ports of Services, given and taken back by the registry over a store in
 * memory, from one thread and from many. */
#include "plane.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "server/registry/registry_internal.h"

/* In double quotes, as all here. */
static struct value service(const struct call *c, const char *name, const char *spec)
{
    return plane_object(
        c, arena_printf(c->arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":%s}", name, spec).p);
}

/* The Service as it was created, or what was said instead. */
static int create(struct plane *p, struct arena *a, const char *name, const char *spec,
                  bool dry_run, struct value *ret, struct str *ret_msg)
{
    struct err err = ERR_INIT(a);
    struct call c = plane_call(p, a, "", "services");
    *ret = service(&c, name, spec);
    int r = registry_create(&c, dry_run, ret, &err);
    *ret_msg = err.msg;
    return r;
}

static struct value created(struct plane *p, const char *name, const char *spec)
{
    struct value obj;
    struct str msg;
    int r = create(p, &p->arena, name, spec, false, &obj, &msg);
    if (r < 0)
        print_error(STR_FMT "\n", STR_ARG(msg));
    assert_int_equal(r, 0);
    return obj;
}

static int take_arg(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                    struct err *err)
{
    (void)now;
    (void)err;
    *ret = value_borrow(u->arg);
    return 0;
}

static int update(struct plane *p, const char *name, const char *spec, struct value *ret,
                  struct str *ret_msg)
{
    struct err err = ERR_INIT(&p->arena);
    struct call c = plane_call(p, &p->arena, "", "services");
    struct value obj = service(&c, name, spec);
    struct registry_update u = { .change = take_arg, .arg = &obj };
    int r = registry_update(&c, str_of(name), &u, ret, &err);
    *ret_msg = err.msg;
    return r;
}

static void delete (struct plane *p, const char *name)
{
    struct err err = ERR_INIT(&p->arena);
    struct call c = plane_call(p, &p->arena, "", "services");
    struct delete_options o = { .grace = -1 };
    struct value obj;
    bool gone;
    assert_int_equal(registry_delete(&c, str_of(name), &o, &obj, &gone, &err), 0);
    assert_true(gone);
}

static uint64_t count_keys(struct plane *p, const char *prefix)
{
    struct store_snap *snap;
    uint64_t n;
    assert_int_equal(store_snap_begin(p->api.store, 0, &snap, NULL), 0);
    assert_int_equal(store_count(snap, str_of(prefix), STR(""), &n, NULL), 0);
    store_snap_end(snap);
    return n;
}

#define IPS(p)   count_keys((p), "/registry/ipaddresses/")
#define PORTS(p) count_keys((p), "/registry/ranges/servicenodeports/")

static struct str ip_of(const struct value *obj)
{
    return value_str(value_dig(obj, "spec", "clusterIP"));
}

static int64_t node_port(const struct value *obj, size_t i)
{
    int64_t port = 0;
    (void)value_to_int(value_get(value_at(value_dig(obj, "spec", "ports"), i), STR("nodePort")),
                       &port);
    return port;
}

static void an_address_lasts_as_long_as_its_service(void **state)
{
    struct plane p;
    struct registry_entry address;
    plane_start(&p, "10.0.0.0/16", "30000-32767");
    (void)state;
    assert_int_equal(IPS(&p), 1); /* the API's own */
    struct value obj = created(&p, "a", "{\"ports\":[{\"port\":80}]}");
    assert_true(str_starts(ip_of(&obj), STR("10.0.")));
    assert_true(str_eq(value_str(value_at(value_dig(&obj, "spec", "clusterIPs"), 0)), ip_of(&obj)));
    assert_true(str_eq(value_str(value_dig(&obj, "spec", "ipFamilyPolicy")), STR("SingleStack")));

    struct call c = plane_call(&p, &p.arena, "", "services");
    assert_int_equal(registry__read_other(&c, STR("networking.k8s.io"), STR("ipaddresses"), STR(""),
                                          ip_of(&obj), &address, NULL),
                     1);
    assert_true(str_eq(value_str(value_dig(&address.obj, "spec", "parentRef", "name")), STR("a")));
    assert_true(str_eq(value_str(value_dig(&address.obj, "spec", "parentRef", "resource")),
                       STR("services")));
    delete (&p, "a");
    assert_int_equal(IPS(&p), 1);
    plane_stop(&p);
}

static void a_particular_address_is_given_once(void **state)
{
    struct plane p;
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/16", "30000-32767");
    (void)state;
    const char *spec = "{\"clusterIP\":\"10.0.5.5\",\"ports\":[{\"port\":80}]}";
    obj = created(&p, "a", spec);
    assert_true(str_eq(ip_of(&obj), STR("10.0.5.5")));
    assert_int_equal(create(&p, &p.arena, "b", spec, false, &obj, &msg), -ERR_INVALID);
    assert_true(str_eq(msg, STR("Service \"b\" is invalid: spec.clusterIPs: Invalid value: "
                                "[\"10.0.5.5\"]: failed to allocate IP 10.0.5.5: provided IP is "
                                "already allocated")));
    assert_int_equal(create(&p, &p.arena, "b",
                            "{\"clusterIP\":\"10.1.0.1\",\"ports\":[{\"port\":80}]}", false, &obj,
                            &msg),
                     -ERR_INVALID);
    delete (&p, "a");
    obj = created(&p, "b", spec);
    assert_true(str_eq(ip_of(&obj), STR("10.0.5.5")));
    plane_stop(&p);
}

static void a_dry_run_takes_nothing(void **state)
{
    struct plane p;
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/16", "30000-32767");
    (void)state;
    assert_int_equal(create(&p, &p.arena, "a",
                            "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\","
                            "\"ports\":[{\"port\":80}]}",
                            true, &obj, &msg),
                     0);
    assert_true(ip_of(&obj).n > 0);
    assert_true(node_port(&obj, 0) > 0);
    assert_int_equal(IPS(&p), 1);
    assert_int_equal(PORTS(&p), 0);
    plane_stop(&p);
}

static void node_ports_follow_the_type(void **state)
{
    struct plane p;
    struct value obj, changed;
    struct str msg;
    plane_start(&p, "10.0.0.0/16", "30000-30009");
    (void)state;
    obj = created(&p, "a",
                  "{\"type\":\"NodePort\",\"ports\":[{\"name\":\"t\",\"port\":53},"
                  "{\"name\":\"u\",\"protocol\":\"UDP\",\"port\":53},"
                  "{\"name\":\"w\",\"port\":80}]}");
    assert_int_equal(node_port(&obj, 0), node_port(&obj, 1)); /* one number, two protocols */
    assert_int_not_equal(node_port(&obj, 0), node_port(&obj, 2));
    assert_int_equal(PORTS(&p), 2);

    /* What is not said is kept; what is dropped is free again. */
    assert_int_equal(update(&p, "a",
                            "{\"type\":\"NodePort\",\"ports\":[{\"name\":\"w\",\"port\":81}]}",
                            &changed, &msg),
                     0);
    assert_int_equal(node_port(&changed, 0), node_port(&obj, 2));
    assert_true(str_eq(ip_of(&changed), ip_of(&obj)));
    assert_int_equal(PORTS(&p), 1);

    assert_int_equal(update(&p, "a",
                            "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\","
                            "\"ports\":[{\"name\":\"w\",\"port\":81}]}",
                            &changed, &msg),
                     0);
    assert_int_equal(PORTS(&p), 2); /* one for health checks */
    assert_int_equal(update(&p, "a", "{\"ports\":[{\"name\":\"w\",\"port\":81}]}", &changed, &msg),
                     0);
    assert_int_equal(PORTS(&p), 0);
    assert_int_equal(update(&p, "a",
                            "{\"type\":\"ExternalName\",\"externalName\":\"x.example.com\"}",
                            &changed, &msg),
                     0);
    assert_int_equal(ip_of(&changed).n, 0);
    assert_int_equal(IPS(&p), 1);
    assert_int_equal(update(&p, "a", "{\"ports\":[{\"port\":81}]}", &changed, &msg), 0);
    assert_true(ip_of(&changed).n > 0);
    assert_int_equal(IPS(&p), 2);
    plane_stop(&p);
}

static void a_node_port_is_given_once(void **state)
{
    struct plane p;
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/16", "30000-30001");
    (void)state;
    const char *asked = "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":30001}]}";
    (void)created(&p, "a", asked);
    assert_int_equal(create(&p, &p.arena, "b", asked, false, &obj, &msg), -ERR_INVALID);
    assert_true(str_eq(msg, STR("Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: "
                                "30001: provided port is already allocated")));
    assert_int_equal(create(&p, &p.arena, "b",
                            "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":80}]}",
                            false, &obj, &msg),
                     -ERR_INVALID);
    obj = created(&p, "b", "{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}");
    assert_int_equal(node_port(&obj, 0), 30000);
    assert_int_equal(create(&p, &p.arena, "c", "{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}",
                            false, &obj, &msg),
                     -ERR_INTERNAL);
    delete (&p, "a");
    obj = created(&p, "c", "{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}");
    assert_int_equal(node_port(&obj, 0), 30001);
    plane_stop(&p);
}

static void two_families_give_two_addresses(void **state)
{
    struct plane p;
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/24,fd00::/120", "30000-32767");
    (void)state;
    obj = created(&p, "a", "{\"ipFamilyPolicy\":\"PreferDualStack\",\"ports\":[{\"port\":80}]}");
    const struct value *ips = value_dig(&obj, "spec", "clusterIPs");
    assert_int_equal(ips->n, 2);
    assert_true(str_starts(value_str(value_at(ips, 0)), STR("10.0.0.")));
    assert_true(str_starts(value_str(value_at(ips, 1)), STR("fd00::")));
    assert_int_equal(IPS(&p), 3);
    assert_int_equal(update(&p, "a",
                            "{\"ipFamilyPolicy\":\"SingleStack\",\"ports\":[{\"port\":80}]}", &obj,
                            &msg),
                     0);
    assert_int_equal(value_dig(&obj, "spec", "clusterIPs")->n, 1);
    assert_int_equal(IPS(&p), 2);
    obj = created(&p, "b", "{\"ipFamilies\":[\"IPv6\"],\"ports\":[{\"port\":80}]}");
    assert_true(str_starts(ip_of(&obj), STR("fd00::")));
    plane_stop(&p);
}

static const char *many_ports(struct arena *a, size_t n, int64_t first_node_port)
{
    autobuf spec = { 0 };
    buf_str_add(&spec, STR("{\"type\":\"NodePort\",\"ports\":["));
    for (size_t i = 0; i < n; i++)
        buf_printf(&spec, "%s{\"name\":\"p%zu\",\"port\":%zu,\"nodePort\":%lld}", i ? "," : "", i,
                   i + 1, first_node_port ? (long long)first_node_port + (long long)i : 0);
    buf_str_add(&spec, STR("]}"));
    return str_cstr(a, buf_str(&spec));
}

static void node_ports_are_bounded(void **state)
{
    struct plane p;
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/16", "30000-32767");
    (void)state;
    assert_int_equal(create(&p, &p.arena, "a",
                            many_ports(&p.arena, LIMIT_SERVICE_NODE_PORTS + 1, 0), false, &obj,
                            &msg),
                     -ERR_TOO_LARGE);
    (void)created(&p, "a", many_ports(&p.arena, LIMIT_SERVICE_NODE_PORTS, 30000));
    assert_int_equal(PORTS(&p), LIMIT_SERVICE_NODE_PORTS);
    assert_int_equal(
        update(&p, "a", many_ports(&p.arena, LIMIT_SERVICE_NODE_PORTS, 31000), &obj, &msg),
        -ERR_TOO_LARGE);
    assert_int_equal(PORTS(&p), LIMIT_SERVICE_NODE_PORTS);
    delete (&p, "a");
    assert_int_equal(PORTS(&p), 0);
    plane_stop(&p);
}

/* ---- Fields ---- */

static void what_is_asked_for(void **state)
{
    static const struct {
        const char *spec, *refusal; /* "": none */
    } cases[] = {
        { "{\"ipFamilies\":[\"IPv6\"],\"ports\":[{\"port\":80}]}",
          "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster" },
        { "{\"ipFamilyPolicy\":\"RequireDualStack\",\"ports\":[{\"port\":80}]}",
          "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
          "configured "
          "for dual-stack services" },
        { "{\"ipFamilyPolicy\":\"PreferDualStack\",\"ports\":[{\"port\":80}]}", "" },
        { "{\"ipFamilyPolicy\":\"SingleStack\",\"clusterIPs\":[\"10.0.7.7\",\"fd00::1\"],"
          "\"clusterIP\":\"10.0.7.7\",\"ports\":[{\"port\":80}]}",
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are "
          "specified" },
        { "{\"clusterIP\":\"10.0.9.9\",\"ipFamilies\":[\"IPv6\"],\"ports\":[{\"port\":80}]}",
          "spec.clusterIPs[0]: Invalid value: \"10.0.9.9\": expected an IPv6 value as indicated "
          "by "
          "`ipFamilies[0]`" },
        { "{\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]}", "" },
        { "{\"clusterIP\":\"10.9.9.9\",\"ports\":[{\"port\":80}]}",
          "failed to allocate IP 10.9.9.9: the provided network does not match the current range" },
        { "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":80}]}",
          "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The "
          "range of valid ports is 30000-32767" },
    };
    struct plane p;
    plane_start(&p, NULL, NULL);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value obj;
        struct str msg;
        (void)create(&p, &p.arena, arena_printf(&p.arena, "s%zu", i).p, cases[i].spec, false, &obj,
                     &msg);
        plane_expect(msg, cases[i].refusal);
    }
    plane_stop(&p);
}

static void headless_services_have_no_address(void **state)
{
    struct plane p;
    struct value obj, changed;
    struct str msg;
    plane_start(&p, NULL, NULL);
    (void)state;
    obj = created(&p, "a", "{\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]}");
    assert_int_equal(IPS(&p), 1);
    assert_string_equal(plane_shown(&p, value_dig(&obj, "spec", "clusterIPs")), "['None']");
    /* Without a selector nobody knows which families its endpoints will have. */
    assert_string_equal(plane_shown(&p, value_dig(&obj, "spec", "ipFamilyPolicy")),
                        "'RequireDualStack'");
    assert_string_equal(plane_shown(&p, value_dig(&obj, "spec", "ipFamilies")), "['IPv4','IPv6']");
    obj = created(&p, "b", "{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}");
    assert_string_equal(plane_shown(&p, value_dig(&obj, "spec", "ipFamilies")), "['IPv4']");
    /* An address is for life. */
    assert_int_equal(
        update(&p, "b",
               "{\"clusterIP\":\"10.0.3.3\",\"selector\":{\"a\":\"b\"},\"ports\":[{\"port\":80}]}",
               &changed, &msg),
        -ERR_INVALID);
    plane_expect(msg, "spec.clusterIPs[0]: Invalid value: [\"10.0.3.3\"]: may not change once set");
    plane_stop(&p);
}

/* ---- Many at once ---- */

enum { THREADS = 8, EACH = 25 };

struct worker {
    struct plane *plane;
    pthread_t thread;
    size_t number;
    struct arena arena;
    struct str ips[EACH];
    int64_t ports[EACH];
    size_t n, full;
};

static void *create_many(void *arg)
{
    struct worker *w = arg;
    for (size_t i = 0; i < EACH; i++) {
        struct value obj;
        struct str msg;
        int r = create(w->plane, &w->arena, arena_printf(&w->arena, "s-%zu-%zu", w->number, i).p,
                       "{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}", false, &obj, &msg);
        if (r == 0) {
            w->ports[w->n] = node_port(&obj, 0);
            w->ips[w->n++] = ip_of(&obj);
        } else {
            w->full++;
        }
    }
    return NULL;
}

static void run_workers(struct plane *p, struct worker *workers)
{
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .plane = p, .number = i };
        arena_init(&workers[i].arena);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, create_many, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* How many were given; none may be given twice. */
static size_t check_distinct(struct worker *workers)
{
    struct str ips[THREADS * EACH];
    bool ports[UINT16_MAX + 1] = { false };
    size_t n = 0;
    for (size_t i = 0; i < THREADS; i++) {
        for (size_t k = 0; k < workers[i].n; k++) {
            ips[n++] = workers[i].ips[k];
            assert_false(ports[workers[i].ports[k]]);
            ports[workers[i].ports[k]] = true;
        }
    }
    qsort(ips, n, sizeof(ips[0]), by_text);
    for (size_t i = 1; i < n; i++)
        assert_false(str_eq(ips[i - 1], ips[i]));
    return n;
}

static void done(struct worker *workers)
{
    for (size_t i = 0; i < THREADS; i++)
        arena_done(&workers[i].arena);
}

static void many_at_once_get_different_ones(void **state)
{
    struct plane p;
    struct worker workers[THREADS];
    plane_start(&p, "10.0.0.0/16", "30000-32767");
    (void)state;
    run_workers(&p, workers);
    assert_int_equal(check_distinct(workers), THREADS * EACH);
    assert_int_equal(IPS(&p), THREADS * EACH + 1);
    assert_int_equal(PORTS(&p), THREADS * EACH);
    done(workers);
    plane_stop(&p);
}

static void a_small_range_is_given_away_to_the_last(void **state)
{
    struct plane p;
    struct worker workers[THREADS];
    struct value obj;
    struct str msg;
    plane_start(&p, "10.0.0.0/25", "30000-32767"); /* 126 addresses, 200 askers */
    (void)state;
    run_workers(&p, workers);
    size_t n = check_distinct(workers);
    assert_true(n <= 125);
    done(workers);
    for (; n < 125; n++) /* whoever lost every race has left one over */
        (void)created(&p, arena_printf(&p.arena, "later-%zu", n).p, "{\"ports\":[{\"port\":80}]}");
    assert_int_equal(IPS(&p), 126);
    assert_int_equal(
        create(&p, &p.arena, "one-more", "{\"ports\":[{\"port\":80}]}", false, &obj, &msg),
        -ERR_INTERNAL);
    assert_true(str_ends(msg, STR("range is full")));
    plane_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_lasts_as_long_as_its_service),
        cmocka_unit_test(a_particular_address_is_given_once),
        cmocka_unit_test(a_dry_run_takes_nothing),
        cmocka_unit_test(node_ports_follow_the_type),
        cmocka_unit_test(a_node_port_is_given_once),
        cmocka_unit_test(two_families_give_two_addresses),
        cmocka_unit_test(node_ports_are_bounded),
        cmocka_unit_test(what_is_asked_for),
        cmocka_unit_test(headless_services_have_no_address),
        cmocka_unit_test(many_at_once_get_different_ones),
        cmocka_unit_test(a_small_range_is_given_away_to_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
