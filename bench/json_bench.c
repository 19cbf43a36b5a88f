/* json_bench - parse and write a Pod of about 4 KB: ours, jansson and json-c in one run.
 *
 * Each library does what a server does with a body: parse text into a tree, write the tree as
 * compact text, release everything. Rounds of the three are interleaved and the best round of each
 * counts, so that a busy machine disturbs all of them alike. A memcpy of the same text and of a
 * block far larger than the caches give the memory-bandwidth figures. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "json_bench.h"
#include "pod_text.h"

enum { ROUNDS = 15, ROUND_MS = 60 };

static const char pod_head[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"orders-7d9c5b6f4-x2k8p\","
    "\"generateName\":\"orders-7d9c5b6f4-\",\"namespace\":\"shop\",\"uid\":"
    "\"5b0f6c1e-8f1d-4c58-9a57-0f1c9c5d3b7e\",\"resourceVersion\":\"184467\","
    "\"creationTimestamp\":\"2026-03-01T08:15:42Z\",\"labels\":{\"app\":\"orders\","
    "\"app.kubernetes.io/component\":\"backend\",\"app.kubernetes.io/part-of\":\"shop\","
    "\"pod-template-hash\":\"7d9c5b6f4\"},\"annotations\":{\"prometheus.io/scrape\":\"true\","
    "\"prometheus.io/port\":\"9090\",\"shop.example/note\":\"says \\\"hello\\\" and "
    "gr\303\274\303\237t\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
    "\"ReplicaSet\",\"name\":\"orders-7d9c5b6f4\",\"uid\":"
    "\"c1a7f2de-4d55-46ff-8b4b-5a3f3f1e0d11\",\"controller\":true,"
    "\"blockOwnerDeletion\":true}],\"managedFields\":[{\"manager\":\"kube-controller-manager\","
    "\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-03-01T08:15:42Z\","
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},"
    "\"f:labels\":{\".\":{},\"f:app\":{},\"f:pod-template-hash\":{}},\"f:ownerReferences\":{"
    "\".\":{},\"k:{\\\"uid\\\":\\\"c1a7f2de-4d55-46ff-8b4b-5a3f3f1e0d11\\\"}\":{}}},\"f:spec\":{"
    "\"f:containers\":{\"k:{\\\"name\\\":\\\"server\\\"}\":{\".\":{},\"f:env\":{},\"f:image\":{},"
    "\"f:name\":{},\"f:ports\":{},\"f:resources\":{}}},\"f:dnsPolicy\":{},"
    "\"f:restartPolicy\":{}}}}]},";

static const char pod_spec[] = POD_TEXT_SPEC;

static const char pod_status[] = POD_TEXT_STATUS;

static struct str pod;

void json_bench_check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "json_bench: %s failed\n", what);
        exit(1);
    }
}

static struct arena arena;
static struct buf out;

static size_t once_ours(void)
{
    struct value v;
    arena_reset(&arena);
    json_bench_check(json_read(&arena, pod, NULL, &v, NULL) == 0, "json_read");
    buf_reset(&out);
    json_write(&out, &v);
    return out.n;
}

static size_t once_ours_read(void)
{
    struct value v;
    arena_reset(&arena);
    json_bench_check(json_read(&arena, pod, NULL, &v, NULL) == 0, "json_read");
    return pod.n;
}

static size_t once_jansson(void)
{
    return json_bench_jansson(pod);
}

static size_t once_json_c(void)
{
    return json_bench_json_c(pod);
}

static char copy_to[8192];

static size_t once_memcpy(void)
{
    memcpy(copy_to, pod.p, pod.n);
    __asm__ volatile("" : : "r"(copy_to) : "memory");
    return pod.n;
}

enum { LARGE = 256 << 20 };
static char *large_from, *large_to;

static size_t once_large_copy(void)
{
    memcpy(large_to, large_from, LARGE);
    __asm__ volatile("" : : "r"(large_to) : "memory");
    return LARGE;
}

struct contender {
    const char *name;
    size_t (*once)(void);
    size_t bytes; /* of one turn */
    double best;  /* MB/s */
};

static void run_round(struct contender *c)
{
    int64_t start = clock_mono_ns(&clock_system), now;
    size_t turns = 0;
    do {
        for (int i = 0; i < (c->bytes > 1 << 20 ? 1 : 64); i++, turns++)
            (void)c->once();
        now = clock_mono_ns(&clock_system);
    } while (now - start < ROUND_MS * NS_PER_MS);
    double mb_per_s = (double)turns * (double)c->bytes * 1e3 / (double)(now - start);
    if (mb_per_s > c->best)
        c->best = mb_per_s;
}

int main(void)
{
    struct buf text = { 0 };
    buf_printf(&text, "%s%s%s", pod_head, pod_spec, pod_status);
    pod = buf_str(&text);
    arena_init(&arena);
    large_from = mem_alloc(LARGE);
    large_to = mem_alloc(LARGE);
    memset(large_from, 1, LARGE);
    memset(large_to, 2, LARGE);
    json_bench_check(once_ours() == pod.n && memcmp(out.p, pod.p, pod.n) == 0, "round trip");
    json_bench_check(once_jansson() == pod.n, "jansson's round trip");
    json_bench_check(once_json_c() == pod.n, "json-c's round trip");

    struct contender all[] = {
        { "sampan, parse + write", once_ours, pod.n, 0 },
        { "jansson, parse + write", once_jansson, pod.n, 0 },
        { "json-c, parse + write", once_json_c, pod.n, 0 },
        { "sampan, parse alone", once_ours_read, pod.n, 0 },
        { "memcpy of the text, in cache", once_memcpy, pod.n, 0 },
        { "memcpy of 256 MiB, memory", once_large_copy, LARGE, 0 },
    };
    for (int i = 0; i < ROUNDS; i++)
        for (size_t c = 0; c < ARRAY_LEN(all); c++)
            run_round(&all[c]);

    printf("json: a Pod of %zu bytes, best of %d rounds\n", pod.n, ROUNDS);
    for (size_t c = 0; c < ARRAY_LEN(all); c++)
        printf("  %-30s %9.0f MB/s %9.2f us\n", all[c].name, all[c].best,
               (double)all[c].bytes / all[c].best);
    printf("  sampan / jansson: %.1f   sampan / json-c: %.1f   memory / sampan: %.1f\n",
           all[0].best / all[1].best, all[0].best / all[2].best, all[5].best / all[0].best);

    buf_done(&out);
    buf_done(&text);
    arena_done(&arena);
    free(large_from);
    free(large_to);
    return 0;
}
