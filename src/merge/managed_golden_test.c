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
#include "base/yaml.h"
#include "merge/json_patch.h"
#include "merge/managed.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"
#include "merge/suite_golden.h"

enum suite { CREATES, UPDATES, PATCHES, APPLIES, CONFLICTS, REFUSALS, N_SUITES };

static struct suite_score suites[] = {
    [CREATES] = { .name = "creates", .floor = 3304 },
    [UPDATES] = { .name = "updates", .floor = 240 },
    [PATCHES] = { .name = "patches", .floor = 996 },
    [APPLIES] = { .name = "applied objects", .floor = 879 },
    [CONFLICTS] = { .name = "conflicts", .floor = 79 },
    [REFUSALS] = { .name = "refusals", .floor = 28 },
};

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
                                         const struct suite_step *s, struct value *empty)
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

static int patched(struct arena *a, const struct kind_type *kind, const struct suite_step *s,
                   const struct value *live, struct value *ret, struct err *err)
{
    struct value patch = value_borrow(s->body);
    if (patch.type == VALUE_STRING && json_read(a, value_str(s->body), NULL, &patch, err) < 0)
        return -1;
    value_drop_duplicates(a, &patch);
    *ret = value_borrow(live);
    if (suite_has(s->type, "json-patch"))
        return json_patch_apply(a, &patch, ret, err);
    if (suite_has(s->type, "strategic"))
        return strategic_apply(a, &strategic_kinds, kind, &patch, ret, err);
    merge_patch_apply(a, &patch, ret);
    return 0;
}

/* The object that is to be stored, as the server has it when it asks for its managers. */
static int new_object(struct arena *a, const struct kind_type *kind, const struct suite_step *s,
                      const struct value *live, struct value *ret, struct err *err)
{
    struct value raw = value_borrow(s->body);
    if (str_eq(s->method, STR("PATCH"))) {
        int r = patched(a, kind, s, live, &raw, err);
        if (r < 0)
            return r;
    } else if (raw.type == VALUE_STRING) {
        int r = suite_has(s->type, "yaml") ? yaml_read(a, value_str(s->body), NULL, &raw, err)
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

static void check_update(struct suite_golden *run, const struct kind_type *kind,
                         const struct suite_step *s, const struct value *live)
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
    suite_golden_score(&suites[suite], r == 0 && same_managers(&obj, s->answer), run);
}

/* ---- apply ---- */

/* Takes away addresses that the traces have replaced. */
static void strip(struct arena *a, struct value *obj)
{
    static const struct str addresses[] = { STR("clusterIP"), STR("clusterIPs"), STR("ipFamilies"),
                                            STR("ipFamilyPolicy") };
    struct value *spec = value_edit(a, obj, STR("spec"));
    for (size_t i = 0; value_is(spec, VALUE_OBJECT) && i < 4; i++)
        value_drop(a, spec, addresses[i]);
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

static bool read_applied(struct arena *a, const struct suite_step *s, struct value *ret)
{
    *ret = value_borrow(s->body);
    if (ret->type == VALUE_STRING && yaml_read(a, value_str(s->body), NULL, ret, NULL) < 0)
        return false;
    value_drop_duplicates(a, ret);
    return ret->type == VALUE_OBJECT;
}

static void check_refusal(struct suite_golden *run, const struct kind_type *kind,
                          const struct suite_step *s, const struct value *applied, struct str msg)
{
    struct value empty;
    struct err err = ERR_INIT(run->arena);
    struct managed_request req = request_of(run->arena, kind, s, &empty);
    int r = managed_check(run->arena, &req, applied, &err);
    bool same = r == -ERR_UNKNOWN && str_eq(err.msg, msg);
    if (!same)
        printf("have " STR_FMT "\nwant " STR_FMT "\n", STR_ARG(err.msg), STR_ARG(msg));
    suite_golden_score(&suites[REFUSALS], same, run);
}

static void check_apply(struct suite_golden *run, const struct suite_step *s)
{
    struct arena *a = run->arena;
    struct err err = ERR_INIT(a);
    struct value applied, live, obj, empty;
    const struct value *seen = suite_golden_seen(run, s);
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
        suite_golden_score(&suites[CONFLICTS], r == -ERR_CONFLICT && same_conflict(&err, s->answer),
                           run);
        return;
    }
    if (r < 0)
        printf("refused: " STR_FMT "\n", STR_ARG(err.msg));
    suite_golden_score(&suites[APPLIES],
                       r == 0 && suite_golden_same(a, kind, &obj, s->answer, strip) &&
                           same_managers(&obj, s->answer),
                       run);
}

static void check_step(struct suite_golden *run, const struct suite_step *s)
{
    const struct value *seen = suite_golden_seen(run, s);
    struct str kind_name = value_str(value_get(s->answer, STR("kind")));
    const struct kind_type *kind =
        kind_find(value_str(value_get(s->answer, STR("apiVersion"))), kind_name);
    bool is_create = str_eq(s->method, STR("POST"));
    if (!kind || s->code >= 300 || !s->body || !value_dig(s->answer, "metadata", "name") ||
        suite_has(s->type, "protobuf") || suite_has(s->type, "cbor"))
        return;
    if (is_create ? str_ends(s->path, STR("/binding")) : !seen)
        return;
    struct err err = ERR_INIT(run->arena);
    struct value live;
    if (!is_create && typed_read(run->arena, kind, seen, NULL, &live, &err) < 0)
        return;
    check_update(run, kind, s, is_create ? NULL : &live);
}

static void check(struct suite_golden *run, const struct suite_step *s)
{
    if (!str_eq(s->method, STR("POST")) && !str_eq(s->method, STR("PUT")) &&
        !str_eq(s->method, STR("PATCH")))
        return;
    if (suite_has(s->type, "apply-patch") && s->body)
        check_apply(run, s);
    else
        check_step(run, s);
}

int main(void)
{
    static const char *const names[] = { "verbs.jsonl",      "defaults.jsonl", "updates.jsonl",
                                         "validation.jsonl", "patch.jsonl",    "ssa.jsonl",
                                         "admission.jsonl" };
    return suite_golden_main(names, ARRAY_LEN(names), check, suites, N_SUITES);
}
