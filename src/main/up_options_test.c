#include "main/up_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <getopt.h>
#include <cmocka.h>

#include "base/clock.h"
#include "main/command.h"
#include "base/idiom.h"

enum { WORDS_MAX = 4, MISUSED = EXIT_MISUSED + 1 };

/* `words` end with NULL. */
static int parse(const char *const *words, struct up_options *ret)
{
    char *argv[WORDS_MAX + 2] = { (char *)"up" };
    int argc = 1;
    for (; *words; words++)
        argv[argc++] = (char *)*words;
    optind = 0; /* glibc: start over */
    return up_options_parse(argc, argv, ret);
}
#define PARSE(ret, ...) parse((const char *const[]){ __VA_ARGS__, NULL }, ret)

static void defaults_are_those_of_the_help(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(parse((const char *const[]){ NULL }, &o), 0);
    assert_null(o.dir);
    assert_string_equal(o.listen, "127.0.0.1:6443");
    assert_int_equal(o.engine, STORE_LMDB);
    assert_int_equal(o.versions, KIND_CURRENT_VERSIONS);
    assert_int_equal(o.log_level, LOG_INFO);
    assert_int_equal(o.log_format, LOG_TEXT);
    assert_string_equal(o.service_cidr, "10.0.0.0/16");
    assert_string_equal(o.service_ports, "30000-32767");
    assert_false(o.detach || o.hides_managers || o.new_ca);
    assert_int_equal(o.event_ttl_ns + o.continue_ttl_ns + o.certificate_ttl_ns, 0);
}

static void an_etcd_and_how_it_is_reached(void **state)
{
    (void)state;
    struct up_options o;
    struct remote_options etcd;
    struct arena a;
    arena_init(&a);
    assert_int_equal(PARSE(&o, "--store=memory"), 0);
    assert_int_equal(up_etcd_load(&a, &o.etcd, &etcd, NULL), 0);
    assert_int_equal(etcd.n_servers, 0);
    assert_int_equal(PARSE(&o, "--etcd-servers=http://a:1, http://b:2,", "--etcd-prefix=/tea"), 0);
    assert_int_equal(up_etcd_load(&a, &o.etcd, &etcd, NULL), 0);
    assert_int_equal(etcd.n_servers, 2);
    assert_true(str_eq(etcd.servers[1], STR("http://b:2")));
    assert_true(str_eq(etcd.prefix, STR("/tea")));
    assert_int_equal(PARSE(&o, "--etcd-prefix=/tea"), MISUSED);
    assert_int_equal(PARSE(&o, "--etcd-servers=http://a:1", "--etcd-prefix=tea"), MISUSED);
    assert_int_equal(PARSE(&o, "--etcd-servers=http://a:1", "--etcd-certfile=/c"), MISUSED);
    assert_int_equal(PARSE(&o, "--etcd-servers=,"), 0);
    assert_int_equal(up_etcd_load(&a, &o.etcd, &etcd, NULL), -ERR_INVALID);
    arena_done(&a);
}

static void a_reload_needs_a_file(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--encryption-provider-config=/f"), 0);
    assert_string_equal(o.encryption_config, "/f");
    assert_false(o.encryption_reloads);
    assert_int_equal(PARSE(&o, "--encryption-provider-config=/f",
                           "--encryption-provider-config-automatic-reload"),
                     0);
    assert_true(o.encryption_reloads);
    assert_int_equal(PARSE(&o, "--encryption-provider-config=/f",
                           "--encryption-provider-config-automatic-reload=false"),
                     0);
    assert_false(o.encryption_reloads);
    assert_int_equal(PARSE(&o, "--encryption-provider-config-automatic-reload"), MISUSED);
    assert_int_equal(PARSE(&o, "--encryption-provider-config=/f",
                           "--encryption-provider-config-automatic-reload=soon"),
                     MISUSED);
}

static void tokens_of_accounts(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--service-account-max-token-expiration=24h",
                           "--service-account-extend-token-expiration=false",
                           "--service-account-jwks-uri=https://keys"),
                     0);
    assert_int_equal(o.accounts.max_sec, 24 * 3600);
    assert_true(o.accounts.no_extension);
    assert_string_equal(o.accounts.keys_uri, "https://keys");
    assert_int_equal(PARSE(&o, "--service-account-key-file=/a", "--service-account-key-file=/b",
                           "--service-account-issuer=https://i", "--api-audiences=x,y"),
                     0);
    assert_int_equal(o.accounts.n_keys + o.accounts.n_issuers, 3);
    assert_string_equal(o.accounts.keys[1], "/b");
    assert_false(o.accounts.no_extension);
    static const char *const wrong[] = {
        "--service-account-max-token-expiration=59m",
        "--service-account-max-token-expiration=2000000h",
        "--service-account-max-token-expiration=day",
        "--service-account-extend-token-expiration=maybe",
        "--service-account-jwks-uri=http://keys",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(PARSE(&o, wrong[i]), MISUSED);
}

static void issuers_by_flags_or_by_a_file(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--authentication-config=/f", "--anonymous-auth=true"), 0);
    assert_string_equal(o.openid.config, "/f");
    assert_true(o.has_anonymous && !o.no_anonymous);
    assert_null(up_openid_flags(&o.openid, STR("")));
    assert_int_equal(PARSE(&o, "--oidc-issuer-url=https://i", "--oidc-client-id=c",
                           "--oidc-required-claim=a=b", "--oidc-signing-algs=RS256,ES256"),
                     0);
    const struct authentication_flags *f = up_openid_flags(&o.openid, STR("pem"));
    assert_true(str_eq(f->issuer_url, STR("https://i")) && str_eq(f->client_id, STR("c")));
    assert_true(str_eq(f->username_claim, STR("sub")) && str_eq(f->ca, STR("pem")));
    assert_int_equal(f->n_required, 1);
    assert_int_equal(f->n_algorithms, 2);
    assert_true(str_eq(f->algorithms[1], STR("ES256")));
    assert_int_equal(PARSE(&o, "--oidc-issuer-url=https://i"), MISUSED);
    assert_int_equal(PARSE(&o, "--oidc-groups-claim=g"), MISUSED);
    assert_int_equal(PARSE(&o, "--oidc-issuer-url=https://i", "--oidc-client-id=c",
                           "--authentication-config=/f"),
                     MISUSED);
    assert_int_equal(
        PARSE(&o, "--oidc-issuer-url=https://i", "--oidc-client-id=c", "--oidc-required-claim=a"),
        MISUSED);
}

static void values_are_taken(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--data-dir", "/d", "--listen=[::]:0", "--detach"), 0);
    assert_string_equal(o.dir, "/d");
    assert_string_equal(o.listen, "[::]:0");
    assert_true(o.detach);
    assert_int_equal(PARSE(&o, "--store=memory", "--api-versions=all", "--managed-fields=hidden",
                           "--log-format=json"),
                     0);
    assert_int_equal(o.engine, STORE_MEMORY);
    assert_int_equal(o.versions, KIND_ALL_VERSIONS);
    assert_true(o.hides_managers);
    assert_int_equal(o.log_format, LOG_JSON);
    assert_int_equal(PARSE(&o, "--advertise-address=fd00::1", "--new-ca", "--verbose"), 0);
    assert_string_equal(o.advertise, "fd00::1");
    assert_true(o.new_ca);
    assert_int_equal(o.log_level, LOG_DEBUG);
}

static void requests_at_once_are_counted(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(parse((const char *const[]){ NULL }, &o), 0);
    assert_int_equal(o.flow.reads, 400);
    assert_int_equal(o.flow.writes, 200);
    assert_false(o.flow.is_off);
    assert_int_equal(PARSE(&o, "--enable-priority-and-fairness=false", "--max-requests-inflight=7",
                           "--max-mutating-requests-inflight=0"),
                     0);
    assert_true(o.flow.is_off);
    assert_int_equal(o.flow.reads, 7);
    assert_int_equal(o.flow.writes, 0);
    assert_int_equal(PARSE(&o, "--max-requests-inflight=-1"), MISUSED);
    assert_int_equal(PARSE(&o, "--max-requests-inflight=1000001"), MISUSED);
    assert_int_equal(PARSE(&o, "--enable-priority-and-fairness=no"), MISUSED);
}

static void times_have_a_unit(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--event-ttl=90s", "--continue-ttl=30m", "--certificate-ttl=24h"),
                     0);
    assert_int_equal(o.event_ttl_ns, 90 * NS_PER_SEC);
    assert_int_equal(o.continue_ttl_ns, 1800 * NS_PER_SEC);
    assert_int_equal(o.certificate_ttl_ns, 86400 * NS_PER_SEC);
    const char *const wrong[] = { "--event-ttl=",   "--event-ttl=s",       "--event-ttl=90",
                                  "--event-ttl=0s", "--event-ttl=-1s",     "--event-ttl=1.5h",
                                  "--event-ttl=1d", "--event-ttl=1000001h" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (PARSE(&o, wrong[i]) != MISUSED)
            fail_msg("%s was taken", wrong[i]);
}

static void wrong_command_lines_are_refused(void **state)
{
    (void)state;
    struct up_options o;
    const char *const wrong[] = { "--store=etcd",     "--api-versions=old",
                                  "--managed-fields", "--managed-fields=no",
                                  "--log-format=xml", "--advertise-address=here",
                                  "--unknown",        "word" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (PARSE(&o, wrong[i]) != MISUSED)
            fail_msg("%s was taken", wrong[i]);
}

static void help_ends_well(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--help"), 1);
}

static void authorizers_in_order(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_int_equal(o.authorization.modes.n, 0); /* the usual */
    assert_int_equal(PARSE(&o, "--authorization-mode=RBAC,Node"), 0);
    assert_int_equal(o.authorization.modes.n, 2);
    assert_int_equal(o.authorization.modes.at[0], GUARD_RBAC);
    assert_int_equal(o.authorization.modes.at[1], GUARD_NODE);
    assert_int_equal(PARSE(&o, "--authorization-mode=AlwaysAllow"), 0);
    assert_int_equal(o.authorization.modes.at[0], GUARD_ALWAYS_ALLOW);
    assert_int_equal(PARSE(&o, "--authorization-mode=ABAC"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-mode=Node,RBAC,Node"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-mode=Node,"), MISUSED);
}

static void controllers_are_chosen(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_false(o.leaves_roles || o.leaves_quotas);
    assert_int_equal(PARSE(&o, "--controllers=*,-resourcequota-controller"), 0);
    assert_true(o.leaves_quotas && !o.leaves_roles);
    assert_int_equal(PARSE(&o, "--controllers=resourcequota-controller"), 0);
    assert_true(o.leaves_roles && !o.leaves_quotas);
    assert_int_equal(PARSE(&o, "--controllers=-clusterrole-aggregation-controller"), 0);
    assert_true(o.leaves_roles && o.leaves_quotas);
    assert_int_equal(PARSE(&o, "--controllers=*,none"), MISUSED);
    assert_int_equal(PARSE(&o, "--controllers=-*"), 0);
    assert_true(o.leaves_roles && o.leaves_quotas && o.leaves_policies);
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_true(!o.api_only && !o.no_scheduler && !o.simulated_nodes && !o.controllers.names);
    assert_int_equal(PARSE(&o, "--scheduler=false", "--simulate-nodes=3"), 0);
    assert_true(o.no_scheduler && o.simulated_nodes == 3);
    assert_int_equal(PARSE(&o, "--simulate-nodes=many"), MISUSED);
    assert_int_equal(PARSE(&o, "--simulate-nodes=1000000"), MISUSED);
    assert_int_equal(PARSE(&o, "--scheduler=perhaps"), MISUSED);
    assert_int_equal(PARSE(&o, "--node-monitor-period=1s", "--allocate-node-cidrs",
                           "--cluster-cidr=10.1.0.0/16", "--node-cidr-mask-size=26"),
                     0);
    assert_true(o.controllers.node_monitor_ms == 1000 && o.controllers.allocates_node_cidrs);
    assert_string_equal(o.controllers.cluster_cidr, "10.1.0.0/16");
    assert_int_equal(o.controllers.node_bits, 26);
    assert_int_equal(PARSE(&o, "--allocate-node-cidrs=no"), MISUSED);
    assert_int_equal(PARSE(&o, "--node-cidr-mask-size=0"), MISUSED);
    assert_int_equal(PARSE(&o, "--pvclaimbinder-sync-period=often"), MISUSED);
}

static void plugins_are_chosen(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--api-only"), 0);
    assert_int_equal(o.admission.on | o.admission.off, 0); /* the usual */
    /* Pods need accounts only where something makes them. */
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_true(o.admission.on && !o.admission.off);
    assert_int_equal(PARSE(&o, "--controllers=*,-serviceaccount-controller"), 0);
    assert_int_equal(o.admission.on, 0);
    assert_int_equal(PARSE(&o, "--disable-admission-plugins=ServiceAccount"), 0);
    assert_true(!o.admission.on && o.admission.off);
    assert_int_equal(PARSE(&o, "--enable-admission-plugins=ServiceAccount",
                           "--disable-admission-plugins=Priority,NodeRestriction"),
                     0);
    assert_true(o.admission.on && o.admission.off);
    assert_int_equal(o.admission.on & o.admission.off, 0);
    assert_int_equal(PARSE(&o, "--enable-admission-plugins=None"), MISUSED);
    assert_int_equal(PARSE(&o, "--disable-admission-plugins="), MISUSED);
    /* Lists add up, whichever flag comes first. */
    assert_int_equal(PARSE(&o, "--disable-admission-plugins=Priority",
                           "--enable-admission-plugins=AlwaysDeny",
                           "--disable-admission-plugins=AlwaysDeny"),
                     MISUSED);
    assert_int_equal(PARSE(&o, "--admission-control-config-file", "/a/b.yaml"), 0);
    assert_string_equal(o.admission_options.file, "/a/b.yaml");
    assert_false(o.admission_options.not_ready.is_set);
    assert_int_equal(PARSE(&o, "--default-not-ready-toleration-seconds=0",
                           "--default-unreachable-toleration-seconds=90"),
                     0);
    assert_true(o.admission_options.not_ready.is_set && o.admission_options.not_ready.n == 0);
    assert_int_equal(o.admission_options.unreachable.n, 90);
    assert_int_equal(PARSE(&o, "--default-not-ready-toleration-seconds=5m"), MISUSED);
}

static void who_is_asked(void **state)
{
    struct up_options o;
    (void)state;
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_null(o.authorization.config_file);
    assert_null(o.token_webhook.kubeconfig);
    assert_int_equal(o.token_webhook.ttl_ns, 120 * NS_PER_SEC);
    assert_int_equal(PARSE(&o, "--authentication-token-webhook-config-file=/t",
                           "--authentication-token-webhook-version=v1",
                           "--authentication-token-webhook-cache-ttl=0s"),
                     0);
    assert_string_equal(o.token_webhook.kubeconfig, "/t");
    assert_true(o.token_webhook.is_v1);
    assert_int_equal(o.token_webhook.ttl_ns, 0);
    assert_int_equal(PARSE(&o, "--authentication-token-webhook-version=v2"), MISUSED);
    assert_int_equal(PARSE(&o, "--authentication-token-webhook-cache-ttl=soon"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-mode=Webhook,RBAC",
                           "--authorization-webhook-config-file=/w",
                           "--authorization-webhook-cache-authorized-ttl=1m"),
                     0);
    assert_int_equal(o.authorization.modes.at[0], GUARD_WEBHOOK);
    assert_false(o.authorization.webhook_is_v1);
    assert_int_equal(o.authorization.webhook_allowed_ttl_ns, 60 * NS_PER_SEC);
    assert_int_equal(o.authorization.webhook_refused_ttl_ns, 30 * NS_PER_SEC);
    assert_int_equal(PARSE(&o, "--authorization-mode=Webhook"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-webhook-config-file=/w"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-config=/c"), 0);
    assert_string_equal(o.authorization.config_file, "/c");
    assert_int_equal(PARSE(&o, "--authorization-config=/c", "--authorization-mode=RBAC"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-config=/c", "--authorization-webhook-version=v1"),
                     MISUSED);
}

static void a_certificate_comes_with_its_key(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--tls-cert-file=/c"), MISUSED);
    assert_int_equal(PARSE(&o, "--tls-private-key-file=/k"), MISUSED);
    assert_int_equal(PARSE(&o, "--tls-cert-file=/c", "--tls-private-key-file=/k"), 0);
    assert_string_equal(o.tls_cert, "/c");
    assert_string_equal(o.tls_key, "/k");
    assert_int_equal(PARSE(&o, "--proxy-client-cert-file=/c"), MISUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_comes_with_its_key),
        cmocka_unit_test(defaults_are_those_of_the_help),
        cmocka_unit_test(a_reload_needs_a_file),
        cmocka_unit_test(an_etcd_and_how_it_is_reached),
        cmocka_unit_test(tokens_of_accounts),
        cmocka_unit_test(issuers_by_flags_or_by_a_file),
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(authorizers_in_order),
        cmocka_unit_test(controllers_are_chosen),
        cmocka_unit_test(plugins_are_chosen),
        cmocka_unit_test(requests_at_once_are_counted),
        cmocka_unit_test(times_have_a_unit),
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(help_ends_well),
        cmocka_unit_test(who_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
