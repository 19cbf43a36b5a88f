#include "server/guard/token_webhook.h"

#include <stdlib.h>

#include "api/words.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/guard/answer_cache.h"
#include "server/guard/review_hook.h"
#include "base/banned.h"

enum { TIMEOUT_MS = 30000, ANSWERS_MAX = 32 << 10 };

struct token_webhook {
    struct review_hook *hook;
    struct answer_cache *answers; /* JSON of the status */
    int64_t ttl_ns;
    const struct str *implicit;
    size_t n_implicit;
};

/* ---- Reading a status ---- */

static size_t texts_of(struct arena *a, const struct value *list, const struct str **ret)
{
    struct str *all = arena_array(a, struct str, value_is(list, VALUE_ARRAY) ? list->n : 0);
    size_t n = 0;
    value_each_item (it, list)
        all[n++] = value_str(it);
    *ret = all;
    return n;
}

static struct user user_of(struct arena *a, const struct value *info)
{
    struct user user = { .name = value_text(info, "username"), .uid = value_text(info, "uid") };
    const struct value *extra = value_get(info, STR("extra"));
    struct user_extra *all =
        arena_array(a, struct user_extra, value_is(extra, VALUE_OBJECT) ? extra->n : 0);
    user.n_groups = texts_of(a, value_get(info, STR("groups")), &user.groups);
    value_each_field (f, extra) {
        struct user_extra *e = &all[user.n_extra++];
        e->key = f->key;
        e->n_values = texts_of(a, &f->val, &e->values);
    }
    user.extra = all;
    return user;
}

/* Those of the wanted audiences that the token is for. */
static size_t common(struct arena *a, const struct str *wanted, size_t n_wanted,
                     const struct str *got, size_t n_got, const struct str **ret)
{
    struct str *both = arena_array(a, struct str, n_wanted);
    size_t n = 0;
    for (size_t i = 0; i < n_wanted; i++)
        if (words_have(wanted[i], got, n_got))
            both[n++] = wanted[i];
    *ret = both;
    return n;
}

static int judge(const struct token_webhook *w, struct arena *a, const struct value *status,
                 const struct str *wanted, size_t n_wanted, struct account_user *ret,
                 struct err *err)
{
    const struct str *got;
    size_t n_got = texts_of(a, value_get(status, STR("audiences")), &got);
    struct str error = value_text(status, "error");
    if (!n_got) {
        got = w->implicit;
        n_got = w->n_implicit;
    }
    size_t n = common(a, wanted, n_wanted, got, n_got, &ret->audiences);
    if (!n)
        return TOKEN_UNKNOWN;
    if (!value_is_true(value_get(status, STR("authenticated"))))
        return error.n ? err_set(err, ERR_UNAUTHORIZED, STR_FMT, STR_ARG(error)) : TOKEN_UNKNOWN;
    ret->n_audiences = n;
    ret->user = user_of(a, value_get(status, STR("user")));
    return TOKEN_KNOWN;
}

/* ---- Asking ---- */

static struct value spec_of(struct arena *a, struct str token, const struct str *audiences,
                            size_t n)
{
    struct value spec = value_object(), list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(audiences[i]));
    value_put(a, &spec, STR("token"), value_string(token));
    value_put(a, &spec, STR("audiences"), list);
    return spec;
}

static struct str json_of(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    return arena_str(a, buf_str(&text));
}

/* What was answered before: 1, or 0. */
static int remembered(struct token_webhook *w, struct arena *a, struct str question,
                      struct value *ret)
{
    struct err ignored = ERR_INIT(a);
    struct str text;
    return answer_cache_get(w->answers, question, a, &text) &&
           json_read(a, text, NULL, ret, &ignored) == 0;
}

static int ask_hook(struct token_webhook *w, struct arena *a, const struct value *spec,
                    struct value *ret, struct err *err)
{
    int r = review_hook_ask(w->hook, a, spec, TIMEOUT_MS, NULL, ret, err);
    if (r == 0)
        return 0;
    log_error("the webhook for tokens failed", LOG_ERR(err));
    return err_set(err, ERR_UNAUTHORIZED, STR_FMT, STR_ARG(arena_str(a, err->msg)));
}

static int ask(void *self, struct arena *a, struct str token, const struct str *audiences,
               size_t n_audiences, enum token_patience patience, struct account_user *ret,
               struct err *err)
{
    struct token_webhook *w = self;
    if (!n_audiences) {
        audiences = w->implicit;
        n_audiences = w->n_implicit;
    }
    struct value status, spec = spec_of(a, token, audiences, n_audiences);
    struct str question = json_of(a, &spec);
    if (remembered(w, a, question, &status))
        return judge(w, a, &status, audiences, n_audiences, ret, err);
    if (patience == TOKEN_AT_ONCE)
        return TOKEN_LATER;
    int r = ask_hook(w, a, &spec, &status, err);
    if (r < 0)
        return r;
    r = judge(w, a, &status, audiences, n_audiences, ret, err);
    if (r >= 0)
        answer_cache_put(w->answers, question, json_of(a, &status), w->ttl_ns);
    return r;
}

/* ---- Beginning and end ---- */

static void token_webhook_retire(void *self)
{
    struct token_webhook *w = self;
    answer_cache_clear(w->answers);
}

static void token_webhook_free(void *self)
{
    struct token_webhook *w = self;
    review_hook_free(w->hook);
    answer_cache_free(w->answers);
    free(w);
}

int token_webhook_new(const struct token_webhook_options *opt, const struct clock *clock,
                      const struct str *implicit, size_t n_implicit, struct token_asker *ret,
                      struct err *err)
{
    const struct review_hook_options hook = { .kubeconfig = opt->kubeconfig,
                                              .kind = STR("TokenReview"),
                                              .api_version =
                                                  opt->is_v1 ? STR("authentication.k8s.io/v1")
                                                             : STR("authentication.k8s.io/v1beta1"),
                                              .timeout_ms = TIMEOUT_MS,
                                              .cancel = opt->cancel };
    struct review_hook *reviewer;
    int r = review_hook_new(&hook, &reviewer, err);
    if (r < 0)
        return err_wrap(err, "--authentication-token-webhook-config-file");
    struct token_webhook *w = mem_new(struct token_webhook);
    *w = (struct token_webhook){ .hook = reviewer,
                                 .answers = answer_cache_new(ANSWERS_MAX, clock),
                                 .ttl_ns = opt->ttl_ns,
                                 .implicit = implicit,
                                 .n_implicit = n_implicit };
    *ret = (struct token_asker){
        .self = w, .ask = ask, .free = token_webhook_free, .retire = token_webhook_retire
    };
    return 0;
}
