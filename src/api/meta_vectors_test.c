/* Every create and PUT of the golden traces: what a real server found wrong with the metadata, we
 * find too, in the same words and order; and nothing where it took the object. The old object of an
 * update is what the server last said of it in the same case.
 *
 * Left out, with the reason:
 *  - answers other than 200 and 201 and those whose causes are all about metadata: something else
 * was wrong;
 *  - bodies that are not JSON, and requests for subresources and for what is not stored;
 *  - a PUT where no earlier answer of the case has the object;
 *  - steps with one of the messages below, which come from the kinds' own rules. */
#include "api/meta.h"

#include <stdio.h>

#include "api/kind.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"

enum suite {
    SUITE_REFUSED,
    SUITE_ACCEPTED,
    SUITE_UPDATE_REFUSED,
    SUITE_UPDATE_ACCEPTED,
    SUITE_COUNT,
};

static struct vectors_count counts[SUITE_COUNT] = {
    [SUITE_REFUSED] = { .name = "golden, create refused" },
    [SUITE_ACCEPTED] = { .name = "golden, create accepted" },
    [SUITE_UPDATE_REFUSED] = { .name = "golden, update refused" },
    [SUITE_UPDATE_ACCEPTED] = { .name = "golden, update accepted" },
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
    { "Invalid value: 0: must be specified", "a stale or blind update is refused elsewhere" },
    { "must be a valid CIDR value", "Service: annotations with a meaning" },
};
static size_t n_excluded[ARRAY_LEN(exclusions)];
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
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
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
    struct str group, plural, ns, name;
    const struct kind_resource *res; /* NULL for custom resources */
    bool has_more;                   /* a subresource */
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
    if (str_eq(t.plural, STR("namespaces")) && str_find(rest, '/') >= 0) {
        t.ns = str_cut(&rest, '/');
        t.plural = str_cut(&rest, '/');
    }
    t.name = str_cut(&rest, '/');
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

/* What an update takes over from the old object before it is looked at. */
static void prepare_update(struct arena *a, const struct value *old_obj, struct value *object)
{
    static const struct str absent[] = { STR("uid"), STR("resourceVersion"),
                                         STR("deletionGracePeriodSeconds") };
    static const struct str always[] = { STR("creationTimestamp"), STR("deletionTimestamp"),
                                         STR("generation") };
    struct value *meta = value_ensure(a, object, STR("metadata"));
    const struct value *old_meta = value_get(old_obj, STR("metadata"));
    for (size_t i = 0; i < 3; i++) {
        const struct value *old = value_get(old_meta, absent[i]);
        /* ${uid} stands for what an earlier answer had */
        if (old && (!value_get(meta, absent[i]) ||
                    str_starts(value_str(value_get(meta, absent[i])), STR("${"))))
            value_set(a, meta, absent[i], *old);
        old = value_get(old_meta, always[i]);
        if (old)
            value_set(a, meta, always[i], *old);
    }
}

static void check(struct arena *a, const char *id, const struct target *t, struct value *object,
                  const struct value *old_obj, const struct value *answer, enum suite suite)
{
    struct meta_rules rules = { .name = NAME_SUBDOMAIN, .namespaced = t->ns.n > 0 };
    if (t->res)
        rules = meta_rules_of(t->group, t->plural, t->res->namespaced);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct err err = ERR_INIT(a);
    const struct value *details = value_get(answer, STR("details"));
    prepare(a, t, object);
    if (old_obj) {
        prepare_update(a, old_obj, object);
        meta_validate_update(&e, &rules, object, old_obj);
    } else {
        meta_validate_create(&e, &rules, object);
    }
    (void)field_errors_report(&e, t->group, value_str(value_get(details, STR("kind"))),
                              value_str(value_get(details, STR("name"))), &err);
    bool refused = suite == SUITE_REFUSED || suite == SUITE_UPDATE_REFUSED;
    bool good = !refused ? e.n == 0
                         : same_causes(value_get(details, STR("causes")), err.causes) &&
                               matches(value_str(value_get(answer, STR("message"))), err.msg);
    vectors_score(&counts[suite], good, id);
    if (!good)
        printf("  want: " STR_FMT "\n  have: " STR_FMT "\n",
               STR_ARG(value_str(value_get(answer, STR("message")))), STR_ARG(err.msg));
}

/* False for a step that says nothing about metadata. */
static bool suite_of(const struct value *step, bool update, enum suite *ret)
{
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    const struct value *causes = value_dig(step, "expect", "body", "details", "causes");
    *ret = update ? SUITE_UPDATE_ACCEPTED : SUITE_ACCEPTED;
    if (code == (update ? 200 : 201))
        return true;
    if (code != 422 || !value_is(causes, VALUE_ARRAY))
        return false;
    *ret = update ? SUITE_UPDATE_REFUSED : SUITE_REFUSED;
    value_each_item (cause, causes)
        if (!str_starts(value_str(value_get(cause, STR("field"))), STR("metadata.")))
            return false;
    value_each_item (cause, causes)
        if (is_excluded(cause))
            return false;
    return true;
}

/* The object as an earlier step's answer has it, or NULL. */
static const struct value *last_seen(const struct value *steps, size_t n, const struct value *body,
                                     const struct target *t)
{
    while (n-- > 0) {
        const struct value *seen = value_dig(value_at(steps, n), "expect", "body");
        if (str_eq(value_str(value_get(seen, STR("kind"))),
                   value_str(value_get(body, STR("kind")))) &&
            str_eq(value_str(value_dig(seen, "metadata", "name")), t->name) &&
            str_eq(value_str(value_dig(seen, "metadata", "namespace")), t->ns))
            return seen;
    }
    return NULL;
}

static void check_step(struct arena *a, const char *id, const struct value *steps, size_t i)
{
    enum suite suite;
    const struct value *step = value_at(steps, i), *body = value_get(step, STR("body"));
    struct target t = target_of(value_str(value_get(step, STR("path"))));
    struct str method = value_str(value_get(step, STR("method")));
    bool update = str_eq(method, STR("PUT"));
    if ((!update && !str_eq(method, STR("POST"))) || update != (t.name.n > 0) ||
        !value_is(body, VALUE_OBJECT) || t.has_more || (t.res && !t.res->list))
        return;
    const struct value *old_obj = update ? last_seen(steps, i, body, &t) : NULL;
    if ((update && !old_obj) || !suite_of(step, update, &suite))
        return;
    struct value object = value_clone(a, body);
    struct err err = ERR_INIT(a);
    if (t.res && typed_read(a, t.res->type, body, NULL, &object, &err) < 0)
        vectors_score(&counts[suite], false, id);
    else
        check(a, id, &t, &object, old_obj, value_dig(step, "expect", "body"), suite);
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
    const struct value *steps = value_get(&c, STR("steps"));
    for (size_t i = 0; value_at(steps, i); i++) {
        struct str id =
            arena_printf(a, STR_FMT " %zu", STR_ARG(value_str(value_get(&c, STR("id")))), i);
        check_step(a, str_cstr(a, id), steps, i);
    }
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
        check_file(&files, "updates.jsonl");
    }
    arena_done(&files);
    if (!there)
        return VECTORS_SKIPPED;
    printf("left out: %zu causes (Node: spec.taints, which upstream calls metadata.taints)\n",
           n_taints);
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        printf("left out: %zu causes (%s)\n", n_excluded[i], exclusions[i].reason);
    return vectors_report(counts, SUITE_COUNT) ? 0 : 1;
}
