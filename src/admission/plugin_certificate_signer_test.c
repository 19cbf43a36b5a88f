/* Who approves, signs and vouches: by name of the signer, and by its domain. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct user alice = { .name = STR("alice") };
static const struct suite suite = { .user = &alice,
                                    .allowed = "approve signers a.test/one;sign signers a.test/*;"
                                               "attest signers a.test/one;" };

#define CSR "certificates.k8s.io", "certificatesigningrequests"
#define REQUEST(signer, status) \
    "{'metadata':{'name':'r'},'spec':{'signerName':'" signer "'},'status':" status "}"
#define REFUSED FORBIDDEN("certificatesigningrequests.certificates.k8s.io \"r\"")

static void approval(void **state)
{
    static const struct suite_row rows[] = {
        { CSR, REQUEST("a.test/one", "{}"), REQUEST("a.test/one", "{}"), NULL, NULL, "approval" },
        /* What it was made for counts. */
        { CSR, REQUEST("a.test/one", "{}"), REQUEST("a.test/two", "{}"), NULL,
          REFUSED "user not permitted to approve requests with signerName \"a.test/two\"",
          "approval" },
        { CSR, REQUEST("a.test/two", "{}"), REQUEST("a.test/two", "{}"), NULL, NULL, NULL },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

static void signing(void **state)
{
    static const char why[] =
        REFUSED "user not permitted to sign requests with signerName \"b.test/one\"";
    static const struct suite_row rows[] = {
        { CSR, REQUEST("a.test/any", "{'certificate':'x'}"), REQUEST("a.test/any", "{}"), NULL,
          NULL, "status" },
        { CSR, REQUEST("b.test/one", "{'certificate':'x'}"), REQUEST("b.test/one", "{}"), NULL, why,
          "status" },
        { CSR, REQUEST("b.test/one", "{'conditions':[{}]}"), REQUEST("b.test/one", "{}"), NULL, why,
          "status" },
        /* Nothing was signed. */
        { CSR, REQUEST("b.test/one", "{'certificate':'x'}"),
          REQUEST("b.test/one", "{'certificate':'x'}"), NULL, NULL, "status" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define BUNDLE(signer, meta, text)                                                                 \
    "{'metadata':{'name':'b'" meta "},'spec':{'signerName':'" signer "','trustBundle':'" text "'}" \
    "}"
#define CTB "certificates.k8s.io", "clustertrustbundles"

static void bundles(void **state)
{
    static const char why[] = FORBIDDEN(
        "clustertrustbundles.certificates.k8s.io \"b\"") "user not permitted to attest for "
                                                         "signerName \"b.test/one\"";
    static const struct suite_row rows[] = {
        { CTB, BUNDLE("a.test/one", "", "x"), NULL, NULL, NULL },
        { CTB, BUNDLE("", "", "x"), NULL, NULL, NULL },
        { CTB, BUNDLE("b.test/one", "", "x"), NULL, NULL, why },
        { CTB, BUNDLE("b.test/one", "", "x"), BUNDLE("b.test/one", "", "y"), NULL, why },
        { CTB, BUNDLE("b.test/one", ",'finalizers':['f']", "x"), BUNDLE("b.test/one", "", "x"),
          NULL, NULL },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approval),
        cmocka_unit_test(signing),
        cmocka_unit_test(bundles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
