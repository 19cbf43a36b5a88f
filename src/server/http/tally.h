/* tally.h - how many requests of which sort were answered how, and in what time.
 *
 * Every label comes from a closed set: verbs, resources of the tables, HTTP codes that we send.
 * One shard a loop, each behind a lock of its own that nobody else wants except when the numbers
 * are read. */
#pragma once

#include "base/buf.h"
#include "server/http/request.h"

struct tally;

/* What a request is about; all that is compared are the pointers and the two texts, which are
 * static. */
struct tally_sort {
    const struct kind_resource *resource; /* NULL: not an object of the API */
    const struct kind_subresource *sub;
    const char *verb;  /* "GET", "LIST", "other" */
    const char *scope; /* "resource", "namespace", "cluster" or "" */
    bool dry_run;
};

struct tally *tally_new(size_t n_shards);
struct tally *tally_free(struct tally *t);

/* The verb of a request by its method and, where it is one of the API, its place in it. */
struct tally_sort tally_sort_of(struct str method, const struct request *req, unsigned verb);

void tally_begin(struct tally *t, size_t shard, const struct tally_sort *s);
void tally_end(struct tally *t, size_t shard, const struct tally_sort *s, int status,
               int64_t took_ns);

/* As Prometheus text, under upstream's names. Any thread. */
void tally_write(struct buf *out, struct tally *t);
