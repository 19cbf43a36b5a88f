/* secrecy_config.h - an EncryptionConfiguration (apiserver.config.k8s.io/v1): which resources are
 * encrypted at rest, and how. Reads and checks it in upstream's words. Rules only: no I/O. */
#pragma once

#include "base/err.h"
#include "net/crypto/cipher.h"

enum secrecy_type {
    SECRECY_IDENTITY,
    SECRECY_AESGCM,
    SECRECY_AESCBC,
    SECRECY_SECRETBOX,
    SECRECY_KMS,
};

struct secrecy_key {
    struct str name, secret;
};

struct secrecy_kms;

struct secrecy_provider {
    enum secrecy_type type;
    struct secrecy_key *keys; /* of the three ciphers */
    size_t n_keys;
    struct str name, endpoint; /* of a key management service */
    int64_t timeout_ns;
    struct secrecy_kms *kms; /* set by secrecy.c */
};

/* "deployments.apps", "secrets", and with a star: "*.apps", "*." (the core group), "*.*". */
struct secrecy_resource {
    struct str group, plural;
};

struct secrecy_rule {
    struct secrecy_resource *resources;
    size_t n_resources;
    struct secrecy_provider *providers; /* the first writes, all read */
    size_t n_providers;
};

struct secrecy_config {
    struct secrecy_rule *rules;
    size_t n_rules;
};

enum { SECRECY_FILE_BYTES = 1 << 20, SECRECY_KMS_TIMEOUT_SEC = 3 };

/* `text` is what stands in `file`. All of `*ret` lies in the arena, which `err` has as well.
 * ERR_INVALID. */
int secrecy_config_read(struct arena *a, const char *file, struct str text,
                        struct secrecy_config *ret, struct err *err);

/* As a configuration spells it. */
struct str secrecy_resource_text(struct arena *a, const struct secrecy_resource *r);
