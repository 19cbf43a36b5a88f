#include "server/guard/guard_series.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

static const int64_t hook_bounds_ms[GUARD_HOOK_BUCKETS] = { 5,   10,   25,   50,   100,  250,
                                                            500, 1000, 2500, 5000, 10000 },
                     match_bounds_ms[GUARD_MATCH_BUCKETS] = { 1, 5, 10, 25, 100, 200, 250 };

static const char *const result_words[REVIEW_RESULTS] = { [REVIEW_SUCCESS] = "success",
                                                          [REVIEW_ERROR] = "error",
                                                          [REVIEW_TIMEOUT] = "timeout",
                                                          [REVIEW_CANCELED] = "canceled" };

struct guard_series *guard_series_new(struct str type, struct str name)
{
    struct guard_series *s = mem_new(struct guard_series);
    s->type = (struct str){ mem_dup(type.p, type.n), type.n };
    s->name = (struct str){ mem_dup(name.p, name.n), name.n };
    return s;
}

struct guard_series *guard_series_free(struct guard_series *s)
{
    while (s) {
        struct guard_series *next = s->next;
        free((char *)s->type.p);
        free((char *)s->name.p);
        free(s);
        s = next;
    }
    return NULL;
}

/* ---- Counting ---- */

static void add(_Atomic uint64_t *n, uint64_t more)
{
    atomic_fetch_add_explicit(n, more, memory_order_relaxed);
}

static size_t bucket_of(const int64_t *bounds_ms, size_t n, int64_t ns)
{
    size_t i = 0;
    while (i < n && ns > bounds_ms[i] * NS_PER_MS)
        i++;
    return i;
}

void guard_series_decided(struct guard_series *s, enum access_opinion opinion)
{
    if (s && opinion == ACCESS_ALLOWED)
        add(&s->allowed, 1);
    else if (s && opinion == ACCESS_DENIED)
        add(&s->denied, 1);
}

void guard_series_tried(struct guard_series *s, enum review_result result, int64_t ns)
{
    if (!s)
        return;
    add(&s->tried[result][bucket_of(hook_bounds_ms, GUARD_HOOK_BUCKETS, ns)], 1);
    add(&s->tried_ns[result], (uint64_t)ns);
}

void guard_series_failed_open(struct guard_series *s, enum review_result result)
{
    if (s)
        add(&s->failed_open[result], 1);
}

void guard_series_matched(struct guard_series *s, int result, int64_t ns)
{
    if (!s)
        return;
    add(&s->matched[bucket_of(match_bounds_ms, GUARD_MATCH_BUCKETS, ns)], 1);
    add(&s->matched_ns, (uint64_t)ns);
    if (result < 0)
        add(&s->match_errors, 1);
    else if (result == 0)
        add(&s->excluded, 1);
}

/* ---- Writing ---- */

#define METRIC "apiserver_authorization_"

static uint64_t value_of(const _Atomic uint64_t *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP " METRIC "%s %s\n# TYPE " METRIC "%s %s\n", name, help, name, type);
}

/* What has never happened is not shown, as upstream does it. */
static void row(struct buf *out, const char *name, struct str labels, uint64_t n)
{
    if (n)
        buf_printf(out, METRIC "%s{" STR_FMT "} %llu\n", name, STR_ARG(labels),
                   (unsigned long long)n);
}

static void histogram(struct buf *out, const char *name, struct str labels, const int64_t *bounds,
                      const _Atomic uint64_t *counts, size_t n, uint64_t sum_ns)
{
    uint64_t so_far = 0, total = 0;
    for (size_t i = 0; i <= n; i++)
        total += value_of(&counts[i]);
    if (!total)
        return;
    for (size_t i = 0; i < n; i++) {
        so_far += value_of(&counts[i]);
        buf_printf(out, METRIC "%s_bucket{" STR_FMT ",le=\"%g\"} %llu\n", name, STR_ARG(labels),
                   (double)bounds[i] / 1000, (unsigned long long)so_far);
    }
    buf_printf(out,
               METRIC "%s_bucket{" STR_FMT ",le=\"+Inf\"} %llu\n" METRIC "%s_sum{" STR_FMT
                      "} %.9g\n" METRIC "%s_count{" STR_FMT "} %llu\n",
               name, STR_ARG(labels), (unsigned long long)total, name, STR_ARG(labels),
               (double)sum_ns / NS_PER_SEC, name, STR_ARG(labels), (unsigned long long)total);
}

static struct str by_type(struct buf *text, const struct guard_series *s)
{
    buf_reset(text);
    buf_printf(text, "name=\"" STR_FMT "\",type=\"" STR_FMT "\"", STR_ARG(s->name),
               STR_ARG(s->type));
    return buf_str(text);
}

static struct str by_result(struct buf *text, const struct guard_series *s, size_t result)
{
    buf_reset(text);
    buf_printf(text, "name=\"" STR_FMT "\",result=\"%s\"", STR_ARG(s->name), result_words[result]);
    return buf_str(text);
}

static void write_decisions(struct buf *out, const struct guard_series *first)
{
    autobuf text = { 0 };
    head(out, "decisions_total", "counter", "Last words of authorizers.");
    for (const struct guard_series *s = first; s; s = s->next) {
        const struct {
            const char *word;
            uint64_t n;
        } rows[] = { { "allowed", value_of(&s->allowed) }, { "denied", value_of(&s->denied) } };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            buf_reset(&text);
            buf_printf(&text, "decision=\"%s\",name=\"" STR_FMT "\",type=\"" STR_FMT "\"",
                       rows[i].word, STR_ARG(s->name), STR_ARG(s->type));
            row(out, "decisions_total", buf_str(&text), rows[i].n);
        }
    }
}

static uint64_t tries_of(const struct guard_series *s, size_t result)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= GUARD_HOOK_BUCKETS; i++)
        n += value_of(&s->tried[result][i]);
    return n;
}

static void write_hooks(struct buf *out, const struct guard_series *first)
{
    autobuf text = { 0 };
    head(out, "webhook_evaluations_total", "counter", "Calls of authorization webhooks.");
    for (const struct guard_series *s = first; s; s = s->next)
        for (size_t i = 0; i < REVIEW_RESULTS; i++)
            row(out, "webhook_evaluations_total", by_result(&text, s, i), tries_of(s, i));
    head(out, "webhook_duration_seconds", "histogram", "How long they took.");
    for (const struct guard_series *s = first; s; s = s->next)
        for (size_t i = 0; i < REVIEW_RESULTS; i++)
            histogram(out, "webhook_duration_seconds", by_result(&text, s, i), hook_bounds_ms,
                      s->tried[i], GUARD_HOOK_BUCKETS, value_of(&s->tried_ns[i]));
    head(out, "webhook_evaluations_fail_open_total", "counter",
         "Failures of webhooks that were taken for no opinion.");
    for (const struct guard_series *s = first; s; s = s->next)
        for (size_t i = 0; i < REVIEW_RESULTS; i++)
            row(out, "webhook_evaluations_fail_open_total", by_result(&text, s, i),
                value_of(&s->failed_open[i]));
}

static void write_matches(struct buf *out, const struct guard_series *first)
{
    autobuf text = { 0 };
    head(out, "match_condition_evaluation_errors_total", "counter",
         "Match conditions that could not be evaluated.");
    for (const struct guard_series *s = first; s; s = s->next)
        row(out, "match_condition_evaluation_errors_total", by_type(&text, s),
            value_of(&s->match_errors));
    head(out, "match_condition_exclusions_total", "counter",
         "Questions that match conditions kept from a webhook.");
    for (const struct guard_series *s = first; s; s = s->next)
        row(out, "match_condition_exclusions_total", by_type(&text, s), value_of(&s->excluded));
    head(out, "match_condition_evaluation_seconds", "histogram", "How long match conditions took.");
    for (const struct guard_series *s = first; s; s = s->next)
        histogram(out, "match_condition_evaluation_seconds", by_type(&text, s), match_bounds_ms,
                  s->matched, GUARD_MATCH_BUCKETS, value_of(&s->matched_ns));
}

void guard_series_write(struct buf *out, const struct guard_series *first)
{
    write_decisions(out, first);
    write_hooks(out, first);
    write_matches(out, first);
}
