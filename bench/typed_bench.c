/* typed_bench - a Pod of about 4 KB: parse, read as its kind, fill in defaults, write; and each
 * step alone; and the rules for a new one. Defaults are filled in twice: into what a server stored,
 * which has them all, and into what somebody would write by hand.
 *
 * The best of many rounds counts, so that a busy machine disturbs little. The document comes twice:
 * in the order in which servers write, and shuffled, which is what the lookup of names likes
 * least. */
#include <stdio.h>
#include <stdlib.h>

#include "api/defaults/defaults.h"
#include "api/meta.h"
#include "api/typed.h"
#include "api/validate/validate.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "measure.h"
#include "pod_text.h"

enum { SHUFFLE_SEED = 12345 };

static const char pod_text[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"orders-7d9c5b6f4-x2k8p\","
    "\"generateName\":\"orders-7d9c5b6f4-\",\"namespace\":\"shop\",\"uid\":"
    "\"5b0f6c1e-8f1d-4c58-9a57-0f1c9c5d3b7e\",\"resourceVersion\":\"184467\","
    "\"creationTimestamp\":\"2026-03-01T08:15:42Z\",\"labels\":{\"app\":\"orders\","
    "\"app.kubernetes.io/component\":\"backend\",\"app.kubernetes.io/part-of\":\"shop\","
    "\"pod-template-hash\":\"7d9c5b6f4\"},\"annotations\":{\"prometheus.io/port\":\"9090\","
    "\"prometheus.io/scrape\":\"true\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
    "\"ReplicaSet\",\"name\":\"orders-7d9c5b6f4\",\"uid\":"
    "\"c1a7f2de-4d55-46ff-8b4b-5a3f3f1e0d11\",\"controller\":true,"
    "\"blockOwnerDeletion\":true}],\"managedFields\":[{\"manager\":\"kube-controller-manager\","
    "\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-03-01T08:15:42Z\","
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},"
    "\"f:labels\":{\".\":{},\"f:app\":{},\"f:pod-template-hash\":{}},\"f:ownerReferences\":{"
    "\".\":{},\"k:{\\\"uid\\\":\\\"c1a7f2de-4d55-46ff-8b4b-5a3f3f1e0d11\\\"}\":{}}},\"f:spec\":{"
    "\"f:containers\":{\"k:{\\\"name\\\":\\\"server\\\"}\":{\".\":{},\"f:env\":{},\"f:image\":{},"
    "\"f:name\":{},\"f:ports\":{},\"f:resources\":{}}},\"f:dnsPolicy\":{},"
    "\"f:restartPolicy\":{}}}}]}," POD_TEXT_SPEC POD_TEXT_STATUS;

/* A manifest of the same Pod: what its author had to say. */
static const char manifest_text[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"orders\"},\"spec\":{"
    "\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"orders\"}},{\"name\":"
    "\"scratch\"}],\"initContainers\":[{\"name\":\"migrate\",\"image\":"
    "\"registry.example/shop/orders-migrate:1.42.0\"}],\"containers\":[{\"name\":\"server\","
    "\"image\":\"registry.example/shop/orders:1.42.0\",\"ports\":[{\"containerPort\":8080},{"
    "\"containerPort\":9090}],\"env\":[{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{"
    "\"fieldPath\":\"metadata.name\"}}}],\"resources\":{\"limits\":{\"cpu\":\"500m\","
    "\"memory\":\"256Mi\"}},\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":"
    "8080}},\"readinessProbe\":{\"httpGet\":{\"port\":8080}}},{\"name\":\"proxy\",\"image\":"
    "\"registry.example/proxy\"}]}}";

static struct str text;
static struct value tree, typed, manifest, complete; /* with its defaults */
static struct arena tree_arena, arena;
static struct typed_notes notes;
static struct buf out;
static const struct kind_type *pod;
static const struct kind_resource *pods;

static void once_read(void)
{
    struct value v;
    arena_reset(&arena);
    measure_must(json_read(&arena, text, NULL, &v, NULL) == 0, "json_read");
}

static void once_typed(void)
{
    struct value v;
    arena_reset(&arena);
    measure_must(typed_read(&arena, pod, &tree, &notes, &v, NULL) == 0 && !notes.n, "typed_read");
}

static void once_default(void)
{
    arena_reset(&arena);
    struct value v = value_borrow(&typed);
    defaults_apply(&arena, pod, &v);
}

static void once_default_manifest(void)
{
    arena_reset(&arena);
    struct value v = value_borrow(&manifest);
    defaults_apply(&arena, pod, &v);
}

static void once_validate(void)
{
    static const struct meta_rules rules = { NAME_SUBDOMAIN, true, true };
    arena_reset(&arena);
    struct field_errors e = FIELD_ERRORS_INIT(&arena);
    meta_validate_create(&e, &rules, &complete);
    validate_create(&e, pods, &complete);
    measure_must(e.n == 0, "validate_create");
}

static void once_warn(void)
{
    arena_reset(&arena);
    struct validate_warnings w = { .arena = &arena };
    validate_warn(&w, pods, &complete, NULL);
}

static void once_write(void)
{
    buf_reset(&out);
    json_write(&out, &typed);
}

static void once_all(void)
{
    struct value v, t;
    arena_reset(&arena);
    measure_must(json_read(&arena, text, NULL, &v, NULL) == 0, "json_read");
    measure_must(typed_read(&arena, pod, &v, &notes, &t, NULL) == 0 && !notes.n, "typed_read");
    buf_reset(&out);
    json_write(&out, &t);
}

static void report(const char *order)
{
    static const struct {
        const char *name;
        void (*once)(void);
    } steps[] = {
        { "json_read", once_read },    { "typed_read", once_typed },
        { "default", once_default },   { "manifest", once_default_manifest },
        { "validate", once_validate }, { "warn", once_warn },
        { "json_write", once_write },  { "all three", once_all },
    };
    printf("Pod of %zu bytes, fields %s\n", text.n, order);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        printf("  %-10s %6.2f us\n", steps[i].name, measure_us(measure_wall_ns, steps[i].once));
}

static void prepare(struct str json)
{
    text = json;
    measure_must(json_read(&tree_arena, text, NULL, &tree, NULL) == 0, "json_read");
    measure_must(typed_read(&tree_arena, pod, &tree, NULL, &typed, NULL) == 0, "typed_read");
    struct value filled = value_clone(&tree_arena, &typed);
    defaults_apply(&tree_arena, pod, &filled);
    measure_must(typed_read(&tree_arena, pod, &filled, NULL, &complete, NULL) == 0, "typed_read");
}

static const struct kind_resource *find_pods(void)
{
    const struct kind_version *v = kind_version_find(STR(""), STR("v1"));
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (v->resources[i].type == pod)
            return &v->resources[i];
    return NULL;
}

static uint32_t next_random(uint32_t below)
{
    static uint64_t state = SHUFFLE_SEED;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static struct value shuffled(struct arena *a, const struct value *v)
{
    struct value copy = value_clone(a, v);
    for (uint32_t i = 0; i < copy.n && copy.type == VALUE_ARRAY; i++)
        copy.items[i] = shuffled(a, &v->items[i]);
    if (copy.type != VALUE_OBJECT)
        return copy;
    for (uint32_t i = 0; i < copy.n; i++)
        copy.fields[i].val = shuffled(a, &v->fields[i].val);
    for (uint32_t i = copy.n; i > 1; i--) {
        uint32_t other = next_random(i);
        struct value_field kept = copy.fields[other];
        copy.fields[other] = copy.fields[i - 1];
        copy.fields[i - 1] = kept;
    }
    return copy;
}

int main(void)
{
    autobuf mixed = { 0 };
    pod = kind_type_find(STR(""), STR("v1"), STR("Pod"));
    measure_must(pod, "kind_type_find");
    pods = find_pods();
    measure_must(pods, "find_pods");
    arena_init(&tree_arena);
    arena_init(&arena);
    prepare(str_of(manifest_text));
    manifest = typed;
    prepare(str_of(pod_text));
    once_all();
    measure_must(str_eq(buf_str(&out), text), "the Pod is canonical and");
    report("in table order");
    struct value v = shuffled(&tree_arena, &tree);
    json_write(&mixed, &v);
    prepare(buf_str(&mixed));
    report("shuffled");
    arena_done(&arena);
    arena_done(&tree_arena);
    buf_done(&out);
    return 0;
}
