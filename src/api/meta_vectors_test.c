/* Every create of the golden traces: what a real server found wrong with the metadata, we find too,
 * in the same words and order; and nothing where it took the object.
 *
 * Left out, with the reason:
 *  - answers other than 201 and those whose causes are all about metadata: something else was
 * wrong;
 *  - bodies that are not JSON, and creates of subresources and of what is not stored;
 *  - steps with one of the messages below, which come from the kinds' own rules. */
#include "api/meta.h"

#include <stdio.h>

#include "api/kind.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/vectors_test.h"

enum suite { SUITE_REFUSED, SUITE_ACCEPTED, SUITE_COUNT };

static struct vectors_count counts[SUITE_COUNT] = {
    [SUITE_REFUSED] = { .name = "golden, metadata refused" },
    [SUITE_ACCEPTED] = { .name = "golden, metadata accepted" },
};

static const struct {
    const char *part, *reason;
} exclusions[] = {
    { "must be no more than 52 characters", "CronJob: its jobs' names are longer" },
    { "will not able to create pod", "Job: its pods' names are longer" },
    { "must be one of privileged, baseline, restricted", "Namespace: pod security" },
    { "must be \"latest\" or \"v1.x\"", "Namespace: pod security" },
    { "protected groups must have approval", "CustomResourceDefinition: protected groups" },
    { "must set spec.nodeName if mirror pod", "Pod: annotations with a meaning" },
    { "looking for beginning of value", "Node and Pod: annotations with a meaning" },
    { "must be a valid seccomp profile", "Pod: annotations with a meaning" },
    { "must be a 32bit integer", "Pod: annotations with a meaning" },
    { "must be a valid CIDR value", "Service: annotations with a meaning" },
};
static size_t n_excluded[sizeof(exclusions) / sizeof(exclusions[0])];
static size_t n_taints;

static bool has_text(struct str s, const char *part)
{
    return s.n && memmem(s.p, s.n, part, strlen(part));
}

static bool is_excluded(const struct value *cause)
{
    struct str msg = value_str(value_get(cause, STR("message")));
    if (str_starts(value_str(value_get(cause, STR("field"))), STR("metadata.taints"))) {
        n_taints++; /* so upstream says of spec.taints */
        return true;
    }
    for (size_t i = 0; i < sizeof(exclusions) / sizeof(exclusions[0]); i++)
        if (has_text(msg, exclusions[i].part)) {
            n_excluded[i]++;
            return true;
        }
    return false;
}

/* The traces have <uid:N> for any uid. */
static bool matches(struct str want, struct str got)
{
    while (want.n) {
        if (str_starts(want, STR("<uid:"))) {
            (void)str_cut(&want, '>');
            while (got.n && got.p[0] != '"' && got.p[0] != '\\')
                got = str_skip(got, 1);
            continue;
        }
        if (got.n == 0 || want.p[0] != got.p[0])
            return false;
        want = str_skip(want, 1);
        got = str_skip(got, 1);
    }
    return got.n == 0;
}

struct target {
    struct str group, plural, ns;
    const struct kind_resource *res; /* NULL for custom resources */
    bool has_more;                   /* a name or subresource */
};

/* /api/v1/..., /apis/GROUP/VERSION/...; then [namespaces/NAME/] PLURAL. */
static struct target target_of(struct str path)
{
    struct target t = { 0 };
    struct str rest = str_cut(&path, '?');
    (void)str_cut(&rest, '/');
    bool core = str_eq(str_cut(&rest, '/'), STR("api"));
    t.group = core ? STR("") : str_cut(&rest, '/');
    struct str version = str_cut(&rest, '/');
    t.plural = str_cut(&rest, '/');
    if (str_eq(t.plural, STR("namespaces")) && rest.n) {
        t.ns = str_cut(&rest, '/');
        t.plural = str_cut(&rest, '/');
    }
    t.has_more = rest.n > 0;
    const struct kind_version *v = kind_version_find(t.group, version);
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, t.plural))
            t.res = &v->resources[i];
    return t;
}

/* What the server does to metadata before they are looked at. */
static void prepare(struct arena *a, const struct target *t, struct value *object)
{
    struct value *meta = value_ensure(a, object, STR("metadata"));
    if (!meta)
        return;
    struct str base = value_str(value_get(meta, STR("generateName")));
    if (base.n && value_str(value_get(meta, STR("name"))).n == 0)
        value_set(a, meta, STR("name"), value_string(name_generate(a, base, 1234567)));
    value_remove(a, meta, STR("managedFields")); /* what is wrong with them is forgotten */
    if (str_eq(t->plural, STR("limitranges")) && !value_get(meta, STR("name")))
        value_set(a, meta, STR("name"), value_string(STR("made-by-the-server")));
    if (str_eq(t->plural, STR("namespaces")) && value_get(meta, STR("name")))
        value_set(a, value_ensure(a, meta, STR("labels")), STR("kubernetes.io/metadata.name"),
                  *value_get(meta, STR("name")));
    if (t->ns.n)
        value_set(a, meta, STR("namespace"), value_string(t->ns));
    else
        value_remove(a, meta, STR("namespace"));
}

static bool same_causes(const struct value *want, const struct err_cause *got)
{
    value_each_item (cause, want) {
        if (!got || !str_eq(got->reason, value_str(value_get(cause, STR("reason")))) ||
            !str_eq(got->field, value_str(value_get(cause, STR("field")))) ||
            !matches(value_str(value_get(cause, STR("message"))), got->msg))
            return false;
        got = got->next;
    }
    return !got;
}

static void check(struct arena *a, const char *id, const struct target *t, struct value *object,
                  const struct value *answer, enum suite suite)
{
    struct meta_rules rules = { .name = NAME_SUBDOMAIN, .namespaced = t->ns.n > 0 };
    if (t->res)
        rules = meta_rules_of(t->group, t->plural, t->res->namespaced);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct err err = ERR_INIT(a);
    const struct value *details = value_get(answer, STR("details"));
    prepare(a, t, object);
    meta_validate_create(&e, &rules, object);
    (void)field_errors_report(&e, t->group, value_str(value_get(details, STR("kind"))),
                              value_str(value_get(details, STR("name"))), &err);
    bool good = suite == SUITE_ACCEPTED
                    ? e.n == 0
                    : same_causes(value_get(details, STR("causes")), err.causes) &&
                          matches(value_str(value_get(answer, STR("message"))), err.msg);
    vectors_score(&counts[suite], good, id);
    if (!good)
        printf("  want: " STR_FMT "\n  have: " STR_FMT "\n",
               STR_ARG(value_str(value_get(answer, STR("message")))), STR_ARG(err.msg));
}

/* False for a step that says nothing about metadata. */
static bool suite_of(const struct value *step, enum suite *ret)
{
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    const struct value *causes = value_dig(step, "expect", "body", "details", "causes");
    *ret = SUITE_ACCEPTED;
    if (code == 201)
        return true;
    if (code != 422 || !value_is(causes, VALUE_ARRAY))
        return false;
    *ret = SUITE_REFUSED;
    value_each_item (cause, causes)
        if (!str_starts(value_str(value_get(cause, STR("field"))), STR("metadata.")))
            return false;
    value_each_item (cause, causes)
        if (is_excluded(cause))
            return false;
    return true;
}

static void check_step(struct arena *a, const char *id, const struct value *step)
{
    enum suite suite;
    const struct value *body = value_get(step, STR("body"));
    struct target t = target_of(value_str(value_get(step, STR("path"))));
    if (!str_eq(value_str(value_get(step, STR("method"))), STR("POST")) ||
        !value_is(body, VALUE_OBJECT) || t.has_more || (t.res && !t.res->list))
        return;
    if (!suite_of(step, &suite))
        return;
    struct value object = value_clone(a, body);
    struct err err = ERR_INIT(a);
    if (t.res && typed_read(a, t.res->type, body, NULL, &object, &err) < 0)
        vectors_score(&counts[suite], false, id);
    else
        check(a, id, &t, &object, value_dig(step, "expect", "body"), suite);
}

/* A name of the same length where the traces have {ns}. */
static struct str with_namespace(struct arena *a, struct str line)
{
    char *out = arena_dup(a, line.p, line.n);
    for (size_t i = 0; i < line.n; i++)
        if (str_starts(str_skip(line, i), STR("{ns}")))
            memcpy(out + i, "ns-1", 4);
    return (struct str){ out, line.n };
}

static void check_case(struct arena *a, struct str line)
{
    struct value c;
    struct err err = ERR_INIT(a);
    if (json_read(a, with_namespace(a, line), NULL, &c, &err) < 0) {
        printf("unreadable case: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    struct str id = value_str(value_get(&c, STR("id")));
    size_t i = 0;
    value_each_item (step, value_get(&c, STR("steps")))
        check_step(a, str_cstr(a, arena_printf(a, STR_FMT " %zu", STR_ARG(id), i++)), step);
}

static void check_file(struct arena *files, const char *name)
{
    struct str rest = vectors_read(files, vectors_path(files, "golden", name));
    while (rest.n) {
        struct arena a;
        struct str line = str_cut(&rest, '\n');
        if (line.n == 0)
            continue;
        arena_init(&a);
        check_case(&a, line);
        arena_done(&a);
    }
}

int main(void)
{
    struct arena files;
    arena_init(&files);
    bool there = vectors_are_there(&files, "golden");
    if (there) {
        check_file(&files, "validation.jsonl");
        check_file(&files, "verbs.jsonl");
        check_file(&files, "defaults.jsonl");
    }
    arena_done(&files);
    if (!there)
        return VECTORS_SKIPPED;
    printf("left out: %zu causes (Node: spec.taints, which upstream calls metadata.taints)\n",
           n_taints);
    for (size_t i = 0; i < sizeof(exclusions) / sizeof(exclusions[0]); i++)
        printf("left out: %zu causes (%s)\n", n_excluded[i], exclusions[i].reason);
    return vectors_report(counts, SUITE_COUNT) ? 0 : 1;
}
