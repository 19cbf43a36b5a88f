/* filter_audit.c - gives every request an Audit-ID, and those that the policy wants an event. */
#include <stdatomic.h>
#include <sys/random.h>

#include "api/words.h"
#include "server/audit/audit_event.h"
#include "server/filter/filter.h"
#include "server/http/reply.h"
#include "base/banned.h"

/* ---- The id ---- */

static _Atomic uint64_t n_ids;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number that nobody else has had, from one random seed of the process. It need not be secret. */
static void next_id(uint64_t ret[static 2])
{
    static _Atomic uint64_t seed;
    uint64_t start = atomic_load_explicit(&seed, memory_order_relaxed), none = 0;
    if (!start) {
        while (getrandom(&start, sizeof(start), 0) != sizeof(start) || !start)
            continue;
        if (!atomic_compare_exchange_strong(&seed, &none, start))
            start = none;
    }
    uint64_t n = atomic_fetch_add_explicit(&n_ids, 1, memory_order_relaxed);
    ret[0] = mix(start + n * UINT64_C(0x9e3779b97f4a7c15));
    ret[1] = mix(ret[0] ^ mix(n + start));
}

/* A version 4 UUID, RFC 9562. */
static struct str new_id(struct arena *a)
{
    static const char hex[] = "0123456789abcdef", form[] = "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
    enum { N = sizeof(form) - 1 };
    uint64_t bits[2];
    next_id(bits);
    char *text = arena_alloc(a, N, 1);
    for (size_t i = 0, digit = 0; i < N; i++) {
        unsigned four = bits[digit / 16] >> (digit % 16 * 4) & 15;
        digit += form[i] != '-' && form[i] != '4';
        text[i] = form[i] == 'x' ? hex[four] : form[i] == 'v' ? hex[(four & 3) | 8] : form[i];
    }
    return (struct str){ text, N };
}

bool filter_audit_id(struct filter_request *r)
{
    struct str given = http_header_get(r->http, STR("audit-id"));
    r->audit_id = given.n ? given : new_id(http_arena(r->x));
    http_add_header(r->x, STR("audit-id"), r->audit_id);
    return true;
}

/* ---- The event ---- */

/* As long as the client likes, by upstream's list. */
static bool is_long(const struct request_info *info)
{
    static const struct str verbs[] = { STR("watch"), STR("proxy") },
                            subs[] = { STR("attach"), STR("exec"), STR("proxy"), STR("log"),
                                       STR("portforward") };
    return words_have(info->verb, WORDS(verbs)) ||
           (info->is_resource && words_have(info->sub, WORDS(subs)));
}

bool filter_audit(struct filter_request *r)
{
    if (!r->api->audit)
        return true;
    const struct access about = filter_access(r);
    const struct audit_subject subject = {
        .id = r->audit_id, .about = &about, .notes = r->notes, .is_long = is_long(&r->info)
    };
    if (audit_event_begin(r->api->audit, r->x, &subject, &r->audit))
        return true;
    audit_count_rejected(r->api->audit);
    reply_text(r->x, 500,
               arena_printf(http_arena(r->x),
                            "Internal Server Error: \"" STR_FMT "\": failed to store audit event\n",
                            STR_ARG(r->http->path)));
    return false;
}
