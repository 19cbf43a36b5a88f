#include "mesh/webhook/review.h"

#include "base/json.h"
#include "mesh/model/tree.h"
#include "mesh/webhook/validate.h"
#include "base/banned.h"

static struct value warnings_of(struct arena *a, unsigned n)
{
    struct value out = value_array();
    for (unsigned i = 0; i < n; i++)
        value_put_item(a, &out, value_string(STR("a part of this has no effect")));
    return out.n ? out : value_null();
}

int review_answer(struct arena *a, struct str body, struct buf *ret, struct err *err)
{
    struct value review;
    struct err why = ERR_INIT(a);
    unsigned warnings = 0;
    int r = json_read(a, body, NULL, &review, err);
    if (r < 0)
        return r;
    const struct value *req = value_get(&review, STR("request"));
    if (!value_text(req, "uid").n)
        return err_set(err, ERR_BAD_REQUEST, "an AdmissionReview with a request is wanted");
    const struct value *obj = value_get(req, STR("object"));
    bool deletes = str_eq(value_text(req, "operation"), STR("DELETE"));
    bool fine = deletes || validate_object(a, obj, &warnings, &why) == 0;
    struct value status =
        fine ? value_null() : tree(a, "{status: Failure, code: 400, message: %s}", why.msg);
    struct value out =
        tree(a,
             "{apiVersion: %v, kind: AdmissionReview, response: {uid: %v, allowed: %b, status: "
             "%v, warnings: %v}}",
             tree_copy(value_get(&review, STR("apiVersion"))),
             tree_copy(value_get(req, STR("uid"))), fine, status, warnings_of(a, warnings));
    json_write(ret, &out);
    return 0;
}
