/* Who signs a certificates.k8s.io/v1beta1 request that does not say: what a kubelet asks for is
 * known by its subject, its names and its usages (RFC 2986), and goes to one of two signers.
 *
 * Reads as much of the request as the question needs. One that is otherwise broken gets a signer
 * all the same, and is refused by validation. */
#include "api/defaults/defaults_rules.h"

#include "api/der.h"
#include "api/keys.h"
#include "base/base64.h"
#include "base/banned.h"

struct request {
    size_t organizations, node_organizations;
    size_t dns_or_ips, others;
    bool is_node; /* by its common name */
};

static const struct str oid_common_name = { "\x55\x04\x03", 3 };
static const struct str oid_organization = { "\x55\x04\x0a", 3 };
static const struct str oid_alt_names = { "\x55\x1d\x11", 3 };
static const struct str oid_extensions = { "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x0e", 9 };

static bool has_oid(struct str *in, struct str oid)
{
    struct str found;
    return der_expect(in, DER_OID, &found) && str_eq(found, oid);
}

/* ---- Requests ---- */

static void read_attribute_of_name(struct str pair, struct request *ret)
{
    struct str oid, text;
    if (!der_expect(&pair, DER_OID, &oid) || !der_next(&pair, &text))
        return;
    if (str_eq(oid, oid_common_name))
        ret->is_node = str_starts(text, STR("system:node:"));
    if (!str_eq(oid, oid_organization))
        return;
    ret->organizations++;
    ret->node_organizations += str_eq(text, STR("system:nodes"));
}

static void read_subject(struct str subject, struct request *ret)
{
    struct str set, pair;
    while (der_expect(&subject, DER_SET, &set))
        while (der_expect(&set, DER_SEQUENCE, &pair))
            read_attribute_of_name(pair, ret);
}

static void read_alt_names(struct str octets, struct request *ret)
{
    struct str names, name;
    if (!der_expect(&octets, DER_SEQUENCE, &names))
        return;
    for (unsigned tag; (tag = der_next(&names, &name));) {
        ret->dns_or_ips += tag == DER_NAME_DNS || tag == DER_NAME_IP;
        ret->others += tag == DER_NAME_EMAIL || tag == DER_NAME_URI;
    }
}

static void read_extension(struct str extension, struct request *ret)
{
    struct str body;
    if (!has_oid(&extension, oid_alt_names))
        return;
    unsigned tag = der_next(&extension, &body);
    if (tag == DER_BOOLEAN) /* whether it is critical */
        tag = der_next(&extension, &body);
    if (tag == DER_OCTETS)
        read_alt_names(body, ret);
}

static void read_attributes(struct str attributes, struct request *ret)
{
    struct str attribute, set, extensions, extension;
    while (der_expect(&attributes, DER_SEQUENCE, &attribute))
        if (has_oid(&attribute, oid_extensions) && der_expect(&attribute, DER_SET, &set) &&
            der_expect(&set, DER_SEQUENCE, &extensions))
            while (der_expect(&extensions, DER_SEQUENCE, &extension))
                read_extension(extension, ret);
}

static bool read_request(struct str der, struct request *ret)
{
    struct str outer, inner, version, subject, key, attributes;
    if (!der_expect(&der, DER_SEQUENCE, &outer) || !der_expect(&outer, DER_SEQUENCE, &inner) ||
        !der_next(&inner, &version) || !der_expect(&inner, DER_SEQUENCE, &subject) ||
        !der_expect(&inner, DER_SEQUENCE, &key))
        return false;
    read_subject(subject, ret);
    if (der_expect(&inner, DER_ATTRIBUTES, &attributes))
        read_attributes(attributes, ret);
    return true;
}

/* ---- PEM ---- */

static struct str find(struct str text, struct str what)
{
    const char *at = text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;
    return at ? str_skip(text, (size_t)(at - text.p)) : (struct str){ 0 };
}

/* The bytes of the first block. */
static bool read_pem(struct str pem, struct buf *ret)
{
    struct str begin = STR("-----BEGIN CERTIFICATE REQUEST-----");
    struct str end = STR("-----END CERTIFICATE REQUEST-----");
    struct str block = find(pem, STR("-----BEGIN ")), rest = find(block, end);
    if (!str_starts(block, begin) || !rest.p)
        return false;
    autobuf text = { 0 };
    block = str_skip(str_take(block, block.n - rest.n), begin.n);
    for (size_t i = 0; i < block.n; i++)
        if (block.p[i] != '\n' && block.p[i] != '\r' && block.p[i] != ' ' && block.p[i] != '\t')
            buf_byte(&text, block.p[i]);
    return base64_decode(ret, buf_str(&text));
}

/* ---- The signer ---- */

/* Exactly digital signature, `purpose`, and perhaps key encipherment, in any order. */
static bool has_usages(const struct value *usages, struct str purpose)
{
    bool signs = false, serves = false;
    value_each_item (usage, usages) {
        struct str name = value_str(usage);
        if (str_eq(name, STR("digital signature")))
            signs = true;
        else if (str_eq(name, purpose))
            serves = true;
        else if (!str_eq(name, STR("key encipherment")))
            return false;
    }
    return signs && serves;
}

static struct str signer_of(const struct value *spec)
{
    autobuf pem = { 0 }, der = { 0 };
    struct request request = { 0 };
    const struct value *usages = value_get(spec, STR("usages"));
    if (!base64_decode(&pem, value_text(spec, "request")) || !read_pem(buf_str(&pem), &der) ||
        !read_request(buf_str(&der), &request) || request.organizations != 1 ||
        !request.node_organizations || !request.is_node || request.others)
        return STR(KEY_SIGNER_LEGACY_UNKNOWN);
    if (!request.dns_or_ips && has_usages(usages, STR("client auth")))
        return STR("kubernetes.io/kube-apiserver-client-kubelet");
    if (request.dns_or_ips && has_usages(usages, STR("server auth")))
        return STR("kubernetes.io/kubelet-serving");
    return STR(KEY_SIGNER_LEGACY_UNKNOWN);
}

void defaults__signing_request(struct arena *a, struct value *spec)
{
    const struct value *name = value_get(spec, STR("signerName"));
    if (!name || name->type == VALUE_NULL)
        value_put(a, spec, STR("signerName"), value_string(signer_of(spec)));
}
