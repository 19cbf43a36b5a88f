/* A Network whose range and gateway are accepted can be told again in the same words, and its
 * gateway lies inside; one that is refused says why. Three lines: cidr, gateway, MTU. */
#include <stdint.h>
#include <stdlib.h>

#include "plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static struct spn_text take_line(struct spn_text *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct spn_text line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t skip = line.n + (end ? 1 : 0);
    *rest = (struct spn_text){ rest->p + skip, rest->n - skip };
    return line;
}

static int64_t read_number(struct spn_text t)
{
    int64_t number = 0;
    for (size_t i = 0; i < t.n && i < 9; i++)
        number = number * 10 + (t.p[i] - '0');
    return number;
}

static void check_again(const struct plan_want *want)
{
    char cidr[PREFIX_TEXT], gateway[PREFIX_TEXT];
    prefix_text(&want->cidr, cidr);
    prefix_address_text(&want->address, gateway);
    struct plan_spec spec = { .cidr = spn_text_of(cidr),
                              .gateway = spn_text_of(gateway),
                              .mtu = want->mtu };
    struct plan_want again;
    struct plan_refusal why;
    must(plan_read(SPN_TEXT("a/b"), &spec, &again, &why));
    must(prefix_eq(&want->cidr, &again.cidr) && prefix_eq(&want->address, &again.address));
    must(prefix_contains(&want->cidr, &want->address) && want->mtu == again.mtu);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct spn_text rest = { (const char *)bytes, n };
    struct plan_spec spec = { 0 };
    spec.cidr = take_line(&rest);
    spec.gateway = take_line(&rest);
    spec.mtu = read_number(take_line(&rest));
    struct plan_want want;
    struct plan_refusal why;
    if (plan_read(SPN_TEXT("a/b"), &spec, &want, &why))
        check_again(&want);
    else
        must(why.reason && why.message[0]);
    return 0;
}
