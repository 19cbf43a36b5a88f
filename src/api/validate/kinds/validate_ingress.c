/* Ingress and IngressClass. */
#include "api/validate/declared.h"
#include "api/ip.h"
#include "api/validate/validate_parts.h"
#include "base/idiom.h"
#include "base/banned.h"

#define GROUP STR("networking.k8s.io")
#define CLASS STR("kubernetes.io/ingress.class")

/* What an old object has although it may not, and whether the request is of a version that calls
 * things by their older names. */
struct ingress_rules {
    bool keeps_secret_names, keeps_wildcards, old_names;
};

/* ---- Backends ---- */

static void check_resource_ref(struct field_errors *e, const struct field_path *path,
                               const struct value *ref)
{
    if (validate_member(ref, "apiGroup"))
        validate_name(e, path_at(path, "apiGroup"), NAME_SUBDOMAIN, value_text(ref, "apiGroup"));
    validate_required_name(e, path_at(path, "kind"), NAME_PATH_SEGMENT, value_text(ref, "kind"));
    validate_required_name(e, path_at(path, "name"), NAME_PATH_SEGMENT, value_text(ref, "name"));
}

static void check_service_backend(struct field_errors *e, const struct field_path *path,
                                  const struct value *service, const struct ingress_rules *rules)
{
    const struct value *port = value_get(service, STR("port"));
    const struct field_path *at = path_at(path, "service"), *port_path = path_at(at, "port"),
                            *old = path_at(path, "servicePort");
    struct str port_name = value_text(port, "name");
    int64_t number = validate_int(port, "number");
    validate_required_name(e, rules->old_names ? path_at(path, "serviceName") : path_at(at, "name"),
                           NAME_LABEL, value_text(service, "name"));
    if (port_name.n && number)
        fault_text(e, path, STR(""), "cannot set both port name & port number");
    else if (port_name.n)
        validate_port_name(e, rules->old_names ? old : path_at(port_path, "name"), port_name);
    else if (number)
        validate_port(e, rules->old_names ? old : path_at(port_path, "number"), number);
    else
        fault_required(e, path, "port name or number is required");
}

static void check_backend(struct field_errors *e, const struct field_path *path,
                          const struct value *backend, const struct ingress_rules *rules)
{
    const struct value *resource = validate_member(backend, "resource"),
                       *service = validate_member(backend, "service");
    if (resource && service)
        fault_text(e, path, STR(""), "cannot set both resource and service backends");
    else if (resource)
        check_resource_ref(e, path_at(path, "resource"), resource);
    else if (service)
        check_service_backend(e, path, service, rules);
    else
        fault_text(e, path, STR(""), "resource or service backend is required");
}

/* ---- Paths ---- */

static bool contains(struct str text, struct str part)
{
    return text.n && memmem(text.p, text.n, part.p, part.n) != NULL;
}

static void check_url_path(struct field_errors *e, const struct field_path *path, struct str text)
{
    static const struct str sequences[] = { STR("//"), STR("/./"), STR("/../"), STR("%2f"),
                                            STR("%2F") };
    static const struct str suffixes[] = { STR("/.."), STR("/.") };
    if (!str_starts(text, STR("/")))
        fault_text(e, path, text, "must be an absolute path");
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++)
        if (contains(text, sequences[i]))
            fault_text(e, path, text, "must not contain '" STR_FMT "'", STR_ARG(sequences[i]));
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_ends(text, suffixes[i]))
            fault_text(e, path, text, "cannot end with '" STR_FMT "'", STR_ARG(suffixes[i]));
}

static void check_http_path(struct field_errors *e, const struct field_path *path,
                            const struct value *of, const struct ingress_rules *rules)
{
    static const struct str types[] = { STR("Exact"), STR("ImplementationSpecific"),
                                        STR("Prefix") };
    struct str type = value_text(of, "pathType"), text = value_text(of, "path");
    if (!validate_member(of, "pathType")) {
        fault_required(e, path_at(path, "pathType"), "pathType must be specified");
        return;
    }
    if (validate_one_of(e, path_at(path, "pathType"), type, WORDS(types))) {
        if (!str_eq(type, types[1]))
            check_url_path(e, path_at(path, "path"), text);
        else if (text.n && !str_starts(text, STR("/")))
            fault_text(e, path_at(path, "path"), text, "must be an absolute path");
    }
    check_backend(e, path_at(path, "backend"), value_get(of, STR("backend")), rules);
}

static void check_http(struct field_errors *e, const struct field_path *path,
                       const struct value *rule, const struct ingress_rules *rules)
{
    const struct value *http = validate_member(rule, "http");
    const struct field_path *paths = path_at(path_at(path, "http"), "paths");
    size_t i = 0;
    if (!http)
        return;
    if (!validate_count(http, "paths"))
        fault_required(e, paths, "");
    value_each_item (it, value_get(http, STR("paths")))
        check_http_path(e, path_item(paths, i++), it, rules);
}

/* ---- Rules ---- */

static bool check_host(struct field_errors *e, const struct field_path *path, struct str host)
{
    bool wildcard = str_find(host, '*') >= 0;
    if (wildcard)
        validate_wildcard_domain(e, path, host);
    else
        validate_name(e, path, NAME_SUBDOMAIN, host);
    return wildcard;
}

static void check_rule(struct field_errors *e, const struct field_path *path,
                       const struct value *rule, const struct ingress_rules *rules)
{
    struct str host = value_text(rule, "host");
    bool wildcard = false;
    struct ip ip;
    if (host.n && ip_parse(host, &ip))
        fault_text(e, path_at(path, "host"), host, "must be a DNS name, not an IP address");
    if (host.n)
        wildcard = check_host(e, path_at(path, "host"), host);
    if (!wildcard || !rules->keeps_wildcards)
        check_http(e, path, rule, rules);
}

static void check_tls(struct field_errors *e, const struct field_path *path,
                      const struct value *tls, const struct ingress_rules *rules)
{
    struct str secret = value_text(tls, "secretName");
    size_t i = 0;
    value_each_item (it, value_get(tls, STR("hosts"))) {
        (void)check_host(e, path_item(path_at(path, "hosts"), i), value_str(it));
        i++;
    }
    if (secret.n && !rules->keeps_secret_names)
        validate_name(e, path_at(path, "secretName"), NAME_SUBDOMAIN, secret);
}

static void check_ingress(struct field_errors *e, const struct value *obj,
                          const struct ingress_rules *rules)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *backend = validate_member(spec, "defaultBackend");
    const struct field_path *path = path_root("spec");
    size_t i = 0;
    if (!validate_count(spec, "rules") && !backend)
        fault_value(e, path, NULL, "either `%s` or `rules` must be specified",
                    rules->old_names ? "backend" : "defaultBackend");
    if (backend)
        check_backend(e,
                      rules->old_names ? path_at(path, "backend") : path_at(path, "defaultBackend"),
                      backend, rules);
    value_each_item (it, value_get(spec, STR("rules")))
        check_rule(e, path_item(path_at(path, "rules"), i++), it, rules);
    i = 0;
    value_each_item (it, value_get(spec, STR("tls")))
        check_tls(e, path_item(path_at(path, "tls"), i++), it, rules);
    if (validate_member(spec, "ingressClassName"))
        validate_name(e, path_at(path, "ingressClassName"), NAME_SUBDOMAIN,
                      value_text(spec, "ingressClassName"));
}

/* Old versions are not as strict about names and wildcards. */
static const struct ingress_rules old_rules = { .keeps_secret_names = true,
                                                .keeps_wildcards = true,
                                                .old_names = true };

static void check_new_ingress(struct field_errors *e, const struct value *obj,
                              const struct ingress_rules *rules)
{
    const struct value *noted = value_get(value_dig(obj, "metadata", "annotations"), CLASS);
    const struct value *class = value_dig(obj, "spec", "ingressClassName");
    check_ingress(e, obj, rules);
    struct field_path path = field_child(path_root("annotations"), CLASS);
    if (noted && value_is(class, VALUE_STRING) && !str_eq(value_str(noted), value_str(class)))
        fault_text(e, &path, value_str(noted),
                   "must match `ingressClassName` when both are specified");
}

static void create_ingress(struct field_errors *e, const struct value *obj)
{
    check_new_ingress(e, obj, &(const struct ingress_rules){ 0 });
}

static void create_old_ingress(struct field_errors *e, const struct value *obj)
{
    check_new_ingress(e, obj, &old_rules);
}

static struct ingress_rules rules_of(struct arena *a, const struct value *old_obj)
{
    struct ingress_rules rules = { 0 };
    value_each_item (tls, value_dig(old_obj, "spec", "tls")) {
        struct name_faults faults = { 0 };
        struct str name = value_text(tls, "secretName");
        if (name.n && !name_check(NAME_SUBDOMAIN, name, &faults))
            rules.keeps_secret_names = true;
    }
    value_each_item (rule, value_dig(old_obj, "spec", "rules")) {
        struct field_errors old = FIELD_ERRORS_INIT(a);
        if (str_find(value_text(rule, "host"), '*') < 0)
            continue;
        check_http(&old, path_root("spec"), rule, &rules);
        rules.keeps_wildcards = rules.keeps_wildcards || old.n > 0;
    }
    return rules;
}

static void update_ingress(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    struct ingress_rules rules = rules_of(e->arena, old_obj);
    check_ingress(e, obj, &rules);
}

static void update_old_ingress(struct field_errors *e, const struct value *obj,
                               const struct value *old_obj)
{
    (void)old_obj;
    check_ingress(e, obj, &old_rules);
}

static void update_ingress_status(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    validate_load_balancer(e, path_at(path_root("status"), "loadBalancer"),
                           value_dig(obj, "status", "loadBalancer"),
                           value_dig(old_obj, "status", "loadBalancer"), false);
}

static void warn_of_ingress(struct validate_warnings *w, const struct value *obj,
                            const struct value *old_obj)
{
    if (!old_obj && value_get(value_dig(obj, "metadata", "annotations"), CLASS) &&
        !validate_member(value_get(obj, STR("spec")), "ingressClassName"))
        validate_add_warning(w, "annotation \"kubernetes.io/ingress.class\" is deprecated, please "
                                "use 'spec.ingressClassName' instead");
}

/* ---- IngressClass ---- */

DECLARED_TYPE(parameters, { STR("kind"), .flags = DECLARED_REQUIRED },
              { STR("name"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(class_spec, { STR("parameters"), .type = &parameters });
DECLARED_TYPE(class_type, { STR("spec"), .type = &class_spec });

static void check_scope(struct field_errors *e, const struct field_path *path,
                        const struct value *ref)
{
    static const struct str scopes[] = { STR("Cluster"), STR("Namespace") };
    const struct value *ns = validate_member(ref, "namespace");
    struct str scope = value_text(ref, "scope");
    if (!validate_member(ref, "scope")) {
        fault_required(e, path_at(path, "scope"), "");
        return;
    }
    if (!validate_one_of(e, path_at(path, "scope"), scope, WORDS(scopes)))
        return;
    if (str_eq(scope, scopes[0])) {
        if (ns)
            fault_forbidden(e, path_at(path, "namespace"),
                            "`parameters.scope` is set to 'Cluster'");
    } else if (ns) {
        validate_name(e, path_at(path, "namespace"), NAME_LABEL, value_str(ns));
    } else {
        fault_required(e, path_at(path, "namespace"), "`parameters.scope` is set to 'Namespace'");
    }
}

static void check_class(struct field_errors *e, const struct value *obj)
{
    enum { CONTROLLER_MAX = 250 };
    const struct value *spec = value_get(obj, STR("spec")),
                       *ref = validate_member(spec, "parameters");
    const struct field_path *path = path_root("spec"), *at = path_at(path, "parameters");
    struct str controller = value_text(spec, "controller");
    if (controller.n > CONTROLLER_MAX)
        field_too_long(e, path_at(path, "controller"), CONTROLLER_MAX);
    validate_domain_path(e, path_at(path, "controller"), controller);
    if (!ref)
        return;
    if (validate_member(ref, "apiGroup"))
        validate_name(e, path_at(at, "apiGroup"), NAME_SUBDOMAIN, value_text(ref, "apiGroup"));
    if (value_text(ref, "kind").n)
        validate_name(e, path_at(at, "kind"), NAME_PATH_SEGMENT, value_text(ref, "kind"));
    if (value_text(ref, "name").n)
        validate_name(e, path_at(at, "name"), NAME_PATH_SEGMENT, value_text(ref, "name"));
    check_scope(e, at, ref);
}

static void create_class(struct field_errors *e, const struct value *obj)
{
    check_class(e, obj);
    declared_check(e, NULL, &class_type, obj, NULL);
}

static void update_class(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    validate_immutable(e, path_at(path_root("spec"), "controller"),
                       value_dig(obj, "spec", "controller"),
                       value_dig(old_obj, "spec", "controller"));
    check_class(e, obj);
    declared_check(e, NULL, &class_type, obj, old_obj);
}

const struct validate_rules validate__ingress[] = {
    { GROUP, STR("Ingress"), .create = create_ingress, .update = update_ingress,
      .update_status = update_ingress_status, .warn = warn_of_ingress },
    { GROUP, STR("Ingress"), .create = create_old_ingress, .update = update_old_ingress,
      .update_status = update_ingress_status, .warn = warn_of_ingress, .version = STR("v1beta1") },
    { STR("extensions"), STR("Ingress"), .create = create_old_ingress, .update = update_old_ingress,
      .update_status = update_ingress_status, .warn = warn_of_ingress },
    { GROUP, STR("IngressClass"), .create = create_class, .update = update_class },
    { .kind = { NULL, 0 } },
};
