#include "server/http/options.h"

#include <stdio.h>

#include "server/http/suite_call.h"
#include "base/idiom.h"

#define MAPS         "/api/v1/namespaces/default/configmaps"
#define CREATE_FAULT "CreateOptions.meta.k8s.io \"\" is invalid: "
#define PATCH_FAULT  "PatchOptions.meta.k8s.io \"\" is invalid: "
#define DELETE_FAULT "DeleteOptions.meta.k8s.io \"\" is invalid: "
#define TEN          "aaaaaaaaaa"
#define HUNDRED      TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void options_of_writes(void **state)
{
    static const struct {
        const char *query;
        bool dry_run;
        enum decode_validation validation;
        const char *manager, *refusal; /* NULL: none */
    } cases[] = {
        { "", false, DECODE_WARN, "", NULL },
        { "dryRun=All&fieldManager=me&fieldValidation=Strict", true, DECODE_STRICT, "me", NULL },
        { "fieldValidation=Ignore&pretty=true", false, DECODE_IGNORE, "", NULL },
        { "fieldValidation=Warn", false, DECODE_WARN, "", NULL },
        { "dryRun=All&dryRun=All", true, DECODE_WARN, "", NULL },
        { "fieldManager=" HUNDRED TEN TEN "12345678", false, DECODE_WARN,
          HUNDRED TEN TEN "12345678", NULL },
        { .query = "dryRun=all",
          .refusal = "dryRun: Unsupported value: [\"all\"]: supported values: \"All\"" },
        { .query = "dryRun=",
          .refusal = "dryRun: Unsupported value: [\"\"]: supported values: "
                     "\"All\"" },
        { .query = "fieldValidation=strict",
          .refusal = "fieldValidation: Unsupported value: \"strict\": supported values: \"\", "
                     "\"Ignore\", \"Strict\", \"Warn\"" },
        { .query = "fieldManager=" HUNDRED TEN TEN "123456789",
          .refusal = "fieldManager: Too long: may not be more than 128 bytes" },
        { .query = "fieldManager=a%0Ab",
          .refusal = "fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at "
                     "position 1)" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct write_options o;
        char target[400];
        (void)snprintf(target, sizeof(target), MAPS "?%s", cases[i].query);
        suite_call_init(&s, target, NULL, STR(""));
        int r = options_read(&s.call, "CreateOptions", &o, &s.err);
        if (cases[i].refusal) {
            assert_int_equal(r, -ERR_INVALID);
            assert_string_equal(suite_call_refusal(&s) + strlen(CREATE_FAULT), cases[i].refusal);
        } else {
            assert_int_equal(r, 0);
            assert_int_equal(o.dry_run, cases[i].dry_run);
            assert_int_equal(o.validation, cases[i].validation);
            assert_string_equal(str_cstr(&s.arena, o.manager), cases[i].manager);
        }
        suite_call_done(&s);
    }
}

static void options_of_patches(void **state)
{
    static const struct {
        const char *target;
        bool is_apply, force;
        const char *refusal; /* NULL: none */
    } cases[] = {
        { MAPS "/a?fieldManager=me", true, false, NULL },
        { MAPS "/a?fieldManager=me&force=true", true, true, NULL },
        { MAPS "/a?fieldManager=me&force=false", true, false, NULL },
        { MAPS "/a", true, false, "fieldManager: Required value: is required for apply patch" },
        { MAPS "/a", false, false, NULL },
        { MAPS "/a?force=true", false, false,
          "force: Forbidden: may not be specified for non-apply patch" },
        { MAPS "/a?force=false", false, false,
          "force: Forbidden: may not be specified for non-apply patch" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct write_options o;
        suite_call_init(&s, cases[i].target, NULL, STR(""));
        int r = options_read_patch(&s.call, cases[i].is_apply, &o, &s.err);
        assert_int_equal(r, cases[i].refusal ? -ERR_INVALID : 0);
        if (cases[i].refusal)
            assert_string_equal(suite_call_refusal(&s) + strlen(PATCH_FAULT), cases[i].refusal);
        else
            assert_int_equal(o.force, cases[i].force);
        suite_call_done(&s);
    }
}

/* A body that is there is all that counts. */
static void options_of_deletes(void **state)
{
    static const struct {
        const char *query, *body;
        struct delete_options want;
    } cases[] = {
        { "", "", { .grace = -1 } },
        { "gracePeriodSeconds=0", "", { .grace = 0, .grace_given = true } },
        { "gracePeriodSeconds=-1", "", { .grace = -1, .grace_given = true } },
        { "gracePeriodSeconds=9", "{}", { .grace = -1 } },
        { "gracePeriodSeconds=9", "{'gracePeriodSeconds':3}", { .grace = 3, .grace_given = true } },
        { "dryRun=All&propagationPolicy=Orphan",
          "",
          { .grace = -1, .dry_run = true, .propagation = OPTIONS_ORPHAN } },
        { "propagationPolicy=Foreground", "", { .grace = -1, .propagation = OPTIONS_FOREGROUND } },
        { "",
          "{'propagationPolicy':'Background','dryRun':['All']}",
          { .grace = -1, .dry_run = true, .propagation = OPTIONS_BACKGROUND } },
        { "orphanDependents=true", "", { .grace = -1, .propagation = OPTIONS_ORPHAN } },
        { "orphanDependents=false", "", { .grace = -1, .propagation = OPTIONS_BACKGROUND } },
        { "", "{'orphanDependents':true}", { .grace = -1, .propagation = OPTIONS_ORPHAN } },
        { "ignoreStoreReadErrorWithClusterBreakingPotential=true",
          "",
          { .grace = -1, .ignore_read_error = true } },
        { "",
          "{'preconditions':{'uid':'u','resourceVersion':'7'}}",
          { .grace = -1, .uid = STR("u"), .revision = STR("7") } },
        { "", "{'preconditions':{'uid':''}}", { .grace = -1, .uid = { "", 0 } } },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct delete_options o, want = cases[i].want;
        char target[200];
        (void)snprintf(target, sizeof(target), MAPS "/a?%s", cases[i].query);
        suite_call_init(&s, target, NULL, STR(""));
        s.http.body = suite_call_quoted(&s.arena, cases[i].body);
        if (options_read_delete(&s.call, &o, &s.err) < 0)
            fail_msg("%s %s: %s", cases[i].query, cases[i].body, suite_call_refusal(&s));
        if (o.grace != want.grace || o.grace_given != want.grace_given ||
            o.dry_run != want.dry_run || o.propagation != want.propagation ||
            o.ignore_read_error != want.ignore_read_error || !str_eq(o.uid, want.uid) ||
            !o.uid.p != !want.uid.p || !str_eq(o.revision, want.revision))
            fail_msg("%s %s", cases[i].query, cases[i].body);
        assert_string_equal(suite_call_warnings(&s), "");
        suite_call_done(&s);
    }
}

static void deletes_that_make_no_sense(void **state)
{
    static const struct {
        const char *query, *refusal;
    } cases[] = {
        { "propagationPolicy=orphan",
          "propagationPolicy: Unsupported value: \"orphan\": supported values: \"Foreground\", "
          "\"Background\", \"Orphan\", \"nil\"" },
        { "propagationPolicy=Orphan&orphanDependents=true",
          "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation "
          "cannot be both set" },
        { "dryRun=some", "dryRun: Unsupported value: [\"some\"]: supported values: \"All\"" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct delete_options o;
        char target[200];
        (void)snprintf(target, sizeof(target), MAPS "/a?%s", cases[i].query);
        suite_call_init(&s, target, NULL, STR(""));
        assert_int_equal(options_read_delete(&s.call, &o, &s.err), -ERR_INVALID);
        assert_string_equal(suite_call_refusal(&s) + strlen(DELETE_FAULT), cases[i].refusal);
        suite_call_done(&s);
    }
}

static void pods_of_jobs_stay(void **state)
{
    static const struct {
        const char *target;
        bool warns;
    } cases[] = {
        { "/apis/batch/v1/namespaces/default/jobs/j", true },
        { "/apis/batch/v1/namespaces/default/jobs/j?propagationPolicy=Background", false },
        { "/apis/batch/v1/namespaces/default/cronjobs/j", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct delete_options o;
        suite_call_init(&s, cases[i].target, NULL, STR(""));
        assert_int_equal(options_read_delete(&s.call, &o, &s.err), 0);
        assert_string_equal(suite_call_warnings(&s),
                            cases[i].warns
                                ? "child pods are preserved by default when jobs are deleted; set "
                                  "propagationPolicy=Background to remove them or set "
                                  "propagationPolicy=Orphan to suppress this warning\n"
                                : "");
        suite_call_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_writes),  cmocka_unit_test(options_of_patches),
        cmocka_unit_test(options_of_deletes), cmocka_unit_test(deletes_that_make_no_sense),
        cmocka_unit_test(pods_of_jobs_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
