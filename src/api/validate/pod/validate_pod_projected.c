/* Projected volumes: several sources in one folder. */
#include "api/inner.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/banned.h"

struct projection {
    struct field_errors *e;
    const struct field_path *path; /* of the volume's source */
    const struct pod_rules *rules;
    struct text_set paths; /* of all files so far */
};

/* `shown` is what the message names: the source, or the path itself. */
static void take_path(struct projection *p, struct str file, struct str shown,
                      const struct value *source)
{
    if (!text_set_add(&p->paths, file, source))
        fault_text(p->e, p->path, shown, "conflicting duplicate paths");
}

static void check_files(struct projection *p, const struct field_path *path, const struct value *v)
{
    (void)validate_required(p->e, path_at(path, "name"), value_text(v, "name"));
    size_t i = 0;
    value_each_item (it, value_get(v, STR("items"))) {
        validate_key_to_path(p->e, path_item(path_at(path, "items"), i++), it);
        if (value_text(it, "path").n)
            take_path(p, value_text(it, "path"), value_text(v, "name"), it);
    }
}

static void check_downward(struct projection *p, const struct field_path *path,
                           const struct value *v)
{
    value_each_item (it, value_get(v, STR("items"))) {
        validate_downward_file(p->e, path, it);
        if (value_text(it, "path").n)
            take_path(p, value_text(it, "path"), value_text(it, "path"), it);
    }
}

static void check_token(struct projection *p, const struct field_path *path, const struct value *v)
{
    const struct value *expiration = validate_member(v, "expirationSeconds");
    const struct field_path *at = path_at(path, "expirationSeconds");
    int64_t seconds = validate__int(expiration);
    struct str file = value_text(v, "path");
    if (!expiration)
        fault_required(p->e, at, "");
    else if (seconds < 600)
        fault_int(p->e, at, seconds, "may not specify a duration less than 10 minutes");
    else if (seconds > INT64_C(1) << 32)
        fault_int(p->e, at, seconds, "may not specify a duration larger than 2^32 seconds");
    if (!file.n)
        fault_required(p->e, path_at(p->path, "path"), "");
    else if (!p->rules->keeps_token_path)
        (void)validate_local_path(p->e, path_at(p->path, "path"), file);
    validate_user(p->e, path_at(path, "user"), validate_member(v, "user"));
}

/* A bundle of a signer is named after it, with colons for slashes. */
static void check_bundle_name(struct projection *p, const struct field_path *path, struct str name)
{
    struct str rest = name;
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == ':') {
            rest = str_skip(name, i);
            break;
        }
    struct name_faults f = { 0 };
    if (!name.n)
        fault_required(p->e, path, "must be a valid object name");
    if (name.n && rest.p == name.p + 1) {
        fault_text(
            p->e, path, name, "%s",
            "not a valid clustertrustbundlename: ClusterTrustBundle without signer name must "
            "not have \":\" in its name");
        return;
    }
    if (name_check(NAME_SUBDOMAIN, rest, &f))
        return;
    for (size_t i = 0; i < f.n; i++)
        fault_text(p->e, path, name, "not a valid clustertrustbundlename: %s%s", f.list[i].part,
                   f.list[i].why);
}

static void check_bundle(struct projection *p, const struct field_path *path, const struct value *v)
{
    struct field_errors *e = p->e;
    const struct value *name = validate_member(v, "name"),
                       *signer = validate_member(v, "signerName"),
                       *selector = validate_member(v, "labelSelector");
    if (name && signer) {
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("v1"), STR("ClusterTrustBundleProjection"), v),
                    "only one of name and signerName may be used");
    } else if (name) {
        check_bundle_name(p, path_at(path, "name"), value_str(name));
        if (selector)
            fault_value(e, path_at(path, "labelSelector"), selector,
                        "labelSelector must be unset if name is specified");
    } else if (signer) {
        if (!value_str(signer).n)
            fault_required(e, path_at(path, "signerName"), "must be a valid signer name");
        (void)validate_signer_name(e, path_at(path, "signerName"), value_str(signer));
        (void)validate_label_selector(e, path_at(path, "labelSelector"), selector, 0);
    } else {
        fault_required(e, path, "either name or signerName must be specified");
    }
    struct str file = value_text(v, "path");
    (void)validate_required(e, path_at(path, "path"), file);
    validate_user(e, path_at(path, "user"), validate_member(v, "user"));
    (void)validate_local_path(e, path_at(path, "path"), file);
    take_path(p, file, file, v);
}

static void check_expiration(struct projection *p, const struct field_path *path,
                             const struct value *v)
{
    enum { HOUR = 3600, OTHERS_MAX = 91 * 24 * HOUR, OURS_MAX = 24 * HOUR };
    const struct value *expiration = validate_member(v, "maxExpirationSeconds");
    if (!expiration)
        return;
    int64_t seconds = validate__int(expiration);
    struct str rest = value_text(v, "signerName"), domain = str_cut(&rest, '/');
    bool ours = validate_is_in_domain(domain, "kubernetes.io");
    int max = ours ? OURS_MAX : OTHERS_MAX;
    if (seconds < HOUR)
        fault_int(p->e, path, seconds, "if provided, maxExpirationSeconds must be >= 3600");
    if (seconds > max)
        fault_int(p->e, path, seconds, "if provided, maxExpirationSeconds must be <= %d", max);
}

/* "acme.io/foo", in any case. */
static void check_user_annotations(struct projection *p, const struct field_path *path,
                                   const struct value *annotations)
{
    size_t bytes = 0;
    value_each_field (f, annotations) {
        struct str lower = f->key;
        char *copy = arena_dup(p->e->arena, lower.p, lower.n);
        for (size_t i = 0; i < lower.n; i++)
            copy[i] = (char)(copy[i] >= 'A' && copy[i] <= 'Z' ? copy[i] | 0x20 : copy[i]);
        lower.p = copy;
        if (!lower.n)
            fault_required(p->e, path, "");
        else if (validate_name(p->e, path, NAME_QUALIFIED, lower) && str_find(lower, '/') < 0)
            fault_text(p->e, path, lower,
                       "must be a domain-prefixed key (such as \"acme.io/foo\")");
        bytes += f->key.n + value_str(&f->val).n;
    }
    if (bytes > LIMIT_ANNOTATION_BYTES)
        field_too_long(p->e, path, LIMIT_ANNOTATION_BYTES);
}

static void check_certificate(struct projection *p, const struct field_path *path,
                              const struct value *v)
{
    static const struct str key_types[] = { STR("RSA3072"),   STR("RSA4096"),   STR("ECDSAP256"),
                                            STR("ECDSAP384"), STR("ECDSAP521"), STR("ED25519") };
    static const struct str files[] = { STR("credentialBundlePath"), STR("keyPath"),
                                        STR("certificateChainPath") };
    struct field_errors *e = p->e;
    (void)validate_signer_name(e, path_at(path, "signerName"), value_text(v, "signerName"));
    check_user_annotations(p, path_at(path, "userAnnotations"),
                           value_get(v, STR("userAnnotations")));
    validate_user(e, path_at(path, "user"), validate_member(v, "user"));
    (void)validate_one_of(e, path_at(path, "keyType"), value_text(v, "keyType"), WORDS(key_types));
    check_expiration(p, path_at(path, "maxExpirationSeconds"), v);
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct str file = value_str(value_get(v, files[i]));
        struct field_path at = field_child(path, files[i]);
        if (!file.n)
            continue;
        n++;
        (void)validate_local_path(e, &at, file);
        take_path(p, file, file, v);
    }
    if (!n)
        fault_required(e, path,
                       "specify at least one of credentialBundlePath, keyPath, and "
                       "certificateChainPath");
}

static void check_projection(struct projection *p, const struct field_path *path,
                             const struct value *source)
{
    static const struct {
        struct str name;
        void (*check)(struct projection *p, const struct field_path *path, const struct value *v);
    } kinds[] = {
        { STR("secret"), check_files },
        { STR("configMap"), check_files },
        { STR("downwardAPI"), check_downward },
        { STR("serviceAccountToken"), check_token },
        { STR("clusterTrustBundle"), check_bundle },
        { STR("podCertificate"), check_certificate },
    };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct value *v = validate__member(source, kinds[i].name);
        struct field_path at = field_child(path, kinds[i].name);
        if (!v)
            continue;
        n++;
        kinds[i].check(p, &at, v);
    }
    if (n > 1)
        fault_forbidden(p->e, path, "may not specify more than 1 volume type per source");
}

void validate_projected_volume(struct field_errors *e, const struct field_path *path,
                               const struct value *projected, const struct pod_rules *rules)
{
    struct projection p = { .e = e, .path = path, .rules = rules };
    text_set_init(&p.paths);
    validate_file_mode(e, path_at(path, "defaultMode"), validate_member(projected, "defaultMode"));
    validate_user(e, path_at(path, "defaultUser"), validate_member(projected, "defaultUser"));
    size_t i = 0;
    value_each_item (it, value_get(projected, STR("sources")))
        check_projection(&p, path_item(path_at(path, "sources"), i++), it);
    text_set_done(&p.paths);
}
