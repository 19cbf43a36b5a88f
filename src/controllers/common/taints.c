#include "controllers/common/taints.h"

#include "base/str.h"
#include "client/bridge.h"
#include "select/node_match.h"
#include "base/banned.h"

static struct spn_text text_at(const struct spn_value *v, const char *key)
{
    return spn_value_text(spn_value_get(v, key));
}

bool taint_is(const struct spn_value *taint, struct spn_text key, struct spn_text effect)
{
    return spn_text_eq(text_at(taint, "key"), key) && spn_text_eq(text_at(taint, "effect"), effect);
}

const struct spn_value *taint_find(const struct spn_value *list, const char *key,
                                   const char *effect)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (taint_is(spn_value_at(list, i), spn_text_of(key), spn_text_of(effect)))
            return spn_value_at(list, i);
    return NULL;
}

const struct spn_value *taint_toleration(const struct spn_value *tolerations,
                                         const struct spn_value *taint)
{
    const struct taint t = taint_read(value_in(taint));
    for (size_t i = 0; i < spn_value_count(tolerations); i++) {
        const struct toleration by = toleration_read(value_in(spn_value_at(tolerations, i)));
        if (toleration_allows(&by, &t))
            return spn_value_at(tolerations, i);
    }
    return NULL;
}

int64_t tolerations_seconds(const struct spn_value *tolerations, const struct spn_value *taints)
{
    int64_t least = STAYS_FOREVER;
    for (size_t i = 0; i < spn_value_count(taints); i++) {
        if (!spn_text_eq(text_at(spn_value_at(taints, i), "effect"), SPN_TEXT("NoExecute")))
            continue;
        const struct spn_value *t = taint_toleration(tolerations, spn_value_at(taints, i));
        if (!t)
            return STAYS_NOT;
        int64_t seconds;
        if (!spn_value_int(spn_value_get(t, "tolerationSeconds"), &seconds))
            continue;
        seconds = seconds < 0 ? 0 : seconds;
        least = least < 0 || seconds < least ? seconds : least;
    }
    return least;
}
