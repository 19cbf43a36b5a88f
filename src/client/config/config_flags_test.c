#include <sampan/config.h>

#include "base/idiom.h"
#include "client/suite_client.h"

enum { MAX_ARGS = 64 };

struct line {
    char *argv[MAX_ARGS + 1];
    int argc;
};

static struct line split(struct spn_arena *a, const char *text)
{
    struct line l = { .argv = { (char *)"program" }, .argc = 1 };
    char *copy = (char *)spn_arena_text(a, spn_text_of(text)).p, *save;
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        l.argv[l.argc++] = word;
    l.argv[l.argc] = NULL;
    return l;
}

static void assert_left(const struct line *l, const char *want)
{
    char got[256] = "";
    for (int i = 1; i < l->argc; i++)
        (void)strcat(strcat(got, l->argv[i]), " ");
    assert_string_equal(got, want);
    assert_null(l->argv[l->argc]);
}

static void flags_are_taken_out(void **state)
{
    struct line l = split(*state, "--kubeconfig k -v --context=c --cluster cl file --user=u -n ns "
                                  "--server=s --as-group g --as-group=h --other=x -sz "
                                  "--request-timeout 90 --kube-api-qps=2.5 --kube-api-burst 7 "
                                  "--insecure-skip-tls-verify --disable-compression=false - "
                                  "--as-user-extra k=v --token= -- --token t");
    struct spn_config_options opt = { .disable_compression = true, .as = "kept", .token = "old" };
    struct spn_err err;
    if (spn_config_flags(*state, &l.argc, l.argv, &opt, &err) < 0)
        fail_msg("%s", err.message);
    assert_left(&l, "-v file --other=x - -- --token t ");
    assert_string_equal(opt.kubeconfig, "k");
    assert_string_equal(opt.context, "c");
    assert_string_equal(opt.cluster, "cl");
    assert_string_equal(opt.user, "u");
    assert_string_equal(opt.ns, "ns");
    assert_string_equal(opt.server, "z");
    assert_string_equal(opt.as, "kept");
    assert_string_equal(opt.token, "");
    assert_int_equal(opt.as_groups.n, 2);
    assert_text(opt.as_groups.items[0], "g");
    assert_text(opt.as_groups.items[1], "h");
    assert_text(opt.as_extra.items[0], "k=v");
    assert_int_equal(opt.timeout_ms, 90000);
    assert_true(opt.qps == 2.5);
    assert_int_equal(opt.burst, 7);
    assert_true(opt.insecure);
    assert_false(opt.disable_compression);
}

static void timeouts(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } table[] = { { "--request-timeout=0", 0 },
                  { "--request-timeout=1m30s", 90000 },
                  { "--request-timeout=1.5ms", 2 } };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct line l = split(*state, table[i].text);
        struct spn_config_options opt = { 0 };
        assert_int_equal(spn_config_flags(*state, &l.argc, l.argv, &opt, NULL), 0);
        assert_int_equal(opt.timeout_ms, table[i].want);
    }
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *want;
    } table[] = {
        { "--context", "flag needs an argument: --context" },
        { "-n", "flag needs an argument: --namespace" },
        { "--insecure-skip-tls-verify=maybe",
          "invalid argument \"maybe\" for \"--insecure-skip-tls-verify\" flag" },
        { "--request-timeout=soon", "invalid argument \"soon\" for \"--request-timeout\" flag" },
        { "--request-timeout=-1s", "invalid argument \"-1s\" for \"--request-timeout\" flag" },
        { "--kube-api-qps=x", "invalid argument \"x\" for \"--kube-api-qps\" flag" },
        { "--kube-api-qps=nan", "invalid argument \"nan\" for \"--kube-api-qps\" flag" },
        { "--kube-api-burst=-1", "invalid argument \"-1\" for \"--kube-api-burst\" flag" },
        { "--kube-api-burst=9999999999",
          "invalid argument \"9999999999\" for \"--kube-api-burst\" flag" },
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct line l = split(*state, table[i].text);
        struct spn_config_options opt = { 0 };
        struct spn_err err;
        assert_int_equal(spn_config_flags(*state, &l.argc, l.argv, &opt, &err), -SPN_BAD_REQUEST);
        assert_string_equal(err.message, table[i].want);
    }
}

static void no_arguments_at_all(void **state)
{
    char *argv[] = { NULL };
    int argc = 0;
    struct spn_config_options opt = { 0 };
    assert_int_equal(spn_config_flags(*state, &argc, argv, &opt, NULL), 0);
    assert_int_equal(argc, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(flags_are_taken_out),
        suite_test(timeouts),
        suite_test(mistakes),
        suite_test(no_arguments_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
