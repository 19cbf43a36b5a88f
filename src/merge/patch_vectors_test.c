/* The public suites of JSON patch and JSON merge patch. Where kube-apiserver differs from the RFCs
 * we do as it does; those cases are named here with what it does. */
#include "base/idiom.h"
#include "base/vectors_test.h"
#include "base/json.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"

/* By the text of the patch. */
static const struct {
    const char *patch;
    const char *result; /* NULL: refused */
} differences[] = {
    { "[{\"op\":\"add\",\"path\":\"\",\"value\":[]}]", NULL },
    { "[{\"op\":\"add\",\"path\":\"\",\"value\":{}}]", NULL },
    { "[{\"op\":\"add\",\"path\":\"\",\"value\":{\"baz\":\"qux\"}}]", NULL },
    { "[{\"op\":\"add\",\"path\":\"/bar/-1\",\"value\":\"5\"}]", "{\"bar\":[1,2,\"5\"]}" },
    { "[{\"op\":\"add\",\"path\":\"/-\"}]", "[1,null]" },
    { "[{\"op\":\"replace\",\"path\":\"/0\"}]", "[null]" },
    { "[{\"op\":\"copy\",\"from\":\"/bar\",\"path\":\"/foo\"}]", "{\"foo\":null}" },
    { "[{\"op\":\"test\",\"path\":\"/00\",\"value\":\"foo\"}]", "[\"foo\",\"bar\"]" },
    { "[{\"op\":\"test\",\"path\":\"/01\",\"value\":\"bar\"}]", "[\"foo\",\"bar\"]" },
};

static struct str text_of(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return arena_str(a, buf_str(&out));
}

static const char *label(struct arena *a, const struct value *c)
{
    struct str comment = value_str(value_get(c, STR("comment")));
    if (!comment.n)
        comment = value_str(value_get(c, STR("error")));
    struct str patch = text_of(a, value_get(c, STR("patch")));
    return str_cstr(a, arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(comment), STR_ARG(patch)));
}

/* What the case gives with us, as text; NULL: it is refused. */
static const char *wanted(struct arena *a, const struct value *c)
{
    struct str patch = text_of(a, value_get(c, STR("patch")));
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        if (str_eq(patch, str_of(differences[i].patch)))
            return differences[i].result;
    if (str_eq(patch, STR("[{\"op\":\"test\",\"path\":\"/0\"}]")) &&
        value_at(value_get(c, STR("doc")), 0)->type == VALUE_NULL)
        return "[null]"; /* a missing value is null */
    if (value_get(c, STR("error")))
        return NULL;
    const struct value *result = value_get(c, STR("expected"));
    return str_cstr(a, text_of(a, result ? result : value_get(c, STR("doc"))));
}

static void check_json_patch(struct arena *a, struct vectors_count *count, const struct value *c)
{
    const struct value *disabled = value_get(c, STR("disabled"));
    if ((disabled && disabled->b) || !value_get(c, STR("patch")))
        return;
    struct value doc = value_borrow(value_get(c, STR("doc"))), result;
    struct err err = ERR_INIT(a);
    int r = json_patch_check(a, value_get(c, STR("patch")), NULL, &err);
    if (r == 0)
        r = json_patch_apply(a, value_get(c, STR("patch")), &doc, &err);
    const char *want = wanted(a, c);
    bool passed = (r == 0) == (want != NULL);
    if (passed && want)
        passed = json_read(a, str_of(want), NULL, &result, &err) == 0 && value_eq(&doc, &result);
    vectors_score(count, passed, label(a, c));
}

static void check_merge_patch(struct arena *a, struct vectors_count *count, const struct value *c)
{
    struct value doc = value_borrow(value_get(c, STR("original")));
    merge_patch_apply(a, value_get(c, STR("patch")), &doc);
    vectors_score(count, value_eq(&doc, value_get(c, STR("result"))), label(a, c));
}

static void check_file(struct arena *a, struct vectors_count *count)
{
    struct value cases;
    struct err err = ERR_INIT(a);
    struct str text = vectors_read(a, vectors_path(a, "json-patch", count->name));
    if (json_read(a, text, NULL, &cases, &err) < 0) {
        printf("%s: " STR_FMT "\n", count->name, STR_ARG(err.msg));
        exit(1);
    }
    const struct value *list = cases.type == VALUE_ARRAY ? &cases : value_get(&cases, STR("cases"));
    value_each_item (c, list) {
        if (value_get(c, STR("original")))
            check_merge_patch(a, count, c);
        else
            check_json_patch(a, count, c);
    }
}

int main(void)
{
    static struct vectors_count counts[] = { { .name = "tests.json" },
                                             { .name = "spec_tests.json" },
                                             { .name = "merge-patch-rfc7386.json" } };
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "json-patch");
    for (size_t i = 0; there && i < 3; i++)
        check_file(&a, &counts[i]);
    bool good = there && vectors_report(counts, 3);
    arena_done(&a);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
