/* What is no fault of a pod or a template, but deserves a word. */
#include "api/keys.h"
#include "api/profile_note.h"
#include "api/quantity.h"
#include "api/go/quote.h"
#include "api/validate/validate_parts.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

static struct str quoted(struct validate_warnings *w, struct str text)
{
    autobuf out = { 0 };
    quote_go(&out, text);
    return arena_str(w->arena, buf_str(&out));
}

void validate_warn_name(struct validate_warnings *w, struct str name, const char *words)
{
    struct name_faults f = { 0 };
    if (name_check(NAME_LABEL, name, &f))
        return;
    autobuf list = { 0 };
    for (size_t i = 0; i < f.n; i++)
        buf_printf(&list, "%s%s%s", i ? " " : "", f.list[i].part, f.list[i].why);
    validate_add_warning(w, "metadata.name: %s: [" STR_FMT "]", words, STR_ARG(buf_str(&list)));
}

/* ---- Nodes ---- */

static void warn_of_nodes(struct validate_warnings *w, const struct field_path *spec_path,
                          const struct value *spec)
{
    value_each_field (f, value_get(spec, STR("nodeSelector"))) {
        const char *words = validate_deprecated_node_label(f->key);
        if (words)
            validate_warn_at(w, path_key(path_at(spec_path, "nodeSelector"), f->key), "%s", words);
    }
    const struct value *affinity = value_dig(spec, "affinity", "nodeAffinity");
    if (!affinity)
        return;
    const struct field_path *path = path_at(path_at(spec_path, "affinity"), "nodeAffinity");
    const struct field_path *required = path_at(
        path_at(path, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    size_t i = 0;
    value_each_item (it, value_dig(affinity, "requiredDuringSchedulingIgnoredDuringExecution",
                                   "nodeSelectorTerms"))
        validate_warn_node_term(w, path_item(required, i++), it, false);
    const struct field_path *preferred =
        path_at(path, "preferredDuringSchedulingIgnoredDuringExecution");
    i = 0;
    value_each_item (it,
                     value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution")))
        validate_warn_node_term(w, path_at(path_item(preferred, i++), "preference"),
                                value_get(it, STR("preference")), true);
}

static void warn_of_spreading(struct validate_warnings *w, const struct field_path *spec_path,
                              const struct value *spec)
{
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("topologySpreadConstraints"))) {
        const struct field_path *at =
            path_item(path_at(spec_path, "topologySpreadConstraints"), i++);
        struct str key = value_text(it, "topologyKey");
        const char *words = validate_deprecated_node_label(key);
        if (words)
            validate_warn_at(w, path_at(at, "topologyKey"), STR_FMT " is %s", STR_ARG(key), words);
        if (!validate_member(it, "labelSelector"))
            validate_warn_at(w, path_at(at, "labelSelector"),
                             "a null labelSelector results in matching no pod");
    }
}

static void warn_of_affinity(struct validate_warnings *w, const struct field_path *path,
                             const struct value *affinity)
{
    const char *words = "a null labelSelector results in matching no pod";
    size_t i = 0;
    value_each_item (it,
                     value_get(affinity, STR("requiredDuringSchedulingIgnoredDuringExecution"))) {
        const struct field_path *at =
            path_item(path_at(path, "requiredDuringSchedulingIgnoredDuringExecution"), i++);
        if (!validate_member(it, "labelSelector"))
            validate_warn_at(w, path_at(at, "labelSelector"), "%s", words);
    }
    i = 0;
    value_each_item (it,
                     value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution"))) {
        const struct field_path *at =
            path_item(path_at(path, "preferredDuringSchedulingIgnoredDuringExecution"), i++);
        if (!validate_member(validate_member(it, "podAffinityTerm"), "labelSelector"))
            validate_warn_at(w, path_at(path_at(at, "podAffinityTerm"), "labelSelector"), "%s",
                             words);
    }
}

/* ---- Annotations ---- */

static void warn_of_annotations(struct validate_warnings *w, const struct field_path *meta_path,
                                const struct value *annotations)
{
    static const struct {
        struct str key;
        const char *words;
    } deprecated[] = {
        { STR("scheduler.alpha.kubernetes.io/critical-pod"),
          "non-functional in v1.16+; use the \"priorityClassName\" field instead" },
        { STR("security.alpha.kubernetes.io/sysctls"),
          "non-functional in v1.11+; use the \"sysctls\" field instead" },
        { STR("security.alpha.kubernetes.io/unsafe-sysctls"),
          "non-functional in v1.11+; use the \"sysctls\" field instead" },
    };
    for (size_t i = 0; annotations && i < ARRAY_LEN(deprecated); i++)
        if (validate_map_member(annotations, deprecated[i].key))
            validate_warn_at(w, path_key(path_at(meta_path, "annotations"), deprecated[i].key),
                             "%s", deprecated[i].words);
}

/* An annotation of a profile whose field is not set does nothing, or will not for long. */
static void warn_of_profile(struct validate_warnings *w, const struct field_path *meta_path,
                            const struct value *annotations, struct str key, const char *words)
{
    if (validate_map_member(annotations, key))
        validate_warn_at(w, path_key(path_at(meta_path, "annotations"), key), "%s", words);
}

static bool says_the_same(const struct value *profile, struct str note)
{
    struct str local, type = profile_note_type(note, &local);
    return type.n && str_eq(type, value_text(profile, "type")) &&
           (!str_eq(type, STR("Localhost")) ||
            str_eq(local, value_text(profile, "localhostProfile")));
}

static void warn_of_profiles(struct validate_warnings *w, const struct field_path *meta_path,
                             const struct value *annotations, const struct value *spec,
                             const struct value *container, bool is_template)
{
    if (!validate__count(annotations))
        return;
    const struct value *sc = validate_member(container, "securityContext"),
                       *of_pod = validate_member(validate_member(spec, "securityContext"),
                                                 "appArmorProfile");
    struct str name = value_text(container, "name");
    if (!validate_member(sc, "seccompProfile"))
        warn_of_profile(w, meta_path, annotations,
                        arena_printf(w->arena, KEY_ALPHA_SECCOMP_CONTAINER STR_FMT, STR_ARG(name)),
                        "non-functional in v1.27+; use the \"seccompProfile\" field instead");
    struct str key = arena_printf(w->arena, KEY_BETA_APPARMOR_CONTAINER STR_FMT, STR_ARG(name));
    const struct value *note = validate_map_member(annotations, key);
    if (is_template && !validate_member(sc, "appArmorProfile") && note &&
        !(of_pod && says_the_same(of_pod, value_str(note))))
        warn_of_profile(w, meta_path, annotations, key,
                        "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

/* ---- Volumes ---- */

static void warn_of_fraction(struct validate_warnings *w, const struct field_path *path,
                             const struct value *amounts, struct str name)
{
    struct str amount = value_str(value_get(amounts, name));
    if (!amount.n || quantity_is_whole(amount))
        return;
    struct str shown = quoted(w, amount);
    validate_warn_at(w, path_key(path, name),
                     "fractional byte value " STR_FMT " is invalid, must be an integer",
                     STR_ARG(shown));
}

static void warn_of_volumes(struct validate_warnings *w, const struct field_path *path,
                            const struct value *volumes)
{
    static const struct {
        struct str name;
        struct str shown; /* empty: its name */
        const char *words;
    } deprecated[] = {
        { STR("photonPersistentDisk"), STR(""), "deprecated in v1.11, non-functional in v1.16+" },
        { STR("gitRepo"), STR(""), "deprecated in v1.11, and disabled by default in v1.33+" },
        { STR("scaleIO"), STR(""), "deprecated in v1.16, non-functional in v1.22+" },
        { STR("flocker"), STR(""), "deprecated in v1.22, non-functional in v1.25+" },
        { STR("storageos"), STR("storageOS"), "deprecated in v1.22, non-functional in v1.25+" },
        { STR("quobyte"), STR(""), "deprecated in v1.22, non-functional in v1.25+" },
        { STR("glusterfs"), STR(""), "deprecated in v1.25, non-functional in v1.26+" },
        { STR("cephfs"), STR(""), "deprecated in v1.28, non-functional in v1.31+" },
        { STR("rbd"), STR(""), "deprecated in v1.28, non-functional in v1.31+" },
    };
    size_t i = 0;
    value_each_item (it, volumes) {
        const struct field_path *at = path_item(path, i++);
        for (size_t k = 0; k < ARRAY_LEN(deprecated); k++) {
            struct str shown = deprecated[k].shown.n ? deprecated[k].shown : deprecated[k].name;
            struct field_path source = field_child(at, shown);
            if (validate__member(it, deprecated[k].name))
                validate_warn_at(w, &source, "%s", deprecated[k].words);
        }
        const struct value *claim = value_dig(it, "ephemeral", "volumeClaimTemplate", "spec");
        if (!claim)
            continue;
        const struct field_path *resources = path_at(
            path_at(path_at(path_at(at, "ephemeral"), "volumeClaimTemplate"), "spec"), "resources");
        warn_of_fraction(w, path_at(resources, "requests"),
                         value_dig(claim, "resources", "requests"), STR("storage"));
        warn_of_fraction(w, path_at(resources, "limits"), value_dig(claim, "resources", "limits"),
                         STR("storage"));
    }
}

/* ---- Files that hide each other ---- */

struct file {
    struct str path, source; /* the source is empty where the volume has one only */
};

struct files {
    struct validate_warnings *w;
    struct str volume, kind;
    struct file *list;
    size_t n, cap;
};

enum { FILES_COMPARED = 500 };

static struct str file_text(struct files *f, const struct file *file)
{
    struct str path = quoted(f->w, file->path);
    if (!file->source.n)
        return path;
    return arena_printf(f->w->arena, STR_FMT " (" STR_FMT ")", STR_ARG(path),
                        STR_ARG(file->source));
}

static bool is_below(struct str path, struct str folder)
{
    return str_starts(path, folder) && (path.n == folder.n || path.p[folder.n] == '/');
}

static void warn_of_overlap(struct files *f, const struct file *file, const struct file *other)
{
    struct str one = file_text(f, file), two = file_text(f, other), name = quoted(f->w, f->volume);
    validate_add_warning(
        f->w, "volume " STR_FMT " (" STR_FMT "): overlapping paths: " STR_FMT " with " STR_FMT,
        STR_ARG(name), STR_ARG(f->kind), STR_ARG(one), STR_ARG(two));
}

static void add_file(struct files *f, struct str path, struct str source)
{
    while (str_ends(path, STR("/")))
        path = str_take(path, path.n - 1);
    struct file file = { path, source };
    if (f->n == FILES_COMPARED)
        return;
    for (size_t i = 0; path.n && i < f->n; i++) {
        const struct file *other = &f->list[i];
        if (other->path.n && (is_below(path, other->path) || is_below(other->path, path)))
            warn_of_overlap(f, &file, other);
    }
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 8;
        f->list = arena_grow(f->w->arena, f->list, f->cap * sizeof(file), cap * sizeof(file),
                             alignof(struct file));
        f->cap = cap;
    }
    f->list[f->n++] = file;
}

static void add_items(struct files *f, const struct value *source, struct str named)
{
    value_each_item (it, value_get(source, STR("items")))
        add_file(f, value_text(it, "path"), named);
}

static struct str named(struct validate_warnings *w, const char *kind, struct str name)
{
    struct str shown = quoted(w, name);
    return arena_printf(w->arena, "%s " STR_FMT, kind, STR_ARG(shown));
}

static void add_projection(struct files *f, const struct value *source)
{
    const struct value *config = validate_member(source, "configMap"),
                       *secret = validate_member(source, "secret"),
                       *downward = validate_member(source, "downwardAPI"),
                       *token = validate_member(source, "serviceAccountToken"),
                       *bundle = validate_member(source, "clusterTrustBundle"),
                       *certificate = validate_member(source, "podCertificate");
    if (validate_count(config, "items")) {
        add_items(f, config, named(f->w, "ConfigMap", value_text(config, "name")));
    } else if (validate_count(secret, "items")) {
        add_items(f, secret, named(f->w, "Secret", value_text(secret, "name")));
    } else if (validate_count(downward, "items")) {
        add_items(f, downward, STR("DownwardAPI"));
    } else if (token) {
        add_file(f, value_text(token, "path"), STR("ServiceAccountToken"));
    } else if (bundle) {
        const struct value *name = validate_member(bundle, "name");
        add_file(f, value_text(bundle, "path"),
                 named(f->w, "ClusterTrustBundle",
                       name ? value_str(name) : value_text(bundle, "signerName")));
    } else if (certificate) {
        struct str chain = value_text(certificate, "certificateChainPath"),
                   key = value_text(certificate, "keyPath"),
                   both = value_text(certificate, "credentialBundlePath");
        if (chain.n)
            add_file(f, chain, STR("PodCertificate chain"));
        if (key.n)
            add_file(f, key, STR("PodCertificate key"));
        if (both.n)
            add_file(f, both, STR("PodCertificate credential bundle"));
    }
}

static void warn_of_projected(struct validate_warnings *w, struct files *f,
                              const struct value *projected)
{
    f->kind = STR("Projected");
    value_each_item (it, value_get(projected, STR("sources"))) {
        if (validate__count(it)) {
            add_projection(f, it);
            continue;
        }
        struct str name = quoted(w, f->volume);
        validate_add_warning(w, "volume " STR_FMT " (Projected) has no sources provided",
                             STR_ARG(name));
    }
}

static void warn_of_files(struct validate_warnings *w, const struct value *volume)
{
    const struct value *config = validate_member(volume, "configMap"),
                       *secret = validate_member(volume, "secret"),
                       *downward = validate_member(volume, "downwardAPI"),
                       *projected = validate_member(volume, "projected");
    struct files f = { .w = w, .volume = value_text(volume, "name") };
    if (validate_count(config, "items")) {
        f.kind = named(w, "ConfigMap", value_text(config, "name"));
        add_items(&f, config, STR(""));
    }
    if (validate_count(secret, "items")) {
        f.kind = named(w, "Secret", value_text(secret, "secretName"));
        add_items(&f, secret, STR(""));
    }
    f.kind = STR("DownwardAPI");
    add_items(&f, downward, STR(""));
    if (projected)
        warn_of_projected(w, &f, projected);
}

/* ---- Lists that repeat themselves ---- */

static void warn_of_repeats(struct validate_warnings *w, const struct field_path *path,
                            const struct value *list, struct str field)
{
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, list) {
        struct str text = value_str(value_get(it, field));
        const struct field_path *at = path_item(path, i++);
        struct field_path field_path = field_child(at, field);
        if (text_set_add(&seen, text, it))
            continue;
        struct str shown = quoted(w, text);
        validate_warn_at(w, &field_path, "duplicate " STR_FMT " " STR_FMT, STR_ARG(field),
                         STR_ARG(shown));
    }
}

static void warn_of_pull_secrets(struct validate_warnings *w, const struct field_path *path,
                                 const struct value *secrets)
{
    warn_of_repeats(w, path, secrets, STR("name"));
    size_t i = 0;
    value_each_item (it, secrets) {
        const struct field_path *at = path_item(path, i++);
        if (!value_text(it, "name").n)
            validate_warn_at(w, path_at(at, "name"), "invalid empty name \"\"");
    }
}

static void warn_of_env(struct validate_warnings *w, const struct field_path *path,
                        const struct value *env)
{
    if (validate__count(env) < 2)
        return;
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, env) {
        const struct field_path *at = path_item(path, i++);
        struct str name = value_text(it, "name"), text = value_text(it, "value");
        if (text_set_add(&seen, name, it))
            continue;
        struct str ref = arena_printf(w->arena, "$(" STR_FMT ")", STR_ARG(name));
        bool builds_on_it = text.n > ref.n && memmem(text.p, text.n, ref.p, ref.n);
        if (builds_on_it && !validate_member(it, "valueFrom"))
            continue;
        struct str shown = quoted(w, name);
        validate_warn_at(w, at,
                         "hides previous definition of " STR_FMT
                         ", which may be dropped when using apply",
                         STR_ARG(shown));
    }
}

/* ---- Ports ---- */

/* A port and where it stands. */
struct port {
    const struct value *port;
    size_t list, container, index;
};

struct ports {
    const struct field_path *spec_path;
    struct port *all;
    size_t n;
};

enum { PORTS_COMPARED = 500 };

static struct str port_path(struct validate_warnings *w, const struct ports *ports,
                            const struct port *p)
{
    struct field_path list = field_child(ports->spec_path, pod_container_lists[p->list]);
    return field_path_text(w->arena,
                           path_item(path_at(path_item(&list, p->container), "ports"), p->index));
}

static const char *overlap_of(const struct value *port, const struct value *other)
{
    struct str host_ip = value_text(port, "hostIP"), other_ip = value_text(other, "hostIP");
    int64_t host_port = validate_int(port, "hostPort"),
            other_port = validate_int(other, "hostPort");
    if (validate_int(port, "containerPort") != validate_int(other, "containerPort") ||
        !str_eq(value_text(port, "protocol"), value_text(other, "protocol")))
        return NULL;
    if (str_eq(other_ip, host_ip) && other_port == host_port)
        return "duplicate";
    if (!host_port || !other_port)
        return "overlapping";
    return host_port == other_port && !host_ip.n != !other_ip.n ? "dangerously ambiguous" : NULL;
}

static void warn_of_port(struct validate_warnings *w, const struct ports *ports, size_t n)
{
    const struct port *p = &ports->all[n];
    struct str host_ip = value_text(p->port, "hostIP");
    if (host_ip.n && !validate_int(p->port, "hostPort")) {
        struct str at = port_path(w, ports, p);
        validate_add_warning(w,
                             STR_FMT ": hostIP set without hostPort: {Name:" STR_FMT
                                     " HostPort:0 ContainerPort:%ld Protocol:" STR_FMT
                                     " HostIP:" STR_FMT "}",
                             STR_ARG(at), STR_ARG(value_text(p->port, "name")),
                             (long)validate_int(p->port, "containerPort"),
                             STR_ARG(value_text(p->port, "protocol")), STR_ARG(host_ip));
    }
    for (size_t i = 0; i < n && w->n < VALIDATE_WARNINGS_MAX; i++) {
        const char *words = overlap_of(p->port, ports->all[i].port);
        if (!words)
            continue;
        struct str at = port_path(w, ports, p), other = port_path(w, ports, &ports->all[i]);
        validate_add_warning(w, STR_FMT ": %s port definition with " STR_FMT, STR_ARG(at), words,
                             STR_ARG(other));
    }
}

static void warn_of_port_name(struct validate_warnings *w, const struct ports *ports,
                              struct text_set *names, const struct port *port)
{
    struct str name = value_text(port->port, "name");
    if (!name.n || text_set_add(names, name, port))
        return;
    struct str at = port_path(w, ports, port), shown = quoted(w, name),
               first = port_path(w, ports, text_set_get(names, name));
    validate_add_warning(w,
                         STR_FMT
                         ": duplicate port name " STR_FMT " with " STR_FMT
                         ", services and probes that select ports by name will use " STR_FMT,
                         STR_ARG(at), STR_ARG(shown), STR_ARG(first), STR_ARG(first));
}

static size_t count_ports(const struct value *spec)
{
    size_t n = 0;
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++)
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            n += validate_count(it, "ports");
    return n < PORTS_COMPARED ? n : (size_t)PORTS_COMPARED;
}

static void warn_of_ports(struct validate_warnings *w, const struct field_path *spec_path,
                          const struct value *spec)
{
    size_t cap = count_ports(spec);
    struct ports ports = { .spec_path = spec_path };
    if (!cap)
        return;
    ports.all = arena_array(w->arena, struct port, cap);
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k])) {
            size_t m = 0;
            value_each_item (port, value_get(it, STR("ports")))
                if (ports.n < cap)
                    ports.all[ports.n++] = (struct port){ port, k, i, m++ };
            i++;
        }
    }
    autoset names;
    text_set_init(&names);
    for (size_t i = 0; i < ports.n; i++)
        warn_of_port(w, &ports, i);
    for (size_t i = 0; i < ports.n; i++)
        warn_of_port_name(w, &ports, &names, &ports.all[i]);
}

/* ---- Addresses ---- */

static void warn_of_ips(struct validate_warnings *w, const struct field_path *spec_path,
                        const struct value *spec)
{
    size_t i = 0;
    value_each_item (it, value_dig(spec, "dnsConfig", "nameservers"))
        validate_warn_ip(w, path_item(path_at(path_at(spec_path, "dnsConfig"), "nameservers"), i++),
                         value_str(it));
    i = 0;
    value_each_item (it, value_get(spec, STR("hostAliases")))
        validate_warn_ip(w, path_at(path_item(path_at(spec_path, "hostAliases"), i++), "ip"),
                         value_text(it, "ip"));
}

/* ---- Pods ---- */

static void warn_of_container(struct validate_warnings *w, const struct field_path *path,
                              const struct value *container)
{
    const struct value *resources = validate_member(container, "resources");
    const struct field_path *at = path_at(path, "resources");
    static const struct str names[] = { STR("memory"), STR("ephemeral-storage") };
    for (size_t i = 0; resources && i < 2; i++) {
        warn_of_fraction(w, path_at(at, "limits"), value_get(resources, STR("limits")), names[i]);
        warn_of_fraction(w, path_at(at, "requests"), value_get(resources, STR("requests")),
                         names[i]);
    }
    warn_of_env(w, path_at(path, "env"), value_get(container, STR("env")));
}

void validate_warn_pod(struct validate_warnings *w, const struct field_path *path,
                       const struct value *template)
{
    const struct value *spec = validate_member(template, "spec"),
                       *annotations = value_dig(template, "metadata", "annotations");
    const struct field_path *spec_path = path_at(path, "spec"),
                            *meta_path = path_at(path, "metadata");
    warn_of_nodes(w, spec_path, spec);
    warn_of_spreading(w, spec_path, spec);
    warn_of_annotations(w, meta_path, annotations);
    warn_of_volumes(w, path_at(spec_path, "volumes"), value_get(spec, STR("volumes")));
    value_each_item (it, value_get(spec, STR("volumes")))
        warn_of_files(w, it);
    warn_of_repeats(w, path_at(spec_path, "hostAliases"), value_get(spec, STR("hostAliases")),
                    STR("ip"));
    warn_of_pull_secrets(w, path_at(spec_path, "imagePullSecrets"),
                         value_get(spec, STR("imagePullSecrets")));
    warn_of_fraction(w, path_at(spec_path, "overhead"), validate_member(spec, "overhead"),
                     STR("memory"));
    warn_of_fraction(w, path_at(spec_path, "overhead"), validate_member(spec, "overhead"),
                     STR("ephemeral-storage"));
    if (annotations && !validate_member(validate_member(spec, "securityContext"), "seccompProfile"))
        warn_of_profile(w, meta_path, annotations, STR(KEY_ALPHA_SECCOMP_POD),
                        "non-functional in v1.27+; use the \"seccompProfile\" field instead");
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        struct field_path list = field_child(spec_path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k])) {
            warn_of_profiles(w, meta_path, annotations, spec, it, path != NULL);
            warn_of_container(w, path_item(&list, i++), it);
        }
    }
    warn_of_ports(w, spec_path, spec);
    if (validate_int(spec, "terminationGracePeriodSeconds") < 0)
        validate_warn_at(w, path_at(spec_path, "terminationGracePeriodSeconds"),
                         "must be >= 0; negative values are invalid and will be treated as 1");
    const struct field_path *affinity = path_at(spec_path, "affinity");
    warn_of_affinity(w, path_at(affinity, "podAffinity"),
                     value_dig(spec, "affinity", "podAffinity"));
    warn_of_affinity(w, path_at(affinity, "podAntiAffinity"),
                     value_dig(spec, "affinity", "podAntiAffinity"));
    warn_of_ips(w, spec_path, spec);
}
