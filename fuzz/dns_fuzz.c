/* A question that is read can be answered within its limits, and the answer be read; a reply of
 * others is read or refused. */
#include <stdint.h>
#include <stdlib.h>

#include "dns/dns_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void answer(struct arena *a, const struct dns_question *q)
{
    struct dns_reply reply = { .is_ours = true };
    for (int i = 0; i < 40; i++) {
        const struct dns_record r = { .name = q->name,
                                      .type = i % 2 ? DNS_CNAME : DNS_A,
                                      .bytes = STR("\x0a\0\0\1"),
                                      .target = q->name };
        dns_records_add(a, &reply.answers, &r);
    }
    autobuf out = { 0 };
    struct dns_records again = { 0 };
    enum dns_code code;
    dns_reply_write(q, &reply, q->udp_bytes, &out);
    must(out.n <= q->udp_bytes);
    must(dns_reply_fits(buf_str(&out), q->id, q));
    must(dns_reply_read(a, buf_str(&out), &code, &again));
    must(dns_reply_is_cut(buf_str(&out)) || again.n == reply.answers.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct dns_question q;
    struct dns_records records = { 0 };
    enum dns_code code;
    const struct str packet = { (const char *)bytes, n };
    arena_init(&a);
    if (dns_question_read(&a, packet, &q) == DNS_OK)
        answer(&a, &q);
    if (dns_reply_read(&a, packet, &code, &records))
        must(records.n <= n);
    arena_done(&a);
    return 0;
}
