/* The PATCH requests of the golden traces, without a server: each patch of a built-in kind is
 * applied to the object that the case has last seen and the result compared with the answer; where
 * a real kube-apiserver refused the patch itself, code and message are the same.
 *
 * Left out: custom resources, and objects that no step before has answered with. Not compared: what
 * the server adds on its own (managedFields, resourceVersion, generation). A few patches change
 * what the server sets back or fills in (a status, the addresses of a Service); they count as
 * failed, and the floor of each suite allows for them. */
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"
#include "merge/suite_golden.h"

enum suite { JSON_RESULTS, JSON_REFUSALS, MERGE_RESULTS, STRATEGIC_RESULTS, STRATEGIC_REFUSALS };

static struct suite_score suites[] = {
    [JSON_RESULTS] = { .name = "json patch, results", .floor = 134 },
    [JSON_REFUSALS] = { .name = "json patch, refusals", .floor = 51 },
    [MERGE_RESULTS] = { .name = "merge patch, results", .floor = 115 },
    [STRATEGIC_RESULTS] = { .name = "strategic merge patch, results", .floor = 423 },
    [STRATEGIC_REFUSALS] = { .name = "strategic merge patch, refusals", .floor = 45 },
};

/* ---- one patch ---- */

static int apply(struct arena *a, struct str type, const struct kind_type *kind,
                 const struct value *patch, struct value *doc, struct err *err)
{
    struct typed_notes notes = { .n = 0 };
    if (suite_has(type, "json-patch")) {
        int r = json_patch_check(a, patch, &notes, err);
        return r < 0 ? r : json_patch_apply(a, patch, doc, err);
    }
    if (suite_has(type, "strategic"))
        return strategic_apply(a, &strategic_kinds, kind, patch, doc, err);
    merge_patch_apply(a, patch, doc);
    return 0;
}

/* Takes away what an answer says in any case, and ports that the traces have replaced. */
static void strip(struct arena *a, struct value *obj)
{
    value_drop(a, obj, STR("kind"));
    value_drop(a, obj, STR("apiVersion"));
    struct value *spec = value_edit(a, obj, STR("spec"));
    struct value *ports = spec ? value_edit(a, spec, STR("ports")) : NULL;
    for (size_t i = 0; value_at(ports, i); i++)
        value_drop(a, value_edit_at(a, ports, i), STR("nodePort"));
}

/* Did the server refuse the patch itself, and not what came of it? */
static bool is_refusal(int64_t code, struct str type, struct str msg)
{
    if (code == 500)
        return suite_has(type, "strategic") && !suite_has(msg, "strconv");
    return str_starts(msg, STR("the server rejected our request due to an error in our")) ||
           str_starts(msg, STR("invalid patch format")) ||
           str_starts(msg, STR("error decoding patch: json: cannot unmarshal"));
}

static void check_refusal(struct suite_golden *run, struct str type, const struct err *err, int r,
                          int64_t code, struct str msg)
{
    bool same = r < 0 && err_http_status(err->code) == code && str_eq(err->msg, msg);
    if (!same)
        printf("want %ld " STR_FMT "\nhave %d " STR_FMT "\n", (long)code, STR_ARG(msg),
               r < 0 ? err_http_status(err->code) : 200, STR_ARG(err->msg));
    suite_golden_score(&suites[suite_has(type, "strategic") ? STRATEGIC_REFUSALS : JSON_REFUSALS],
                       same, run);
}

static void check_patch(struct suite_golden *run, const struct suite_step *s,
                        const struct value *base, const struct value *patch)
{
    struct arena *a = run->arena;
    struct err err = ERR_INIT(a);
    struct str msg = value_str(value_get(s->answer, STR("message")));
    const struct kind_type *kind = kind_find(value_str(value_get(base, STR("apiVersion"))),
                                             value_str(value_get(base, STR("kind"))));
    if (!kind || (s->code >= 300 && !is_refusal(s->code, s->type, msg)))
        return;
    struct value doc = value_borrow(base);
    int r = apply(a, s->type, kind, patch, &doc, &err);
    if (s->code >= 300 && suite_has(s->type, "merge-patch") && !suite_has(s->type, "strategic"))
        return; /* refused before there is a patch to apply */
    if (s->code >= 300) {
        check_refusal(run, s->type, &err, r, s->code, msg);
        return;
    }
    enum suite suite = suite_has(s->type, "json-patch")  ? JSON_RESULTS
                       : suite_has(s->type, "strategic") ? STRATEGIC_RESULTS
                                                         : MERGE_RESULTS;
    if (r < 0)
        printf("refused: " STR_FMT "\n", STR_ARG(err.msg));
    suite_golden_score(&suites[suite], r == 0 && suite_golden_same(a, kind, &doc, s->answer, strip),
                       run);
}

static void check(struct suite_golden *run, const struct suite_step *s)
{
    const struct value *base = suite_golden_seen(run, s);
    struct value patch = s->body ? value_borrow(s->body) : value_null();
    bool known = str_eq(s->method, STR("PATCH")) && base && suite_has(s->type, "patch+json");
    if (known && patch.type == VALUE_STRING)
        known = json_read(run->arena, value_str(s->body), NULL, &patch, NULL) == 0;
    if (!known)
        return;
    value_drop_duplicates(run->arena, &patch);
    autobuf text = { 0 };
    json_write(&text, &patch);
    if (!suite_has(buf_str(&text), "${"))
        check_patch(run, s, base, &patch);
}

int main(void)
{
    static const char *const names[] = { "patch.jsonl" };
    return suite_golden_main(names, ARRAY_LEN(names), check, suites, ARRAY_LEN(suites));
}
