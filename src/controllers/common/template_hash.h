/* template_hash.h - the short text by which ReplicaSets and revisions are told apart.
 *
 * It is FNV-1a of 32 bits in upstream's alphabet without vowels, so that no words come of it. */
#pragma once

#include "base/str.h"
#include <sampan/value.h>

enum { TEMPLATE_HASH_BYTES = 11 };

/* The label pod-template-hash of a pod template with its defaults. `collisions` is
 * status.collisionCount; -1: there is none. */
struct spn_text template_hash(struct spn_arena *a, const struct spn_value *template,
                              int64_t collisions);

uint32_t fnv32a(uint32_t hash, struct str s);
#define FNV32A_START UINT32_C(2166136261)
/* A number in the alphabet that is safe in names. */
struct spn_text safe_encode(struct spn_arena *a, uint32_t hash);
/* The same of the digits of any text. */
struct spn_text safe_encode_text(struct spn_arena *a, struct spn_text t);
