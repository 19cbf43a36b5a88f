/* Stored bytes that somebody else has chosen. The first byte says which seal they pretend to have.
 * None that can be checked is believed; what is plain stays as it is; what we seal comes back. An
 * envelope that is read is written and read again, and is the same. */
#include <stdlib.h>

#include "base/idiom.h"
#include "base/wire.h"
#include "server/secrecy/secrecy_set.h"
#include "server/secrecy/secrecy_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define KEY "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

static const char config[] =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
    "- resources: [secrets]\n  providers:\n"
    "  - aesgcm: {keys: [{name: a, secret: " KEY "}]}\n"
    "  - aescbc: {keys: [{name: a, secret: " KEY "}]}\n"
    "  - secretbox: {keys: [{name: a, secret: " KEY "}]}\n"
    "  - identity: {}\n";

static const struct {
    struct str prefix;
    bool is_checked;
} seals[] = {
    { { "", 0 }, false },
    { { "k8s:enc:aesgcm:v1:a:", 20 }, true },
    { { "k8s:enc:aescbc:v1:a:", 20 }, false },
    { { "k8s:enc:secretbox:v1:a:", 23 }, true },
    { { "k8s:enc:", 8 }, false },
};

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_open(struct arena *a, const struct secrecy_set *s, size_t which, struct str rest)
{
    struct err err = ERR_INIT(a);
    autobuf stored = { 0 };
    buf_str_add(&stored, seals[which].prefix);
    buf_str_add(&stored, rest);
    struct store_entry e = { .key = STR("/registry/secrets/a/b"), .value = buf_str(&stored) };
    bool is_sealed = str_starts(e.value, STR("k8s:enc:"));
    int r = secrecy_set_open(s, a, &e, &err);
    must(r == 0 || (r == -ERR_DAMAGED && err.causes && err.causes->msg.n));
    must(!(r == 0 && seals[which].is_checked));
    must(is_sealed || (r == 0 && e.is_stale && str_eq(e.value, buf_str(&stored))));
    must(e.value.n <= stored.n);
}

static void check_seal(struct arena *a, const struct secrecy_set *s, struct str text)
{
    autobuf sealed = { 0 };
    struct str key = STR("/registry/secrets/a/b");
    must(secrecy_set_seal(s, key, text, &sealed, NULL) == 1);
    struct store_entry e = { .key = key, .value = buf_str(&sealed) };
    must(secrecy_set_open(s, a, &e, NULL) == 0 && !e.is_stale && str_eq(e.value, text));
}

static void check_envelope(struct str text)
{
    autobuf joined = { 0 }, again = { 0 }, joined_again = { 0 };
    struct secrecy_envelope e, f;
    if (secrecy_envelope_read(text, &e, &joined))
        return;
    must(!secrecy_envelope_fault(&e));
    wire_bytes(&again, 1, e.value);
    secrecy_envelope_write_head(&again, &e);
    must(!secrecy_envelope_read(buf_str(&again), &f, &joined_again));
    must(str_eq(e.value, f.value) && str_eq(e.key_id, f.key_id) && str_eq(e.source, f.source) &&
         str_eq(e.annotations, f.annotations) && e.source_type == f.source_type);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct secrecy_config c;
    struct secrecy_set s;
    if (!n)
        return 0;
    arena_init(&a);
    must(secrecy_config_read(&a, "f", str_of(config), &c, NULL) == 0);
    secrecy_set_init(&s, &a, &c);
    struct str rest = { (const char *)bytes + 1, n - 1 };
    check_open(&a, &s, bytes[0] % ARRAY_LEN(seals), rest);
    check_seal(&a, &s, rest);
    check_envelope(rest);
    secrecy_set_done(&s);
    arena_done(&a);
    return 0;
}
