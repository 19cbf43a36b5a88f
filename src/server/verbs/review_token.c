/* POST of TokenReview: whose is this token, as far as this server knows? */
#include "server/guard/identity.h"
#include "server/verbs/review.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

static struct value list_of(struct arena *a, const struct str *texts, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(texts[i]));
    return list;
}

/* The token was used, if only to ask about it. As upstream, neither the caller nor auditors are
 * told. */
static void note_use(struct call *c, const struct account_use *use)
{
    if (use->secret.n && c->api->on_legacy_token)
        c->api->on_legacy_token(c->api, use);
}

/* A refusal is part of the answer; anything else is an error. */
static int judge(struct call *c, const struct value *spec, struct value *ret, struct err *err)
{
    const struct value *wanted = value_get(spec, STR("audiences"));
    size_t n = value_is(wanted, VALUE_ARRAY) ? wanted->n : 0;
    struct str *audiences = arena_array(c->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        audiences[i] = value_str(value_at(wanted, i));
    struct account_user found;
    int r = identity_of_token(api_identity(c->api), c->arena, value_text(spec, "token"), audiences,
                              n, &found, err);
    note_use(c, &found.use);
    *ret = value_object();
    if (r < 0 && err->code == ERR_UNAUTHORIZED) {
        value_put(c->arena, ret, STR("user"), value_object());
        value_put(c->arena, ret, STR("error"), value_string(err->msg));
        return 0;
    }
    if (r < 0)
        return r;
    value_put(c->arena, ret, STR("authenticated"), value_bool(true));
    value_put(c->arena, ret, STR("user"), review_user(c->arena, &found.user));
    value_put(c->arena, ret, STR("audiences"),
              list_of(c->arena, found.audiences, found.n_audiences));
    return 0;
}

static int review(struct call *c, struct value *obj, struct err *err)
{
    int r = review_decode(c, true, obj, err);
    if (r < 0)
        return r;
    const struct value *spec = value_get(obj, STR("spec"));
    if (!value_text(spec, "token").n)
        return err_set(err, ERR_BAD_REQUEST, "token is required for TokenReview in authentication");
    r = review_check(c, obj, err);
    if (r < 0)
        return r;
    struct value status;
    r = judge(c, spec, &status, err);
    if (r < 0)
        return r;
    value_put(c->arena, obj, STR("status"), status);
    return 0;
}

void verb_token_review(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    if (review(c, &obj, &err) < 0)
        call_fail(c, &err);
    else
        call_object(c, 201, c->req.resource->type, &obj);
}
