/* Certificate signing requests and trust bundles. */
#include "net/crypto/x509_data_test.h"
#include "api/validate/suite_validate.h"

#define NL "\\n" /* in JSON */

static const char signing_requests_base[] =
    "{" CLUSTER_META ",'spec':{'request':'" REQUEST_64
    "','signerName':'example.com/s','usages':['client auth']}}";

static const struct suite_change signing_requests[] = {
    { "spec/request", "'anVuaw=='",
      "spec.request: Invalid value: 'anVuaw==': PEM block type must be CERTIFICATE REQUEST" },
    { "spec/request", NULL,
      "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST" },
    { "spec/request", "'" LEAF_64 "'",
      "spec.request: Invalid value: '" LEAF_64 "': PEM block type must be CERTIFICATE REQUEST" },
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

static const struct suite_change signing_requests_statuses[] = {
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

static const struct suite_change signing_requests_approvals[] = {
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

static const char approved_requests_base[] =
    "{" CLUSTER_META ",'spec':{'request':'" REQUEST_64
    "','signerName':'example.com/s','usages':['client "
    "auth']},'status':{'conditions':[{'type':'Approved','status':'True',"
    "'reason':'R'}],'certificate':'" LEAF_64 "'}}";

static const struct suite_change approved_requests_approvals[] = {
    { "status/conditions", NULL,
      "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
    { "status/conditions", "[{'type':'Denied','status':'True','reason':'R'}]",
      "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
};

static const struct suite_change approved_requests_statuses[] = {
    { "status/certificate", NULL,
      "status.certificate: Forbidden: updates may not modify existing certificate content" },
    { "status/conditions", NULL,
      "status.conditions: Forbidden: updates may not remove a condition of type 'Approved'" },
};

static const char trust_bundles_base[] =
    "{" CLUSTER_META ",'spec':{'trustBundle':'" CA_PEM(NL) "'}}";

static const struct suite_change trust_bundles[] = {
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
      "metadata.name: Invalid value: 'a': ClusterTrustBundle for signerName s must be named with "
      "prefix s:\n"
      "spec.signerName: Invalid value: 's': must be a fully qualified domain and path of the form "
      "'example.com/signer-name'" },
    { "metadata/name", "'a:b'",
      "metadata.name: Invalid value: 'a:b': ClusterTrustBundle without signer name must not "
      "have ':' in its name" },
};

static const struct suite_change trust_bundles_changes[] = {
    { "spec/trustBundle", "'junk'",
      "spec.trustBundle: Invalid value: '<value omitted>': at least one trust anchor must be "
      "provided" },
    { "spec/signerName", "'example.com/s'",
      "spec.signerName: Invalid value: 'example.com/s': field is immutable" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("certificates.k8s.io/v1", "CertificateSigningRequest", signing_requests_base,
                      signing_requests),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "status",
                          signing_requests_base, signing_requests_statuses),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "approval",
                          signing_requests_base, signing_requests_approvals),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "approval",
                          approved_requests_base, approved_requests_approvals),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "CertificateSigningRequest", "status",
                          approved_requests_base, approved_requests_statuses),
        SUITE_CREATES("certificates.k8s.io/v1", "ClusterTrustBundle", trust_bundles_base,
                      trust_bundles),
        SUITE_UPDATES("certificates.k8s.io/v1", "ClusterTrustBundle", trust_bundles_base,
                      trust_bundles_changes),
    };
    return SUITE_MAIN(tables);
}
