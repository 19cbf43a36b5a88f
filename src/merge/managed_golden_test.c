/* managedFields of the golden traces, without a server: what each create, update and patch of a
 * built-in kind leaves there is made again from the request and the object that the case has last
 * seen, and compared with what a real kube-apiserver answered.
 *
 * Left out: custom resources, dry runs, and objects that no step before has answered with. Times
 * and the order of entries are not compared. Which fields an endpoint sets back is told here only
 * in the way most kinds do; the floors allow for the others. */
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"
#include "base/yaml.h"
#include "merge/json_patch.h"
#include "merge/managed.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"

enum suite { CREATES, UPDATES, PATCHES, APPLIES, CONFLICTS, REFUSALS, N_SUITES };

static struct {
    const char *name;
    size_t floor, passed, total;
} suites[] = {
    [CREATES] = { .name = "creates", .floor = 3304 },
    [UPDATES] = { .name = "updates", .floor = 240 },
    [PATCHES] = { .name = "patches", .floor = 996 },
    [APPLIES] = { .name = "applied objects", .floor = 879 },
    [CONFLICTS] = { .name = "conflicts", .floor = 79 },
    [REFUSALS] = { .name = "refusals", .floor = 28 },
};

struct run {
    struct arena *arena;
    struct str id;
    struct value objects; /* what each path has last answered */
};

/* One request that changes an object. */
struct step {
    const struct value *body, *answer;
    struct str method, path, object, subresource, type, manager;
    bool is_dry_run, is_forced;
    int64_t code;
};

/* ---- the traces ---- */

static bool has(struct str s, const char *part)
{
    return s.p && s.n && memmem(s.p, s.n, part, strlen(part));
}

/* Placeholders that stand where a typed value must. */
static struct str with_values(struct arena *a, struct str line)
{
    static const struct str time = STR("<time>"), port = STR("\"<nodePort:");
    autobuf out = { 0 };
    while (line.n) {
        size_t skip = 1;
        if (str_starts(line, time)) {
            buf_str_add(&out, STR("2001-02-03T04:05:06Z"));
            skip = time.n;
        } else if (str_starts(line, port) && line.n > port.n + 2) {
            buf_printf(&out, "3000%c", line.p[port.n]);
            skip = port.n + 3;
        } else {
            buf_byte(&out, line.p[0]);
        }
        line = str_skip(line, skip);
    }
    return arena_str(a, buf_str(&out));
}

static struct str query_value(struct str query, struct str name)
{
    while (query.n) {
        struct str pair = str_cut(&query, '&');
        struct str key = str_cut(&pair, '=');
        if (str_eq(key, name))
            return pair;
    }
    return STR("");
}

static struct step step_of(struct arena *a, const struct value *in)
{
    static const struct str below[] = { STR("/status"), STR("/ephemeralcontainers"),
                                        STR("/resize") };
    struct str query = value_str(value_get(in, STR("path"))), path = str_cut(&query, '?');
    struct str agent = value_str(value_dig(in, "headers", "User-Agent"));
    struct step s = { .body = value_get(in, STR("body")),
                      .answer = value_dig(in, "expect", "body"),
                      .method = value_str(value_get(in, STR("method"))),
                      .path = path,
                      .object = path,
                      .type = value_str(value_dig(in, "headers", "Content-Type")),
                      .manager = query_value(query, STR("fieldManager")),
                      .is_dry_run = has(query, "dryRun"),
                      .is_forced = has(query, "force=true") || has(query, "force=1") };
    (void)value_to_int(value_dig(in, "expect", "code"), &s.code);
    if (!s.manager.n)
        s.manager = agent.n ? str_cut(&agent, '/') : STR("golden");
    for (size_t i = 0; i < 3; i++)
        if (str_ends(path, below[i])) {
            s.object = str_take(path, path.n - below[i].n);
            s.subresource = str_skip(below[i], 1);
        }
    if (str_eq(s.method, STR("POST"))) {
        struct str name = value_str(value_dig(s.answer, "metadata", "name"));
        s.object = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(path), STR_ARG(name));
    }
    return s;
}

static void remember(struct run *run, const struct step *s)
{
    if (s->code < 300 && !s->is_dry_run && value_dig(s->answer, "metadata", "name") &&
        !str_eq(s->method, STR("DELETE")))
        value_put(run->arena, &run->objects, s->object, value_borrow(s->answer));
}

/* ---- one request ---- */

static const struct fieldset *reset_by(struct arena *a, const struct kind_type *kind,
                                       struct str subresource)
{
    struct fieldset_step status = fieldset_name(STR("status")), spec = fieldset_name(STR("spec"));
    struct fieldset_step labels[] = { fieldset_name(STR("metadata")),
                                      fieldset_name(STR("labels")) };
    const struct fieldset *main = fieldset_of(a, &status, 1), *other = fieldset_of(a, &spec, 1);
    if (str_eq(kind->name, STR("CertificateSigningRequest")))
        return fieldset_union(a, main, other);
    if (!subresource.n)
        return main;
    if (!str_eq(subresource, STR("status")))
        return NULL;
    return str_eq(kind->name, STR("Deployment"))
               ? fieldset_union(a, other, fieldset_of(a, labels, 2))
               : other;
}

static struct managed_request request_of(struct arena *a, const struct kind_type *kind,
                                         const struct step *s, struct value *empty)
{
    struct value nothing = value_object();
    struct err err = ERR_INIT(a);
    if (typed_read(a, kind, &nothing, NULL, empty, &err) < 0)
        *empty = value_object();
    return (struct managed_request){
        .schema = &ownership_kinds,
        .place = ownership_kind(kind),
        .manager = s->manager,
        .api_version = value_str(value_get(s->answer, STR("apiVersion"))),
        .subresource = s->subresource,
        .now = STR("2001-02-03T04:05:07Z"),
        .empty = empty,
        .reset = reset_by(a, kind, s->subresource),
        .versions = &managed_kinds,
    };
}

/* Identities of owners are placeholders in the answers and not in the requests. */
static void masked(struct buf *out, const struct value *fields)
{
    static const struct {
        struct str start;
        size_t n;
    } uids[] = { { STR("<uid:"), 7 },
                 { STR("\\\\u003cuid:"), 19 },
                 { STR("11111111-2222-3333-4444-"), 36 } };
    autobuf json = { 0 };
    json_write(&json, fields);
    for (struct str rest = buf_str(&json); rest.n;) {
        size_t i = 0;
        while (i < 3 && !str_starts(rest, uids[i].start))
            i++;
        buf_byte(out, i < 3 ? '#' : rest.p[0]);
        rest = str_skip(rest, i < 3 ? uids[i].n : 1);
    }
}

static bool same_fields(const struct value *a, const struct value *b)
{
    autobuf x = { 0 }, y = { 0 };
    if (!a || !b || value_eq(a, b))
        return a && b;
    masked(&x, a);
    masked(&y, b);
    return str_eq(buf_str(&x), buf_str(&y));
}

static bool same_entry(const struct value *a, const struct value *b)
{
    static const struct str names[] = { STR("manager"), STR("operation"), STR("apiVersion"),
                                        STR("subresource") };
    for (size_t i = 0; i < 4; i++)
        if (!str_eq(value_str(value_get(a, names[i])), value_str(value_get(b, names[i]))))
            return false;
    return same_fields(value_get(a, STR("fieldsV1")), value_get(b, STR("fieldsV1")));
}

static bool same_managers(const struct value *have, const struct value *want)
{
    const struct value *ours = value_dig(have, "metadata", "managedFields");
    const struct value *theirs = value_dig(want, "metadata", "managedFields");
    bool same = (ours ? ours->n : 0) == (theirs ? theirs->n : 0);
    value_each_item (x, theirs) {
        bool found = false;
        value_each_item (y, ours)
            found = found || same_entry(x, y);
        same = same && found;
    }
    if (same)
        return true;
    autobuf out = { 0 };
    buf_str_add(&out, STR("have "));
    json_write(&out, ours ? ours : &(struct value){ .type = VALUE_NULL });
    buf_str_add(&out, STR("\nwant "));
    json_write(&out, theirs ? theirs : &(struct value){ .type = VALUE_NULL });
    printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    return false;
}

static int patched(struct arena *a, const struct kind_type *kind, const struct step *s,
                   const struct value *live, struct value *ret, struct err *err)
{
    struct value patch = value_borrow(s->body);
    if (patch.type == VALUE_STRING && json_read(a, value_str(s->body), NULL, &patch, err) < 0)
        return -1;
    value_drop_duplicates(a, &patch);
    *ret = value_borrow(live);
    if (has(s->type, "json-patch"))
        return json_patch_apply(a, &patch, ret, err);
    if (has(s->type, "strategic"))
        return strategic_apply(a, &strategic_kinds, kind, &patch, ret, err);
    merge_patch_apply(a, &patch, ret);
    return 0;
}

/* The object that is to be stored, as the server has it when it asks for its managers. */
static int new_object(struct arena *a, const struct kind_type *kind, const struct step *s,
                      const struct value *live, struct value *ret, struct err *err)
{
    struct value raw = value_borrow(s->body);
    if (str_eq(s->method, STR("PATCH"))) {
        int r = patched(a, kind, s, live, &raw, err);
        if (r < 0)
            return r;
    } else if (raw.type == VALUE_STRING) {
        int r = has(s->type, "yaml") ? yaml_read(a, value_str(s->body), NULL, &raw, err)
                                     : json_read(a, value_str(s->body), NULL, &raw, err);
        if (r < 0)
            return r;
    }
    int r = typed_read(a, kind, &raw, NULL, ret, err);
    if (r < 0)
        return r;
    defaults_apply(a, kind, ret);
    const struct value *managers = value_dig(&raw, "metadata", "managedFields");
    if (value_is(managers, VALUE_ARRAY) && !managers->n) /* which is not the same as none */
        value_put(a, value_ensure(a, ret, STR("metadata")), STR("managedFields"), value_array());
    return 0;
}

static void score(enum suite suite, bool passed, const struct run *run)
{
    suites[suite].total++;
    suites[suite].passed += passed;
    if (!passed)
        printf("FAILED %s: " STR_FMT "\n", suites[suite].name, STR_ARG(run->id));
}

static void check_update(struct run *run, const struct kind_type *kind, const struct step *s,
                         const struct value *live)
{
    struct arena *a = run->arena;
    struct value obj, empty;
    struct err err = ERR_INIT(a);
    enum suite suite = str_eq(s->method, STR("POST"))  ? CREATES
                       : str_eq(s->method, STR("PUT")) ? UPDATES
                                                       : PATCHES;
    struct managed_request req = request_of(a, kind, s, &empty);
    int r = new_object(a, kind, s, live, &obj, &err);
    if (r == 0)
        r = managed_update(a, &req, live, &obj, &err);
    if (r < 0)
        printf("refused: " STR_FMT "\n", STR_ARG(err.msg));
    score(suite, r == 0 && same_managers(&obj, s->answer), run);
}

/* ---- apply ---- */

/* Takes away what the server decides, and identities that the traces have replaced. */
static void strip(struct arena *a, struct value *obj)
{
    static const struct str names[] = {
        STR("managedFields"),     STR("resourceVersion"), STR("generation"), STR("uid"),
        STR("creationTimestamp"), STR("ownerReferences"), STR("namespace"),
    };
    struct value *meta = value_edit(a, obj, STR("metadata"));
    for (size_t i = 0; meta && i < ARRAY_LEN(names); i++)
        value_drop(a, meta, names[i]);
    static const struct str addresses[] = { STR("clusterIP"), STR("clusterIPs"), STR("ipFamilies"),
                                            STR("ipFamilyPolicy") };
    struct value *spec = value_edit(a, obj, STR("spec"));
    for (size_t i = 0; value_is(spec, VALUE_OBJECT) && i < 4; i++)
        value_drop(a, spec, addresses[i]);
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
    printf("object is to be changed by " STR_FMT "\n", STR_ARG(buf_str(&diff)));
    return false;
}

static bool same_conflict(const struct err *err, const struct value *status)
{
    const struct err_cause *cause = err->causes;
    bool same = str_eq(err->msg, value_str(value_get(status, STR("message"))));
    value_each_item (c, value_dig(status, "details", "causes")) {
        same = same && cause && str_eq(cause->reason, value_str(value_get(c, STR("reason")))) &&
               str_eq(cause->field, value_str(value_get(c, STR("field")))) &&
               str_eq(cause->msg, value_str(value_get(c, STR("message"))));
        cause = cause ? cause->next : NULL;
    }
    if (!same || cause)
        printf("refused: " STR_FMT "\n", STR_ARG(err->msg));
    return same && !cause;
}

static bool read_applied(struct arena *a, const struct step *s, struct value *ret)
{
    *ret = value_borrow(s->body);
    if (ret->type == VALUE_STRING && yaml_read(a, value_str(s->body), NULL, ret, NULL) < 0)
        return false;
    value_drop_duplicates(a, ret);
    return ret->type == VALUE_OBJECT;
}

static void check_refusal(struct run *run, const struct kind_type *kind, const struct step *s,
                          const struct value *applied, struct str msg)
{
    struct value empty;
    struct err err = ERR_INIT(run->arena);
    struct managed_request req = request_of(run->arena, kind, s, &empty);
    int r = managed_check(run->arena, &req, applied, &err);
    bool same = r == -ERR_UNKNOWN && str_eq(err.msg, msg);
    if (!same)
        printf("have " STR_FMT "\nwant " STR_FMT "\n", STR_ARG(err.msg), STR_ARG(msg));
    score(REFUSALS, same, run);
}

static void check_apply(struct run *run, const struct step *s)
{
    struct arena *a = run->arena;
    struct err err = ERR_INIT(a);
    struct value applied, live, obj, empty;
    const struct value *seen = value_get(&run->objects, s->object);
    struct str msg = value_str(value_get(s->answer, STR("message")));
    bool is_conflict = s->code == 409 && str_starts(msg, STR("Apply failed"));
    bool is_refusal = s->code == 500 && str_starts(msg, STR("failed to create typed patch"));
    if (!read_applied(a, s, &applied) || (s->code >= 300 && !is_conflict && !is_refusal))
        return;
    struct str api_version = value_str(value_get(&applied, STR("apiVersion")));
    const struct kind_type *kind =
        kind_find(api_version, value_str(value_get(&applied, STR("kind"))));
    if (kind && is_refusal)
        check_refusal(run, kind, s, &applied, msg);
    if (!kind || is_refusal || (s->code != 201 && !seen))
        return;
    if (seen && typed_read(a, kind, seen, NULL, &live, &err) < 0)
        return;
    struct managed_request req = request_of(a, kind, s, &empty);
    req.api_version = api_version;
    int r =
        managed_apply(a, &req, s->code == 201 ? NULL : &live, &applied, s->is_forced, &obj, &err);
    if (is_conflict) {
        score(CONFLICTS, r == -ERR_CONFLICT && same_conflict(&err, s->answer), run);
        return;
    }
    if (r < 0)
        printf("refused: " STR_FMT "\n", STR_ARG(err.msg));
    score(APPLIES,
          r == 0 && same_object(a, kind, &obj, s->answer) && same_managers(&obj, s->answer), run);
}

static void check_step(struct run *run, const struct step *s)
{
    const struct value *seen = value_get(&run->objects, s->object);
    struct str kind_name = value_str(value_get(s->answer, STR("kind")));
    const struct kind_type *kind =
        kind_find(value_str(value_get(s->answer, STR("apiVersion"))), kind_name);
    bool is_create = str_eq(s->method, STR("POST"));
    if (!kind || s->code >= 300 || !s->body || !value_dig(s->answer, "metadata", "name") ||
        has(s->type, "protobuf") || has(s->type, "cbor"))
        return;
    if (is_create ? str_ends(s->path, STR("/binding")) : !seen)
        return;
    struct err err = ERR_INIT(run->arena);
    struct value live;
    if (!is_create && typed_read(run->arena, kind, seen, NULL, &live, &err) < 0)
        return;
    check_update(run, kind, s, is_create ? NULL : &live);
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
    value_each_item (it, value_get(&c, STR("steps"))) {
        struct step s = step_of(a, it);
        if (str_eq(s.method, STR("POST")) || str_eq(s.method, STR("PUT")) ||
            str_eq(s.method, STR("PATCH"))) {
            if (has(s.type, "apply-patch") && s.body)
                check_apply(&run, &s);
            else
                check_step(&run, &s);
        }
        remember(&run, &s);
    }
}

static void check_file(struct arena *files, const char *name)
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
}

static bool report(void)
{
    bool good = true;
    for (size_t i = 0; i < N_SUITES; i++) {
        printf("%s: %zu/%zu (at least %zu)\n", suites[i].name, suites[i].passed, suites[i].total,
               suites[i].floor);
        good = good && suites[i].passed >= suites[i].floor;
    }
    return good;
}

int main(void)
{
    static const char *const names[] = { "verbs.jsonl",      "defaults.jsonl", "updates.jsonl",
                                         "validation.jsonl", "patch.jsonl",    "ssa.jsonl",
                                         "admission.jsonl" };
    struct arena files;
    arena_init(&files);
    bool there = vectors_are_there(&files, "golden");
    for (size_t i = 0; there && i < ARRAY_LEN(names); i++)
        check_file(&files, names[i]);
    bool good = there && report();
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
