#include "client/config/exec_plugin.h"

#include "base/idiom.h"
#include "client/suite_folder.h"

#define V1        "client.authentication.k8s.io/v1"
#define ANSWER(x) "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"" x "}"

static struct spn_exec exec_of(const char *command)
{
    return (struct spn_exec){ .command = spn_text_of(command),
                              .api_version = SPN_TEXT(V1),
                              .interactive_mode = SPN_TEXT("Never") };
}

static void answers(void **state)
{
    static const struct {
        const char *output, *want; /* token, or what is wrong */
    } table[] = {
        { ANSWER(",\"status\":{\"token\":\"t\"}"), "t" },
        { "kind: ExecCredential\napiVersion: " V1 "\nstatus: {token: yaml}\n", "yaml" },
        { ANSWER(""), "exec plugin didn't return a status field" },
        { ANSWER(",\"status\":{}"), "exec plugin didn't return a token or cert/key pair" },
        { ANSWER(",\"status\":{\"clientKeyData\":\"k\"}"),
          "exec plugin returned only certificate or key, not both" },
        { "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}",
          "exec plugin is configured to use API version " V1
          ", plugin returned version client.authentication.k8s.io/v1beta1" },
        { "{}", "decoding stdout: its kind is not ExecCredential" },
        { ANSWER(",\"status\":{\"token\":\"t\",\"expirationTimestamp\":5}"),
          "decoding stdout: expirationTimestamp: it must be a string" },
    };
    struct suite_folder *f = *state;
    struct spn_exec exec = exec_of("x");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct exec_credential c;
        struct spn_err err;
        int r = exec_plugin_read(&exec, spn_text_of(table[i].output), f->arena, &c, &err);
        if (r == 0)
            assert_text(c.token, table[i].want);
        else
            assert_string_equal(err.message, table[i].want);
        assert_true(r == 0 || r == -SPN_UNAUTHORIZED);
    }
}

static void an_answer_expires(void **state)
{
    struct suite_folder *f = *state;
    struct spn_exec exec = exec_of("x");
    struct exec_credential c;
    assert_int_equal(
        exec_plugin_read(&exec,
                         SPN_TEXT(ANSWER(",\"status\":{\"clientCertificateData\":\"c\","
                                         "\"clientKeyData\":\"k\","
                                         "\"expirationTimestamp\":\"1970-01-01T00:01:00.5Z\"}")),
                         f->arena, &c, NULL),
        0);
    assert_text(c.cert, "c");
    assert_text(c.key, "k");
    assert_int_equal(c.token.n, 0);
    assert_int_equal(c.expires_ns, INT64_C(60500000000));
    assert_int_equal(exec_plugin_read(&exec, SPN_TEXT(ANSWER(",\"status\":{\"token\":\"t\"}")),
                                      f->arena, &c, NULL),
                     0);
    assert_int_equal(c.expires_ns, INT64_MAX);
}

/* The script gives back what it was told, as its token. */
static void a_plugin_is_told_of_its_cluster(void **state)
{
    struct suite_folder *f = *state;
    const char *script =
        suite_script(f, "plugin",
                     "#!/bin/sh\n"
                     "info=$(printf %s \"$KUBERNETES_EXEC_INFO\" | tr '\"' '~')\n"
                     "homes=$(tr '\\0' '\\n' < /proc/$$/environ | grep -c ^HOME=)\n"
                     "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                     "\",\"status\":{\"token\":\"%s %s %s %s %s\"}}' "
                     "\"$1\" \"$2\" \"$homes\" \"$HOME\" \"$info\"\n");
    static const struct spn_text args[] = { { "one", 3 }, { "two words", 9 } };
    static const struct spn_pair env[] = { { { "HOME", 4 }, { "/here", 5 } } };
    struct spn_value *told;
    assert_int_equal(spn_value_read_json(f->arena, SPN_TEXT("{\"a\":1}"), &told, NULL), 0);
    struct spn_exec exec = exec_of(script);
    exec.args = (struct spn_texts){ args, 2 };
    exec.env = env;
    exec.n_env = 1;
    exec.cluster_config = told;
    struct spn_config cfg = { .server = SPN_TEXT("https://s"), .insecure = true, .exec = &exec };
    struct exec_credential c;
    struct spn_err err;
    if (exec_plugin_run(&cfg, SPN_TEXT("pem"), f->arena, &c, &err) < 0)
        fail_msg("%s", err.message);
    assert_text(c.token, "one two words 1 /here {~kind~:~ExecCredential~,~apiVersion~:~" V1
                         "~,~spec~:{~interactive~:false}}");
    exec.provide_cluster_info = true;
    assert_int_equal(exec_plugin_run(&cfg, SPN_TEXT("pem"), f->arena, &c, &err), 0);
    assert_text(c.token, "one two words 1 /here {~kind~:~ExecCredential~,~apiVersion~:~" V1
                         "~,~spec~:{~cluster~:{~server~:~https://s~,"
                         "~insecure-skip-tls-verify~:true,~certificate-authority-data~:~cGVt~,"
                         "~config~:{~a~:1}},~interactive~:false}}");
}

static void assert_fails(struct suite_folder *f, const struct spn_exec *exec, const char *want)
{
    struct spn_config cfg = { .server = SPN_TEXT("https://s"), .exec = exec };
    struct exec_credential c;
    struct spn_err err;
    assert_int_equal(exec_plugin_run(&cfg, SPN_TEXT(""), f->arena, &c, &err), -SPN_UNAUTHORIZED);
    assert_string_equal(err.message, want);
}

static void failures(void **state)
{
    struct suite_folder *f = *state;
    struct spn_exec exec = exec_of(suite_script(f, "fails", "#!/bin/sh\nexit 3\n"));
    assert_fails(
        f, &exec,
        spn_arena_printf(f->arena, "exec: executable %s/fails failed with exit code 3", f->path).p);
    exec = exec_of(suite_path(f, "none"));
    assert_fails(
        f, &exec,
        spn_arena_printf(f->arena, "exec: fork/exec %s/none: no such file or directory", f->path)
            .p);
    exec = exec_of("no-such-plugin-anywhere");
    exec.install_hint = SPN_TEXT("Get\033[1m\tit \xc3\xa9\xff.");
    assert_fails(
        f, &exec,
        "exec: executable no-such-plugin-anywhere not found\n\n"
        "It looks like you are trying to use a client-go credential plugin that is not "
        "installed.\n\nTo learn more about this feature, consult the documentation "
        "available at:\n      https://kubernetes.io/docs/reference/access-authn-authz/"
        "authentication/#client-go-credential-plugins\n\nGetU+001B[1m\tit \xc3\xa9U+FFFD.");
    exec.api_version = SPN_TEXT("client.authentication.k8s.io/v1alpha1");
    assert_fails(f, &exec,
                 "exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_folder_test(answers),
        suite_folder_test(an_answer_expires),
        suite_folder_test(a_plugin_is_told_of_its_cluster),
        suite_folder_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
