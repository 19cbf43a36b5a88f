/* From a definition, a tree of apiextensions.k8s.io/v1, to the kinds it defines. */
#include "server/custom/custom_build.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/crc32c.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "server/custom/custom_webhook.h"

#include "base/banned.h"

/* ---- Small pieces ---- */

static struct str text_of(struct arena *a, const struct value *obj, struct str key)
{
    return arena_str(a, value_str(value_get(obj, key)));
}

static bool is_true(const struct value *obj, struct str key)
{
    const struct value *v = value_get(obj, key);
    return value_is(v, VALUE_BOOL) && v->b;
}

static const struct str *texts_of(struct arena *a, const struct value *list, uint8_t *ret_n)
{
    *ret_n = 0;
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return NULL;
    struct str *texts = arena_array(a, struct str, list->n);
    value_each_item (it, list)
        if (*ret_n < UINT8_MAX)
            texts[(*ret_n)++] = arena_str(a, value_str(it));
    return texts;
}

static bool condition_is_true(const struct value *crd, struct str type)
{
    value_each_item (it, value_dig(crd, "status", "conditions"))
        if (str_eq(value_str(value_get(it, STR("type"))), type))
            return str_eq(value_str(value_get(it, STR("status"))), STR("True"));
    return false;
}

/* ---- Priority of versions ---- */

/* "v12beta3": major 12, stage 1, minor 3. */
struct version_parts {
    uint64_t major, minor;
    int stage; /* 2: stable, 1: beta, 0: alpha, -1: none of them */
};

static bool eat_number(struct str *s, uint64_t *ret)
{
    size_t n = 0;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    bool good = n && *s->p != '0' && str_to_u64(str_take(*s, n), ret);
    *s = str_skip(*s, n);
    return good;
}

static struct version_parts parts_of(struct str version)
{
    struct version_parts none = { .stage = -1 }, p = { .stage = 2 };
    if (!str_starts(version, STR("v")))
        return none;
    version = str_skip(version, 1);
    if (!eat_number(&version, &p.major))
        return none;
    if (!version.n)
        return p;
    bool alpha = str_starts(version, STR("alpha")), beta = str_starts(version, STR("beta"));
    version = str_skip(version, alpha ? 5 : 4);
    if ((!alpha && !beta) || !eat_number(&version, &p.minor) || version.n)
        return none;
    p.stage = beta ? 1 : 0;
    return p;
}

int custom_compare_versions(struct str a, struct str b)
{
    struct version_parts x = parts_of(a), y = parts_of(b);
    if (x.stage != y.stage)
        return x.stage > y.stage ? -1 : 1;
    if (x.stage < 0)
        return str_cmp(a, b);
    if (x.major != y.major)
        return x.major > y.major ? -1 : 1;
    return x.minor == y.minor ? 0 : x.minor > y.minor ? -1 : 1;
}

static int by_priority(const void *a, const void *b)
{
    const struct value *const *x = a, *const *y = b;
    return custom_compare_versions(value_str(value_get(*x, STR("name"))),
                                   value_str(value_get(*y, STR("name"))));
}

/* ---- One version ---- */

struct builder {
    struct custom *c;
    const struct value *crd, *spec, *names;
};

/* What upstream's discovery shows: some bytes of a digest, so that a change can be seen. */
static struct str storage_hash(struct arena *a, struct str group, struct str version,
                               struct str kind)
{
    struct str text = arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(group),
                                   STR_ARG(version), STR_ARG(kind));
    unsigned char digest[DIGEST_SHA256_BYTES];
    digest_sha256(text, digest);
    autobuf out = { 0 };
    base64_encode(&out, (struct str){ (const char *)digest, 8 });
    return arena_str(a, buf_str(&out));
}

static void add_subresources(struct builder *b, const struct value *version,
                             struct custom_version *v)
{
    enum { RW = KIND_GET | KIND_PATCH | KIND_UPDATE, MAX = 2 };
    const struct value *from = value_get(version, STR("subresources")),
                       *scale = value_get(from, STR("scale"));
    struct arena *a = &b->c->arena;
    struct kind_subresource *subs = arena_array(a, struct kind_subresource, MAX);
    uint8_t n = 0;
    if (value_is(value_get(from, STR("status")), VALUE_OBJECT))
        subs[n++] = (struct kind_subresource){ STR("status"), &v->type, RW };
    if (value_is(scale, VALUE_OBJECT)) {
        subs[n++] = (struct kind_subresource){
            STR("scale"), kind_type_find(STR("autoscaling"), STR("v1"), STR("Scale")), RW
        };
        v->kind.scale = (struct schema_scale){
            .spec_replicas = text_of(a, scale, STR("specReplicasPath")),
            .status_replicas = text_of(a, scale, STR("statusReplicasPath")),
            .selector = text_of(a, scale, STR("labelSelectorPath")),
        };
    }
    v->resource.subresources = subs;
    v->resource.n_subresources = n;
}

/* The name and the namespace can always be asked for. Selectable fields are plain paths, whatever
 * they are called: no brackets, and no dots in names. */
static void add_selectors(struct builder *b, const struct value *version, struct custom_version *v)
{
    struct arena *a = &b->c->arena;
    const struct value *from = value_get(version, STR("selectableFields"));
    size_t n_fields = value_is(from, VALUE_ARRAY) ? from->n : 0;
    struct str *names = arena_array(a, struct str, n_fields + 2);
    uint8_t n = 0;
    names[n++] = STR("metadata.name");
    if (v->resource.namespaced)
        names[n++] = STR("metadata.namespace");
    value_each_item (it, from) {
        struct str path = text_of(a, it, STR("jsonPath"));
        names[n++] = str_starts(path, STR(".")) ? str_skip(path, 1) : path;
    }
    v->resource.selectors = names;
    v->resource.n_selectors = n;
}

static struct str deprecation(struct builder *b, const struct value *version, struct str name)
{
    struct arena *a = &b->c->arena;
    if (!is_true(version, STR("deprecated")))
        return STR("");
    const struct value *said = value_get(version, STR("deprecationWarning"));
    if (value_is(said, VALUE_STRING))
        return arena_str(a, value_str(said));
    /* Its own words, or what to use instead: the first served version that is not deprecated. */
    struct str better = STR("");
    value_each_item (it, value_get(b->spec, STR("versions"))) {
        struct str other = value_str(value_get(it, STR("name")));
        bool fit = is_true(it, STR("served")) && !is_true(it, STR("deprecated")) &&
                   custom_compare_versions(other, name) < 0;
        if (fit && (!better.n || custom_compare_versions(other, better) < 0))
            better = other;
    }
    struct str words = arena_printf(a, STR_FMT "/" STR_FMT " " STR_FMT " is deprecated",
                                    STR_ARG(b->c->group), STR_ARG(name), STR_ARG(b->c->kind));
    if (!better.n)
        return words;
    return arena_printf(a, STR_FMT "; use " STR_FMT "/" STR_FMT " " STR_FMT, STR_ARG(words),
                        STR_ARG(b->c->group), STR_ARG(better), STR_ARG(b->c->kind));
}

static uint32_t mark_of(struct builder *b, const struct value *version, bool keeps_unknown)
{
    autobuf text = { 0 };
    struct str uid = value_str(value_dig(b->crd, "metadata", "uid"));
    buf_printf(&text, STR_FMT "/" STR_FMT "/%d/", STR_ARG(uid),
               STR_ARG(value_str(value_get(version, STR("name")))), keeps_unknown);
    const struct value *schema = value_dig(version, "schema", "openAPIV3Schema");
    if (schema)
        json_write(&text, schema);
    return crc32c(0, text.p, text.n);
}

static void build_version(struct builder *b, const struct value *from, struct custom_version *v)
{
    struct custom *c = b->c;
    struct arena *a = &c->arena;
    struct str version = text_of(a, from, STR("name"));
    v->of = c;
    v->served = is_true(from, STR("served"));
    v->storage = is_true(from, STR("storage"));
    v->has_schema = value_is(value_dig(from, "schema", "openAPIV3Schema"), VALUE_OBJECT);
    v->kind.custom = schema_kind_custom;
    v->kind.custom.fit = custom_fit;
    if (c->webhook)
        v->kind.custom.convert = custom_webhook_convert;
    v->kind.schema = custom_schema;
    v->kind.programs = custom_programs;
    v->kind.keeps_unknown = is_true(b->spec, STR("preserveUnknownFields"));
    v->kind.custom.mark = mark_of(b, from, v->kind.keeps_unknown);
    v->type = (struct kind_type){
        .name = c->kind,
        .group = c->group,
        .version = version,
        .flags = KIND_HAS_TYPE_META | KIND_JSON_ONLY,
        .custom = &v->kind.custom,
    };
    v->list_type = (struct kind_type){
        .name = text_of(a, b->names, STR("listKind")),
        .group = c->group,
        .version = version,
        .flags = KIND_HAS_TYPE_META | KIND_JSON_ONLY,
    };
    v->resource = (struct kind_resource){
        .group = c->group,
        .version = version,
        .plural = c->plural,
        .singular = text_of(a, b->names, STR("singular")),
        .type = &v->type,
        .list = &v->list_type,
        .namespaced = str_eq(value_str(value_get(b->spec, STR("scope"))), STR("Namespaced")),
        .verbs = KIND_CREATE | KIND_DELETE | KIND_DELETE_COLLECTION | KIND_GET | KIND_LIST_VERB |
                 KIND_PATCH | KIND_UPDATE | KIND_WATCH,
        .etcd_prefix = arena_printf(a, "/registry/" STR_FMT "/" STR_FMT, STR_ARG(c->group),
                                    STR_ARG(c->plural)),
        .deprecation = deprecation(b, from, version),
    };
    v->resource.short_names =
        texts_of(a, value_get(b->names, STR("shortNames")), &v->resource.n_short);
    v->resource.categories =
        texts_of(a, value_get(b->names, STR("categories")), &v->resource.n_categories);
    add_subresources(b, from, v);
    v->kind.columns = schema_columns_compile(a, value_get(from, STR("additionalPrinterColumns")));
    add_selectors(b, from, v);
}

/* ---- All of it ---- */

static void build_versions(struct builder *b)
{
    struct custom *c = b->c;
    const struct value *from = value_get(b->spec, STR("versions"));
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return;
    const struct value **sorted = arena_array(&c->arena, const struct value *, from->n);
    value_each_item (it, from)
        sorted[c->n_versions++] = it;
    qsort(sorted, c->n_versions, sizeof(sorted[0]), by_priority);
    c->versions = arena_array(&c->arena, struct custom_version, c->n_versions);
    for (size_t i = 0; i < c->n_versions; i++)
        build_version(b, sorted[i], &c->versions[i]);
    const struct custom_version *storage = custom_storage(c);
    struct str hash =
        storage_hash(&c->arena, c->group, storage ? storage->resource.version : STR(""), c->kind);
    for (size_t i = 0; i < c->n_versions; i++)
        c->versions[i].resource.storage_hash = hash;
}

struct custom *custom_build(struct custom_kinds *kinds, const struct value *crd, uint64_t rev)
{
    struct custom *c = mem_new(struct custom);
    arena_init(&c->arena);
    pthread_mutex_init(&c->compiling, NULL);
    struct arena *a = &c->arena;
    const struct value *spec = value_get(crd, STR("spec")),
                       *names = value_dig(crd, "status", "acceptedNames");
    c->refs = 1;
    c->kinds = kinds;
    c->name = arena_str(a, value_str(value_dig(crd, "metadata", "name")));
    c->uid = arena_str(a, value_str(value_dig(crd, "metadata", "uid")));
    c->group = text_of(a, spec, STR("group"));
    c->plural = text_of(a, names, STR("plural"));
    c->kind = text_of(a, names, STR("kind"));
    c->rev = rev;
    c->names_accepted = condition_is_true(crd, STR("NamesAccepted"));
    c->established = condition_is_true(crd, STR("Established"));
    c->terminating = value_dig(crd, "metadata", "deletionTimestamp");
    c->webhook = custom_webhook_build(a, crd, custom_kinds_cancel(kinds));
    build_versions(&(struct builder){ c, crd, spec, names });
    return c;
}
