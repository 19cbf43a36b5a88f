/* What a webhook answers. The first byte chooses the version that is spoken and the kind of
 * webhook, the rest is the body of its answer. Whatever it is, it is read or refused with words; a
 * patch that applies leaves an object of its kind or is refused; a refusal is a Status with a code
 * that is an error. */
#include <stdlib.h>

#include "admission/webhook/review.h"
#include "base/json.h"
#include "merge/json_patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

/* A pod with a bit of everything that patches like to change. */
static const struct str pod =
    STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\","
        "\"labels\":{\"app\":\"p\"}},\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i\","
        "\"resources\":{\"limits\":{\"cpu\":\"1\"}},\"env\":[{\"name\":\"A\",\"value\":\"b\"}]}],"
        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}");

static void check_patch(struct arena *a, const struct review_answer *answer)
{
    static const struct admission_cluster cluster;
    struct err err = ERR_INIT(a);
    struct value patch, obj, changed;
    struct view v;
    const struct kind_resource *pods = kind_stored_named(STR(""), STR("pods"));
    struct admission_request req = { .arena = a,
                                     .resource = pods,
                                     .stored = pods,
                                     .operation = ADMISSION_CREATE,
                                     .ns = STR("ns"),
                                     .name = STR("p"),
                                     .cluster = &cluster };
    must(json_read(a, pod, NULL, &obj, &err) == 0);
    if (review_patch(a, answer, &patch, &err) < 0) {
        must(err.msg.n > 0);
        return;
    }
    must(view_make(&req, &obj, pods, &v, &err) == 0);
    changed = value_borrow(v.obj);
    if (json_patch_apply_told(a, &patch, &changed, &err) < 0 ||
        view_take(&req, &v, &changed, &obj, &err) < 0) {
        must(err.msg.n > 0);
        return;
    }
    must(str_eq(value_text(&obj, "kind"), STR("Pod")));
}

static void check_refusal(struct arena *a, const struct review_answer *answer)
{
    struct err err = ERR_INIT(a);
    int64_t code = 0;
    must(review_refusal(a, STR("fuzz.hook.test"), answer->status, &err) < 0);
    must(value_to_int(value_get(err.about.status, STR("code")), &code) && code >= 400);
    must(value_text(err.about.status, "message").n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct review_answer answer;
    if (n < 1)
        return 0;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str body = { (const char *)bytes + 1, n - 1 };
    struct str version = bytes[0] & 1 ? STR("v1beta1") : STR("v1");
    if (review_read(&a, body, version, STR("u"), bytes[0] & 2, &answer, &err) < 0) {
        must(err.msg.n > 0);
    } else {
        check_patch(&a, &answer);
        check_refusal(&a, &answer);
    }
    arena_done(&a);
    return 0;
}
