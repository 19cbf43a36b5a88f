#include "generate/client_verbs.h"

#include <assert.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* In the order of their bits. */
static const struct str names[] = {
    STR("create"),      STR("update"), STR("updateStatus"), STR("delete"), STR("deleteCollection"),
    STR("get"),         STR("list"),   STR("watch"),        STR("patch"),  STR("apply"),
    STR("applyStatus"),
};
static_assert((1U << ARRAY_LEN(names)) - 1 == CLIENT_ALL, "each has a name");

static unsigned bit_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], name))
            return 1U << i;
    return 0;
}

bool client_verbs_read(struct str list, unsigned *ret, struct str *ret_unknown)
{
    unsigned verbs = 0;
    do {
        struct str name = str_trim(str_cut(&list, ','));
        unsigned bit = bit_of(name);
        if (!bit) {
            *ret_unknown = name;
            return false;
        }
        verbs |= bit;
    } while (list.p);
    *ret = verbs;
    return true;
}

struct str client_verbs_text(struct arena *a, unsigned verbs)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (verbs & 1U << i)
            buf_printf(&out, "%s" STR_FMT, out.n ? "," : "", STR_ARG(names[i]));
    return arena_str(a, buf_str(&out));
}
