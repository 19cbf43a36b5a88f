/* JSON that fits a struct comes back from it the same, and a copy of the struct is equal to it.
 * What does not fit says where. Definitions have structs in themselves, pods have nearly everything
 * else.
 */
#include <stdlib.h>

#include <sampan/api/apiextensions_v1.h>
#include <sampan/api/core_v1.h>

#include "base/json.h"
#include "client/bridge.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check(const struct spn_struct *table, struct spn_arena *a, const struct spn_value *v)
{
    struct spn_err err = { 0 };
    void *s, *again;
    if (spn_typed_decode(table, a, v, &s, &err) < 0) {
        must(err.code == SPN_MALFORMED && err.message[0]);
        return;
    }
    struct spn_value *back = spn_typed_encode(table, a, s);
    must(spn_value_type(v) == SPN_NULL || spn_value_eq(v, back));
    must(spn_typed_equal(table, s, spn_typed_copy(table, a, s)));
    must(spn_typed_decode(table, a, back, &again, &err) == 0);
    must(spn_typed_equal(table, s, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct spn_arena *a = spn_arena_new();
    struct str duplicate = { 0 };
    const struct json_options opt = { .ret_duplicate = &duplicate };
    struct value v;
    struct str text = { (const char *)bytes, n };
    /* Of two fields of one name a struct can have only one. */
    if (json_read(arena_in(a), text, &opt, &v, NULL) == 0 && duplicate.n == 0) {
        check(&core_v1_pod_table, a, value_out(&v));
        check(&core_v1_secret_table, a, value_out(&v));
        check(&apiextensions_v1_custom_resource_definition_table, a, value_out(&v));
    }
    (void)spn_arena_free(a);
    return 0;
}
