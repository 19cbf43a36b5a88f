/* The PATCH requests of the golden traces, without a server: each patch of a built-in kind is
 * applied to the object that the case has last seen and the result compared with the answer; where
 * a real kube-apiserver refused the patch itself, code and message are the same.
 *
 * Left out: custom resources, and objects that no step before has answered with. Not compared: what
 * the server adds on its own (managedFields, resourceVersion, generation). A few patches change
 * what the server sets back or fills in (a status, the addresses of a Service); they count as
 * failed, and the floor of each suite allows for them. */
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/vectors_test.h"
#include "base/json.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"

enum suite { JSON_RESULTS, JSON_REFUSALS, MERGE_RESULTS, STRATEGIC_RESULTS, STRATEGIC_REFUSALS };

static struct {
    const char *name;
    size_t floor, passed, total;
} suites[] = {
    [JSON_RESULTS] = { .name = "json patch, results", .floor = 134 },
    [JSON_REFUSALS] = { .name = "json patch, refusals", .floor = 51 },
    [MERGE_RESULTS] = { .name = "merge patch, results", .floor = 115 },
    [STRATEGIC_RESULTS] = { .name = "strategic merge patch, results", .floor = 423 },
    [STRATEGIC_REFUSALS] = { .name = "strategic merge patch, refusals", .floor = 45 },
};

struct run {
    struct arena *arena;
    struct str id;
    struct value objects; /* what each path has last answered */
};

/* ---- the traces ---- */

/* Placeholders that stand where a typed value must. */
static struct str with_values(struct arena *a, struct str line)
{
    static const struct {
        struct str from, to;
    } swaps[] = {
        { STR("<time>"), STR("2001-02-03T04:05:06Z") }, { STR("\"<nodePort:1>\""), STR("30001") },
        { STR("\"<nodePort:2>\""), STR("30002") },      { STR("\"<nodePort:3>\""), STR("30003") },
        { STR("\"<nodePort:4>\""), STR("30004") },      { STR("\"<nodePort:5>\""), STR("30005") },
        { STR("\"<nodePort:6>\""), STR("30006") },
    };
    enum { N_SWAPS = ARRAY_LEN(swaps) };
    autobuf out = { 0 };
    while (line.n) {
        size_t i = 0;
        while (i < N_SWAPS && !str_starts(line, swaps[i].from))
            i++;
        if (i < N_SWAPS)
            buf_str_add(&out, swaps[i].to);
        else
            buf_byte(&out, line.p[0]);
        line = str_skip(line, i < N_SWAPS ? swaps[i].from.n : 1);
    }
    return arena_str(a, buf_str(&out));
}

static bool has(struct str s, const char *part)
{
    return s.n && memmem(s.p, s.n, part, strlen(part));
}

static struct str type_of(const struct value *step)
{
    return value_str(value_dig(step, "headers", "Content-Type"));
}

/* The path of the object itself: without query and subresource. */
static struct str object_path(struct str path)
{
    static const struct str below[] = { STR("/status"), STR("/ephemeralcontainers"),
                                        STR("/resize") };
    struct str object = str_cut(&path, '?');
    for (size_t i = 0; i < 3; i++)
        if (str_ends(object, below[i]))
            object = str_take(object, object.n - below[i].n);
    return object;
}

static void remember(struct run *run, const struct value *step)
{
    const struct value *body = value_dig(step, "expect", "body");
    struct str path = value_str(value_get(step, STR("path")));
    struct str method = value_str(value_get(step, STR("method")));
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    const struct value *name = value_dig(body, "metadata", "name");
    if (code >= 300 || has(path, "dryRun") || !name || str_eq(method, STR("DELETE")))
        return;
    struct str object = object_path(path);
    if (str_eq(method, STR("POST")))
        object = arena_printf(run->arena, STR_FMT "/" STR_FMT, STR_ARG(object),
                              STR_ARG(value_str(name)));
    value_put(run->arena, &run->objects, object, value_borrow(body));
}

/* ---- one patch ---- */

static int apply(struct arena *a, struct str type, const struct kind_type *kind,
                 const struct value *patch, struct value *doc, struct err *err)
{
    struct typed_notes notes = { .n = 0 };
    if (has(type, "json-patch")) {
        int r = json_patch_check(a, patch, &notes, err);
        return r < 0 ? r : json_patch_apply(a, patch, doc, err);
    }
    if (has(type, "strategic"))
        return strategic_apply(a, &strategic_kinds, kind, patch, doc, err);
    merge_patch_apply(a, patch, doc);
    return 0;
}

/* Takes away what the server decides, and identities that the traces have replaced. */
static void strip(struct arena *a, struct value *obj)
{
    static const struct str names[] = {
        STR("managedFields"),     STR("resourceVersion"), STR("generation"), STR("uid"),
        STR("creationTimestamp"), STR("ownerReferences"), STR("namespace"),
    };
    value_drop(a, obj, STR("kind"));
    value_drop(a, obj, STR("apiVersion"));
    struct value *meta = value_edit(a, obj, STR("metadata"));
    for (size_t i = 0; meta && i < ARRAY_LEN(names); i++)
        value_drop(a, meta, names[i]);
    struct value *spec = value_edit(a, obj, STR("spec"));
    struct value *ports = spec ? value_edit(a, spec, STR("ports")) : NULL;
    for (size_t i = 0; value_at(ports, i); i++)
        value_drop(a, value_edit_at(a, ports, i), STR("nodePort"));
}

static bool same_object(struct arena *a, const struct kind_type *kind, const struct value *have,
                        const struct value *want)
{
    struct err err = ERR_INIT(a);
    struct value ours, theirs;
    if (typed_read(a, kind, have, NULL, &ours, &err) < 0 ||
        typed_read(a, kind, want, NULL, &theirs, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return false;
    }
    defaults_apply(a, kind, &ours);
    strip(a, &ours);
    strip(a, &theirs);
    if (value_eq(&ours, &theirs))
        return true;
    autobuf diff = { 0 };
    struct value patch = merge_patch_create(a, &ours, &theirs);
    json_write(&diff, &patch);
    printf("lacks " STR_FMT "\n", STR_ARG(buf_str(&diff)));
    return false;
}

/* Did the server refuse the patch itself, and not what came of it? */
static bool is_refusal(int64_t code, struct str type, struct str msg)
{
    if (code == 500)
        return has(type, "strategic") && !has(msg, "strconv");
    return str_starts(msg, STR("the server rejected our request due to an error in our")) ||
           str_starts(msg, STR("invalid patch format")) ||
           str_starts(msg, STR("error decoding patch: json: cannot unmarshal"));
}

static void score(enum suite suite, bool passed, const struct run *run)
{
    suites[suite].total++;
    suites[suite].passed += passed;
    if (!passed)
        printf("FAILED %s: " STR_FMT "\n", suites[suite].name, STR_ARG(run->id));
}

static void check_refusal(struct run *run, struct str type, const struct err *err, int r,
                          int64_t code, struct str msg)
{
    bool same = r < 0 && err_http_status(err->code) == code && str_eq(err->msg, msg);
    if (!same)
        printf("want %ld " STR_FMT "\nhave %d " STR_FMT "\n", (long)code, STR_ARG(msg),
               r < 0 ? err_http_status(err->code) : 200, STR_ARG(err->msg));
    score(has(type, "strategic") ? STRATEGIC_REFUSALS : JSON_REFUSALS, same, run);
}

static void check_patch(struct run *run, const struct value *step, const struct value *base,
                        const struct value *patch)
{
    struct arena *a = run->arena;
    struct str type = type_of(step);
    struct err err = ERR_INIT(a);
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    const struct value *body = value_dig(step, "expect", "body");
    struct str msg = value_str(value_get(body, STR("message")));
    const struct kind_type *kind = kind_find(value_str(value_get(base, STR("apiVersion"))),
                                             value_str(value_get(base, STR("kind"))));
    if (!kind || (code >= 300 && !is_refusal(code, type, msg)))
        return;
    struct value doc = value_borrow(base);
    int r = apply(a, type, kind, patch, &doc, &err);
    if (code >= 300 && has(type, "merge-patch") && !has(type, "strategic"))
        return; /* refused before there is a patch to apply */
    if (code >= 300) {
        check_refusal(run, type, &err, r, code, msg);
        return;
    }
    enum suite suite = has(type, "json-patch")  ? JSON_RESULTS
                       : has(type, "strategic") ? STRATEGIC_RESULTS
                                                : MERGE_RESULTS;
    if (r < 0)
        printf("refused: " STR_FMT "\n", STR_ARG(err.msg));
    score(suite, r == 0 && same_object(a, kind, &doc, body), run);
}

static void check_step(struct run *run, const struct value *step)
{
    struct str path = value_str(value_get(step, STR("path")));
    const struct value *base = value_get(&run->objects, object_path(path));
    const struct value *body = value_get(step, STR("body"));
    struct value patch = body ? value_borrow(body) : value_null();
    bool known = base && has(type_of(step), "patch+json");
    if (known && patch.type == VALUE_STRING)
        known = json_read(run->arena, value_str(body), NULL, &patch, NULL) == 0;
    value_drop_duplicates(run->arena, &patch);
    autobuf text = { 0 };
    json_write(&text, &patch);
    if (known && !has(buf_str(&text), "${"))
        check_patch(run, step, base, &patch);
}

static void check_case(struct arena *a, struct str line)
{
    struct value c;
    struct err err = ERR_INIT(a);
    if (json_read(a, with_values(a, line), NULL, &c, &err) < 0) {
        printf("unreadable case: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    struct run run = { a, value_str(value_get(&c, STR("id"))), value_object() };
    value_each_item (step, value_get(&c, STR("steps"))) {
        if (str_eq(value_str(value_get(step, STR("method"))), STR("PATCH")))
            check_step(&run, step);
        remember(&run, step);
    }
}

static bool check_file(struct arena *files, const char *name)
{
    struct str rest = vectors_read(files, vectors_path(files, "golden", name));
    while (rest.n) {
        struct arena a;
        struct str line = str_cut(&rest, '\n');
        arena_init(&a);
        if (line.n)
            check_case(&a, line);
        arena_done(&a);
    }
    bool good = true;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        printf("%s: %zu/%zu (at least %zu)\n", suites[i].name, suites[i].passed, suites[i].total,
               suites[i].floor);
        good = good && suites[i].passed >= suites[i].floor;
    }
    return good;
}

int main(void)
{
    struct arena files;
    arena_init(&files);
    bool there = vectors_are_there(&files, "golden");
    bool good = there && check_file(&files, "patch.jsonl");
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
