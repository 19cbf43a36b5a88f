/* A pod's spec as a whole: what is left when volumes, containers, security and scheduling have
 * their own files. */
#include "api/inner.h"
#include "api/quantity.h"
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Claims for devices ---- */

static void check_claim(struct field_errors *e, const struct field_path *path,
                        const struct value *claim, struct text_set *names)
{
    struct str name = value_text(claim, "name");
    const struct value *direct = validate_member(claim, "resourceClaimName"),
                       *template = validate_member(claim, "resourceClaimTemplateName");
    if (!name.n)
        fault_required(e, path_at(path, "name"), "");
    else if (!text_set_add(names, name, claim))
        fault_duplicate(e, path_at(path, "name"), name);
    else
        (void)validate_name(e, path_at(path, "name"), NAME_LABEL, name);
    if (!direct == !template)
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("v1"), STR("PodResourceClaim"), claim), "%s",
                    direct ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                             "may be specified"
                           : "must specify one of: `resourceClaimName`, "
                             "`resourceClaimTemplateName`");
    if (direct)
        (void)validate_name(e, path_at(path, "resourceClaimName"), NAME_SUBDOMAIN,
                            value_str(direct));
    if (template)
        (void)validate_name(e, path_at(path, "resourceClaimTemplateName"), NAME_SUBDOMAIN,
                            value_str(template));
}

static void check_resource_claims(struct field_errors *e, const struct field_path *path,
                                  const struct pod_scope *scope)
{
    bool is_static = value_get(value_get(scope->meta, STR("annotations")), POD_MIRROR) != NULL;
    autoset names;
    text_set_init(&names);
    size_t i = 0;
    value_each_item (it, value_get(scope->spec, STR("resourceClaims"))) {
        if (is_static)
            fault_forbidden(e, path_root(""), "static pods do not support resource claims");
        else
            check_claim(e, path_item(path, i), it, &names);
        i++;
    }
}

/* ---- Names and DNS ---- */

static bool is_search_label(struct str s)
{
    if (str_starts(s, STR("_")))
        s = str_skip(s, 1);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        bool inner = i > 0 && i + 1 < s.n;
        if (!alnum && !((c == '-' || c == '_') && inner))
            return false;
    }
    return s.n > 0;
}

/* A subdomain whose labels may have underscores. */
static void check_search(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct str rest = text;
    bool good = text.n > 0;
    if (text.n > NAME_SUBDOMAIN_MAX)
        fault_text(e, path, text, "must be no more than 253 characters");
    while (good && rest.p)
        good = is_search_label(str_cut(&rest, '.'));
    if (!good)
        fault_text(e, path, text,
                   "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                   "characters, '_', '-' or '.', and must start and end with an alphanumeric "
                   "character (e.g. 'example.com', regex used for validation is "
                   "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')");
}

static void check_searches(struct field_errors *e, const struct field_path *path,
                           const struct value *searches)
{
    enum { SEARCHES_MAX = 32, SEARCH_BYTES_MAX = 2048 };
    size_t n = validate__count(searches), bytes = n ? n - 1 : 0, i = 0;
    value_each_item (it, searches)
        bytes += value_str(it).n;
    if (n > SEARCHES_MAX)
        fault_value(e, path, searches, "must not have more than %d search paths", SEARCHES_MAX);
    if (bytes > SEARCH_BYTES_MAX)
        fault_value(e, path, searches,
                    "must not have more than %d characters (including spaces) in the search list",
                    SEARCH_BYTES_MAX);
    value_each_item (it, searches) {
        struct str text = value_str(it);
        const struct field_path *at = path_item(path, i++);
        if (!str_eq(text, STR(".")))
            check_search(e, at, str_ends(text, STR(".")) ? str_take(text, text.n - 1) : text);
    }
}

static void check_dns(struct field_errors *e, const struct field_path *path, struct str policy,
                      const struct value *config)
{
    enum { NAMESERVERS_MAX = 3 };
    const struct value *servers = value_get(config, STR("nameservers"));
    if (str_eq(policy, STR("None")) && !config) {
        fault_required(e, path, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    const struct field_path *servers_path = path_at(path, "nameservers");
    if (str_eq(policy, STR("None")) && !validate__count(servers)) {
        fault_required(e, servers_path,
                       "must provide at least one DNS nameserver when `dnsPolicy` is None");
        return;
    }
    if (!config)
        return;
    if (validate__count(servers) > NAMESERVERS_MAX)
        fault_value(e, servers_path, servers, "must not have more than %d nameservers",
                    NAMESERVERS_MAX);
    size_t i = 0;
    value_each_item (it, servers)
        (void)validate_ip_legacy(e, path_item(servers_path, i++), value_str(it), NULL);
    check_searches(e, path_at(path, "searches"), value_get(config, STR("searches")));
    i = 0;
    value_each_item (it, value_get(config, STR("options"))) {
        if (!value_text(it, "name").n)
            fault_required(e, path_item(path_at(path, "options"), i), "must not be empty");
        i++;
    }
}

static void check_host_aliases(struct field_errors *e, const struct field_path *path,
                               const struct value *aliases)
{
    size_t i = 0;
    value_each_item (it, aliases) {
        const struct field_path *at = path_item(path, i++);
        (void)validate_ip_legacy(e, path_at(at, "ip"), value_text(it, "ip"), NULL);
        size_t k = 0;
        value_each_item (name, value_get(it, STR("hostnames")))
            (void)validate_name(e, path_item(path_at(at, "hostnames"), k++), NAME_SUBDOMAIN,
                                value_str(name));
    }
}

static void check_hostname_override(struct field_errors *e, const struct field_path *path,
                                    const struct value *spec)
{
    enum { HOSTNAME_MAX = 64 };
    const struct value *override = validate_member(spec, "hostnameOverride");
    if (!override)
        return;
    if (value_is_true(value_get(spec, STR("setHostnameAsFQDN"))))
        fault_forbidden(e, path, "may not be specified when setHostnameAsFQDN is true");
    if (value_is_true(value_get(spec, STR("hostNetwork"))))
        fault_forbidden(e, path, "may not be specified when hostNetwork is true");
    if (value_str(override).n > HOSTNAME_MAX)
        field_too_long(e, path, HOSTNAME_MAX);
    (void)validate_name(e, path, NAME_SUBDOMAIN, value_str(override));
}

/* ---- The host's namespaces ---- */

static void check_host_network(struct field_errors *e, const struct field_path *path,
                               const struct pod_scope *scope)
{
    if (!value_is_true(value_get(scope->spec, STR("hostNetwork"))))
        return;
    size_t i = 0;
    value_each_item (container, value_get(scope->spec, STR("containers"))) {
        const struct field_path *ports = path_at(path_item(path, i), "ports");
        i++;
        size_t k = 0;
        value_each_item (it, value_get(container, STR("ports"))) {
            int64_t host = validate_int(it, "hostPort");
            const struct field_path *at = path_item(ports, k++);
            if ((scope->rules->is_pod || host) && host != validate_int(it, "containerPort"))
                fault_int(e, path_at(at, "hostPort"), host,
                          "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void check_host_users(struct field_errors *e, const struct field_path *path,
                             const struct pod_scope *scope)
{
    if (scope->host_users)
        return;
    const char *why = "when `hostUsers` is false";
    if (value_is_true(value_get(scope->spec, STR("hostNetwork"))) &&
        !scope->rules->keeps_userns_host_network)
        fault_forbidden(e, path_at(path, "hostNetwork"), "%s", why);
    if (value_is_true(value_get(scope->spec, STR("hostPID"))))
        fault_forbidden(e, path_at(path, "HostPID"), "%s", why);
    if (value_is_true(value_get(scope->spec, STR("hostIPC"))))
        fault_forbidden(e, path_at(path, "HostIPC"), "%s", why);
    for (size_t k = 0; k < POD_CONTAINER_LISTS && !scope->rules->keeps_userns_devices; k++) {
        struct field_path list = field_child(path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(scope->spec, pod_container_lists[k])) {
            if (validate_count(it, "volumeDevices"))
                fault_forbidden(e, path_at(path_item(&list, i), "volumeDevices"), "%s", why);
            i++;
        }
    }
}

/* ---- Gates and files ---- */

static void check_gates(struct field_errors *e, const struct field_path *path,
                        const struct value *spec)
{
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("readinessGates")))
        (void)validate_name(
            e, path_at(path_item(path_at(path, "readinessGates"), i++), "conditionType"),
            NAME_QUALIFIED, value_text(it, "conditionType"));
    autoset seen;
    text_set_init(&seen);
    i = 0;
    value_each_item (it, value_get(spec, STR("schedulingGates"))) {
        const struct field_path *at = path_item(path_at(path, "schedulingGates"), i++);
        struct str name = value_text(it, "name");
        (void)validate_name(e, at, NAME_QUALIFIED, name);
        if (!text_set_add(&seen, name, it))
            fault_duplicate(e, at, name);
    }
}

/* The volumes by name, looked for only where a variable asks. */
struct volume_names {
    const struct value *volumes;
    bool is_ready;
    struct text_set set;
};

static const struct value *volume_named(struct volume_names *names, struct str name)
{
    for (size_t i = names->is_ready ? 0 : validate__count(names->volumes); i-- > 0;) {
        const struct value *it = value_at(names->volumes, i); /* of equal names the last counts */
        if (it)
            (void)text_set_add(&names->set, value_text(it, "name"), it);
    }
    names->is_ready = true;
    return text_set_get(&names->set, name);
}

/* Variables that are read from files: only from an emptyDir. */
static void check_file_refs(struct field_errors *e, const struct field_path *path,
                            struct volume_names *names, const struct value *env)
{
    size_t i = 0;
    value_each_item (it, env) {
        const struct field_path *at = path_item(path, i++);
        const struct value *ref = validate_member(validate_member(it, "valueFrom"), "fileKeyRef");
        if (!ref)
            continue;
        struct str name = value_text(ref, "volumeName");
        const struct value *volume = volume_named(names, name);
        const struct field_path *name_path =
            path_at(path_at(path_at(at, "valueFrom"), "fileKeyRef"), "volumeName");
        if (!volume)
            fault_not_found(e, name_path, name);
        else if (!validate_member(volume, "emptyDir"))
            fault_text(e, name_path, name, "referenced volume must be of type emptyDir");
    }
}

static void check_all_file_refs(struct field_errors *e, const struct field_path *path,
                                const struct value *spec)
{
    struct volume_names names = { .volumes = value_get(spec, STR("volumes")) };
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        struct field_path list = field_child(path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            check_file_refs(e, path_at(path_item(&list, i++), "env"), &names,
                            value_get(it, STR("env")));
    }
    text_set_done(&names.set);
}

/* ---- The spec ---- */

static void check_policies(struct field_errors *e, const struct field_path *path,
                           const struct value *spec)
{
    static const struct str restart[] = { STR("Always"), STR("OnFailure"), STR("Never") };
    static const struct str dns[] = { STR("ClusterFirstWithHostNet"), STR("ClusterFirst"),
                                      STR("Default"), STR("None") };
    struct str policy = value_text(spec, "restartPolicy");
    if (validate_required(e, path_at(path, "restartPolicy"), policy))
        (void)validate_one_of(e, path_at(path, "restartPolicy"), policy, WORDS(restart));
    policy = value_text(spec, "dnsPolicy");
    if (validate_required(e, path_at(path, "dnsPolicy"), policy))
        (void)validate_one_of(e, path_at(path, "dnsPolicy"), policy, WORDS(dns));
}

static void check_optional_name(struct field_errors *e, const struct field_path *path,
                                const struct value *spec, struct str field, enum name_rule rule)
{
    struct str name = value_str(value_get(spec, field));
    struct field_path at = field_child(path, field);
    if (name.n)
        (void)validate_name(e, &at, rule, name);
}

static void check_names(struct field_errors *e, const struct field_path *path,
                        const struct value *spec)
{
    struct str account = value_text(spec, "serviceAccountName"),
               older = value_text(spec, "serviceAccount");
    check_optional_name(e, path, spec, STR("serviceAccountName"), NAME_SUBDOMAIN);
    if (!str_eq(account, older)) {
        struct str quoted = field_quoted(e, account);
        fault_text(e, path_at(path, "deprecatedServiceAccount"), older,
                   "must be the same as serviceAccountName: " STR_FMT, STR_ARG(quoted));
    }
    check_optional_name(e, path, spec, STR("nodeName"), NAME_SUBDOMAIN);
    const struct value *deadline = validate_member(spec, "activeDeadlineSeconds");
    if (deadline)
        (void)validate_between(e, path_at(path, "activeDeadlineSeconds"), validate__int(deadline),
                               1, INT32_MAX);
    check_optional_name(e, path, spec, STR("hostname"), NAME_LABEL);
    check_optional_name(e, path, spec, STR("subdomain"), NAME_LABEL);
}

static void check_classes(struct field_errors *e, const struct field_path *path,
                          const struct pod_scope *scope)
{
    static const struct str preemption[] = { STR("PreemptLowerPriority"), STR("Never") };
    const struct value *spec = scope->spec, *runtime = validate_member(spec, "runtimeClassName"),
                       *policy = validate_member(spec, "preemptionPolicy"),
                       *overhead = validate_member(spec, "overhead");
    check_optional_name(e, path, spec, STR("priorityClassName"), NAME_SUBDOMAIN);
    if (runtime)
        (void)validate_name(e, path_at(path, "runtimeClassName"), NAME_SUBDOMAIN,
                            value_str(runtime));
    if (policy && validate_required(e, path_at(path, "preemptionPolicy"), value_str(policy)))
        (void)validate_one_of(e, path_at(path, "preemptionPolicy"), value_str(policy),
                              WORDS(preemption));
    if (!overhead)
        return;
    struct value limits = value_object(); /* the rules of a container's limits */
    struct value_field field = { STR("limits"), *overhead };
    limits.n = 1;
    limits.fields = &field;
    validate_resource_requirements(e, path_at(path, "overhead"), &limits, NULL,
                                   scope->rules->keeps_hugepages ? RESOURCES_ANY_HUGEPAGES : 0);
}

static void check_scheduling_group(struct field_errors *e, const struct field_path *path,
                                   const struct value *group)
{
    const struct value *name = validate_member(group, "podGroupName");
    if (!group)
        return;
    if (!name)
        fault_value(e, path_at(path, "podGroupName"), NULL, "must specify one of: `podGroupName`");
    else
        (void)validate_name(e, path_at(path, "podGroupName"), NAME_SUBDOMAIN, value_str(name));
}

static void check_parts(struct field_errors *e, const struct field_path *path,
                        const struct pod_scope *scope)
{
    const struct value *spec = scope->spec, *affinity = validate_member(spec, "affinity");
    (void)validate_labels(e, path_at(path, "nodeSelector"), value_get(spec, STR("nodeSelector")));
    validate_pod_security_context(e, path_at(path, "securityContext"), scope);
    const struct value *shared = validate_member(spec, "shareProcessNamespace");
    if (value_is_true(shared) && value_is_true(value_get(spec, STR("hostPID"))))
        fault_value(e, path_at(path, "shareProcessNamespace"), shared,
                    "ShareProcessNamespace and HostPID cannot both be enabled");
    if (affinity)
        validate_affinity(e, path_at(path, "affinity"), affinity, scope->rules);
    check_dns(e, path_at(path, "dnsConfig"), value_text(spec, "dnsPolicy"),
              validate_member(spec, "dnsConfig"));
    check_gates(e, path, spec);
    validate_spread_constraints(e, path_at(path, "topologySpreadConstraints"),
                                value_get(spec, STR("topologySpreadConstraints")), scope->rules);
    validate_host_process(e, path, spec);
    check_host_users(e, path, scope);
    check_hostname_override(e, path_at(path, "hostnameOverride"), spec);
    check_names(e, path, spec);
    validate_tolerations(e, path_at(path, "tolerations"), value_get(spec, STR("tolerations")),
                         scope->rules->keeps_toleration_order);
    check_host_aliases(e, path_at(path, "hostAliases"), value_get(spec, STR("hostAliases")));
    check_classes(e, path, scope);
    validate_pod_os(e, path, spec);
    check_scheduling_group(e, path_at(path, "schedulingGroup"),
                           validate_member(spec, "schedulingGroup"));
    check_all_file_refs(e, path, spec);
}

void validate_pod_spec(struct field_errors *e, const struct field_path *path,
                       const struct value *spec, const struct value *meta,
                       const struct pod_rules *rules)
{
    const struct value *host_users = validate_member(spec, "hostUsers");
    struct pod_scope scope;
    scope.rules = rules;
    scope.spec = spec;
    scope.meta = meta;
    scope.grace_period = validate_member(spec, "terminationGracePeriodSeconds");
    scope.os = validate_member(spec, "os");
    scope.restart_policy = value_text(spec, "restartPolicy");
    scope.host_users = !host_users || value_is_true(host_users);
    text_set_init(&scope.volumes);
    if (!scope.grace_period)
        fault_required(e, path_at(path, "terminationGracePeriodSeconds"), "");
    validate_pod_volumes(e, path_at(path, "volumes"), &scope);
    check_resource_claims(e, path_at(path, "resourceClaims"), &scope);
    validate_containers(e, path_at(path, "containers"), &scope);
    validate_init_containers(e, path_at(path, "initContainers"), &scope);
    validate_ephemeral_containers(e, path_at(path, "ephemeralContainers"), &scope);
    validate_pod_resources(e, path_at(path, "resources"), spec, rules);
    check_host_network(e, path_at(path, "containers"), &scope);
    check_policies(e, path, spec);
    check_parts(e, path, &scope);
    text_set_done(&scope.volumes);
}

void validate_pod_template(struct field_errors *e, const struct field_path *path,
                           const struct value *template, const struct value *old_template)
{
    const struct value *spec = validate_member(template, "spec"),
                       *meta = validate_member(template, "metadata");
    struct pod_rules rules = validate_pod_rules_of(validate_member(old_template, "spec"),
                                                   validate_member(old_template, "metadata"));
    (void)validate_labels(e, path_at(path, "labels"), value_get(meta, STR("labels")));
    (void)validate_annotations(e, path_at(path, "annotations"),
                               value_get(meta, STR("annotations")));
    const struct value *annotations = value_get(meta, STR("annotations"));
    validate_pod_annotations(e, path_at(path, "annotations"), annotations, spec, &rules);
    validate_pod_spec(e, path_at(path, "spec"), spec, NULL, &rules);
    validate_pod_profiles_match(e, path_at(path, "spec"), annotations, spec);
    if (validate_count(spec, "ephemeralContainers"))
        fault_forbidden(e, path_at(path_at(path, "spec"), "ephemeralContainers"),
                        "ephemeral containers not allowed in pod template");
}
