/* store_bench.h - what the two halves of the store's benchmark share. */
#pragma once

#include <stddef.h>

enum { STORE_BENCH_VALUE_BYTES = 1024 };

/* Durable puts per second of a real etcd on this machine's disk, with `in_flight` at a time; 0 if
 * there is none. */
double store_bench_etcd(size_t in_flight, double seconds);
