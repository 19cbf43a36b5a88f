/* Every object that the golden traces create: its body, read as its kind and defaulted, is what
 * the server answered, but for what the server adds beside defaults. Those fields are in the table
 * below, and are left out on both sides.
 *
 * Left out: bodies that do not say what they are, custom resources, and answers of another kind
 * than the question (a Status, a Table). */
#include "api/defaults/defaults.h"

#include <stdio.h>

#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"

static struct vectors_count counts[] = {
    { .name = "defaults" }, { .name = "verbs" }, { .name = "updates" },
    { .name = "patch" },    { .name = "ssa" },   { .name = "crd" },
};
static size_t n_left_out;

/* Set on creation by the registry, a strategy, an allocator or an admission plugin. Steps of a path
 * stand between slashes, because keys have dots; * is every item. Of an empty kind: of all kinds.
 */
static const struct {
    const char *kind, *path;
} set_by_others[] = {
    { "", "kind" }, /* the body may leave it out */
    { "", "apiVersion" },
    { "", "metadata/name" }, /* it may be generated */
    { "", "metadata/namespace" },
    { "", "metadata/uid" },
    { "", "metadata/resourceVersion" },
    { "", "metadata/generation" },
    { "", "metadata/creationTimestamp" },
    { "", "metadata/managedFields" },
    { "", "metadata/finalizers" },
    { "", "status" },
    { "Pod", "spec/tolerations" },
    { "Pod", "spec/priority" },
    { "Pod", "spec/preemptionPolicy" },
    { "Service", "spec/clusterIP" },
    { "Service", "spec/clusterIPs" },
    { "Service", "spec/ipFamilies" },
    { "Service", "spec/ipFamilyPolicy" },
    { "Service", "spec/healthCheckNodePort" },
    { "Service", "spec/ports/*/nodePort" },
    { "Job", "spec/selector" },
    { "Job", "metadata/labels/controller-uid" },
    { "Job", "metadata/labels/job-name" },
    { "Job", "metadata/labels/batch.kubernetes.io|controller-uid" },
    { "Job", "metadata/labels/batch.kubernetes.io|job-name" },
    { "Job", "spec/template/metadata/labels/controller-uid" },
    { "Job", "spec/template/metadata/labels/job-name" },
    { "Job", "spec/template/metadata/labels/batch.kubernetes.io|controller-uid" },
    { "Job", "spec/template/metadata/labels/batch.kubernetes.io|job-name" },
    { "DaemonSet", "metadata/annotations/deprecated.daemonset.template.generation" },
    { "Namespace", "spec/finalizers" },
    { "Node", "spec/taints" },
    { "CertificateSigningRequest", "spec/username" },
    { "CertificateSigningRequest", "spec/groups" },
    { "CertificateSigningRequest", "spec/uid" },
    { "CertificateSigningRequest", "spec/extra" },
    { "PersistentVolumeClaim", "spec/dataSourceRef" },     /* made from dataSource */
    { "EndpointSlice", "endpoints/*/deprecatedTopology" }, /* dropped */
    { "SelfSubjectReview", "metadata" },
    { "SelfSubjectRulesReview", "spec" },
    { "TokenRequest", "spec/audiences" },
};

/* A key of a path, where | stands for a slash. */
static struct str path_key(struct arena *a, struct str step)
{
    char *key = arena_dup(a, step.p, step.n);
    for (size_t i = 0; i < step.n; i++)
        key[i] = key[i] == '|' ? '/' : key[i];
    return (struct str){ key, step.n };
}

/* Takes the field away, and what is empty without it. */
static void take_away(struct arena *a, struct value *v, struct str path)
{
    struct str step = path_key(a, str_cut(&path, '/'));
    if (!path.p) {
        if (v->type == VALUE_OBJECT)
            value_remove(a, v, step);
        return;
    }
    if (str_eq(step, STR("*"))) {
        for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
            take_away(a, value_edit_at(a, v, i), path);
        return;
    }
    struct value *inner = v->type == VALUE_OBJECT ? value_edit(a, v, step) : NULL;
    if (!inner)
        return;
    take_away(a, inner, path);
    if (inner->type == VALUE_OBJECT && !inner->n)
        value_remove(a, v, step);
}

static void take_others_away(struct arena *a, struct str kind, struct value *obj)
{
    for (size_t i = 0; i < ARRAY_LEN(set_by_others); i++)
        if (!*set_by_others[i].kind || str_eq(str_of(set_by_others[i].kind), kind))
            take_away(a, obj, str_of(set_by_others[i].path));
}

/* Where the answer has a mark like <uid:1>, whatever the body said there is right. */
static void mark(struct arena *a, const struct value *want, struct value *got)
{
    if (!got)
        return;
    if (value_is(want, VALUE_STRING) && str_starts(value_str(want), STR("<")))
        *got = *want;
    value_each_field (f, want)
        mark(a, &f->val, value_edit(a, got, f->key));
    for (size_t i = 0; value_is(want, VALUE_ARRAY) && i < want->n; i++)
        mark(a, value_at(want, i), value_edit_at(a, got, i));
}

/* As the server does it. */
static bool defaulted(struct arena *a, const struct kind_type *t, const struct value *body,
                      struct value *ret)
{
    struct value read;
    struct err err = ERR_INIT(a);
    if (typed_read(a, t, body, NULL, &read, &err) < 0)
        return false;
    defaults_apply(a, t, &read);
    defaults_stamp(a, t, &read, STR("2026-01-02T03:04:05Z"));
    struct value once = value_clone(a, &read);
    defaults_apply(a, t, &read);
    if (!value_eq(&once, &read)) {
        printf("not the same when done twice\n");
        return false;
    }
    return typed_read(a, t, &read, NULL, ret, &err) == 0;
}

static void check_step(struct arena *a, struct vectors_count *count, const struct value *step,
                       const char *id)
{
    const struct value *body = value_get(step, STR("body"));
    const struct value *answer = value_dig(step, "expect", "body");
    struct str kind = value_str(value_get(body, STR("kind")));
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    if (!str_eq(value_str(value_get(step, STR("method"))), STR("POST")) || code != 201)
        return;
    const struct kind_type *t = kind_find(value_str(value_get(body, STR("apiVersion"))), kind);
    if (!t || !str_eq(value_str(value_get(answer, STR("kind"))), kind)) {
        n_left_out++;
        return;
    }
    struct value got = value_null(), want = value_clone(a, answer);
    bool good = defaulted(a, t, body, &got);
    take_others_away(a, kind, &want);
    take_others_away(a, kind, &got);
    mark(a, &want, &got);
    good = good && value_eq(&want, &got);
    vectors_score(count, good, id);
    if (!good) {
        autobuf text = { 0 };
        json_write(&text, &want);
        buf_str_add(&text, STR("\n got: "));
        json_write(&text, &got);
        printf("want: " STR_FMT "\n", STR_ARG(buf_str(&text)));
    }
}

static void check_case(struct arena *a, struct vectors_count *count, struct str line)
{
    struct value c;
    if (json_read(a, line, NULL, &c, NULL) < 0)
        exit(1);
    size_t n = 0;
    value_each_item (step, value_get(&c, STR("steps"))) {
        struct str id = value_str(value_get(&c, STR("id")));
        check_step(a, count, step, str_cstr(a, arena_printf(a, STR_FMT " %zu", STR_ARG(id), n++)));
    }
}

static void check_file(struct arena *a, struct vectors_count *count)
{
    const char *name = str_cstr(a, arena_printf(a, "%s.jsonl", count->name));
    struct str text = vectors_read(a, vectors_path(a, "golden", name));
    while (text.p && text.n) {
        struct str line = str_cut(&text, '\n');
        struct arena scratch;
        arena_init(&scratch);
        if (line.n)
            check_case(&scratch, count, line);
        arena_done(&scratch);
    }
}

int main(void)
{
    enum { N_COUNTS = ARRAY_LEN(counts) };
    struct arena a;
    arena_init(&a);
    if (!vectors_are_there(&a, "golden"))
        return VECTORS_SKIPPED;
    for (size_t i = 0; i < N_COUNTS; i++)
        check_file(&a, &counts[i]);
    bool good = vectors_report(counts, N_COUNTS);
    printf("left out: %zu creations\n", n_left_out);
    arena_done(&a);
    return good ? 0 : 1;
}
