#include "controllers/common/refusal.h"

#include <sampan/value.h>

#include "base/banned.h"

bool refusal_is_terminating(const struct spn_err *err)
{
    const struct spn_value *causes = spn_value_dig(err->status, "details", "causes");
    if (err->code != SPN_FORBIDDEN)
        return false;
    for (size_t i = 0; i < spn_value_count(causes); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(causes, i), "reason")),
                        SPN_TEXT("NamespaceTerminating")))
            return true;
    return false;
}

bool refusal_of_pod_is_final(const struct spn_err *err)
{
    bool is_late = spn_text_eq(spn_text_of(err->reason), SPN_TEXT("Timeout"));
    return refusal_is_terminating(err) || (err->code == SPN_SERVER_TIMEOUT && is_late);
}
