/* Requests for certificates: who gets one, who does not, and how long they stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/certificates/plan.h"
#include "controllers/common/objects_test.h"

static const struct str nodes[] = { STR("system:nodes"), STR("more") };
#define NODE       .name = STR("system:node:n"), .organizations = nodes, .n_organizations = 1
#define CLIENT     "usages: [digital signature, client auth]"
#define SERVER     "usages: [key encipherment, digital signature, server auth]"
#define SPEC(s, u) "{spec: {signerName: " s ", " u "}}"
#define NO_NODES   "subject organization is not system:nodes"
#define NO_NAME    "subject common name does not begin with system:node:"

static void test_check(void **state)
{
    (void)state;
    static const struct {
        const char *csr;
        struct x509_request req;
        const char *why; /* NULL: it is signed */
    } rows[] = {
        { SPEC(SIGNER_CLIENT, CLIENT), { .n_ips = 0 }, NULL },
        { SPEC(SIGNER_CLIENT, SERVER),
          { .n_ips = 0 },
          "invalid usage for client certificate: server auth" },
        { SPEC(SIGNER_CLIENT, "usages: [digital signature]"),
          { .n_ips = 0 },
          "missing required usage for client certificate: client auth" },
        { SPEC(SIGNER_LEGACY, "usages: [any]"), { .n_ips = 0 }, NULL },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT), { NODE }, NULL },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT), { .name = STR("system:node:n") }, NO_NODES },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { .name = STR("system:node:n"), .organizations = nodes, .n_organizations = 2 },
          NO_NODES },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { .name = STR("n"), .organizations = nodes, .n_organizations = 1 },
          NO_NAME },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { NODE, .n_dns_names = 1 },
          "DNS subjectAltNames are not allowed" },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { NODE, .n_ips = 1 },
          "IP subjectAltNames are not allowed" },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { NODE, .n_emails = 1 },
          "Email subjectAltNames are not allowed" },
        { SPEC(SIGNER_KUBELET_CLIENT, CLIENT),
          { NODE, .n_uris = 1 },
          "URI subjectAltNames are not allowed" },
        { SPEC(SIGNER_KUBELET_CLIENT, SERVER),
          { NODE },
          "usages did not match [client auth digital signature key encipherment]" },
        { SPEC(SIGNER_KUBELET_SERVER, SERVER), { NODE, .n_ips = 1 }, NULL },
        { SPEC(SIGNER_KUBELET_SERVER, SERVER), { NODE }, "DNS or IP subjectAltName is required" },
        { SPEC(SIGNER_KUBELET_SERVER, CLIENT),
          { NODE, .n_dns_names = 1 },
          "usages did not match [digital signature key encipherment server auth]" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_err err = { 0 };
        const struct spn_value *csr = read_yaml(a, rows[i].csr);
        assert_true(csr_is_ours(csr));
        assert_int_equal(csr_check(csr, &rows[i].req, &err) < 0, rows[i].why != NULL);
        if (rows[i].why)
            assert_string_equal(err.message, rows[i].why);
    }
    assert_false(csr_is_ours(read_yaml(a, SPEC("example.com/mine", CLIENT))));
    spn_arena_free(a);
}

static void test_kubelet(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct x509_request req = { NODE };
    bool is_own;
    const struct spn_value *csr =
        read_yaml(a, "{spec: {signerName: " SIGNER_KUBELET_CLIENT ", username: boot, " CLIENT "}}");
    assert_true(csr_is_of_kubelet(csr, &req, &is_own) && !is_own);
    csr = read_yaml(a, "{spec: {signerName: " SIGNER_KUBELET_CLIENT
                       ", username: system:node:n, " CLIENT "}}");
    assert_true(csr_is_of_kubelet(csr, &req, &is_own) && is_own);
    csr = read_yaml(a, SPEC(SIGNER_CLIENT, CLIENT));
    assert_false(csr_is_of_kubelet(csr, &req, &is_own));
    spn_arena_free(a);
}

static void test_usages(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct csr_usages u;
    const char *text = "{spec: {usages: [client auth, signing, server auth, key encipherment]}}";
    assert_int_equal(csr_usages(read_yaml(a, text), &u, NULL), 0);
    assert_int_equal(u.key, 5);
    assert_string_equal(u.ext[0], "1.3.6.1.5.5.7.3.1");
    assert_string_equal(u.ext[1], "1.3.6.1.5.5.7.3.2");
    assert_null(u.ext[2]);
    text = "{spec: {usages: [s/mime, email protection, decipher only]}}";
    assert_int_equal(csr_usages(read_yaml(a, text), &u, NULL), 0);
    assert_int_equal(u.key, 256);
    assert_null(u.ext[1]);
    assert_true(csr_usages(read_yaml(a, "{spec: {usages: [flying]}}"), &u, NULL) < 0);
    spn_arena_free(a);
}

static void test_seconds(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    enum { YEAR = 365 * 86400 };
    assert_int_equal(csr_seconds(read_yaml(a, "{}"), YEAR), YEAR - 300);
    assert_int_equal(csr_seconds(read_yaml(a, "{spec: {expirationSeconds: 600}}"), YEAR), 600);
    assert_int_equal(csr_seconds(read_yaml(a, "{spec: {expirationSeconds: 10}}"), YEAR), 600);
    assert_int_equal(csr_seconds(read_yaml(a, "{spec: {expirationSeconds: 86400}}"), YEAR),
                     86400 - 300);
    assert_int_equal(csr_seconds(read_yaml(a, "{spec: {expirationSeconds: 86400}}"), 3600), 3600);
    spn_arena_free(a);
}

#define MADE     "metadata: {creationTimestamp: '1970-01-01T00:00:00Z'}, status: {"
#define IS(type) "conditions: [{type: " type ", lastUpdateTime: '1970-01-01T00:00:00Z'}]"
#define HOUR     INT64_C(3600000)

static void test_left(void **state)
{
    (void)state;
    static const struct {
        const char *csr;
        int64_t not_after_sec, left_ms;
    } rows[] = {
        { "{" MADE "}}", 0, 24 * HOUR - 600000 + 1 },
        { "{" MADE IS("Approved") "}}", 0, 24 * HOUR - 600000 + 1 },
        { "{" MADE IS("Approved") ", certificate: YQ==}}", 99999, HOUR - 600000 + 1 },
        { "{" MADE IS("Approved") ", certificate: YQ==}}", 599, 0 },
        { "{" MADE IS("Denied") "}}", 0, HOUR - 600000 + 1 },
        { "{" MADE IS("Failed") "}}", 0, HOUR - 600000 + 1 },
        { "{" MADE "conditions: [{type: Denied}]}}", 0, 24 * HOUR },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            csr_left_ms(read_yaml(a, rows[i].csr), rows[i].not_after_sec, 600 * NS_PER_SEC),
            rows[i].left_ms);
    spn_arena_free(a);
}

static void test_conditions(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct x509_request req;
    struct str der;
    struct spn_err err = { 0 };
    const struct spn_value *csr =
        read_yaml(a, "{spec: {request: aGVsbG8=}, status: {conditions: [{type: Approved}, {type: "
                     "Denied}, {type: Failed, status: 'False'}]}}");
    assert_true(csr_has(csr, "Approved"));
    assert_false(csr_is_approved(csr));
    assert_false(csr_has_failed(csr));
    assert_false(csr_is_issued(csr));
    assert_true(csr_request(a, csr, &der, &req, &err) < 0);
    assert_string_equal(err.message, "PEM block type must be CERTIFICATE REQUEST");
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),  cmocka_unit_test(test_kubelet),
        cmocka_unit_test(test_usages), cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_left),   cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
