/* The account of a pod, its token and the secrets that it allows. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static const struct suite_object objects[] = {
    { STR("serviceaccounts"), STR("default"),
      "{'metadata':{'name':'default'},'imagePullSecrets':[{'name':'pull'}]}" },
    { STR("serviceaccounts"), STR("plain"),
      "{'metadata':{'name':'plain'},'automountServiceAccountToken':false}" },
    { STR("serviceaccounts"), STR("strict"),
      "{'metadata':{'name':'strict','annotations':{'kubernetes.io/enforce-mountable-secrets':"
      "'true'}},'automountServiceAccountToken':false,'secrets':[{'name':'mine'}],"
      "'imagePullSecrets':[{'name':'pull'}]}" },
};

/* All others are off, so that only this plugin's changes show. */
static struct suite only_accounts(struct arena *a)
{
    struct suite s = { .objects = objects, .n_objects = ARRAY_LEN(objects) };
    struct err err = ERR_INIT(a);
    assert_int_equal(admission_choose(&s.choice, STR("ServiceAccount"), true, &err), 0);
    assert_int_equal(
        admission_choose(&s.choice, STR("Priority,DefaultTolerationSeconds"), false, &err), 0);
    return s;
}

static void check(const struct suite_row *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct suite s = only_accounts(&a);
    suite_check(&s, rows, n);
    arena_done(&a);
}

#define ACCOUNT(name) "'serviceAccountName':'" name "'"
#define POD(spec)     "{'metadata':{'name':'p'},'spec':{" spec "}}"
#define REFUSED       FORBIDDEN("pods \"p\"")

static void accounts(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", POD("'automountServiceAccountToken':false"), NULL,
          POD("'automountServiceAccountToken':false," ACCOUNT(
              "default") ",'serviceAccount':'default','imagePullSecrets':[{'name':'pull'}]"),
          NULL },
        { "", "pods", POD(ACCOUNT("plain")), NULL, NULL, NULL },
        { "", "pods", POD(ACCOUNT("plain") ",'imagePullSecrets':[{'name':'own'}]"), NULL, NULL,
          NULL },
        { "", "pods", POD(ACCOUNT("none")), NULL, NULL,
          REFUSED "error looking up service account ns/none: serviceaccount \"none\" not found" },
        /* What is there stays as it is, unless initializers are still at work on it. */
        { "", "pods", POD(""), POD(""), NULL, NULL },
        { "", "pods", POD(ACCOUNT("none")),
          "{'metadata':{'name':'p','initializers':{'pending':[{'name':'a.b.c'}]}},'spec':{}}", NULL,
          REFUSED "error looking up service account ns/none: serviceaccount \"none\" not found" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

#define MOUNT(name)                                                                   \
    "{'name':'" name "','readOnly':true,'mountPath':'/var/run/secrets/kubernetes.io/" \
    "serviceaccount'}"
#define VOLUME "'volumes':[{'name':'kube-api-access-there'}]"

static void tokens(void **state)
{
    static const struct suite_row rows[] = {
        /* A volume that is there is used. */
        { "", "pods",
          POD("'automountServiceAccountToken':true," ACCOUNT(
              "plain") "," VOLUME ",'initContainers':[{'name':'i'}],'containers':[{'name':'a','"
                       "volumeMounts':[{'name':"
                       "'x','mountPath':'/var/run/secrets/kubernetes.io/"
                       "serviceaccount'}]},{'name':'b',"
                       "'volumeMounts':[{'name':'x'}]}]"),
          NULL,
          POD("'automountServiceAccountToken':true," ACCOUNT(
              "plain") "," VOLUME
                       ",'initContainers':[{'name':'i','volumeMounts':[" MOUNT(
                           "kube-api-access-there") "]}],'containers':[{'name':'a','volumeMounts':["
                                                    "{'name':'x','mountPath':"
                                                    "'/var/run/secrets/kubernetes.io/"
                                                    "serviceaccount'}]},{'name':'b','volumeMounts':"
                                                    "["
                                                    "{'name':'x'}," MOUNT(
                                                        "kube-api-access-there") "]}]"),
          NULL },
        /* Nobody needs one. */
        { "", "pods", POD("'automountServiceAccountToken':true," ACCOUNT("plain")), NULL, NULL,
          NULL },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

#define STRICT  ACCOUNT("strict")
#define UNKNOWN "is not allowed because service account strict does not reference that "

static void secrets(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods",
          POD(STRICT ",'imagePullSecrets':[{'name':'pull'}],'volumes':[{'secret':{'secretName':"
                     "'mine'}}]"),
          NULL, NULL, NULL },
        { "", "pods", POD(STRICT ",'volumes':[{'secret':{'secretName':'x'}}]"), NULL, NULL,
          REFUSED "volume with secret.secretName=\"x\" " UNKNOWN "secret" },
        { "", "pods",
          POD(STRICT ",'initContainers':[{'name':'c','env':[{'name':'E','valueFrom':{"
                     "'secretKeyRef':{'name':'x'}}}]}]"),
          NULL, NULL,
          REFUSED "init container c with envVar E referencing secret.secretName=\"x\" " UNKNOWN
                  "secret" },
        /* CVE-2024-3177 */
        { "", "pods",
          POD(STRICT ",'containers':[{'name':'c','envFrom':[{'secretRef':{'name':'x'}}]}]"), NULL,
          NULL,
          REFUSED "container c with envFrom referencing secret.secretName=\"x\" " UNKNOWN
                  "secret" },
        { "", "pods", POD(STRICT ",'imagePullSecrets':[{'name':'pull'},{'name':'x'}]"), NULL, NULL,
          REFUSED "imagePullSecrets[1].name=\"x\" " UNKNOWN "imagePullSecret" },
        /* CVE-2023-2728 */
        { "", "pods",
          POD(STRICT
              ",'ephemeralContainers':[{'name':'e','envFrom':[{'secretRef':{'name':'x'}}]}]"),
          POD(STRICT), NULL,
          REFUSED "ephemeral container e with envFrom referencing secret.secretName=\"x\" " UNKNOWN
                  "secret",
          "ephemeralcontainers" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

#define MIRROR(spec)                                                                     \
    "{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':'x'}},'spec':" \
    "{" spec "}}"

static void mirrors(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", MIRROR("'containers':[{'name':'c'}]"), NULL, NULL, NULL },
        { "", "pods", MIRROR(ACCOUNT("plain")), NULL, NULL,
          REFUSED "a mirror pod may not reference service accounts" },
        { "", "pods", MIRROR("'imagePullSecrets':[{'name':'pull'}]"), NULL, NULL,
          REFUSED "a mirror pod may not reference secrets" },
        { "", "pods", MIRROR("'volumes':[{'projected':{'sources':[{'serviceAccountToken':{}}]}}]"),
          NULL, NULL, REFUSED "a mirror pod may not use ServiceAccountToken volume projections" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void off_unless_asked_for(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", POD(ACCOUNT("none")), NULL, NULL, NULL },
    };
    struct arena a;
    (void)state;
    arena_init(&a);
    struct suite s = only_accounts(&a);
    s.choice.on = 0;
    SUITE_CHECK(&s, rows);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts),
        cmocka_unit_test(tokens),
        cmocka_unit_test(secrets),
        cmocka_unit_test(mirrors),
        cmocka_unit_test(off_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
