/* JSON that is accepted can be written and read again as the same tree, compactly and prettily. */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    autobuf pretty = { 0 };
    struct value again;
    struct str duplicate;
    struct json_options opt = { .ret_duplicate = &duplicate };

    json_write(&out, v);
    must(out.n == json_length(v));
    must(json_read(a, buf_str(&out), &opt, &again, NULL) == 0);
    must(value_eq(v, &again));
    json_write_pretty(&pretty, v);
    must(json_read(a, buf_str(&pretty), NULL, &again, NULL) == 0);
    must(value_eq(v, &again));

    struct value copy = value_share(&again);
    value_drop_duplicates(a, &copy);
    must(value_find_duplicate(a, &copy).n == 0);
    must(duplicate.n || value_eq(&copy, v));
    must(value_eq(&again, v));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value v;
    if (json_read(&a, (struct str){ (const char *)bytes, n }, NULL, &v, &err) == 0)
        check(&a, &v);
    arena_done(&a);
    return 0;
}
