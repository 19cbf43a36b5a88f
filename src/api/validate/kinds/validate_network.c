/* Network policies, addresses and blocks of addresses. */
#include "api/validate/declared.h"
#include "api/inner.h"
#include "api/ip.h"
#include "api/validate/validate_parts.h"
#include "base/banned.h"

#define GROUP STR("networking.k8s.io")

/* ---- Declared ---- */

DECLARED_TYPE(ip_block, { STR("cidr"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(policy_peer, { STR("ipBlock"), .type = &ip_block });
DECLARED_TYPE(ingress_rule, { STR("from"), .type = &policy_peer });
DECLARED_TYPE(egress_rule, { STR("to"), .type = &policy_peer });
DECLARED_TYPE(policy_spec, { STR("ingress"), .type = &ingress_rule },
              { STR("egress"), .type = &egress_rule });
DECLARED_TYPE(policy, { STR("spec"), .type = &policy_spec });

DECLARED_TYPE(parent_ref, { STR("resource"), .flags = DECLARED_REQUIRED },
              { STR("name"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(address_spec, { STR("parentRef"),
                              .flags = DECLARED_REQUIRED | DECLARED_POINTER | DECLARED_IMMUTABLE,
                              .type = &parent_ref });
DECLARED_TYPE(address, { STR("spec"), .flags = DECLARED_STRUCT, .type = &address_spec });

/* ---- NetworkPolicy ---- */

struct policy_scope {
    const struct text_set *old_blocks; /* of the old policy, wherever it has them, or NULL */
    unsigned flags;                    /* of selectors */
};

static void check_end_port(struct field_errors *e, const struct field_path *path,
                           const struct value *port, const struct value *end)
{
    int64_t last = validate__int(end);
    if (!end)
        return;
    if (!port) {
        fault_int(e, path, last, "may not be specified when `port` is not specified");
    } else if (!value_is(port, VALUE_INT)) {
        fault_int(e, path, last, "may not be specified when `port` is non-numeric");
    } else {
        if (last < port->i)
            fault_int(e, path, last, "must be greater than or equal to `port`");
        validate_port(e, path, last);
    }
}

static void check_policy_port(struct field_errors *e, const struct field_path *path,
                              const struct value *of)
{
    static const struct str protocols[] = { STR("TCP"), STR("UDP"), STR("SCTP") };
    const struct value *port = validate_member(of, "port"), *end = validate_member(of, "endPort");
    if (validate_member(of, "protocol"))
        validate_one_of(e, path_at(path, "protocol"), value_text(of, "protocol"), WORDS(protocols));
    if (value_is(port, VALUE_INT))
        validate_port(e, path_at(path, "port"), port->i);
    check_end_port(e, path_at(path, "endPort"), port, end);
    if (port && !value_is(port, VALUE_INT))
        validate_port_name(e, path_at(path, "port"), value_str(port));
}

static void add_blocks(struct text_set *set, const struct value *rules, struct str peers)
{
    value_each_item (rule, rules)
        value_each_item (peer, value_get(rule, peers)) {
            const struct value *of = value_get(peer, STR("ipBlock"));
            if (!of)
                continue;
            (void)text_set_add(set, value_text(of, "cidr"), of);
            validate_add_texts(set, value_get(of, STR("except")));
        }
}

/* A block that the old policy has somewhere is taken as it is. */
static bool had_block(const struct policy_scope *scope, struct str block)
{
    return scope->old_blocks && text_set_has(scope->old_blocks, block);
}

static void check_ip_block(struct field_errors *e, const struct field_path *path,
                           const struct value *block, const struct policy_scope *scope)
{
    struct str outer_text = value_text(block, "cidr");
    struct cidr outer, inner;
    size_t i = 0;
    if (outer_text.n == 0)
        return; /* declared */
    if (!had_block(scope, outer_text))
        validate_cidr_legacy(e, path_at(path, "cidr"), outer_text, NULL);
    if (!ip_cidr_parse(outer_text, &outer))
        return;
    value_each_item (it, value_get(block, STR("except"))) {
        const struct field_path *at = path_item(path_at(path, "except"), i++);
        if (!had_block(scope, value_str(it)))
            validate_cidr_legacy(e, at, value_str(it), NULL);
        if (ip_cidr_parse(value_str(it), &inner) &&
            (!ip_cidr_has(&outer, &inner.ip) || outer.bits >= inner.bits))
            fault_text(e, at, value_str(it), "must be a strict subset of `cidr`");
    }
}

static void check_peer(struct field_errors *e, const struct field_path *path,
                       const struct value *peer, const struct policy_scope *scope)
{
    const struct value *pods = validate_member(peer, "podSelector");
    const struct value *namespaces = validate_member(peer, "namespaceSelector");
    const struct value *block = validate_member(peer, "ipBlock");
    if (pods)
        validate_label_selector(e, path_at(path, "podSelector"), pods, scope->flags);
    if (namespaces)
        validate_label_selector(e, path_at(path, "namespaceSelector"), namespaces, scope->flags);
    if (block)
        check_ip_block(e, path_at(path, "ipBlock"), block, scope);
    if (!pods && !namespaces && !block)
        fault_required(e, path, "must specify a peer");
    else if (block && (pods || namespaces))
        fault_forbidden(e, path, "may not specify both ipBlock and another peer");
}

static void check_policy_rules(struct field_errors *e, const struct field_path *path,
                               const struct value *rules, struct str peers,
                               const struct policy_scope *scope)
{
    size_t i = 0;
    value_each_item (rule, rules) {
        const struct field_path *at = path_item(path, i++);
        struct field_path peers_path = field_child(at, peers);
        size_t k = 0;
        value_each_item (port, value_get(rule, STR("ports")))
            check_policy_port(e, path_item(path_at(at, "ports"), k++), port);
        k = 0;
        value_each_item (peer, value_get(rule, peers))
            check_peer(e, path_item(&peers_path, k++), peer, scope);
    }
}

static void check_policy(struct field_errors *e, const struct value *obj,
                         const struct policy_scope *scope)
{
    static const struct str known[] = { STR("Ingress"), STR("Egress") };
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *types = value_get(spec, STR("policyTypes"));
    const struct field_path *path = path_root("spec");
    validate_label_selector(e, path_at(path, "podSelector"), validate_member(spec, "podSelector"),
                            scope->flags);
    check_policy_rules(e, path_at(path, "ingress"), value_get(spec, STR("ingress")), STR("from"),
                       scope);
    check_policy_rules(e, path_at(path, "egress"), value_get(spec, STR("egress")), STR("to"),
                       scope);
    if (validate__count(types) > 2) {
        fault_value(e, path_at(path, "policyTypes"), types,
                    "may not specify more than two policyTypes");
        return;
    }
    size_t i = 0;
    value_each_item (it, types)
        validate_one_of(e, path_item(path_at(path, "policyTypes"), i++), value_str(it),
                        WORDS(known));
}

static void create_policy(struct field_errors *e, const struct value *obj)
{
    check_policy(e, obj, &(const struct policy_scope){ 0 });
    declared_check(e, NULL, &policy, obj, NULL);
}

static void update_policy(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *old = value_get(old_obj, STR("spec"));
    bool bad = !validate_is_label_selector(validate_member(old, "podSelector"), 0);
    autoset blocks;
    text_set_init(&blocks);
    add_blocks(&blocks, value_get(old, STR("ingress")), STR("from"));
    add_blocks(&blocks, value_get(old, STR("egress")), STR("to"));
    check_policy(e, obj, &(const struct policy_scope){ &blocks, bad ? SELECTOR_ANY_VALUES : 0 });
    declared_check(e, NULL, &policy, obj, old_obj);
}

static void warn_of_peers(struct validate_warnings *w, const struct field_path *path,
                          const struct value *rules, struct str peers)
{
    size_t i = 0;
    value_each_item (rule, rules) {
        struct field_path peers_path = field_child(path_item(path, i++), peers);
        size_t k = 0;
        value_each_item (peer, value_get(rule, peers)) {
            const struct field_path *at = path_at(path_item(&peers_path, k++), "ipBlock");
            const struct value *block = value_get(peer, STR("ipBlock"));
            size_t n = 0;
            validate_warn_cidr(w, path_at(at, "cidr"), value_text(block, "cidr"));
            value_each_item (it, value_get(block, STR("except")))
                validate_warn_cidr(w, path_item(path_at(at, "except"), n++), value_str(it));
        }
    }
}

static void warn_of_policy(struct validate_warnings *w, const struct value *obj,
                           const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    (void)old_obj;
    warn_of_peers(w, path_at(path, "ingress"), value_get(spec, STR("ingress")), STR("from"));
    warn_of_peers(w, path_at(path, "egress"), value_get(spec, STR("egress")), STR("to"));
}

/* ---- IPAddress ---- */

static void create_address(struct field_errors *e, const struct value *obj)
{
    const struct value *ref = value_dig(obj, "spec", "parentRef");
    const struct field_path *path = path_at(path_root("spec"), "parentRef");
    static const struct str segments[] = { STR("resource"), STR("name"), STR("namespace") };
    struct str group = value_text(ref, "group");
    if (group.n)
        validate_name(e, path_at(path, "group"), NAME_SUBDOMAIN, group);
    for (size_t i = 0; i < 3; i++) {
        struct str text = value_str(value_get(ref, segments[i]));
        struct field_path at = field_child(path, segments[i]);
        if (text.n)
            validate_name(e, &at, NAME_PATH_SEGMENT, text);
    }
    declared_check(e, NULL, &address, obj, NULL);
}

static void update_address(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    declared_check(e, NULL, &address, obj, old_obj);
}

/* ---- ServiceCIDR ---- */

static void check_service_cidrs(struct field_errors *e, const struct value *spec)
{
    const struct value *cidrs = value_get(spec, STR("cidrs"));
    const struct field_path *path = path_at(path_root("spec"), "cidrs");
    size_t n = validate__count(cidrs), i = 0;
    struct cidr first, second;
    if (n == 0) {
        fault_required(e, path, "at least one CIDR required");
        return;
    }
    if (n > 2) {
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("networking.k8s.io/v1"), STR("ServiceCIDRSpec"), spec),
                    "may only hold up to 2 values");
        return;
    }
    value_each_item (it, cidrs)
        validate_cidr(e, path_item(path, i++), value_str(it));
    if (n == 2 && ip_cidr_parse(value_str(value_at(cidrs, 0)), &first) &&
        ip_cidr_parse(value_str(value_at(cidrs, 1)), &second) && first.ip.is_v4 == second.ip.is_v4)
        fault_value(e, path, cidrs,
                    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                    "2001:db8::/64");
}

static void create_service_cidr(struct field_errors *e, const struct value *obj)
{
    check_service_cidrs(e, value_get(obj, STR("spec")));
}

/* A second block may be added to a first; nothing else changes. */
static void update_service_cidr(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    const struct value *cidrs = value_dig(obj, "spec", "cidrs");
    const struct value *old = value_dig(old_obj, "spec", "cidrs");
    const struct field_path *path = path_at(path_root("spec"), "cidrs");
    size_t n = validate__count(cidrs), old_n = validate__count(old);
    if (n != old_n && !(old_n == 1 && n == 2)) {
        fault_value(e, path, cidrs, "field is immutable");
        return;
    }
    for (size_t i = 0; i < old_n; i++)
        if (!str_eq(value_str(value_at(cidrs, i)), value_str(value_at(old, i))))
            fault_text(e, path_item(path, i), value_str(value_at(cidrs, i)), "field is immutable");
    if (n != old_n)
        check_service_cidrs(e, value_get(obj, STR("spec")));
}

const struct validate_rules validate__network[] = {
    { GROUP, STR("NetworkPolicy"), .create = create_policy, .update = update_policy,
      .warn = warn_of_policy },
    { GROUP, STR("IPAddress"), .create = create_address, .update = update_address },
    { GROUP, STR("ServiceCIDR"), .create = create_service_cidr, .update = update_service_cidr },
    { .kind = { NULL, 0 } },
};
