#include "bench/load_stats.h"

#include <stdio.h>

#include "base/banned.h"

/* Below 64 a bucket per value; above, the leading bit picks a row and the six after it a bucket. */
static size_t bucket_of(uint64_t ns)
{
    if (ns >> LOAD_TOP_BITS)
        return LOAD_BUCKETS - 1;
    if (ns < 1u << LOAD_SUB_BITS)
        return ns;
    unsigned row = 63u - (unsigned)__builtin_clzll(ns) - LOAD_SUB_BITS;
    size_t within = (ns >> row) - (1u << LOAD_SUB_BITS);
    return ((size_t)(row + 1) << LOAD_SUB_BITS) + within;
}

/* The middle of a bucket. */
static int64_t value_of(size_t bucket)
{
    if (bucket < 1u << LOAD_SUB_BITS)
        return (int64_t)bucket;
    unsigned row = (unsigned)(bucket >> LOAD_SUB_BITS) - 1;
    uint64_t within = bucket & ((1u << LOAD_SUB_BITS) - 1);
    uint64_t low = (within + (1u << LOAD_SUB_BITS)) << row;
    return (int64_t)(low + (row ? UINT64_C(1) << (row - 1) : 0));
}

void load_histogram_add(struct load_histogram *h, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    h->buckets[bucket_of((uint64_t)ns)]++;
    h->n++;
    if (ns > h->max_ns)
        h->max_ns = ns;
}

int64_t load_histogram_at(const struct load_histogram *h, double share)
{
    uint64_t rank = (uint64_t)(share * (double)h->n), seen = 0;
    if (h->n == 0)
        return 0;
    if (rank >= h->n)
        rank = h->n - 1;
    for (size_t i = 0; i < LOAD_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen > rank)
            return value_of(i) < h->max_ns ? value_of(i) : h->max_ns;
    }
    return h->max_ns;
}

void load_stats_reset(struct load_stats *s)
{
    *s = (struct load_stats){ 0 };
}

void load_stats_warm(struct load_stats *s)
{
    s->latency = s->delivery = (struct load_histogram){ 0 };
    s->n_bytes = 0;
}

static void merge_histogram(struct load_histogram *h, const struct load_histogram *other)
{
    for (size_t i = 0; i < LOAD_BUCKETS; i++)
        h->buckets[i] += other->buckets[i];
    h->n += other->n;
    if (other->max_ns > h->max_ns)
        h->max_ns = other->max_ns;
}

void load_stats_merge(struct load_stats *s, const struct load_stats *round)
{
    merge_histogram(&s->latency, &round->latency);
    merge_histogram(&s->delivery, &round->delivery);
    for (size_t i = 0; i < LOAD_CODES; i++)
        s->codes[i] += round->codes[i];
    s->n_bytes += round->n_bytes;
    s->seconds += round->seconds;
    s->own_cpu += round->own_cpu;
    s->n_broken += round->n_broken;
    s->n_late += round->n_late;
    s->n_wrong += round->n_wrong;
    if (!s->first_error[0])
        memcpy(s->first_error, round->first_error, sizeof(s->first_error));
}

void load_stats_right(struct load_stats *s, int64_t ns)
{
    load_histogram_add(&s->latency, ns);
}

static void note_first(struct load_stats *s, int status, struct str what)
{
    if (s->first_error[0])
        return;
    what = str_take(str_trim(what), LOAD_FIRST_ERROR_BYTES - 16);
    if (status)
        (void)snprintf(s->first_error, sizeof(s->first_error), "%d " STR_FMT, status,
                       STR_ARG(what));
    else
        (void)snprintf(s->first_error, sizeof(s->first_error), STR_FMT, STR_ARG(what));
}

void load_stats_code(struct load_stats *s, int status, struct str body)
{
    s->codes[status > 0 && status < LOAD_CODES ? status : 0]++;
    note_first(s, status, body);
}

void load_stats_fault(struct load_stats *s, enum load_fault fault, struct str why)
{
    s->n_broken += fault == LOAD_BROKEN;
    s->n_late += fault == LOAD_LATE;
    s->n_wrong += fault == LOAD_WRONG;
    note_first(s, 0, why);
}

uint64_t load_stats_errors(const struct load_stats *s)
{
    uint64_t n = s->n_broken + s->n_late + s->n_wrong;
    for (size_t i = 0; i < LOAD_CODES; i++)
        n += s->codes[i];
    return n;
}

static void list_one(struct buf *out, bool json, const char *name, uint64_t n)
{
    if (n == 0)
        return;
    const char *quote = json ? "\"" : "";
    buf_printf(out, "%s%s%s%s: %llu", out->n ? ", " : "", quote, name, quote,
               (unsigned long long)n);
}

void load_stats_list_errors(const struct load_stats *s, bool json, struct buf *out)
{
    autobuf list = { 0 };
    for (size_t i = 0; i < LOAD_CODES; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%zu", i);
        list_one(&list, json, name, s->codes[i]);
    }
    list_one(&list, json, "broken", s->n_broken);
    list_one(&list, json, "late", s->n_late);
    list_one(&list, json, "wrong", s->n_wrong);
    buf_str_add(out, buf_str(&list));
}
