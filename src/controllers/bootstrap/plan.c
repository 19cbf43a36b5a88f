#include "controllers/bootstrap/plan.h"

#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

#define NAME_PREFIX STR("bootstrap-token-")
#define SIGNATURE   "jws-kubeconfig-"
#define CONTENT     "kubeconfig"
enum { ID_BYTES = 6 };

/* ---- Secrets ---- */

/* What the Secret has at a key; empty: nothing, or nothing that can be read. In the arena. */
static struct str data_at(struct spn_arena *a, const struct spn_value *secret, const char *key)
{
    autobuf bytes = { 0 };
    if (!base64_decode(&bytes, str_in(spn_value_text(spn_value_dig(secret, "data", key)))))
        return STR("");
    return arena_str(arena_in(a), buf_str(&bytes));
}

static bool is_id(struct str text)
{
    if (text.n != ID_BYTES)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!(text.p[i] >= 'a' && text.p[i] <= 'z') && !(text.p[i] >= '0' && text.p[i] <= '9'))
            return false;
    return true;
}

/* The id stands in the name, too. */
static bool is_named(const struct spn_value *secret, struct str id)
{
    struct str name = str_in(meta_name(secret));
    return is_id(id) && str_starts(name, NAME_PREFIX) && str_eq(str_skip(name, NAME_PREFIX.n), id);
}

bool bootstrap_token_read(struct spn_arena *a, const struct spn_value *secret, int64_t now_ns,
                          struct bootstrap_token *ret)
{
    struct str id = data_at(a, secret, "token-id");
    struct str key = data_at(a, secret, "token-secret");
    if (!is_named(secret, id) || !key.n || bootstrap_left_ms(secret, now_ns) == 0 ||
        !str_eq(data_at(a, secret, "usage-bootstrap-signing"), STR("true")))
        return false;
    *ret = (struct bootstrap_token){ text_out(id), text_out(key) };
    return true;
}

int64_t bootstrap_left_ms(const struct spn_value *secret, int64_t now_ns)
{
    struct arena a;
    int64_t end_ns = 0;
    arena_init(&a);
    struct str text = data_at(arena_out(&a), secret, "expiration");
    bool is_time = gotime_read_ns(text, &end_ns);
    arena_done(&a);
    if (!text.n)
        return -1;
    if (!is_time || end_ns <= now_ns)
        return 0;
    int64_t left_ms = (end_ns - now_ns) / NS_PER_MS + 1;
    return left_ms < INT32_MAX ? left_ms : INT32_MAX;
}

/* ---- Signatures ---- */

struct spn_text bootstrap_signature(struct spn_arena *a, const struct bootstrap_token *t,
                                    struct spn_text content)
{
    unsigned char mac[DIGEST_SHA256_BYTES];
    struct spn_text header =
        spn_arena_printf(a, "{\"alg\":\"HS256\",\"kid\":\"" SPN_FMT "\"}", SPN_ARG(t->id));
    autobuf text = { 0 };
    base64url_encode(&text, str_in(header));
    size_t n_header = text.n;
    buf_str_add(&text, STR("."));
    base64url_encode(&text, str_in(content));
    digest_hmac_sha256(str_in(t->secret), buf_str(&text), mac);
    text.n = n_header;
    buf_str_add(&text, STR(".."));
    base64url_encode(&text, (struct str){ (const char *)mac, sizeof(mac) });
    return spn_arena_text(a, text_out(buf_str(&text)));
}

/* True: some signature is of none of the tokens. */
static bool remove_others(struct spn_arena *a, struct spn_value *all,
                          const struct bootstrap_token *tokens, size_t n)
{
    bool has_removed = false;
    for (size_t i = spn_value_count(all); i-- > 0;) {
        struct str key = str_in(spn_value_key_at(all, i));
        bool is_known = !str_starts(key, STR(SIGNATURE));
        for (size_t t = 0; t < n && !is_known; t++)
            is_known = str_eq(str_skip(key, STR(SIGNATURE).n), str_in(tokens[t].id));
        if (is_known)
            continue;
        spn_value_remove(a, all, str_cstr(arena_in(a), key));
        has_removed = true;
    }
    return has_removed;
}

bool bootstrap_sign(struct spn_arena *a, struct spn_value *map,
                    const struct bootstrap_token *tokens, size_t n)
{
    struct spn_value *all = spn_value_edit(a, map, "data");
    struct spn_text content = spn_value_text(spn_value_get(all, CONTENT));
    if (!content.p)
        return false;
    bool has_changed = remove_others(a, all, tokens, n);
    for (size_t i = 0; i < n; i++) {
        struct spn_text key = spn_arena_printf(a, SIGNATURE SPN_FMT, SPN_ARG(tokens[i].id));
        struct spn_text now = spn_value_text(spn_value_get(all, key.p));
        struct spn_text want = bootstrap_signature(a, &tokens[i], content);
        if (spn_text_eq(now, want))
            continue;
        spn_value_set_text(a, all, key.p, want);
        has_changed = true;
    }
    return has_changed;
}
