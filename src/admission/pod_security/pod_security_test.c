/* PodSecurity: the checks by level and version, the policies of namespaces, the configuration, and
 * the plugin. Objects are JSON with single quotes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "admission/pod_security/pod_security_check.h"
#include "admission/suite_admission.h"
#include "api/field_errors.h"
#include "base/idiom.h"
#include "base/json.h"

static struct value tree(struct arena *a, const char *quoted)
{
    struct str s = str_of(quoted);
    char *text = arena_dup(a, s.p, s.n);
    struct value v;
    for (size_t i = 0; i < s.n; i++)
        text[i] = text[i] == '\'' ? '"' : text[i];
    if (json_read(a, (struct str){ text, s.n }, NULL, &v, NULL) < 0)
        fail_msg("%s", quoted);
    return v;
}

enum { LATEST = -1 };

#define BASELINE   POD_SECURITY_BASELINE
#define RESTRICTED POD_SECURITY_RESTRICTED
/* A pod that "restricted" lets in, and what it may say beside. */
#define CONTAINER                                                                         \
    "'name':'c','securityContext':{'allowPrivilegeEscalation':false,'runAsNonRoot':true," \
    "'capabilities':{'drop':['ALL']},'seccompProfile':{'type':'RuntimeDefault'}}"
#define GOOD(more)        "{'spec':{'containers':[{" CONTAINER "}]" more "}}"
#define ONE(more)         "{'spec':{'containers':[{'name':'c'" more "}]}}"
#define SECURITY(context) ONE(",'securityContext':" context)

static void checks(void **state)
{
    (void)state;
    static const struct {
        enum pod_security_level level;
        int minor;
        const char *pod, *want;
    } rows[] = {
        { POD_SECURITY_PRIVILEGED, LATEST, SECURITY("{'privileged':true}"), "" },
        { BASELINE, LATEST, ONE(""), "" },
        { BASELINE, LATEST, SECURITY("{'privileged':true}"),
          "privileged (container \"c\" must not set securityContext.privileged=true)" },
        { BASELINE, LATEST,
          "{'spec':{'hostNetwork':true,'hostIPC':true,'initContainers':[{'name':'i','ports':[{"
          "'hostPort':90},{'hostPort':8}]}],'containers':[{'name':'c','ports':[{'hostPort':8}]}],"
          "'volumes':[{'name':'v','hostPath':{}}]}}",
          "host namespaces (hostNetwork=true, hostIPC=true), hostPath volumes (volume \"v\"), "
          "hostPort (containers \"i\", \"c\" use hostPorts 8, 90)" },
        { BASELINE, LATEST, SECURITY("{'capabilities':{'add':['SYS_ADMIN','CHOWN','BPF']}}"),
          "non-default capabilities (container \"c\" must not include \"BPF\", \"SYS_ADMIN\" in "
          "securityContext.capabilities.add)" },
        { BASELINE, 33, ONE(",'livenessProbe':{'httpGet':{'host':'h'}}"), "" },
        { BASELINE, 34, ONE(",'livenessProbe':{'httpGet':{'host':'h'}}"),
          "probe or lifecycle host (container \"c\" uses probe or lifecycle host \"h\")" },
        { BASELINE, LATEST, SECURITY("{'windowsOptions':{'hostProcess':true}}"),
          "hostProcess (container \"c\" must not set "
          "securityContext.windowsOptions.hostProcess=true)" },
        { BASELINE, 30, SECURITY("{'seLinuxOptions':{'type':'container_engine_t','user':'u'}}"),
          "seLinuxOptions (container \"c\" set forbidden securityContext.seLinuxOptions: type "
          "\"container_engine_t\"; user may not be set)" },
        { BASELINE, 31, SECURITY("{'seLinuxOptions':{'type':'container_engine_t'}}"), "" },
        { BASELINE, 18,
          "{'metadata':{'annotations':{'seccomp.security.alpha.kubernetes.io/pod':'x','container."
          "seccomp.security.alpha.kubernetes.io/other':'x'}},'spec':{'containers':[{'name':'c'}]}}",
          "seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"x\")" },
        { BASELINE, LATEST,
          "{'spec':{'securityContext':{'seccompProfile':{'type':'Unconfined'}},'containers':[{'"
          "name'"
          ":'c','securityContext':{'seccompProfile':{'type':'Unconfined'}}}]}}",
          "seccompProfile (pod and container \"c\" must not set securityContext.seccompProfile.type"
          " to \"Unconfined\")" },
        { BASELINE, LATEST,
          "{'metadata':{'annotations':{'container.apparmor.security.beta.kubernetes.io/c':"
          "'unconfined'}},'spec':{}}",
          "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
          "\"container.apparmor.security.beta.kubernetes.io/c=\"unconfined\"\")" },
        { BASELINE, 26,
          "{'spec':{'securityContext':{'sysctls':[{'name':'net.ipv4.ip_local_reserved_ports'},{"
          "'name':'a'}]}}}",
          "forbidden sysctls (net.ipv4.ip_local_reserved_ports, a)" },
        { BASELINE, LATEST,
          "{'spec':{'securityContext':{'sysctls':[{'name':'net.ipv4.tcp_notsent_lowat'}]}}}", "" },
        { BASELINE, LATEST, SECURITY("{'procMount':'Unmasked'}"),
          "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")" },
        { BASELINE, LATEST,
          "{'spec':{'hostUsers':false,'containers':[{'name':'c','securityContext':{'procMount':"
          "'Unmasked'}}]}}",
          "" },
        { RESTRICTED, LATEST, GOOD(""), "" },
        { RESTRICTED, LATEST, ONE(""),
          "allowPrivilegeEscalation != false (container \"c\" must set "
          "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
          "\"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod "
          "or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or "
          "container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
          "\"Localhost\")" },
        { RESTRICTED, 7, ONE(""),
          "runAsNonRoot != true (pod or container \"c\" must set "
          "securityContext.runAsNonRoot=true)" },
        /* Nothing of that is known on Windows. */
        { RESTRICTED, LATEST,
          "{'spec':{'os':{'name':'windows'},'securityContext':{'runAsNonRoot':true},'containers':[{"
          "'name':'c'}]}}",
          "" },
        { RESTRICTED, LATEST, GOOD(",'securityContext':{'runAsUser':0}"),
          "runAsUser=0 (pod must not set runAsUser=0)" },
        { RESTRICTED, LATEST, GOOD(",'hostUsers':false,'securityContext':{'runAsUser':0}"), "" },
        { RESTRICTED, 34, GOOD(",'hostUsers':false,'securityContext':{'runAsUser':0}"),
          "runAsUser=0 (pod must not set runAsUser=0)" },
        /* A stricter check stands for that of "baseline". */
        { RESTRICTED, LATEST,
          GOOD(",'volumes':[{'name':'a','hostPath':{}},{'name':'b','nfs':{}},{'name':'d','secret':"
               "{}},{'name':'e'}]"),
          "restricted volume types (volumes \"a\", \"b\", \"e\" use restricted volume types "
          "\"hostPath\", \"nfs\", \"unknown\")" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value pod = tree(&a, rows[i].pod);
        const struct pod_security_mode mode = { rows[i].level, rows[i].minor == LATEST
                                                                   ? POD_SECURITY_LATEST
                                                                   : rows[i].minor };
        struct pod_security_findings found;
        pod_security_check(&a, &mode, value_dig(&pod, "metadata", "annotations"),
                           value_get(&pod, STR("spec")), &found);
        struct str got = pod_security_findings_text(&a, &found, true);
        if (!str_eq(got, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].pod, STR_ARG(got));
    }
    arena_done(&a);
}

#define L "pod-security.kubernetes.io/"

static void policies(void **state)
{
    (void)state;
    static const struct {
        const char *labels, *enforce, *audit, *warn;
        size_t n_faults;
    } rows[] = {
        { "{}", "privileged:latest", "privileged:latest", "privileged:latest", 0 },
        /* What is enforced is warned of, unless that is said to be something else. */
        { "{'" L "enforce':'baseline','" L "enforce-version':'v1.9'}", "baseline:v1.9",
          "privileged:latest", "baseline:v1.9", 0 },
        { "{'" L "enforce':'restricted','" L "warn':'baseline'}", "restricted:latest",
          "privileged:latest", "baseline:latest", 0 },
        { "{'" L "enforce':'restricted','" L "warn-version':'v1.20'}", "restricted:latest",
          "privileged:latest", "restricted:v1.20", 0 },
        { "{'" L "enforce':'x','" L "audit':'x','" L "warn':'x','" L "warn-version':'v1.01'}",
          "restricted:latest", "privileged:latest", "privileged:latest", 4 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct field_errors faults = FIELD_ERRORS_INIT(&a);
        struct value labels = tree(&a, rows[i].labels);
        struct pod_security_policy p =
            pod_security_policy_of(&labels, &pod_security_config_default.defaults, &faults);
        assert_string_equal(str_cstr(&a, pod_security_mode_text(&a, &p.enforce)), rows[i].enforce);
        assert_string_equal(str_cstr(&a, pod_security_mode_text(&a, &p.audit)), rows[i].audit);
        assert_string_equal(str_cstr(&a, pod_security_mode_text(&a, &p.warn)), rows[i].warn);
        assert_int_equal(faults.n, rows[i].n_faults);
    }
    arena_done(&a);
}

#define CONFIG(more)                                                                            \
    "{'apiVersion':'pod-security.admission.config.k8s.io/v1','kind':'PodSecurityConfiguration'" \
    "" more "}"

static void configuration(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *fault; /* NULL: none */
    } rows[] = {
        { CONFIG(""), NULL },
        { CONFIG(",'defaults':{'enforce':'baseline','warn-version':'v1.30'},'exemptions':{"
                 "'usernames':['u'],'namespaces':['kube-system'],'runtimeClasses':[]}"),
          NULL },
        { CONFIG(",'default':{}"), "strict decoding error: unknown field \"default\"" },
        { CONFIG(",'defaults':{'deny':'x'}"),
          "strict decoding error: unknown field \"defaults.deny\"" },
        { CONFIG(",'defaults':{'enforce':'x','audit-version':'1'}"),
          "PodSecurity invalid: [defaults.enforce: Invalid value: \"x\": must be one of "
          "privileged, "
          "baseline, restricted, defaults.audit-version: Invalid value: \"1\": must be \"latest\" "
          "or \"v1.x\"]" },
        { CONFIG(",'exemptions':{'usernames':['','a','a']}"),
          "PodSecurity invalid: [exemptions.usernames[0]: Invalid value: \"\": username must not "
          "be "
          "empty, exemptions.usernames[2]: Duplicate value: \"a\"]" },
        { "{'apiVersion':'v1','kind':'Pod'}", "no kind \"Pod\" is registered for version \"v1\"" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct value v = tree(&a, rows[i].tree);
        struct pod_security_config c;
        int r = pod_security_config_read(&a, &v, &c, &err);
        assert_int_equal(r < 0, rows[i].fault != NULL);
        if (rows[i].fault)
            assert_string_equal(str_cstr(&a, err.msg), rows[i].fault);
        if (i == 1) {
            assert_true(pod_security_exempts(&c.users, STR("u")));
            assert_false(pod_security_exempts(&c.runtime_classes, STR("u")));
            assert_int_equal(c.defaults.warn.minor, 30);
        }
    }
    arena_done(&a);
}

static void plugin(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        { STR("namespaces"), STR("ns"),
          "{'metadata':{'name':'ns','labels':{'" L "enforce':'baseline'}}}" },
    };
    static const struct suite_row rows[] = {
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}", NULL, NULL,
          FORBIDDEN("pods \"p\"") "violates PodSecurity \"baseline:latest\": host namespaces "
                                  "(hostPID=true)" },
        /* What does not matter may change, and what makes pods is only warned of. */
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}",
          "{'metadata':{'name':'p'},'spec':{'hostPID':true}}" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}",
          "{'metadata':{'name':'p'},'spec':{'hostPID':true,'containers':[{'name':'c'}]}}", NULL,
          FORBIDDEN("pods \"p\"") "violates PodSecurity \"baseline:latest\": host namespaces "
                                  "(hostPID=true)" },
        { "", "pods",
          "{'metadata':{'name':'p'},'spec':{'ephemeralContainers':[{'name':'e','securityContext':{"
          "'privileged':true}}]}}",
          "{'metadata':{'name':'p'},'spec':{}}", NULL,
          FORBIDDEN("pods \"p\"") "violates PodSecurity \"baseline:latest\": privileged (container "
                                  "\"e\" must not set securityContext.privileged=true)",
          "ephemeralcontainers" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}",
          "{'metadata':{'name':'p'},'spec':{}}", .sub = "status" },
        { "apps", "deployments",
          "{'metadata':{'name':'d'},'spec':{'template':{'spec':{'hostPID':true}}}}" },
    };
    struct suite s = { .objects = objects, .n_objects = ARRAY_LEN(objects) };
    assert_int_equal(
        admission_choose(&s.choice, STR("Priority,DefaultTolerationSeconds"), false, NULL), 0);
    SUITE_CHECK(&s, rows);
}

#define WORSE                                                                         \
    "host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities, " \
    "runAsNonRoot != true, seccompProfile"

/* What clients and auditors are told. */
static void told(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        { STR("namespaces"), STR("ns"),
          "{'metadata':{'name':'ns','labels':{'" L "enforce':'privileged','" L
          "audit':'baseline','" L "warn':'baseline','" L "warn-version':'v1.9'}}}" },
        { STR("namespaces"), STR("free"), "{'metadata':{'name':'free'}}" },
        { STR("namespaces"), STR("odd"),
          "{'metadata':{'name':'odd','labels':{'" L "enforce-version':'x'}}}" },
        { STR("pods"), STR("b"),
          "{'metadata':{'name':'b'},'spec':{'hostPID':true,'containers':[{'name':'c'}]}}" },
        { STR("pods"), STR("a"),
          "{'metadata':{'name':'a'},'spec':{'hostIPC':true,'containers':[{'name':'c'}]}}" },
        { STR("pods"), STR("d"), "{'metadata':{'name':'d'},'spec':{}}" },
    };
    static const struct suite_row rows[] = {
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}",
          .said =
              L "enforce-policy=privileged:latest\n" L
                "audit-violations=would violate PodSecurity \"baseline:latest\": host namespaces "
                "(hostPID=true)\n"
                "! would violate PodSecurity \"baseline:v1.9\": host namespaces (hostPID=true)\n" },
        { "batch", "cronjobs",
          "{'metadata':{'name':'j'},'spec':{'jobTemplate':{'spec':{'template':{'spec':{'hostPID':"
          "true}}}}}}",
          .said = L "audit-violations=would violate PodSecurity \"baseline:latest\": host "
                    "namespaces (hostPID=true)\n"
                    "! would violate PodSecurity \"baseline:v1.9\": host namespaces "
                    "(hostPID=true)\n" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'hostPID':true}}", .ns = "free",
          .said = L "enforce-policy=privileged:latest\n" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{}}", .ns = "odd",
          .said = L "error=Failed to parse policy: metadata.labels[" L "enforce-version]: Invalid "
                    "value: \"x\": must be \"latest\" or \"v1.x\"\n" L
                    "enforce-policy=privileged:latest\n" },
        /* A stricter label tells of the pods that are there; a laxer one does not. */
        { "", "namespaces", "{'metadata':{'name':'ns','labels':{'" L "enforce':'restricted'}}}",
          "{'metadata':{'name':'ns'}}",
          .said = "! existing pods in namespace \"ns\" violate the new PodSecurity enforce level "
                  "\"restricted:latest\"\n"
                  "! a (and 1 other pod): " WORSE "\n" },
        { "", "namespaces", "{'metadata':{'name':'ns','labels':{'" L "enforce':'baseline'}}}",
          "{'metadata':{'name':'ns','labels':{'" L "enforce':'restricted'}}}", .said = "" },
    };
    struct suite s = { .objects = objects, .n_objects = ARRAY_LEN(objects) };
    assert_int_equal(
        admission_choose(&s.choice, STR("Priority,DefaultTolerationSeconds"), false, NULL), 0);
    SUITE_CHECK(&s, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks), cmocka_unit_test(policies), cmocka_unit_test(configuration),
        cmocka_unit_test(plugin), cmocka_unit_test(told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
