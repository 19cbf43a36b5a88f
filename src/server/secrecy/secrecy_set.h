/* secrecy_set.h - a configuration as it works: which providers seal and open the value of a key.
 *
 * A sealed value begins with who sealed it: `k8s:enc:aesgcm:v1:KEYNAME:`, as upstream's. It is
 * bound to its key where the cipher can do that. The first provider of a resource seals; each is
 * asked to open, in order, and what the first one would not have sealed in the same way is stale. A
 * plain object never begins so (stored.h).
 *
 * A set never changes: any thread may use it. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "server/secrecy/secrecy_config.h"
#include "store/store.h"

/* The providers of one resource, perhaps of several rules. */
struct secrecy_chain {
    struct secrecy_resource resource;
    const struct secrecy_provider **providers;
    size_t n_providers;
};

struct secrecy_set {
    struct secrecy_chain *chains;
    size_t n_chains;
    struct map built_in; /* by the prefix of the key, without a slash at its end: a chain */
    bool has_kms;
};

/* `config` and the arena outlive it. */
void secrecy_set_init(struct secrecy_set *s, struct arena *a, const struct secrecy_config *config);
void secrecy_set_done(struct secrecy_set *s);

/* Whose value stands at `key`; NULL: nobody encrypts it. */
const struct secrecy_chain *secrecy_set_find(const struct secrecy_set *s, struct str key);

/* As in store.h. */
int secrecy_set_open(const struct secrecy_set *s, struct arena *a, struct store_entry *e,
                     struct err *err);
int secrecy_set_seal(const struct secrecy_set *s, struct str key, struct str value, struct buf *out,
                     struct err *err);
