/* suite_kms.h - a key management service (KMS v2) of a test, on a socket, on a thread of its own.
 *
 * It seals by turning bits and writing the name of its key in front, and notes what it was asked.
 */
#pragma once

#include <stdatomic.h>

#include "net/http/solo.h"

struct suite_kms {
    struct arena arena;
    struct solo solo;
    /* What it is like, and how often it was asked. */
    _Atomic int key_number; /* its key is key-N */
    _Atomic bool is_ill, fails, is_silent;
    _Atomic unsigned n_status, n_encrypt, n_decrypt;
};

/* False if it cannot listen there. */
bool suite_kms_start(struct suite_kms *k, const char *socket_path);
void suite_kms_stop(struct suite_kms *k);
