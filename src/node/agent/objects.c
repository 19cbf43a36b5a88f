#include "node/agent/objects.h"

#include <pthread.h>
#include <sampan/informer.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

enum { FRESH_MS = 1000, CALL_MS = 20000, MAX_KEPT = 1000, DAY_SEC = 24 * 3600 };

/* An answer that is kept: an object, that there is none, or a token. */
struct kept {
    int64_t until_ns; /* monotonic */
    int code;         /* negative: an error, whose message `text` is */
    size_t n_key, n;
    char bytes[]; /* the key, then the text */
};

struct objects {
    struct spn_client *client;
    int64_t fresh_ms;
    struct spn_informer *services;
    pthread_mutex_t lock; /* of what follows */
    struct map kept, tokens;
};

/* ---- What is kept ---- */

static void drop(struct map *m, struct str key)
{
    free(map_remove(m, key));
}

static void drop_all(struct map *m, struct str prefix)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(m, &pos, &key, &p)) {
        if (!str_starts(key, prefix))
            continue;
        (void)map_remove(m, key);
        free(p);
    }
}

static void keep(struct objects *o, struct map *m, struct str key, int64_t ms, int code,
                 struct str text)
{
    struct kept *k = mem_alloc(sizeof(*k) + key.n + text.n);
    *k = (struct kept){ .until_ns = clock_mono_ns(&clock_system) + ms * NS_PER_MS,
                        .code = code,
                        .n_key = key.n,
                        .n = text.n };
    memcpy(k->bytes, key.p, key.n);
    memcpy(k->bytes + key.n, text.p, text.n);
    (void)pthread_mutex_lock(&o->lock);
    if (m->n >= MAX_KEPT)
        drop_all(m, STR(""));
    drop(m, key);
    (void)map_set(m, (struct str){ k->bytes, k->n_key }, k);
    (void)pthread_mutex_unlock(&o->lock);
}

/* Whether there is a fresh one; copied into the arena. */
static bool look_up(struct objects *o, struct map *m, struct str key, struct arena *a, int *ret,
                    struct str *ret_text)
{
    (void)pthread_mutex_lock(&o->lock);
    const struct kept *k = map_get(m, key);
    bool is_fresh = k && clock_mono_ns(&clock_system) < k->until_ns;
    if (is_fresh) {
        *ret = k->code;
        *ret_text = arena_str(a, (struct str){ k->bytes + k->n_key, k->n });
    }
    (void)pthread_mutex_unlock(&o->lock);
    return is_fresh;
}

static int answer(struct arena *a, int code, struct str text, struct value *ret, struct err *err)
{
    if (code < 0)
        return err_set(err, (enum err_code) - code, STR_FMT, STR_ARG(text));
    return json_read(a, text, NULL, ret, err);
}

/* ---- Objects ---- */

/* The names that upstream's messages have: `configmap "x" not found`; of what it asks the server
 * for itself, the server's. */
static const struct source {
    const char *plural, *group, *word;
} sources[] = {
    { "configmaps", "", "configmap" },
    { "secrets", "", "secret" },
    { "persistentvolumeclaims", "", "persistentvolumeclaims" },
    { "persistentvolumes", "", "persistentvolumes" },
    { "nodes", "", "nodes" },
    { "clustertrustbundles", "certificates.k8s.io", "clustertrustbundles.certificates.k8s.io" },
    { "runtimeclasses", "node.k8s.io", "RuntimeClass.node.k8s.io" },
};

static const struct source *source_of(const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (str_eq(str_of(plural), str_of(sources[i].plural)))
            return &sources[i];
    return NULL;
}

static enum err_code code_of(enum spn_code code)
{
    switch (code) {
    case SPN_NOT_FOUND:
        return ERR_NOT_FOUND;
    case SPN_FORBIDDEN:
    case SPN_UNAUTHORIZED:
        return ERR_FORBIDDEN;
    case SPN_TIMEOUT:
    case SPN_SERVER_TIMEOUT:
        return ERR_TIMEOUT;
    case SPN_INVALID:
    case SPN_BAD_REQUEST:
        return ERR_INVALID;
    default:
        return ERR_UNAVAILABLE;
    }
}

static struct str json_of(struct arena *a, const struct spn_value *v)
{
    return str_in(spn_value_json(arena_out(a), v));
}

static int get_object(void *arg, const char *plural, struct str ns, struct str name,
                      struct arena *a, struct value *ret, struct err *err)
{
    struct objects *o = arg;
    const struct source *s = source_of(plural);
    struct spn_err e = { 0 };
    struct spn_value *got = NULL;
    struct str text,
        key = arena_printf(a, "%s/" STR_FMT "/" STR_FMT, plural, STR_ARG(ns), STR_ARG(name));
    int code = 0;
    if (!s)
        return err_set(err, ERR_INVALID, "%s are not asked for", plural);
    if (look_up(o, &o->kept, key, a, &code, &text))
        return answer(a, code, text, ret, err);
    struct spn_target at = { .group = spn_text_of(s->group),
                             .version = SPN_TEXT("v1"),
                             .plural = spn_text_of(plural),
                             .ns = text_out(ns),
                             .name = text_out(name) };
    const struct spn_call how = { .timeout_ms = CALL_MS };
    if (spn_client_get(o->client, &at, &how, arena_out(a), &got, &e) == 0) {
        text = json_of(a, got);
    } else {
        code = -(int)code_of(e.code);
        text = code == -ERR_NOT_FOUND
                   ? arena_printf(a, "%s \"" STR_FMT "\" not found", s->word, STR_ARG(name))
                   : arena_str(a, str_of(e.message));
    }
    keep(o, &o->kept, key, o->fresh_ms, code, text);
    return answer(a, code, text, ret, err);
}

static int get_services(void *arg, struct str ns, struct arena *a, struct value *ret,
                        struct err *err)
{
    struct objects *o = arg;
    struct spn_objects all = { 0 };
    if (!spn_informer_has_synced(o->services))
        return err_set(err, ERR_UNAVAILABLE,
                       "services have not yet been read at least once, cannot construct envvars");
    spn_cache_list(spn_informer_cache(o->services), text_out(ns), true, &all);
    *ret = value_array();
    for (size_t i = 0; i < all.n; i++)
        value_put_item(a, ret, *value_in_edit(spn_object_value(all.items[i], arena_out(a))));
    spn_objects_done(&all);
    return 0;
}

/* ---- Tokens ---- */

/* So long a token is used: 80% of its time, at most a day. */
static int64_t token_ms(struct arena *a, const struct value *status, const struct value *request)
{
    int64_t wanted = 3600;
    struct tm tm = { 0 };
    (void)value_to_int(value_get(request, STR("expirationSeconds")), &wanted);
    const char *end = str_cstr(a, value_text(status, "expirationTimestamp"));
    if (strptime(end, "%Y-%m-%dT%H:%M:%S", &tm))
        wanted = (int64_t)timegm(&tm) - clock_wall_ns(&clock_system) / NS_PER_SEC;
    int64_t seconds = wanted * 8 / 10;
    seconds = seconds > DAY_SEC ? DAY_SEC : seconds;
    return (seconds > 1 ? seconds : 1) * 1000;
}

static int ask_token(struct objects *o, const struct value *pod, const struct value *request,
                     struct arena *a, struct value *ret, struct err *err)
{
    struct value body = value_object();
    struct spn_err e = { 0 };
    struct spn_value *got = NULL;
    struct str account = value_str(value_dig(pod, "spec", "serviceAccountName"));
    struct spn_target at = SPN_AT("", "v1", "serviceaccounts", "", "");
    const struct spn_call how = { .timeout_ms = CALL_MS };
    at.ns = text_out(value_str(value_dig(pod, "metadata", "namespace")));
    at.name = text_out(account.n ? account : STR("default"));
    at.sub = SPN_TEXT("token");
    value_put_new(a, &body, STR("apiVersion"), value_string(STR("authentication.k8s.io/v1")));
    value_put_new(a, &body, STR("kind"), value_string(STR("TokenRequest")));
    value_put_new(a, &body, STR("spec"), value_borrow(request));
    if (spn_client_create(o->client, &at, value_out(&body), &how, arena_out(a), &got, &e) < 0)
        return err_set(err, code_of(e.code), "failed to fetch token: %s", e.message);
    const struct value *status = value_get(value_in(got), STR("status"));
    if (!status)
        return err_set(err, ERR_INTERNAL, "failed to fetch token: there is none in the answer");
    *ret = value_borrow(status);
    return 0;
}

static int get_token(void *arg, const struct value *pod, const struct value *request,
                     struct arena *a, struct value *ret, struct err *err)
{
    struct objects *o = arg;
    autobuf wish = { 0 };
    json_write(&wish, request);
    struct str uid = value_str(value_dig(pod, "metadata", "uid")), text;
    struct str key = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(uid), STR_ARG(buf_str(&wish)));
    int code;
    if (look_up(o, &o->tokens, key, a, &code, &text))
        return answer(a, code, text, ret, err);
    int r = ask_token(o, pod, request, a, ret, err);
    if (r < 0)
        return r;
    keep(o, &o->tokens, key, token_ms(a, ret, request), 0, json_of(a, value_out(ret)));
    return 0;
}

/* ---- Beginning and end ---- */

int objects_new(struct spn_client *client, int64_t fresh_ms, struct objects **ret, struct err *err)
{
    const struct spn_informer_options opt = { .what = SPN_AT("", "v1", "services", "", "") };
    struct spn_err e = { 0 };
    struct objects *o = mem_new(struct objects);
    o->client = client;
    o->fresh_ms = fresh_ms ? fresh_ms : FRESH_MS;
    (void)pthread_mutex_init(&o->lock, NULL);
    o->services = spn_informer_new(client, &opt);
    if (spn_informer_start(o->services, &e) < 0) {
        (void)objects_free(o);
        return err_set(err, ERR_UNAVAILABLE, "follow services: %s", e.message);
    }
    *ret = o;
    return 0;
}

struct objects *objects_free(struct objects *o)
{
    if (!o)
        return NULL;
    spn_informer_free(o->services);
    drop_all(&o->kept, STR(""));
    drop_all(&o->tokens, STR(""));
    map_done(&o->kept);
    map_done(&o->tokens);
    (void)pthread_mutex_destroy(&o->lock);
    free(o);
    return NULL;
}

struct pod_objects objects_functions(struct objects *o)
{
    return (struct pod_objects){ o, get_object, get_services, get_token };
}

void objects_forget(struct objects *o, struct str pod_uid)
{
    (void)pthread_mutex_lock(&o->lock);
    drop_all(&o->tokens, pod_uid);
    (void)pthread_mutex_unlock(&o->lock);
}
