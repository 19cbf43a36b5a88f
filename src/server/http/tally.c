#include "server/http/tally.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

static const double bounds[] = { 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2,
                                 3,     4,     5,    6,   8,   10,  15,  20,  30,  45,   60 };
enum { N_BOUNDS = ARRAY_LEN(bounds), CODES_MAX = 32 };

/* One sort of request in one shard. */
struct series {
    struct tally_sort sort;
    int64_t open;
    uint64_t n, took_ns, within[N_BOUNDS];
    size_t n_codes;
    struct {
        int code;
        uint64_t n;
    } codes[CODES_MAX];
};

struct shard {
    pthread_mutex_t lock; /* of all that follows */
    struct map series;    /* key: the sort's bytes */
};

struct tally {
    size_t n_shards;
    struct shard shards[];
};

struct tally *tally_new(size_t n_shards)
{
    struct tally *t = mem_zalloc(sizeof(*t) + n_shards * sizeof(t->shards[0]));
    t->n_shards = n_shards;
    for (size_t i = 0; i < n_shards; i++)
        pthread_mutex_init(&t->shards[i].lock, NULL);
    return t;
}

struct tally *tally_free(struct tally *t)
{
    for (size_t i = 0; t && i < t->n_shards; i++) {
        size_t pos = 0;
        struct str key;
        void *series;
        while (map_next(&t->shards[i].series, &pos, &key, &series))
            free(series);
        map_done(&t->shards[i].series);
        pthread_mutex_destroy(&t->shards[i].lock);
    }
    free(t);
    return NULL;
}

/* ---- Sorts ---- */

static const char *api_verb(unsigned verb)
{
    switch (verb) {
    case KIND_CREATE:
        return "POST";
    case KIND_DELETE:
        return "DELETE";
    case KIND_DELETE_COLLECTION:
        return "DELETECOLLECTION";
    case KIND_GET:
        return "GET";
    case KIND_LIST_VERB:
        return "LIST";
    case KIND_PATCH:
        return "PATCH";
    case KIND_UPDATE:
        return "PUT";
    case KIND_WATCH:
        return "WATCH";
    default:
        return "other";
    }
}

static const char *plain_verb(struct str method)
{
    static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(method, str_of(known[i])))
            return known[i];
    return "other";
}

struct tally_sort tally_sort_of(struct str method, const struct request *req, unsigned verb)
{
    if (!req)
        return (struct tally_sort){ .verb = plain_verb(method), .scope = "" };
    static const struct kind_resource custom = { .plural = STR("customresources") };
    return (struct tally_sort){
        .resource = req->custom ? &custom : req->resource,
        .sub = req->custom ? NULL : req->sub,
        .verb = verb ? api_verb(verb) : plain_verb(method),
        .scope = req->name.n ? "resource"
                 : req->ns.n ? "namespace"
                             : "cluster",
        .dry_run = str_eq(request_param(req, STR("dryRun")), STR("All")),
    };
}

/* ---- Counting ---- */

static struct series *find(struct shard *s, const struct tally_sort *sort)
{
    struct tally_sort key; /* all bytes count, also those between the fields */
    memset(&key, 0, sizeof(key));
    key.resource = sort->resource;
    key.sub = sort->sub;
    key.verb = sort->verb;
    key.scope = sort->scope;
    key.dry_run = sort->dry_run;
    struct series *series = map_get(&s->series, (struct str){ (const char *)&key, sizeof(key) });
    if (series)
        return series;
    series = mem_new(struct series);
    memcpy(&series->sort, &key, sizeof(key));
    (void)map_set(&s->series, (struct str){ (const char *)&series->sort, sizeof(key) }, series);
    return series;
}

static void count_code(struct series *s, int code)
{
    size_t i = 0;
    while (i < s->n_codes && s->codes[i].code != code)
        i++;
    if (i == CODES_MAX)
        return;
    if (i == s->n_codes)
        s->codes[s->n_codes++].code = code;
    s->codes[i].n++;
}

void tally_begin(struct tally *t, size_t shard, const struct tally_sort *sort)
{
    struct shard *s = &t->shards[shard];
    pthread_mutex_lock(&s->lock);
    find(s, sort)->open++;
    pthread_mutex_unlock(&s->lock);
}

void tally_end(struct tally *t, size_t shard, const struct tally_sort *sort, int status,
               int64_t took_ns)
{
    struct shard *s = &t->shards[shard];
    double seconds = (double)took_ns / (double)NS_PER_SEC;
    size_t bucket = 0;
    while (bucket < N_BOUNDS && seconds > bounds[bucket])
        bucket++;
    pthread_mutex_lock(&s->lock);
    struct series *series = find(s, sort);
    series->open--;
    series->n++;
    series->took_ns += (uint64_t)took_ns;
    if (bucket < N_BOUNDS)
        series->within[bucket]++;
    count_code(series, status);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Writing ---- */

static void add_series(struct series *to, const struct series *from)
{
    to->open += from->open;
    to->n += from->n;
    to->took_ns += from->took_ns;
    for (size_t i = 0; i < N_BOUNDS; i++)
        to->within[i] += from->within[i];
    for (size_t i = 0; i < from->n_codes; i++) {
        count_code(to, from->codes[i].code);
        for (size_t j = 0; j < to->n_codes; j++)
            if (to->codes[j].code == from->codes[i].code)
                to->codes[j].n += from->codes[i].n - 1;
    }
}

/* All shards in one, which is the caller's alone. */
static void sum_up(struct tally *t, struct shard *ret)
{
    for (size_t i = 0; i < t->n_shards; i++) {
        struct shard *s = &t->shards[i];
        size_t pos = 0;
        struct str key;
        void *series;
        pthread_mutex_lock(&s->lock);
        while (map_next(&s->series, &pos, &key, &series))
            add_series(find(ret, &((struct series *)series)->sort), series);
        pthread_mutex_unlock(&s->lock);
    }
}

static void add_labels(struct buf *out, const struct tally_sort *s)
{
    struct str none = STR("");
    buf_printf(out,
               "component=\"apiserver\",dry_run=\"%s\",group=\"" STR_FMT "\",resource=\"" STR_FMT
               "\",scope=\"%s\",subresource=\"" STR_FMT "\",verb=\"%s\",version=\"" STR_FMT "\"",
               s->dry_run ? "All" : "", STR_ARG(s->resource ? s->resource->group : none),
               STR_ARG(s->resource ? s->resource->plural : none), s->scope,
               STR_ARG(s->sub ? s->sub->name : none), s->verb,
               STR_ARG(s->resource ? s->resource->version : none));
}

static bool is_long(const struct tally_sort *s)
{
    return str_eq(str_of(s->verb), STR("WATCH"));
}

static void write_total(struct buf *out, const struct series *s)
{
    for (size_t i = 0; i < s->n_codes; i++) {
        buf_printf(out, "apiserver_request_total{code=\"%d\",", s->codes[i].code);
        add_labels(out, &s->sort);
        buf_printf(out, "} %llu\n", (unsigned long long)s->codes[i].n);
    }
}

static void write_duration(struct buf *out, const struct series *s)
{
    uint64_t so_far = 0;
    if (is_long(&s->sort) || !s->n)
        return;
    for (size_t i = 0; i <= N_BOUNDS; i++) {
        buf_str_add(out, STR("apiserver_request_duration_seconds_bucket{"));
        add_labels(out, &s->sort);
        if (i < N_BOUNDS)
            buf_printf(out, ",le=\"%g\"} %llu\n", bounds[i],
                       (unsigned long long)(so_far += s->within[i]));
        else
            buf_printf(out, ",le=\"+Inf\"} %llu\n", (unsigned long long)s->n);
    }
    buf_str_add(out, STR("apiserver_request_duration_seconds_sum{"));
    add_labels(out, &s->sort);
    buf_printf(out, "} %.9g\n", (double)s->took_ns / (double)NS_PER_SEC);
    buf_str_add(out, STR("apiserver_request_duration_seconds_count{"));
    add_labels(out, &s->sort);
    buf_printf(out, "} %llu\n", (unsigned long long)s->n);
}

static void write_long(struct buf *out, const struct series *s)
{
    if (!is_long(&s->sort))
        return;
    buf_str_add(out, STR("apiserver_longrunning_requests{"));
    add_labels(out, &s->sort);
    buf_printf(out, "} %lld\n", (long long)s->open);
}

static void write_each(struct buf *out, const struct shard *all,
                       void (*write)(struct buf *out, const struct series *s))
{
    size_t pos = 0;
    struct str key;
    void *series;
    while (map_next(&all->series, &pos, &key, &series))
        write(out, series);
}

static void write_open(struct buf *out, const struct shard *all)
{
    int64_t mutating = 0, reading = 0;
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&all->series, &pos, &key, &p)) {
        const struct series *s = p;
        struct str verb = str_of(s->sort.verb);
        if (str_eq(verb, STR("GET")) || str_eq(verb, STR("LIST")) || str_eq(verb, STR("HEAD")))
            reading += s->open;
        else if (!is_long(&s->sort))
            mutating += s->open;
    }
    buf_printf(out,
               "apiserver_current_inflight_requests{request_kind=\"mutating\"} %lld\n"
               "apiserver_current_inflight_requests{request_kind=\"readOnly\"} %lld\n",
               (long long)mutating, (long long)reading);
}

void tally_write(struct buf *out, struct tally *t)
{
    struct tally *all = tally_new(1);
    struct shard *sum = &all->shards[0];
    sum_up(t, sum);
    buf_str_add(out, STR("# HELP apiserver_request_total Requests answered, by code.\n"
                         "# TYPE apiserver_request_total counter\n"));
    write_each(out, sum, write_total);
    buf_str_add(out,
                STR("# HELP apiserver_request_duration_seconds Time from a request's arrival to "
                    "the end of its answer.\n"
                    "# TYPE apiserver_request_duration_seconds histogram\n"));
    write_each(out, sum, write_duration);
    buf_str_add(out, STR("# HELP apiserver_longrunning_requests Watches that are open.\n"
                         "# TYPE apiserver_longrunning_requests gauge\n"));
    write_each(out, sum, write_long);
    buf_str_add(out, STR("# HELP apiserver_current_inflight_requests Requests being answered.\n"
                         "# TYPE apiserver_current_inflight_requests gauge\n"));
    write_open(out, sum);
    tally_free(all);
}
