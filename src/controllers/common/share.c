#include "controllers/common/share.h"

#include "client/bridge.h"
#include "base/banned.h"

int64_t share_of(const struct spn_value *v, int64_t total, bool is_up)
{
    int64_t number;
    struct str text = str_in(spn_value_text(v));
    if (spn_value_int(v, &number))
        return number;
    if (!str_ends(text, STR("%")) || !str_to_i64(str_take(text, text.n - 1), &number))
        return 0;
    return is_up ? (number * total + 99) / 100 : number * total / 100;
}
