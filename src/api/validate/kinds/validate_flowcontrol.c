/* Flow schemas and priority levels. Four of these objects are fixed: "exempt" and "catch-all" of
 * either kind. */
#include <math.h>

#include "api/inner.h"
#include "api/keys.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

#define GROUP   STR("flowcontrol.apiserver.k8s.io")
#define VERSION STR("flowcontrol.apiserver.k8s.io/v1")

#define ALL_RULES                                                                              \
    "\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"],"       \
    "\"clusterScope\":true,\"namespaces\":[\"*\"]}],\"nonResourceRules\":[{\"verbs\":[\"*\"]," \
    "\"nonResourceURLs\":[\"*\"]}]"

static const struct {
    struct str kind, name, spec;
} mandatory[] = {
    { STR("FlowSchema"), STR("exempt"),
      STR("{\"priorityLevelConfiguration\":{\"name\":\"exempt\"},\"matchingPrecedence\":1,"
          "\"rules\":[{\"subjects\":[{\"kind\":\"Group\",\"group\":{\"name\":\"system:masters\"}}]"
          "," ALL_RULES "}]}") },
    { STR("FlowSchema"), STR("catch-all"),
      STR("{\"priorityLevelConfiguration\":{\"name\":\"catch-all\"},\"matchingPrecedence\":10000,"
          "\"distinguisherMethod\":{\"type\":\"ByUser\"},\"rules\":[{\"subjects\":[{\"kind\":"
          "\"Group\",\"group\":{\"name\":\"system:unauthenticated\"}},{\"kind\":\"Group\","
          "\"group\":{\"name\":\"system:authenticated\"}}]," ALL_RULES "}]}") },
    { STR("PriorityLevelConfiguration"), STR("exempt"), STR("{\"type\":\"Exempt\"}") },
    { STR("PriorityLevelConfiguration"), STR("catch-all"),
      STR("{\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":5,\"lendablePercent\":0,"
          "\"limitResponse\":{\"type\":\"Reject\"}}}") },
};

static struct str name_of(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "name"));
}

/* The spec that an object of this name must have; of the exempt level all but `exempt` itself. */
static void check_mandatory(struct field_errors *e, const struct value *obj, struct str kind,
                            struct str spec_type)
{
    const struct value *spec = value_get(obj, STR("spec"));
    struct str name = name_of(obj);
    bool level = str_eq(kind, STR("PriorityLevelConfiguration")) && str_eq(name, STR("exempt"));
    for (size_t i = 0; i < ARRAY_LEN(mandatory); i++) {
        struct value want, have;
        if (!str_eq(mandatory[i].name, name) || !str_eq(mandatory[i].kind, kind) ||
            json_read(e->arena, mandatory[i].spec, NULL, &want, NULL) < 0)
            continue;
        have = spec ? value_clone(e->arena, spec) : value_object();
        if (level && have.type == VALUE_OBJECT)
            value_drop(e->arena, &have, STR("exempt"));
        if (!validate_is_same(&have, &want))
            field_error(e, FIELD_INVALID, path_root("spec"),
                        inner_json(e, VERSION, spec_type, spec),
                        "spec of '" STR_FMT "'%s must equal the fixed value", STR_ARG(name),
                        level ? " except the 'spec.exempt' field" : "");
    }
}

static void check_status_conditions(struct field_errors *e, const struct value *obj)
{
    const struct field_path *path = path_at(path_root("status"), "conditions");
    size_t i = 0;
    autoset types;
    text_set_init(&types);
    value_each_item (it, value_dig(obj, "status", "conditions")) {
        const struct field_path *at = path_at(path_item(path, i++), "type");
        if (!text_set_add(&types, value_text(it, "type"), it))
            fault_duplicate(e, at, value_text(it, "type"));
        validate_required(e, at, value_text(it, "type"));
    }
}

/* ---- Subjects ---- */

static void check_account(struct field_errors *e, const struct field_path *path,
                          const struct value *account)
{
    struct str name = value_text(account, "name"), ns = value_text(account, "namespace");
    if (validate_required(e, path_at(path, "name"), name) && !str_eq(name, STR("*")))
        validate_name(e, path_at(path, "name"), NAME_SUBDOMAIN, name);
    if (ns.n)
        validate_name(e, path_at(path, "namespace"), NAME_LABEL, ns);
    else
        fault_required(e, path_at(path, "namespace"), "must specify namespace for service account");
}

/* The member that the kind names must be there, and no other; upstream asks in this order. */
static void check_subject(struct field_errors *e, const struct field_path *path,
                          const struct value *subject)
{
    static const struct str kinds[] = { STR("Group"), STR("ServiceAccount"), STR("User") };
    static const struct {
        struct str kind, field;
    } members[] = {
        { STR("ServiceAccount"), STR("serviceAccount") },
        { STR("User"), STR("user") },
        { STR("Group"), STR("group") },
    };
    struct str kind = value_text(subject, "kind");
    if (!validate_one_of(e, path_at(path, "kind"), kind, WORDS(kinds)))
        return;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < 3; i++) {
            const struct value *v = validate__member(subject, members[i].field);
            struct field_path at = field_child(path, members[i].field);
            bool named = str_eq(kind, members[i].kind);
            if (named != (pass == 0))
                continue;
            if (!named && v)
                fault_forbidden(e, &at,
                                STR_FMT " is forbidden when subject kind is not '" STR_FMT "'",
                                STR_ARG(members[i].field), STR_ARG(members[i].kind));
            else if (named && !v)
                field_error(e, FIELD_REQUIRED, &at, STR(""),
                            STR_FMT " is required when subject kind is '" STR_FMT "'",
                            STR_ARG(members[i].field), STR_ARG(members[i].kind));
            else if (named && i == 0)
                check_account(e, &at, v);
            else if (named)
                validate_required(e, path_at(&at, "name"), value_text(v, "name"));
        }
}

/* ---- Rules ---- */

static const struct str verbs_known[] = {
    STR("create"), STR("delete"), STR("deletecollection"), STR("get"),   STR("list"),
    STR("patch"),  STR("proxy"),  STR("update"),           STR("watch"),
};

/* False if the list is at fault; with "*" it has nothing else. */
static bool check_wildcard(struct field_errors *e, const struct field_path *path,
                           const struct value *list, const char *others)
{
    return validate__count(list) < 2 || !validate_list_has(list, STR("*")) ||
           fault_value(e, path, list, "if '*' is present, must not specify other %s", others);
}

static void check_verbs(struct field_errors *e, const struct field_path *path,
                        const struct value *verbs)
{
    if (!validate__count(verbs)) {
        fault_required(e, path, "verbs must contain at least one value");
        return;
    }
    if (!check_wildcard(e, path, verbs, "verbs") || validate_list_has(verbs, STR("*")))
        return;
    value_each_item (it, verbs)
        if (!words_have(value_str(it), WORDS(verbs_known))) {
            field_not_supported(e, path, field_json(e, verbs), WORDS(verbs_known));
            return;
        }
}

static const char *url_fault(struct str url)
{
    size_t stars = 0;
    for (size_t i = 0; i < url.n; i++)
        stars += url.p[i] == '*';
    if (url.n == 0)
        return "must not be empty";
    if (url.p[0] != '/')
        return "must start with slash";
    if (str_find(url, ' ') >= 0)
        return "must not contain white-space";
    if (memmem(url.p, url.n, "//", 2))
        return "must not contain double slash";
    if (stars > 1 || (stars == 1 && !str_ends(url, STR("/*"))))
        return "wildcard can only do suffix matching";
    return NULL;
}

static void check_url_rule(struct field_errors *e, const struct field_path *path,
                           const struct value *rule)
{
    const struct value *urls = value_get(rule, STR("nonResourceURLs"));
    const struct field_path *at = path_at(path, "nonResourceURLs");
    size_t i = 0;
    check_verbs(e, path_at(path, "verbs"), value_get(rule, STR("verbs")));
    if (!validate__count(urls))
        fault_required(e, at, "nonResourceURLs must contain at least one value");
    if (!check_wildcard(e, at, urls, "non-resource URLs") || validate_list_has(urls, STR("*")))
        return;
    value_each_item (it, urls) {
        const char *fault = url_fault(value_str(it));
        if (fault)
            fault_text(e, path_item(at, i), value_str(it), "%s", fault);
        i++;
    }
}

static void check_namespaces(struct field_errors *e, const struct field_path *path,
                             const struct value *rule)
{
    const struct value *namespaces = value_get(rule, STR("namespaces"));
    size_t i = 0;
    if (!validate__count(namespaces) && !value_is_true(value_get(rule, STR("clusterScope"))))
        fault_required(e, path,
                       "resource rules that are not cluster scoped must supply at least one "
                       "namespace");
    if (!check_wildcard(e, path, namespaces, "namespaces") ||
        validate_list_has(namespaces, STR("*")))
        return;
    value_each_item (it, namespaces) {
        struct name_faults faults = { 0 };
        (void)name_check(NAME_LABEL, value_str(it), &faults);
        for (size_t k = 0; k < faults.n; k++)
            fault_text(e, path_item(path, i), value_str(it),
                       "each member of this list must be '*' or a DNS-1123 label; %s",
                       faults.list[k].why);
        i++;
    }
}

static void check_resource_rule(struct field_errors *e, const struct field_path *path,
                                const struct value *rule)
{
    const struct value *groups = value_get(rule, STR("apiGroups"));
    const struct value *resources = value_get(rule, STR("resources"));
    check_verbs(e, path_at(path, "verbs"), value_get(rule, STR("verbs")));
    if (!validate__count(groups))
        fault_required(e, path_at(path, "apiGroups"),
                       "resource rules must supply at least one api group");
    (void)check_wildcard(e, path_at(path, "apiGroups"), groups, "api groups");
    if (!validate__count(resources))
        fault_required(e, path_at(path, "resources"),
                       "resource rules must supply at least one resource");
    (void)check_wildcard(e, path_at(path, "resources"), resources, "resources");
    check_namespaces(e, path_at(path, "namespaces"), rule);
}

static void check_rules(struct field_errors *e, const struct field_path *path,
                        const struct value *rules)
{
    const struct value *resources = value_get(rules, STR("resourceRules"));
    const struct value *urls = value_get(rules, STR("nonResourceRules"));
    size_t i = 0;
    if (!validate_count(rules, "subjects"))
        fault_required(e, path_at(path, "subjects"), "subjects must contain at least one value");
    value_each_item (it, value_get(rules, STR("subjects")))
        check_subject(e, path_item(path_at(path, "subjects"), i++), it);
    if (!validate__count(resources) && !validate__count(urls))
        fault_required(e, path,
                       "at least one of resourceRules and nonResourceRules has to be non-empty");
    i = 0;
    value_each_item (it, resources)
        check_resource_rule(e, path_item(path_at(path, "resourceRules"), i++), it);
    i = 0;
    value_each_item (it, urls)
        check_url_rule(e, path_item(path_at(path, "nonResourceRules"), i++), it);
}

/* ---- FlowSchema ---- */

static void check_precedence(struct field_errors *e, const struct value *spec, struct str name)
{
    enum { PRECEDENCE_MAX = 10000 };
    const struct field_path *path = path_at(path_root("spec"), "matchingPrecedence");
    int64_t precedence = validate_int(spec, "matchingPrecedence");
    if (precedence <= 0)
        fault_int(e, path, precedence, "must be a positive value");
    if (precedence > PRECEDENCE_MAX)
        fault_int(e, path, precedence, "must not be greater than %d", PRECEDENCE_MAX);
    if (precedence == 1 && !str_eq(name, STR("exempt")))
        fault_int(e, path, precedence,
                  "only the schema named 'exempt' may have matchingPrecedence 1");
}

static void create_schema(struct field_errors *e, const struct value *obj)
{
    static const struct str methods[] = { STR("ByNamespace"), STR("ByUser") };
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *method = validate_member(spec, "distinguisherMethod");
    const struct field_path *path = path_root("spec");
    const struct field_path *level = path_at(path_at(path, "priorityLevelConfiguration"), "name");
    struct str name = value_str(value_dig(spec, "priorityLevelConfiguration", "name"));
    size_t i = 0;
    check_precedence(e, spec, name_of(obj));
    if (method && !words_have(value_text(method, "type"), WORDS(methods)))
        field_not_supported(e, path_at(path_at(path, "distinguisherMethod"), "type"),
                            inner_json(e, VERSION, STR("FlowDistinguisherMethod"), method),
                            WORDS(methods));
    if (name.n)
        validate_name(e, level, NAME_SUBDOMAIN, name);
    else
        fault_required(e, level, "must reference a priority level");
    value_each_item (it, value_get(spec, STR("rules")))
        check_rules(e, path_item(path_at(path, "rules"), i++), it);
    check_mandatory(e, obj, STR("FlowSchema"), STR("FlowSchemaSpec"));
    check_status_conditions(e, obj);
}

static void update_schema(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    (void)old_obj;
    create_schema(e, obj);
}

static void update_status(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    (void)old_obj;
    check_status_conditions(e, obj);
}

/* ---- PriorityLevelConfiguration ---- */

static void check_queuing(struct field_errors *e, const struct field_path *path,
                          const struct value *queuing)
{
    enum { QUEUES_MAX = 10 * 1000 * 1000, HASH_BITS_MAX = 60 };
    int64_t length = validate_int(queuing, "queueLengthLimit"),
            queues = validate_int(queuing, "queues");
    int64_t hand = validate_int(queuing, "handSize");
    if (length <= 0)
        fault_int(e, path_at(path, "queueLengthLimit"), length, "must be positive");
    if (queues <= 0)
        fault_int(e, path_at(path, "queues"), queues, "must be positive");
    else if (queues > QUEUES_MAX)
        fault_int(e, path_at(path, "queues"), queues, "must not be greater than %d", QUEUES_MAX);
    if (hand <= 0)
        fault_int(e, path_at(path, "handSize"), hand, "must be positive");
    else if (hand > queues)
        fault_int(e, path_at(path, "handSize"), hand, "should not be greater than queues (%lld)",
                  (long long)queues);
    else if (ceil(log2((double)queues) * (double)hand) > HASH_BITS_MAX)
        fault_int(e, path_at(path, "handSize"), hand,
                  "required entropy bits of deckSize %lld and handSize %lld should not be greater "
                  "than %d",
                  (long long)queues, (long long)hand, HASH_BITS_MAX);
}

static void check_percent(struct field_errors *e, const struct field_path *path, int64_t percent)
{
    if (percent < 0 || percent > 100)
        fault_int(e, path, percent, "must be between 0 and 100, inclusive");
}

static void check_shares(struct field_errors *e, const struct field_path *path,
                         const struct value *level)
{
    int64_t shares = validate_int(level, "nominalConcurrencyShares");
    if (shares < 0)
        fault_int(e, path_at(path, "nominalConcurrencyShares"), shares,
                  "must be a non-negative integer");
}

static void check_limited(struct field_errors *e, const struct field_path *path,
                          const struct value *limited)
{
    static const struct str types[] = { STR("Queue"), STR("Reject") };
    const struct value *response = value_get(limited, STR("limitResponse"));
    const struct field_path *at = path_at(path, "limitResponse");
    struct str type = value_text(response, "type");
    int64_t borrowing = validate_int(limited, "borrowingLimitPercent");
    check_shares(e, path, limited);
    if (str_eq(type, types[0]) && validate_member(response, "queuing"))
        check_queuing(e, path_at(at, "queuing"), validate_member(response, "queuing"));
    else if (type.n)
        validate_one_of(e, path_at(at, "type"), type, WORDS(types));
    check_percent(e, path_at(path, "lendablePercent"), validate_int(limited, "lendablePercent"));
    if (borrowing < 0)
        fault_int(e, path_at(path, "borrowingLimitPercent"), borrowing,
                  "if specified, must be a non-negative integer");
}

/* Declared: a member of a union is there if the type says so, and else is not. What is as it was is
 * not looked at. */
static void check_union_member(struct field_errors *e, const struct field_path *path,
                               const struct value *of, const struct value *old, struct str field,
                               const char *type, bool required)
{
    const struct value *v = validate__member(of, field);
    bool named = str_eq(value_text(of, "type"), str_of(type));
    struct field_path at = field_child(path, field);
    if (old && str_eq(value_text(of, "type"), value_text(old, "type")) &&
        validate_is_same(v, validate__member(old, field)))
        return;
    if (!named && v)
        fault_forbidden(e, &at, "%s", "");
    if (named && !v && required)
        fault_required(e, &at, "");
}

static void check_declared_level(struct field_errors *e, const struct value *spec,
                                 const struct value *old)
{
    const struct value *limited = validate_member(spec, "limited"),
                       *old_limited = validate_member(old, "limited");
    const struct value *response = value_get(limited, STR("limitResponse"));
    const struct value *old_response = value_get(old_limited, STR("limitResponse"));
    const struct field_path *path = path_root("spec");
    const struct field_path *at = path_at(path_at(path, "limited"), "limitResponse");
    check_union_member(e, path, spec, old, STR("exempt"), "Exempt", false);
    check_union_member(e, path, spec, old, STR("limited"), "Limited", true);
    validate_required(e, path_at(path, "type"), value_text(spec, "type"));
    if (!limited)
        return;
    check_union_member(e, at, response, old_response, STR("queuing"), "Queue", true);
    validate_required(e, path_at(at, "type"), value_text(response, "type"));
}

static void check_level(struct field_errors *e, const struct value *obj,
                        const struct value *old_obj)
{
    static const struct str types[] = { STR("Exempt"), STR("Limited") };
    static const struct str zero = STR(KEY_PRESERVE_ZERO_SHARES);
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *limited = validate_member(spec, "limited"),
                       *exempt = validate_member(spec, "exempt");
    const struct field_path *path = path_root("spec");
    struct str type = value_text(spec, "type");
    bool is_exempt = str_eq(type, types[0]);
    if (value_get(value_dig(obj, "metadata", "annotations"), zero))
        fault_forbidden(e, path_at(path_root("metadata"), "annotations"),
                        "annotation '" STR_FMT "' is forbidden", STR_ARG(zero));
    if (str_eq(name_of(obj), STR("exempt")) != is_exempt)
        fault_text(e, path_at(path, "type"), type,
                   "must be 'Exempt' if and only if `name` is 'exempt'");
    if (is_exempt && exempt) {
        check_shares(e, path_at(path, "exempt"), exempt);
        check_percent(e, path_at(path_at(path, "exempt"), "lendablePercent"),
                      validate_int(exempt, "lendablePercent"));
    } else if (str_eq(type, types[1]) && limited) {
        check_limited(e, path_at(path, "limited"), limited);
    } else if (type.n) {
        validate_one_of(e, path_at(path, "type"), type, WORDS(types));
    }
    check_mandatory(e, obj, STR("PriorityLevelConfiguration"),
                    STR("PriorityLevelConfigurationSpec"));
    check_status_conditions(e, obj);
    check_declared_level(e, spec, value_get(old_obj, STR("spec")));
}

static void create_level(struct field_errors *e, const struct value *obj)
{
    check_level(e, obj, NULL);
}

static void update_level(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    check_level(e, obj, old_obj);
}

const struct validate_rules validate__flowcontrol[] = {
    { GROUP, STR("FlowSchema"), .create = create_schema, .update = update_schema,
      .update_status = update_status },
    { GROUP, STR("PriorityLevelConfiguration"), .create = create_level, .update = update_level,
      .update_status = update_status },
    { .kind = { NULL, 0 } },
};
