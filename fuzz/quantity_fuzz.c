/* A text that is a quantity has a canonical form that is its own canonical form and compares equal;
 * two quantities (the halves of the input) compare the same both ways round. */
#include <stdlib.h>

#include "api/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool check(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct str once, twice;
    if (quantity_canonical(a, text, &once, &err) < 0)
        return false;
    must(quantity_canonical(a, once, &twice, NULL) == 0);
    must(str_eq(once, twice));
    must(quantity_cmp(text, once) == 0);
    must(quantity_cmp(text, STR("0")) == quantity_sign(text));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct str right = { (const char *)bytes, n };
    struct str left = str_cut(&right, '\n');
    bool both = check(&a, left);
    both = right.p && check(&a, right) && both;
    if (both)
        must(quantity_cmp(left, right) == -quantity_cmp(right, left));
    arena_done(&a);
    return 0;
}
