/* Where a pod may run: affinities, tolerations, spreading. */
#include "api/validate/validate_parts.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Label keys that are merged into a selector ---- */

static bool check_label_keys(struct field_errors *e, const struct field_path *path,
                             const struct value *keys, const struct value *selector)
{
    if (!validate__count(keys))
        return true;
    if (!selector)
        return fault_forbidden(e, path, "must not be specified when labelSelector is not set");
    size_t i = 0, before = e->n;
    value_each_item (it, keys)
        (void)validate_name(e, path_item(path, i++), NAME_QUALIFIED, value_str(it));
    return e->n == before;
}

/* By now the keys have been merged into the selector: a key that is there twice was also given by
 * hand. */
static void check_merged_keys(struct field_errors *e, const struct field_path *path,
                              const struct value *keys, const struct value *selector)
{
    if (!selector || !validate__count(keys))
        return;
    autoset seen, wanted; /* of equal keys the last counts, as in upstream's map */
    text_set_init(&seen);
    text_set_init(&wanted);
    for (size_t i = keys->n; keys->type == VALUE_ARRAY && i-- > 0;)
        (void)text_set_add(&wanted, value_str(&keys->items[i]), &keys->items[i]);
    value_each_field (f, value_get(selector, STR("matchLabels")))
        (void)text_set_add(&seen, f->key, f);
    value_each_item (it, value_get(selector, STR("matchExpressions"))) {
        struct str key = value_text(it, "key");
        const struct value *given = text_set_get(&wanted, key);
        if (!text_set_add(&seen, key, it) && given)
            fault_text(e, path_item(path, (size_t)(given - keys->items)), key,
                       "exists in both matchLabelKeys and labelSelector");
    }
}

static void check_keys(struct field_errors *e, const struct field_path *path,
                       const struct value *owner)
{
    const struct value *match = value_get(owner, STR("matchLabelKeys")),
                       *mismatch = value_get(owner, STR("mismatchLabelKeys")),
                       *selector = validate_member(owner, "labelSelector");
    if (!validate__count(match) && !validate__count(mismatch))
        return;
    (void)check_label_keys(e, path_at(path, "matchLabelKeys"), match, selector);
    (void)check_label_keys(e, path_at(path, "mismatchLabelKeys"), mismatch, selector);
    check_merged_keys(e, path, match, selector);
    autoset others;
    text_set_init(&others);
    value_each_item (it, mismatch)
        (void)text_set_add(&others, value_str(it), it);
    size_t i = 0;
    value_each_item (it, match) {
        if (text_set_has(&others, value_str(it)))
            fault_text(e, path_item(path_at(path, "matchLabelKeys"), i), value_str(it),
                       "exists in both matchLabelKeys and mismatchLabelKeys");
        i++;
    }
}

bool validate_has_good_label_keys(const struct value *constraint)
{
    struct arena scratch;
    arena_init(&scratch);
    struct field_errors e = FIELD_ERRORS_INIT(&scratch);
    check_keys(&e, path_root(""), constraint);
    arena_done(&scratch);
    return e.n == 0;
}

/* ---- Affinities ---- */

static void check_weight(struct field_errors *e, const struct field_path *path, int64_t weight)
{
    if (weight <= 0 || weight > 100)
        fault_int(e, path, weight, "must be in the range 1-100");
}

static void check_node_affinity(struct field_errors *e, const struct field_path *path,
                                const struct value *affinity, const struct pod_rules *rules)
{
    const struct value *required =
        validate_member(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    if (required)
        (void)validate_node_selector(
            e, path_at(path, "requiredDuringSchedulingIgnoredDuringExecution"), required,
            rules->keeps_node_values);
    const struct field_path *list =
        path_at(path, "preferredDuringSchedulingIgnoredDuringExecution");
    size_t i = 0;
    value_each_item (it,
                     value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution"))) {
        const struct field_path *at = path_item(list, i++);
        check_weight(e, path_at(at, "weight"), validate_int(it, "weight"));
        (void)validate_node_selector_term(e, path_at(at, "preference"),
                                          validate_member(it, "preference"), true);
    }
}

static void check_affinity_term(struct field_errors *e, const struct field_path *path,
                                const struct value *term, const struct pod_rules *rules)
{
    unsigned flags = rules->keeps_selector_values ? SELECTOR_ANY_VALUES : 0;
    struct str topology = value_text(term, "topologyKey");
    (void)validate_label_selector(e, path_at(path, "labelSelector"),
                                  validate_member(term, "labelSelector"), flags);
    (void)validate_label_selector(e, path_at(path, "namespaceSelector"),
                                  validate_member(term, "namespaceSelector"), flags);
    value_each_item (it, value_get(term, STR("namespaces")))
        (void)validate_name(e, path_at(path, "namespace"), NAME_LABEL, value_str(it));
    check_keys(e, path, term);
    if (!topology.n)
        fault_required(e, path_at(path, "topologyKey"), "can not be empty");
    (void)validate_name(e, path_at(path, "topologyKey"), NAME_QUALIFIED, topology);
}

static void check_pod_affinity(struct field_errors *e, const struct field_path *path,
                               const struct value *affinity, const struct pod_rules *rules)
{
    const struct field_path *list = path_at(path, "requiredDuringSchedulingIgnoredDuringExecution");
    size_t i = 0;
    value_each_item (it, value_get(affinity, STR("requiredDuringSchedulingIgnoredDuringExecution")))
        check_affinity_term(e, path_item(list, i++), it, rules);
    list = path_at(path, "preferredDuringSchedulingIgnoredDuringExecution");
    i = 0;
    value_each_item (it,
                     value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution"))) {
        const struct field_path *at = path_item(list, i++);
        check_weight(e, path_at(at, "weight"), validate_int(it, "weight"));
        check_affinity_term(e, path_at(at, "podAffinityTerm"),
                            validate_member(it, "podAffinityTerm"), rules);
    }
}

void validate_affinity(struct field_errors *e, const struct field_path *path,
                       const struct value *affinity, const struct pod_rules *rules)
{
    const struct value *nodes = validate_member(affinity, "nodeAffinity"),
                       *pods = validate_member(affinity, "podAffinity"),
                       *anti = validate_member(affinity, "podAntiAffinity");
    if (nodes)
        check_node_affinity(e, path_at(path, "nodeAffinity"), nodes, rules);
    if (pods)
        check_pod_affinity(e, path_at(path, "podAffinity"), pods, rules);
    if (anti)
        check_pod_affinity(e, path_at(path, "podAntiAffinity"), anti, rules);
}

/* ---- Tolerations ---- */

static bool check_decimal(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct str digits = str_starts(text, STR("-")) ? str_skip(text, 1) : text;
    bool good = digits.n > 0 && (digits.p[0] != '0' || text.n == 1);
    int64_t n;
    for (size_t i = 0; i < digits.n; i++)
        good = good && digits.p[i] >= '0' && digits.p[i] <= '9';
    if (!good)
        return fault_text(e, path, text, "must be a valid decimal integer in canonical form");
    return str_to_i64(text, &n) ||
           fault_text(e, path, text,
                      "strconv.ParseInt: parsing \"" STR_FMT "\": value out of range",
                      STR_ARG(text));
}

static void check_toleration_value(struct field_errors *e, const struct field_path *path,
                                   const struct value *t, bool with_order)
{
    enum { EQUAL, EXISTS, LESS, GREATER, OPERATORS };
    static const struct str all[OPERATORS] = { STR("Equal"), STR("Exists"), STR("Lt"), STR("Gt") };
    struct str operator_ = value_text(t, "operator"), text = value_text(t, "value");
    const struct field_path *at = path_at(path, "operator");
    struct name_faults f = { 0 };
    size_t is = operator_.n ? words_find(operator_, WORDS(all)) : EQUAL;
    if (is == EQUAL) {
        if (name_check(NAME_LABEL_VALUE, text, &f))
            return;
        autobuf why = { 0 };
        for (size_t i = 0; i < f.n; i++)
            buf_printf(&why, "%s%s", i ? ";" : "", f.list[i].why);
        fault_text(e, at, text, STR_FMT, STR_ARG(buf_str(&why)));
    } else if (is == EXISTS) {
        if (text.n)
            fault_text(e, at, text, "value must be empty when `operator` is 'Exists'");
    } else if (is == OPERATORS) {
        (void)validate_one_of(e, at, operator_, all, LESS);
    } else if (with_order) {
        (void)check_decimal(e, path_at(path, "value"), text);
    } else {
        struct value shown = value_string(operator_);
        field_not_supported(e, at, field_json(e, &shown), WORDS(all));
    }
}

void validate_tolerations(struct field_errors *e, const struct field_path *path,
                          const struct value *tolerations, bool with_order)
{
    static const struct str effects[] = { STR("NoSchedule"), STR("PreferNoSchedule"),
                                          STR("NoExecute") };
    size_t i = 0;
    value_each_item (it, tolerations) {
        const struct field_path *at = path_item(path, i++);
        struct str key = value_text(it, "key"), effect = value_text(it, "effect");
        if (key.n)
            (void)validate_name(e, path_at(at, "key"), NAME_QUALIFIED, key);
        else if (!str_eq(value_text(it, "operator"), STR("Exists")))
            fault_text(e, path_at(at, "operator"), value_text(it, "operator"),
                       "operator must be Exists when `key` is empty, which means \"match all "
                       "values and all keys\"");
        if (validate_member(it, "tolerationSeconds") && !str_eq(effect, effects[2]))
            fault_text(e, path_at(at, "effect"), effect,
                       "effect must be 'NoExecute' when `tolerationSeconds` is set");
        check_toleration_value(e, at, it, with_order);
        if (effect.n)
            (void)validate_one_of(e, path_at(at, "effect"), effect, WORDS(effects));
    }
}

/* ---- Spreading ---- */

static void check_min_domains(struct field_errors *e, const struct field_path *path,
                              const struct value *domains, struct str action)
{
    if (!domains)
        return;
    (void)validate_positive(e, path, validate__int(domains));
    if (!str_eq(action, STR("DoNotSchedule")))
        fault_value(e, path, domains,
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " STR_FMT,
                    STR_ARG(action));
}

static void check_inclusion(struct field_errors *e, const struct field_path *path,
                            const struct value *policy)
{
    static const struct str policies[] = { STR("Honor"), STR("Ignore") };
    if (policy)
        (void)validate_one_of(e, path, value_str(policy), WORDS(policies));
}

/* As it was before the keys were merged into the selector. */
static void check_unmerged_keys(struct field_errors *e, const struct field_path *path,
                                const struct value *constraint)
{
    const struct value *selector = validate_member(constraint, "labelSelector"),
                       *keys = value_get(constraint, STR("matchLabelKeys"));
    if (!validate__count(keys))
        return;
    if (!selector)
        fault_forbidden(e, path, "must not be specified when labelSelector is not set");
    autoset seen;
    text_set_init(&seen);
    value_each_field (f, value_get(selector, STR("matchLabels")))
        (void)text_set_add(&seen, f->key, f);
    value_each_item (it, value_get(selector, STR("matchExpressions")))
        (void)text_set_add(&seen, value_text(it, "key"), it);
    size_t i = 0;
    value_each_item (it, keys) {
        const struct field_path *at = path_item(path, i++);
        (void)validate_name(e, at, NAME_QUALIFIED, value_str(it));
        if (text_set_has(&seen, value_str(it)))
            fault_text(e, at, value_str(it), "exists in both matchLabelKeys and labelSelector");
    }
}

static struct str spread_pair(struct arena *a, const struct value *constraint)
{
    return arena_printf(a, "{" STR_FMT ", " STR_FMT "}",
                        STR_ARG(value_text(constraint, "topologyKey")),
                        STR_ARG(value_text(constraint, "whenUnsatisfiable")));
}

/* How often each pair is still to come: upstream notes all but the last of equal ones. */
static void count_pairs(struct field_errors *e, const struct value *constraints,
                        struct text_set *last)
{
    size_t n = validate__count(constraints);
    for (size_t i = n; i-- > 0;) {
        const struct value *it = value_at(constraints, i);
        (void)text_set_add(last, spread_pair(e->arena, it), it);
    }
}

static void check_constraint(struct field_errors *e, const struct field_path *path,
                             const struct value *constraint, const struct pod_rules *rules)
{
    const struct value *selector = validate_member(constraint, "labelSelector");
    check_min_domains(e, path_at(path, "minDomains"), validate_member(constraint, "minDomains"),
                      value_text(constraint, "whenUnsatisfiable"));
    check_inclusion(e, path_at(path, "nodeAffinityPolicy"),
                    validate_member(constraint, "nodeAffinityPolicy"));
    check_inclusion(e, path_at(path, "nodeTaintsPolicy"),
                    validate_member(constraint, "nodeTaintsPolicy"));
    if (rules->keeps_spread_keys)
        check_unmerged_keys(e, path_at(path, "matchLabelKeys"), constraint);
    else
        check_keys(e, path, constraint);
    if (!rules->keeps_spread_selectors)
        (void)validate_label_selector(e, path_at(path, "labelSelector"), selector, 0);
}

void validate_spread_constraints(struct field_errors *e, const struct field_path *path,
                                 const struct value *constraints, const struct pod_rules *rules)
{
    static const struct str actions[] = { STR("DoNotSchedule"), STR("ScheduleAnyway") };
    if (!validate__count(constraints))
        return;
    autoset last;
    text_set_init(&last);
    if (constraints->n > 1)
        count_pairs(e, constraints, &last);
    size_t i = 0;
    value_each_item (it, constraints) {
        const struct field_path *at = path_item(path, i++);
        (void)validate_positive(e, path_at(at, "maxSkew"), validate_int(it, "maxSkew"));
        if (!value_text(it, "topologyKey").n)
            fault_required(e, path_at(at, "topologyKey"), "can not be empty");
        (void)validate_one_of(e, path_at(at, "whenUnsatisfiable"),
                              value_text(it, "whenUnsatisfiable"), WORDS(actions));
        if (constraints->n > 1) {
            struct str pair = spread_pair(e->arena, it);
            if (text_set_get(&last, pair) != it)
                fault_duplicate(e, path_at(at, "{topologyKey, whenUnsatisfiable}"), pair);
        }
        check_constraint(e, at, it, rules);
    }
}
