/* Accept headers: bounded lists in the promised order, texts that lie inside the header. */
#include "net/http/accept.h"

#include <assert.h>

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct str part, struct str whole)
{
    assert(!part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str header = { (const char *)data, size };
    const struct accept_item *items;
    arena_init(&a);
    size_t n = accept_parse(&a, header, &items);
    assert(n <= ACCEPT_MAX);
    for (size_t i = 0; i < n; i++) {
        assert(items[i].type.n && items[i].q <= 1000);
        assert(i == 0 || items[i - 1].q >= items[i].q);
        check_inside(items[i].type, header);
        check_inside(items[i].params, header);
        check_inside(accept_param(items[i].params, STR("as")), header);
    }
    (void)accept_encoding(&a, header, STR("gzip"));
    arena_done(&a);
    return 0;
}
