/* Certificate signing requests and trust bundles. */
#include "api/certificate_data_test.h"
#include "api/validate/validate_check_test.h"

#define NL "\\n" /* in JSON */
#define DNS_LABEL                                                                                \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "   \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define CLUSTER_META "'metadata':{'name':'a','uid':'u','resourceVersion':'1'}"

static void signing_requests_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META ",'spec':{'request':'" REQUEST_64
                               "','signerName':'example.com/s','usages':['client auth']}}";
    static const struct refusal rows[] = {
        { "spec/request", "'anVuaw=='",
          "spec.request: Invalid value: 'anVuaw==': PEM block type must be CERTIFICATE REQUEST" },
        { "spec/request", NULL,
          "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST" },
        { "spec/request", "'" LEAF_64 "'",
          "spec.request: Invalid value: '" LEAF_64
          "': PEM block type must be CERTIFICATE REQUEST" },
        { "spec/signerName", NULL, "spec.signerName: Required value" },
        { "spec/signerName", "'x'",
          "spec.signerName: Invalid value: 'x': must be a fully qualified domain and path of the "
          "form 'example.com/signer-name'" },
        { "spec/signerName", "'Example.com/x'",
          "spec.signerName: Invalid value: 'Example.com': validating label 'Example': " DNS_LABEL },
        { "spec/signerName", "'kubernetes.io/legacy-unknown'",
          "spec.signerName: Invalid value: 'kubernetes.io/legacy-unknown': the legacy signerName "
          "is not allowed via this API version" },
        { "spec/usages", NULL, "spec.usages: Required value" },
        { "spec/usages", "['flying']",
          "spec.usages[0]: Unsupported value: 'flying': supported values: 'any', 'cert sign', "
          "'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', "
          "'decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end "
          "system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft "
          "sgc', 'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', "
          "'timestamping'" },
        { "spec/usages", "['any','any']", "spec.usages[1]: Duplicate value: 'any'" },
        { "spec/expirationSeconds", "599",
          "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 "
          "seconds (10 minutes)" },
        { "spec/expirationSeconds", "600", NULL },
        { "metadata/name", "'a/b'", "metadata.name: Invalid value: 'a/b': may not contain '/'" },
    };
    CREATES("certificates.k8s.io/v1", "CertificateSigningRequest", base, rows);
    static const struct refusal statuses[] = {
        { "status/conditions", "[{'type':'Approved','status':'True','reason':'R'}]",
          "status.conditions: Forbidden: updates may not add a condition of type 'Approved'" },
        { "status/conditions", "[{'type':'Denied','status':'True','reason':'R'}]",
          "status.conditions: Forbidden: updates may not add a condition of type 'Denied'" },
        { "status/conditions", "[{'type':'Failed','status':'True','reason':'R'}]", NULL },
        { "status/conditions", "[{'type':'Failed','status':'False','reason':'R'}]",
          "status.conditions[0].status: Unsupported value: 'False': supported values: 'True'" },
        { "status/conditions",
          "[{'type':'Failed','status':'True','reason':'R'},{'type':'Failed','status':'True','"
          "reason':'R'}]",
          "status.conditions[1].type: Duplicate value: 'Failed'" },
        { "status/certificate", "'anVuaw=='",
          "status.certificate: Invalid value: '<certificate data>': must contain at least one "
          "CERTIFICATE PEM block" },
        { "status/certificate", "'" REQUEST_64 "'",
          "status.certificate: Invalid value: '<certificate data>': only CERTIFICATE PEM blocks "
          "are allowed, found 'CERTIFICATE REQUEST'" },
        { "status/certificate", "'" LEAF_64 "'", NULL },
    };
    UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "status", base, statuses);
    static const struct refusal approval_rows[] = {
        { "status/conditions", "[{'type':'Approved','status':'True','reason':'R'}]", NULL },
        { "status/conditions",
          "[{'type':'Approved','status':'True','reason':'R'},{'type':'Denied','status':'True','"
          "reason':'R'}]",
          "status.conditions: Invalid value: '{conditions[{\\'type\\': \\'Approved\\'}], "
          "conditions[{\\'type\\': \\'Denied\\'}]}': must specify at most one of: "
          "`conditions[{'type': 'Approved'}]`, `conditions[{'type': 'Denied'}]`" },
        { "status/conditions", "[{'type':'Approved','status':'False','reason':'R'}]",
          "status.conditions[0].status: Unsupported value: 'False': supported values: 'True'" },
        { "status/conditions", "[{'type':'Failed','status':'True','reason':'R'}]", NULL },
        { "status/conditions", "[{'type':'','status':'True'}]",
          "status.conditions[0].type: Required value" },
    };
    UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "approval", base,
                approval_rows);
}

static void approved_requests_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META ",'spec':{'request':'" REQUEST_64
                               "','signerName':'example.com/s','usages':['client "
                               "auth']},'status':{'conditions':[{'type':'Approved','status':'True',"
                               "'reason':'R'}],'certificate':'" LEAF_64 "'}}";
    static const struct refusal approval_rows[] = {
        { "status/conditions", NULL,
          "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
        { "status/conditions", "[{'type':'Denied','status':'True','reason':'R'}]",
          "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
    };
    UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "approval", base,
                approval_rows);
    static const struct refusal statuses[] = {
        { "status/certificate", NULL,
          "status.certificate: Forbidden: updates may not modify existing certificate content" },
        { "status/conditions", NULL,
          "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
    };
    UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "status", base, statuses);
}

static void trust_bundles_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META ",'spec':{'trustBundle':'" CA_PEM(NL) "'}}";
    static const struct refusal rows[] = {
        { "spec/trustBundle", "''",
          "spec.trustBundle: Invalid value: '<value omitted>': at least one trust anchor must be "
          "provided" },
        { "spec/trustBundle", NULL,
          "spec.trustBundle: Invalid value: '<value omitted>': at least one trust anchor must be "
          "provided" },
        { "spec/trustBundle", "'junk'",
          "spec.trustBundle: Invalid value: '<value omitted>': at least one trust anchor must be "
          "provided" },
        { "spec/trustBundle", "'" LEAF_PEM(NL) "'",
          "spec.trustBundle: Invalid value: '<value omitted>': entry 0 does not have the CA bit "
          "set" },
        { "spec/trustBundle", "'" REQUEST_PEM(NL) "'",
          "spec.trustBundle: Invalid value: '<value omitted>': entry 0 has bad block type: "
          "CERTIFICATE REQUEST" },
        { "spec/trustBundle", "'" CA_PEM(NL) CA_PEM(NL) "'",
          "spec.trustBundle: Invalid value: '<value omitted>': duplicate trust anchor (indices [0 "
          "1])" },
        { "spec/trustBundle", "'words \\n" CA_PEM(NL) "'", NULL },
        { "spec/signerName", "'example.com/s'",
          "metadata.name: Invalid value: 'a': ClusterTrustBundle for signerName example.com/s must "
          "be named with prefix example.com:s:" },
        { "spec/signerName", "'s'",
          "metadata.name: Invalid value: 'a': ClusterTrustBundle for signerName s must be named "
          "with prefix s:" },
        { "metadata/name", "'a:b'",
          "metadata.name: Invalid value: 'a:b': ClusterTrustBundle without signer name must not "
          "have ':' in its name" },
    };
    CREATES("certificates.k8s.io/v1", "ClusterTrustBundle", base, rows);
    static const struct refusal changes[] = {
        { "spec/trustBundle", "'junk'",
          "spec.trustBundle: Invalid value: '<value omitted>': at least one trust anchor must be "
          "provided" },
        { "spec/signerName", "'example.com/s'",
          "spec.signerName: Invalid value: 'example.com/s': field is immutable" },
    };
    UPDATES("certificates.k8s.io/v1", "ClusterTrustBundle", base, changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signing_requests_are_checked),
        cmocka_unit_test(approved_requests_are_checked),
        cmocka_unit_test(trust_bundles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
