#include "server/secrecy/secrecy_config.h"

#include "api/field_errors.h"
#include "api/go/goduration.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "base/banned.h"

#define API_VERSION "apiserver.config.k8s.io/v1"
#define KIND        "EncryptionConfiguration"

static const struct str star = { "*", 1 };

/* The configuration as it is being read. */
struct reading {
    struct arena *arena;
    struct field_errors errors;
    struct str unknown; /* the first field that nobody knows, or whose type is wrong */
    struct str kms_names[64];
    size_t n_kms_names;
};

/* ---- Form ---- */

static void note_unknown(struct reading *rd, const struct field_path *at, struct str name)
{
    if (rd->unknown.n)
        return;
    struct field_path path = at ? field_child(at, name) : (struct field_path){ .name = name };
    struct str text = field_path_text(rd->arena, &path);
    rd->unknown = arena_printf(rd->arena, "strict decoding error: unknown field \"" STR_FMT "\"",
                               STR_ARG(text));
}

static void note_type(struct reading *rd, const struct field_path *at, const char *wanted)
{
    if (rd->unknown.n)
        return;
    struct str text = field_path_text(rd->arena, at);
    rd->unknown = arena_printf(rd->arena, STR_FMT " must be %s", STR_ARG(text), wanted);
}

/* Whether it is an object that has no fields but these. */
static bool has_only(struct reading *rd, const struct value *obj, const struct field_path *at,
                     const struct str *names, size_t n)
{
    if (!value_is(obj, VALUE_OBJECT)) {
        note_type(rd, at, "an object");
        return false;
    }
    value_each_field (f, obj) {
        size_t i = 0;
        while (i < n && !str_eq(names[i], f->key))
            i++;
        if (i == n)
            note_unknown(rd, at, f->key);
    }
    return true;
}

/* The list below a field; NULL if there is none. */
static const struct value *list_of(struct reading *rd, const struct value *obj,
                                   const struct field_path *at, struct str name)
{
    const struct value *list = value_get(obj, name);
    if (!list || value_is(list, VALUE_NULL))
        return NULL;
    if (value_is(list, VALUE_ARRAY))
        return list;
    struct field_path path = at ? field_child(at, name) : (struct field_path){ .name = name };
    note_type(rd, &path, "a list");
    return NULL;
}

static struct str text_of(struct reading *rd, const struct value *obj, const struct field_path *at,
                          struct str name)
{
    const struct value *v = value_get(obj, name);
    struct field_path path = field_child(at, name);
    if (v && !value_is(v, VALUE_STRING) && !value_is(v, VALUE_NULL))
        note_type(rd, &path, "a string");
    return value_str(v);
}

/* ---- Resources ---- */

static struct secrecy_resource resource_parse(struct str text)
{
    struct secrecy_resource r = { .group = text };
    r.plural = str_cut(&r.group, '.');
    if (!r.group.p)
        r.group = STR("");
    return r;
}

struct str secrecy_resource_text(struct arena *a, const struct secrecy_resource *r)
{
    bool all_of_core = str_eq(r->plural, star) && !r->group.n;
    return arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(r->plural),
                        r->group.n || all_of_core ? "." : "", STR_ARG(r->group));
}

static bool same_resource(const struct secrecy_resource *a, const struct secrecy_resource *b)
{
    return str_eq(a->group, b->group) && str_eq(a->plural, b->plural);
}

static bool is_everything(const struct secrecy_resource *r)
{
    return str_eq(r->group, star) && str_eq(r->plural, star);
}

/* Whether `a` also means what `b` means, without being the same. */
static bool covers(const struct secrecy_resource *a, const struct secrecy_resource *b)
{
    return is_everything(a) ||
           (str_eq(a->group, b->group) && (str_eq(a->plural, star) || str_eq(b->plural, star)));
}

static void check_overlap(struct reading *rd, const struct secrecy_rule *rule,
                          const struct value *list, const struct field_path *at)
{
    bool twice = false, overlaps = false;
    for (size_t i = 0; i < rule->n_resources; i++) {
        for (size_t j = 0; j < rule->n_resources; j++) {
            const struct secrecy_resource *a = &rule->resources[i], *b = &rule->resources[j];
            if (i == j)
                continue;
            if (same_resource(a, b) && !twice)
                twice = true;
            else if (covers(a, b))
                overlaps = true;
        }
    }
    struct field_errors *e = &rd->errors;
    if (twice)
        field_error(e, FIELD_INVALID, at, field_json(e, list),
                    "the same resource cannot be specified multiple times");
    if (overlaps)
        field_error(e, FIELD_INVALID, at, field_json(e, list),
                    "using overlapping resources such as 'secrets' and '*.' in the same resource "
                    "list is not allowed as they will be masked");
}

static bool has_capital(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 'A' && text.p[i] <= 'Z')
            return true;
    return false;
}

static bool has_no_api(struct str name)
{
    return str_eq(name, STR("apiserveripinfo")) || str_eq(name, STR("serviceipallocations")) ||
           str_eq(name, STR("servicenodeportallocations"));
}

/* What is wrong with the name of a resource; NULL if nothing is. */
static const char *name_fault(struct str text)
{
    struct secrecy_resource r = resource_parse(text);
    if (has_capital(text))
        return "resource name should not contain capital letters";
    if (str_eq(text, star))
        return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all "
               "resources";
    if (has_no_api(text))
        return "resources which do not have REST API/s cannot be encrypted";
    if (str_eq(r.group, STR("events.k8s.io")))
        return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use "
               "'events' instead in the config file";
    if (str_eq(r.group, STR("extensions")))
        return "'extensions' group has been removed and cannot be used for encryption";
    if (str_eq(r.group, star) && !str_eq(r.plural, star))
        return "encrypting the same resource across groups is not supported";
    return NULL;
}

static void read_resources(struct reading *rd, const struct value *list,
                           const struct field_path *at, struct secrecy_rule *ret)
{
    struct field_errors *e = &rd->errors;
    if (!list || !list->n) {
        struct str text = field_path_text(rd->arena, at);
        field_error(e, FIELD_REQUIRED, at, STR(""), "at least one " STR_FMT " is required",
                    STR_ARG(text));
        return;
    }
    ret->resources = arena_array(rd->arena, struct secrecy_resource, list->n);
    value_each_item (item, list) {
        struct field_path here = field_index(at, ret->n_resources);
        if (!value_is(item, VALUE_STRING))
            note_type(rd, &here, "a string");
        ret->resources[ret->n_resources++] = resource_parse(value_str(item));
    }
    check_overlap(rd, ret, list, at);
    for (size_t i = 0; i < list->n; i++) {
        struct str text = value_str(&list->items[i]);
        struct field_path here = field_index(at, i);
        const char *fault = name_fault(text);
        if (fault)
            field_error(e, FIELD_INVALID, &here, field_quoted(e, text), "%s", fault);
    }
}

/* ---- Keys ---- */

static void check_secret(struct reading *rd, enum cipher cipher, struct str text,
                         const struct field_path *at, struct str *ret)
{
    static const struct str redacted = { "\"REDACTED\"", 10 };
    struct field_path path = field_child(at, STR("secret"));
    autobuf bytes = { 0 };
    if (!text.n) {
        field_required(&rd->errors, &path, "secret is a mandatory field for a key");
        return;
    }
    if (!base64_decode(&bytes, text)) {
        field_error(&rd->errors, FIELD_INVALID, &path, redacted, "secrets must be base64 encoded");
        return;
    }
    if (!cipher_takes_key(cipher, bytes.n))
        field_error(&rd->errors, FIELD_INVALID, &path, redacted,
                    "secret is not of the expected length, got %zu, expected one of %s", bytes.n,
                    cipher == CIPHER_SECRETBOX ? "[32]" : "[16 24 32]");
    *ret = arena_str(rd->arena, buf_str(&bytes));
    explicit_bzero(bytes.p, bytes.n);
}

static void read_key(struct reading *rd, enum cipher cipher, const struct value *v,
                     const struct field_path *at, struct secrecy_key *ret)
{
    static const struct str names[] = { { "name", 4 }, { "secret", 6 } };
    if (!has_only(rd, v, at, names, ARRAY_LEN(names)))
        return;
    ret->name = arena_str(rd->arena, text_of(rd, v, at, STR("name")));
    struct field_path path = field_child(at, STR("name"));
    if (!ret->name.n)
        field_required(&rd->errors, &path, "name is a mandatory field for a key");
    check_secret(rd, cipher, text_of(rd, v, at, STR("secret")), at, &ret->secret);
}

static void read_keys(struct reading *rd, enum cipher cipher, const struct value *v,
                      const struct field_path *at, struct secrecy_provider *ret)
{
    static const struct str names[] = { { "keys", 4 } };
    struct field_path path = field_child(at, STR("keys"));
    const struct value *list =
        has_only(rd, v, at, names, 1) ? list_of(rd, v, at, STR("keys")) : NULL;
    if (!list || !list->n) {
        field_required(&rd->errors, &path, "at least one keys is required");
        return;
    }
    ret->keys = arena_array(rd->arena, struct secrecy_key, list->n);
    value_each_item (item, list) {
        struct field_path here = field_index(&path, ret->n_keys);
        read_key(rd, cipher, item, &here, &ret->keys[ret->n_keys++]);
    }
}

/* ---- Key management services ---- */

static void check_kms_name(struct reading *rd, struct str name, bool is_v1,
                           const struct field_path *at)
{
    struct field_errors *e = &rd->errors;
    struct field_path path = field_child(at, STR("name"));
    if (!name.n)
        field_required(e, &path, "name is a mandatory field for a provider");
    if (!is_v1 && str_find(name, ':') >= 0)
        field_error(e, FIELD_INVALID, &path, field_quoted(e, name),
                    "invalid KMS provider name " STR_FMT ", must not contain ':'", STR_ARG(name));
    for (size_t i = 0; i < rd->n_kms_names; i++)
        if (str_eq(rd->kms_names[i], name))
            field_error(e, FIELD_INVALID, &path, field_quoted(e, name),
                        "duplicate KMS provider name " STR_FMT ", names must be unique",
                        STR_ARG(name));
    if (rd->n_kms_names < ARRAY_LEN(rd->kms_names))
        rd->kms_names[rd->n_kms_names++] = name;
}

static int64_t read_timeout(struct reading *rd, const struct value *v, const struct field_path *at)
{
    struct field_path path = field_child(at, STR("timeout"));
    int64_t ns = SECRECY_KMS_TIMEOUT_SEC * NS_PER_SEC;
    struct str text = text_of(rd, v, at, STR("timeout"));
    if (!text.n)
        return ns;
    if (goduration_parse(text, &ns, NULL) < 0)
        note_type(rd, &path, "a duration");
    else if (ns <= 0)
        field_error(&rd->errors, FIELD_INVALID, &path, field_quoted(&rd->errors, text),
                    "timeout should be a positive value");
    return ns;
}

static void check_endpoint(struct reading *rd, struct str text, const struct field_path *at)
{
    struct field_errors *e = &rd->errors;
    struct field_path path = field_child(at, STR("endpoint"));
    struct str rest = text, scheme = str_find(text, ':') > 0 ? str_cut(&rest, ':') : STR("");
    if (!text.n)
        field_error(e, FIELD_INVALID, &path, STR("\"\""),
                    "endpoint is a mandatory field for a kms");
    else if (!str_eq(scheme, STR("unix")))
        field_error(e, FIELD_INVALID, &path, field_quoted(e, text),
                    "unsupported scheme \"" STR_FMT "\" for KMS provider, only unix is supported",
                    STR_ARG(scheme));
}

static void check_kms_version(struct reading *rd, const struct value *v, struct str version,
                              const struct field_path *at)
{
    struct field_errors *e = &rd->errors;
    struct field_path path = field_child(at, STR("apiVersion")),
                      size = field_child(at, STR("cachesize"));
    const struct value *cache = value_get(v, STR("cachesize"));
    bool is_v1 = str_eq(version, STR("v1"));
    if (cache && !is_v1)
        field_error(e, FIELD_INVALID, &size, field_json(e, cache),
                    "cachesize is not supported in v2");
    if (!is_v1 && !str_eq(version, STR("v2")))
        field_error(e, FIELD_INVALID, &path, field_quoted(e, version),
                    "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are "
                    "supported");
    if (is_v1 && !rd->unknown.n)
        rd->unknown = STR("KMSv1 is deprecated and will only receive security updates going "
                          "forward. Use KMSv2 instead.");
}

static void read_kms(struct reading *rd, const struct value *v, const struct field_path *at,
                     struct secrecy_provider *ret)
{
    static const struct str names[] = {
        { "apiVersion", 10 }, { "name", 4 }, { "cachesize", 9 }, { "endpoint", 8 }, { "timeout", 7 }
    };
    if (!has_only(rd, v, at, names, ARRAY_LEN(names)))
        return;
    struct str version = text_of(rd, v, at, STR("apiVersion"));
    if (!version.n)
        version = STR("v1");
    ret->name = arena_str(rd->arena, text_of(rd, v, at, STR("name")));
    check_kms_name(rd, ret->name, str_eq(version, STR("v1")), at);
    ret->timeout_ns = read_timeout(rd, v, at);
    ret->endpoint = arena_str(rd->arena, text_of(rd, v, at, STR("endpoint")));
    check_endpoint(rd, ret->endpoint, at);
    check_kms_version(rd, v, version, at);
}

/* ---- Providers ---- */

static const struct str type_names[] = {
    [SECRECY_IDENTITY] = { "identity", 8 }, [SECRECY_AESGCM] = { "aesgcm", 6 },
    [SECRECY_AESCBC] = { "aescbc", 6 },     [SECRECY_SECRETBOX] = { "secretbox", 9 },
    [SECRECY_KMS] = { "kms", 3 },
};

/* How many providers one element names; the last of them. */
static size_t count_types(const struct value *v, enum secrecy_type *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++) {
        const struct value *one = value_get(v, type_names[i]);
        if (one && !value_is(one, VALUE_NULL)) {
            *ret = (enum secrecy_type)i;
            n++;
        }
    }
    return n;
}

static void read_provider(struct reading *rd, const struct value *v, const struct field_path *at,
                          struct secrecy_provider *ret)
{
    if (!has_only(rd, v, at, type_names, ARRAY_LEN(type_names)))
        return;
    size_t n = count_types(v, &ret->type);
    if (n != 1) {
        field_error(&rd->errors, FIELD_INVALID, at, n ? STR("\"REDACTED\"") : STR("{}"), "%s",
                    n ? "more than one provider specified in a single element, should split into "
                        "different list elements"
                      : "provider does not contain any of the expected providers: KMS, AESGCM, "
                        "AESCBC, Secretbox, Identity");
        return;
    }
    const struct value *one = value_get(v, type_names[ret->type]);
    struct field_path path = field_child(at, type_names[ret->type]);
    if (ret->type == SECRECY_KMS)
        read_kms(rd, one, &path, ret);
    else if (ret->type == SECRECY_IDENTITY)
        (void)has_only(rd, one, &path, NULL, 0);
    else
        read_keys(rd, (enum cipher)(ret->type - SECRECY_AESGCM), one, &path, ret);
}

static void read_providers(struct reading *rd, const struct value *list,
                           const struct field_path *at, struct secrecy_rule *ret)
{
    if (!list || !list->n) {
        struct str text = field_path_text(rd->arena, at);
        field_error(&rd->errors, FIELD_REQUIRED, at, STR(""),
                    "at least one " STR_FMT " is required", STR_ARG(text));
        return;
    }
    ret->providers = arena_array(rd->arena, struct secrecy_provider, list->n);
    value_each_item (item, list) {
        struct field_path here = field_index(at, ret->n_providers);
        read_provider(rd, item, &here, &ret->providers[ret->n_providers++]);
    }
}

/* ---- The whole ---- */

static void read_rule(struct reading *rd, const struct value *v, const struct field_path *at,
                      struct secrecy_rule *ret)
{
    static const struct str names[] = { { "resources", 9 }, { "providers", 9 } };
    if (!has_only(rd, v, at, names, ARRAY_LEN(names)))
        return;
    struct field_path resources = field_child(at, STR("resources")),
                      providers = field_child(at, STR("providers"));
    read_resources(rd, list_of(rd, v, at, STR("resources")), &resources, ret);
    read_providers(rd, list_of(rd, v, at, STR("providers")), &providers, ret);
}

static void read_rules(struct reading *rd, const struct value *doc, struct secrecy_config *ret)
{
    static const struct str names[] = { { "apiVersion", 10 }, { "kind", 4 }, { "resources", 9 } };
    struct field_path root = { .name = STR("resources") };
    (void)has_only(rd, doc, NULL, names, ARRAY_LEN(names));
    const struct value *list = list_of(rd, doc, NULL, STR("resources"));
    if (!list || !list->n) {
        field_required(&rd->errors, &root, "at least one resources is required");
        return;
    }
    ret->rules = arena_array(rd->arena, struct secrecy_rule, list->n);
    value_each_item (item, list) {
        struct field_path here = field_index(&root, ret->n_rules);
        read_rule(rd, item, &here, &ret->rules[ret->n_rules++]);
    }
}

static int check_type(const struct value *doc, struct err *err)
{
    struct str kind = value_text(doc, "kind"), version = value_text(doc, "apiVersion");
    if (!kind.n)
        return err_set(err, ERR_INVALID, "Object 'Kind' is missing");
    if (!version.n)
        return err_set(err, ERR_INVALID, "Object 'apiVersion' is missing");
    if (!str_eq(kind, STR(KIND)) || !str_eq(version, STR(API_VERSION)))
        return err_set(err, ERR_INVALID,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(kind), STR_ARG(version));
    return 0;
}

/* A rule that names what an earlier one has taken with a star would never be asked. */
static int check_masked(struct arena *a, const struct secrecy_config *c, size_t rule,
                        const struct secrecy_resource *r, struct err *err)
{
    for (size_t i = 0; i < rule; i++) {
        for (size_t j = 0; j < c->rules[i].n_resources; j++) {
            const struct secrecy_resource *was = &c->rules[i].resources[j];
            bool masks =
                str_eq(was->plural, star) && (str_eq(was->group, r->group) || is_everything(was));
            if (!masks)
                continue;
            struct str text = secrecy_resource_text(a, r), by = secrecy_resource_text(a, was);
            return err_set(err, ERR_INVALID,
                           "error while building transformers: resource \"" STR_FMT
                           "\" is masked by earlier rule \"" STR_FMT "\"",
                           STR_ARG(text), STR_ARG(by));
        }
    }
    return 0;
}

static int check_all_masked(struct arena *a, const struct secrecy_config *c, struct err *err)
{
    for (size_t i = 0; i < c->n_rules; i++) {
        for (size_t j = 0; j < c->rules[i].n_resources; j++) {
            int r = check_masked(a, c, i, &c->rules[i].resources[j], err);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int parse_document(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    struct str twice = { 0 };
    struct yaml_options opt = { .ret_duplicate = &twice };
    int r = yaml_read(a, text, &opt, ret, err);
    if (r < 0)
        return r;
    if (twice.n)
        return err_set(err, ERR_INVALID, "strict decoding error: key \"" STR_FMT "\" already set",
                       STR_ARG(twice));
    return check_type(ret, err);
}

static int undecodable(const char *file, struct str why, struct err *err)
{
    err_clear(err);
    return err_set(err, ERR_INVALID,
                   "error while parsing file: error decoding encryption provider configuration "
                   "file \"%s\": " STR_FMT,
                   file, STR_ARG(why));
}

int secrecy_config_read(struct arena *a, const char *file, struct str text,
                        struct secrecy_config *ret, struct err *err)
{
    struct value doc;
    if (!text.n)
        return err_set(err, ERR_INVALID,
                       "error while parsing file: error while loading file: encryption provider "
                       "configuration file \"%s\" is empty",
                       file);
    if (parse_document(a, text, &doc, err) < 0)
        return undecodable(file, err->msg, err);
    struct reading rd = { .arena = a, .errors = FIELD_ERRORS_INIT(a) };
    *ret = (struct secrecy_config){ 0 };
    read_rules(&rd, &doc, ret);
    if (rd.unknown.n)
        return undecodable(file, rd.unknown, err);
    if (rd.errors.n) {
        struct str faults = field_errors_text(&rd.errors);
        return err_set(err, ERR_INVALID, "error while parsing file: " STR_FMT, STR_ARG(faults));
    }
    return check_all_masked(a, ret, err);
}
