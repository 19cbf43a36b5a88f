/* Volumes that gather files from several places. */
#include "api/validate/suite_validate.h"

#define SOURCES(sources) "{'name':'v','projected':{'sources':[" sources "]}}"

static const char projecting_pod[] =
    "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}],'serviceAccountName':'s','volumes'"
    ":[" SOURCES("") "]}}";

static const struct suite_change projected_files[] = {
    { "spec/volumes/0", SOURCES("{'secret':{'name':'s'}},{'configMap':{'name':'m'}}"), NULL },
    { "spec/volumes/0", SOURCES("{'secret':{'name':''}}"),
      "spec.volumes[0].projected.sources[0].secret.name: Required value" },
    { "spec/volumes/0", SOURCES("{'configMap':{}}"),
      "spec.volumes[0].projected.sources[0].configMap.name: Required value" },
    { "spec/volumes/0", SOURCES("{'secret':{'name':'s'},'configMap':{'name':'m'}}"),
      "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type "
      "per source" },
    { "spec/volumes/0", SOURCES("{'secret':{'name':'s','items':[{'key':'','path':'p'}]}}"),
      "spec.volumes[0].projected.sources[0].secret.items[0].key: Required value" },
    { "spec/volumes/0", SOURCES("{'secret':{'name':'s','items':[{'key':'k','path':''}]}}"),
      "spec.volumes[0].projected.sources[0].secret.items[0].path: Required value" },
    { "spec/volumes/0", SOURCES("{'secret':{'name':'s','items':[{'key':'k','path':'/p'}]}}"),
      "spec.volumes[0].projected.sources[0].secret.items[0].path: Invalid value: '/p': must be a "
      "relative path" },
    { "spec/volumes/0", SOURCES("{'configMap':{'name':'m','items':[{'key':'k','path':'../p'}]}}"),
      "spec.volumes[0].projected.sources[0].configMap.items[0].path: Invalid value: '../p': must "
      "not contain '..'" },
    { "spec/volumes/0", SOURCES("{'configMap':{'name':'m','items':[{'key':'k','path':'..p'}]}}"),
      "spec.volumes[0].projected.sources[0].configMap.items[0].path: Invalid value: '..p': must "
      "not start with '..'" },
    { "spec/volumes/0",
      SOURCES("{'configMap':{'name':'m','items':[{'key':'k','path':'p','mode':512}]}}"),
      "spec.volumes[0].projected.sources[0].configMap.items[0].mode: Invalid value: 512: must be a "
      "number between 0 and 0777 (octal), both inclusive" },
    { "spec/volumes/0",
      SOURCES("{'configMap':{'name':'m','items':[{'key':'a','path':'p'},{'key':'b','path':'p'}]}}"),
      "spec.volumes[0].projected: Invalid value: 'm': conflicting duplicate paths" },
    { "spec/volumes/0",
      SOURCES("{'secret':{'name':'s','items':[{'key':'a','path':'p'}]}},"
              "{'serviceAccountToken':{'path':'p'}}"),
      NULL },
    { "spec/volumes/0", "{'name':'v','projected':{'defaultMode':-1}}",
      "spec.volumes[0].projected.defaultMode: Invalid value: -1: must be a number between 0 and "
      "0777 (octal), both inclusive" },
    { "spec/volumes/0", "{'name':'v','projected':{'defaultMode':511}}", NULL },
};

static const struct suite_change projected_fields[] = {
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'metadata.name'}}]}}"),
      NULL },
    { "spec/volumes/0",
      SOURCES(
          "{'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'metadata.labels'}}]}}"),
      NULL },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'spec.nodeName'}}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "
      "'spec.nodeName': supported values: 'metadata.annotations', 'metadata.labels', "
      "'metadata.name', 'metadata.namespace', 'metadata.uid'" },
    { "spec/volumes/0", SOURCES("{'downwardAPI':{'items':[{'path':'p'}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI: Required value: one of fieldRef and "
      "resourceFieldRef is required" },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'fieldRef':{'fieldPath':'metadata.name'}}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI.path: Required value" },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'metadata.name'},"
              "'resourceFieldRef':{'containerName':'c','resource':'limits.cpu'}}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI: Invalid value: 'resource': fieldRef and "
      "resourceFieldRef can not be specified simultaneously" },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','resourceFieldRef':{'containerName':'c',"
              "'resource':'limits.cpu'}}]}}"),
      NULL },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','resourceFieldRef':{'resource':'limits.cpu'}}]}"
              "}"),
      "spec.volumes[0].projected.sources[0].downwardAPI.resourceFieldRef.containerName: Required "
      "value" },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'p','resourceFieldRef':{'containerName':'c',"
              "'resource':'limits.gpu'}}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI.resourceFieldRef.resource: Unsupported "
      "value: 'limits.gpu': supported values: 'limits.cpu', 'limits.ephemeral-storage', "
      "'limits.memory', 'requests.cpu', 'requests.ephemeral-storage', 'requests.memory'" },
    { "spec/volumes/0",
      SOURCES("{'downwardAPI':{'items':[{'path':'a/../p','mode':1000,"
              "'fieldRef':{'fieldPath':'metadata.uid'}}]}}"),
      "spec.volumes[0].projected.sources[0].downwardAPI.path: Invalid value: 'a/../p': must not "
      "contain '..'\n"
      "spec.volumes[0].projected.sources[0].downwardAPI.mode: Invalid value: 1000: must be a "
      "number between 0 and 0777 (octal), both inclusive" },
};

static const struct suite_change projected_tokens[] = {
    { "spec/volumes/0", SOURCES("{'serviceAccountToken':{'path':'t'}}"), NULL },
    { "spec/volumes/0", SOURCES("{'serviceAccountToken':{'path':''}}"),
      "spec.volumes[0].projected.path: Required value" },
    { "spec/volumes/0", SOURCES("{'serviceAccountToken':{'path':'t','expirationSeconds':599}}"),
      "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: "
      "599: may not specify a duration less than 10 minutes" },
    { "spec/volumes/0", SOURCES("{'serviceAccountToken':{'path':'t','expirationSeconds':600}}"),
      NULL },
    { "spec/volumes/0",
      SOURCES("{'serviceAccountToken':{'path':'t','expirationSeconds':4294967297}}"),
      "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: "
      "4294967297: may not specify a duration larger than 2^32 seconds" },
    { "spec/volumes/0", SOURCES("{'serviceAccountToken':{'path':'/t'}}"),
      "spec.volumes[0].projected.path: Invalid value: '/t': must be a relative path" },
    { "spec/volumes/0",
      SOURCES("{'serviceAccountToken':{'path':'t'}},{'serviceAccountToken':{'path':'t'}}"), NULL },
};

static const char nobodys_pod[] = "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change nobodys_tokens[] = {
    { "spec/volumes", "[" SOURCES("{'serviceAccountToken':{'path':'t'}}") "]",
      "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified "
      "when serviceAccountName is not set" },
};

#define SIGNED "'signerName':'example.com/s'"

static const struct suite_change projected_bundles[] = {
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'name':'b','path':'p'}}"), NULL },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{" SIGNED ",'path':'p'}}"), NULL },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle: Required value: either name or "
      "signerName must be specified" },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'name':'b','path':''}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Required value" },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'name':'','path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.name: Required value: must be a "
      "valid object name\n"
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.name: Invalid value: '': not a "
      "valid clustertrustbundlename: " SUBDOMAIN },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'name':'b'," SIGNED ",'path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle: Invalid value: "
      "{'Name':'b','SignerName':'example.com/"
      "s','LabelSelector':null,'Optional':null,'Path':'p','User':null}: only one of name and "
      "signerName may be used" },
    { "spec/volumes/0",
      SOURCES("{'clusterTrustBundle':{'name':'b','labelSelector':{},'path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.labelSelector: Invalid value: {}: "
      "labelSelector must be unset if name is specified" },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'signerName':'','path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Required value: must be "
      "a valid signer name\n"
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Required value" },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'signerName':'plain','path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Invalid value: 'plain': "
      "must be a fully qualified domain and path of the form 'example.com/signer-name'" },
    { "spec/volumes/0",
      SOURCES("{'clusterTrustBundle':{" SIGNED
              ",'labelSelector':{'matchLabels':{'a':'b c'}},'path':'p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.labelSelector.matchLabels: Invalid "
      "value: 'b c': " LABEL_VALUE },
    { "spec/volumes/0", SOURCES("{'clusterTrustBundle':{'name':'b','path':'../p'}}"),
      "spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Invalid value: '../p': must "
      "not contain '..'" },
};

#define CERTIFICATE(more) SOURCES("{'podCertificate':{" SIGNED ",'keyType':'ED25519'" more "}}")

static const struct suite_change projected_certificates[] = {
    { "spec/volumes/0", CERTIFICATE(",'credentialBundlePath':'p'"), NULL },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'k','certificateChainPath':'c'"), NULL },
    { "spec/volumes/0", CERTIFICATE(""),
      "spec.volumes[0].projected.sources[0].podCertificate: Required value: specify at least one "
      "of credentialBundlePath, keyPath, and certificateChainPath" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','certificateChainPath':'p'"),
      "spec.volumes[0].projected: Invalid value: 'p': conflicting duplicate paths" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'/p'"),
      "spec.volumes[0].projected.sources[0].podCertificate.keyPath: Invalid value: '/p': must be a "
      "relative path" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','maxExpirationSeconds':3599"),
      "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: "
      "3599: if provided, maxExpirationSeconds must be >= 3600" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','maxExpirationSeconds':3600"), NULL },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','maxExpirationSeconds':7862401"),
      "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: "
      "7862401: if provided, maxExpirationSeconds must be <= 7862400" },
    { "spec/volumes/0",
      SOURCES("{'podCertificate':{'signerName':'kubernetes.io/s','keyType':'RSA3072','keyPath':'p',"
              "'maxExpirationSeconds':86401}}"),
      "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: "
      "86401: if provided, maxExpirationSeconds must be <= 86400" },
    { "spec/volumes/0",
      SOURCES("{'podCertificate':{'signerName':'a.kubernetes.io/s','keyType':'RSA1024',"
              "'keyPath':'p'}}"),
      "spec.volumes[0].projected.sources[0].podCertificate.keyType: Unsupported value: 'RSA1024': "
      "supported values: 'RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'" },
    { "spec/volumes/0", SOURCES("{'podCertificate':{'keyType':'ED25519','keyPath':'p'}}"),
      "spec.volumes[0].projected.sources[0].podCertificate.signerName: Required value" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','userAnnotations':{'Acme.io/Foo':'x'}"), NULL },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','userAnnotations':{'foo':'x'}"),
      "spec.volumes[0].projected.sources[0].podCertificate.userAnnotations: Invalid value: 'foo': "
      "must be a domain-prefixed key (such as 'acme.io/foo')" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','userAnnotations':{'':'x'}"),
      "spec.volumes[0].projected.sources[0].podCertificate.userAnnotations: Required value" },
    { "spec/volumes/0", CERTIFICATE(",'keyPath':'p','userAnnotations':{'a b/c':'x'}"),
      "spec.volumes[0].projected.sources[0].podCertificate.userAnnotations: Invalid value: 'a "
      "b/c': prefix part " SUBDOMAIN },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", projecting_pod, projected_files),
        SUITE_CREATES("v1", "Pod", projecting_pod, projected_fields),
        SUITE_CREATES("v1", "Pod", projecting_pod, projected_tokens),
        SUITE_CREATES("v1", "Pod", nobodys_pod, nobodys_tokens),
        SUITE_CREATES("v1", "Pod", projecting_pod, projected_bundles),
        SUITE_CREATES("v1", "Pod", projecting_pod, projected_certificates),
    };
    return SUITE_MAIN(tables);
}
