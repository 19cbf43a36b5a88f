/* secrecy_kms.h - a key management service (KMS v2) that seals our keys, by gRPC on a socket.
 *
 * The service never sees an object. It seals one seed of ours, made anew at each start and whenever
 * it changes its own key; each value has a key of its own, derived from the seed (HKDF), and is
 * stored together with the sealed seed. Seeds that were opened are remembered for good: their
 * number is that of our starts and of the service's changes of keys.
 *
 * Opening and sealing never wait, so loops may do both. A value whose seed is not remembered cannot
 * be opened at once, by nobody: the seed is put on a list, `wake` is called, and whoever owns the
 * service calls secrecy_kms_fetch() on a thread that may wait. Until then readers get an error and
 * may try again. At the start all seeds are fetched before the server serves (secrecy.h), so it
 * happens only after the service could not be reached then.
 *
 * Values are sealed with the current seed for SECRECY_KMS_COAST_SEC after the service was last
 * found well; then writes fail until it is again. Reads go on. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct secrecy_kms;

enum {
    SECRECY_KMS_COAST_SEC = 180,
    SECRECY_KMS_SEEDS_MAX = 10000, /* remembered */
    SECRECY_KMS_WANTED_MAX = 1000, /* on the list */
};

struct secrecy_kms_options {
    struct str name, endpoint; /* "unix:///run/kms.sock" */
    int64_t timeout_ns;        /* of each call */
    void (*wake)(void *arg);   /* any thread; must not block */
    void *arg;
};

/* ERR_INTERNAL if there is no thread left. */
int secrecy_kms_new(const struct secrecy_kms_options *opt, struct secrecy_kms **ret,
                    struct err *err);
struct secrecy_kms *secrecy_kms_free(struct secrecy_kms *k);
bool secrecy_kms_is(const struct secrecy_kms *k, struct str name, struct str endpoint,
                    int64_t timeout_ns);

/* Any thread. The value lies in the arena. ERR_DAMAGED. */
int secrecy_kms_open(struct secrecy_kms *k, struct str key, struct str sealed, struct arena *a,
                     struct str *ret, bool *ret_stale, struct err *err);
/* Adds to `out`. ERR_INTERNAL. */
int secrecy_kms_seal(struct secrecy_kms *k, struct str key, struct str value, struct buf *out,
                     struct err *err);

/* Asks how it is and whether its key has changed; then makes a new seed. Blocks. ERR_INTERNAL. */
int secrecy_kms_check(struct secrecy_kms *k, struct err *err);
/* Has the seeds opened that are on the list. Returns how many were. Blocks. */
size_t secrecy_kms_fetch(struct secrecy_kms *k);
/* Whether the last check went well. Any thread. */
bool secrecy_kms_is_well(const struct secrecy_kms *k);
