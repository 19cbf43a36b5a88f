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
    assert_int_equal(o.authorization.n, 0); /* the usual */
    assert_int_equal(PARSE(&o, "--authorization-mode=RBAC,Node"), 0);
    assert_int_equal(o.authorization.n, 2);
    assert_int_equal(o.authorization.at[0], GUARD_RBAC);
    assert_int_equal(o.authorization.at[1], GUARD_NODE);
    assert_int_equal(PARSE(&o, "--authorization-mode=AlwaysAllow"), 0);
    assert_int_equal(o.authorization.at[0], GUARD_ALWAYS_ALLOW);
    assert_int_equal(PARSE(&o, "--authorization-mode=ABAC"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-mode=Node,RBAC,Node"), MISUSED);
    assert_int_equal(PARSE(&o, "--authorization-mode=Node,"), MISUSED);
}

static void plugins_are_chosen(void **state)
{
    (void)state;
    struct up_options o;
    assert_int_equal(PARSE(&o, "--verbose"), 0);
    assert_int_equal(o.admission.on | o.admission.off, 0); /* the usual */
    assert_int_equal(PARSE(&o, "--enable-admission-plugins=ServiceAccount",
                           "--disable-admission-plugins=Priority,NodeRestriction"),
                     0);
    assert_true(o.admission.on && o.admission.off);
    assert_int_equal(o.admission.on & o.admission.off, 0);
    assert_int_equal(PARSE(&o, "--enable-admission-plugins=None"), MISUSED);
    assert_int_equal(PARSE(&o, "--disable-admission-plugins="), MISUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_help),
        cmocka_unit_test(a_reload_needs_a_file),
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(authorizers_in_order),
        cmocka_unit_test(plugins_are_chosen),
        cmocka_unit_test(requests_at_once_are_counted),
        cmocka_unit_test(times_have_a_unit),
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(help_ends_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
