#include "controllers/common/template_hash.h"

#include <assert.h>

#include "client/bridge.h"
#include "controllers/common/go_dump.h"
#include "base/banned.h"

uint32_t fnv32a(uint32_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * UINT32_C(16777619);
    return hash;
}

struct spn_text safe_encode_text(struct spn_arena *a, struct spn_text t)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char *out = spn_arena_alloc(a, t.n + 1);
    for (size_t i = 0; i < t.n; i++)
        out[i] = letters[(unsigned char)t.p[i] % (sizeof(letters) - 1)];
    return (struct spn_text){ out, t.n };
}

struct spn_text safe_encode(struct spn_arena *a, uint32_t hash)
{
    return safe_encode_text(a, spn_arena_printf(a, "%u", hash));
}

struct spn_text template_hash(struct spn_arena *a, const struct spn_value *template,
                              int64_t collisions)
{
    const struct kind_type *t = kind_type_find(STR(""), STR("v1"), STR("PodTemplateSpec"));
    assert(t);
    autobuf text = { 0 };
    go_dump(&text, t, value_in(template));
    uint32_t hash = fnv32a(FNV32A_START, buf_str(&text));
    if (collisions >= 0) {
        const uint32_t n = (uint32_t)collisions;
        const char bytes[8] = { (char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24) };
        hash = fnv32a(hash, (struct str){ bytes, sizeof(bytes) });
    }
    return safe_encode(a, hash);
}
