/* EventRateLimit: how many events a second are taken, of all, of a namespace, of a user, or about
 * one object from one source.
 *
 *     apiVersion: eventratelimit.admission.k8s.io/v1alpha1
 *     kind: Configuration
 *     limits: [{type: Server, qps: 50, burst: 100}, {type: User, qps: 5, burst: 10, cacheSize: 99}]
 *
 * Each limit has buckets: one, or those of the keys that were used last. A bucket is known by the
 * hash of its key, so a bucket costs the same however long the texts of an event are; two keys of
 * one hash share theirs. */
#include <pthread.h>

#include "admission/config.h"
#include "admission/plugins.h"
#include "api/field_errors.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/lru.h"
#include "base/map.h"
#include "base/banned.h"

enum { BUCKETS_DEFAULT = 4096 };

struct bucket {
    struct lru_thing thing; /* first; its key is the hash */
    double tokens;
    int64_t as_of_ns;
    bool is_used; /* a new one is full */
};

enum limit_type { LIMIT_NAMESPACE, LIMIT_SERVER, LIMIT_SOURCE_AND_OBJECT, LIMIT_USER };
static const struct str limit_types[] = { STR("Namespace"), STR("Server"), STR("SourceAndObject"),
                                          STR("User") };

struct limit {
    enum limit_type type;
    double per_second, burst;
    struct lru buckets;
};

struct limits {
    pthread_mutex_t lock; /* of all buckets */
    struct limit *limits;
    size_t n;
};

/* ---- Buckets ---- */

static bool take_token(struct limit *l, struct str key, int64_t now_ns)
{
    const uint64_t hash = map_hash(key);
    struct bucket *b = lru_get(&l->buckets, (struct str){ (const char *)&hash, sizeof(hash) });
    double earned = (double)(now_ns - b->as_of_ns) / (double)NS_PER_SEC * l->per_second;
    if (!b->is_used || b->tokens + earned > l->burst)
        b->tokens = l->burst;
    else
        b->tokens += earned;
    b->is_used = true;
    b->as_of_ns = now_ns;
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}

/* ---- Events ---- */

static struct str source_and_object(struct arena *a, const struct value *event)
{
    static const struct str of_object[] = { STR("kind"), STR("namespace"), STR("name"), STR("uid"),
                                            STR("apiVersion") };
    const struct value *source = value_get(event, STR("source")),
                       *object = value_get(event, STR("involvedObject"));
    autobuf text = { 0 };
    buf_str_add(&text, value_text(source, "component"));
    buf_str_add(&text, value_text(source, "host"));
    for (size_t i = 0; i < ARRAY_LEN(of_object); i++)
        buf_str_add(&text, value_str(value_get(object, of_object[i])));
    return arena_str(a, buf_str(&text));
}

static struct str limit_key(const struct admission_request *req, const struct value *event,
                            enum limit_type type)
{
    switch (type) {
    case LIMIT_NAMESPACE:
        return req->ns;
    case LIMIT_USER:
        return req->user ? req->user->name : STR("");
    case LIMIT_SOURCE_AND_OBJECT:
        return source_and_object(req->arena, event);
    case LIMIT_SERVER:
        break;
    }
    return STR("");
}

/* Every limit counts the event, also when another one refuses it. */
static int validate(struct admission_request *req, const struct value *event, struct err *err)
{
    struct limits *limits = admission_configured(req);
    int64_t now_ns = clock_mono_ns(req->clock ? req->clock : &clock_system);
    autobuf why = { 0 };
    size_t n_refused = 0;
    bool is_core = !req->resource->group.n; /* upstream looks at no others */
    if (!limits || !is_core || req->dry_run)
        return 0;
    for (size_t i = 0; i < limits->n; i++) {
        struct limit *l = &limits->limits[i];
        struct str key = limit_key(req, event, l->type);
        pthread_mutex_lock(&limits->lock);
        bool is_good = take_token(l, key, now_ns);
        pthread_mutex_unlock(&limits->lock);
        if (!is_good)
            buf_printf(&why, "%slimit reached on type " STR_FMT " for key " STR_FMT,
                       n_refused++ ? ", " : "", STR_ARG(limit_types[l->type]), STR_ARG(key));
    }
    if (!n_refused)
        return 0;
    return err_set(err, ERR_TOO_MANY_REQUESTS, "Too many requests: %s" STR_FMT "%s",
                   n_refused > 1 ? "[" : "", STR_ARG(buf_str(&why)), n_refused > 1 ? "]" : "");
}

/* ---- The configuration ---- */

static int64_t number_of(const struct value *obj, struct str field)
{
    int64_t n = 0;
    (void)value_to_int(value_get(obj, field), &n);
    return n;
}

static int64_t positive(struct field_errors *e, const struct field_path *at,
                        const struct value *obj, struct str field)
{
    struct field_path path = field_child(at, field);
    int64_t n = number_of(obj, field);
    struct value shown = value_int(n);
    if (n <= 0 || n > INT32_MAX)
        field_error(e, FIELD_INVALID, &path, field_json(e, &shown), "must be positive");
    return n;
}

static void read_limit(struct field_errors *e, const struct field_path *at, const struct value *obj,
                       struct limit *ret)
{
    struct str type = value_text(obj, "type");
    struct field_path type_at = field_child(at, STR("type")),
                      size_at = field_child(at, STR("cacheSize"));
    size_t known = words_find(type, WORDS(limit_types));
    int64_t size = number_of(obj, STR("cacheSize"));
    struct value shown = value_int(size);
    if (known == ARRAY_LEN(limit_types))
        field_not_supported(e, &type_at, field_quoted(e, type), WORDS(limit_types));
    ret->type = (enum limit_type)known;
    ret->burst = (double)positive(e, at, obj, STR("burst"));
    ret->per_second = (double)positive(e, at, obj, STR("qps"));
    if (ret->type != LIMIT_SERVER && size < 0)
        field_error(e, FIELD_INVALID, &size_at, field_json(e, &shown), "must not be negative");
    lru_init(&ret->buckets, sizeof(struct bucket),
             ret->type == LIMIT_SERVER ? 1
             : size > 0                ? (size_t)size
                                       : BUCKETS_DEFAULT);
}

static int read_limits(struct arena *a, const struct value *list, struct limits *ret,
                       struct err *err)
{
    static const struct str fields[] = { STR("type"), STR("qps"), STR("burst"), STR("cacheSize") };
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct field_path at = field_child(NULL, STR("limits"));
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        field_error(&e, FIELD_INVALID, &at, field_json(&e, list), "must not be empty");
    ret->limits = arena_array(a, struct limit, value_is(list, VALUE_ARRAY) ? list->n + 1 : 1);
    value_each_item (it, list) {
        struct field_path here = field_index(&at, ret->n);
        int r = admission_config_fields(it, field_path_text(a, &here), WORDS(fields), err);
        if (r < 0)
            return r;
        read_limit(&e, &here, it, &ret->limits[ret->n++]);
    }
    return e.n ? err_set(err, ERR_INVALID, STR_FMT, STR_ARG(field_errors_text(&e))) : 0;
}

static int configure(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    static const struct str fields[] = { STR("limits") };
    static const struct admission_form form = { STR("eventratelimit.admission.k8s.io/v1alpha1"),
                                                STR("Configuration"), WORDS(fields) };
    struct limits *limits = arena_new(a, struct limits);
    int r = tree ? admission_config_check(tree, &form, err) : 0;
    if (r < 0)
        return r;
    r = read_limits(a, value_get(tree, fields[0]), limits, err);
    if (r < 0)
        return r;
    pthread_mutex_init(&limits->lock, NULL);
    *ret = limits;
    return 0;
}

static void unconfigure(void *configured)
{
    struct limits *limits = configured;
    for (size_t i = 0; i < limits->n; i++)
        lru_done(&limits->limits[i].buckets);
    pthread_mutex_destroy(&limits->lock);
}

static const struct admission_target targets[] = {
    { STR(""), STR("events"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_event_rate = {
    .name = "EventRateLimit",
    .is_off = true,
    .targets = targets,
    .configure = configure,
    .unconfigure = unconfigure,
    .validate = validate,
};
