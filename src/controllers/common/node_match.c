#include "controllers/common/node_match.h"

#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/taints.h"
#include "select/node_match.h"
#include "base/banned.h"

bool node_matches(struct spn_arena *a, const struct spn_value *node,
                  const struct spn_value *pod_spec)
{
    struct label_set labels =
        label_set_read(arena_in(a), value_in(spn_value_dig(node, "metadata", "labels")));
    const struct value *spec = value_in(pod_spec);
    const struct value *required = value_dig(spec, "affinity", "nodeAffinity",
                                             "requiredDuringSchedulingIgnoredDuringExecution");
    value_each_field (want, value_get(spec, STR("nodeSelector"))) {
        struct str has = label_get(labels, want->key);
        if (!has.p || !str_eq(has, value_str(&want->val)))
            return false;
    }
    if (!required)
        return true;
    struct node_terms terms =
        node_terms_read(arena_in(a), value_get(required, STR("nodeSelectorTerms")), false);
    return node_terms_hold(terms, str_in(meta_name(node)), labels);
}

bool node_repels(const struct spn_value *node, const struct spn_value *tolerations, bool is_running)
{
    const struct spn_value *taints = spn_value_dig(node, "spec", "taints");
    for (size_t i = 0; i < spn_value_count(taints); i++) {
        const struct spn_value *taint = spn_value_at(taints, i);
        const struct spn_text effect = spn_value_text(spn_value_get(taint, "effect"));
        bool counts = spn_text_eq(effect, SPN_TEXT("NoExecute")) ||
                      (!is_running && spn_text_eq(effect, SPN_TEXT("NoSchedule")));
        if (counts && !taint_toleration(tolerations, taint))
            return true;
    }
    return false;
}
