/* PodSecurity: labels of namespaces that say how secure their pods have to be. */
#include "api/validate/validate_common.h"
#include "base/idiom.h"
#include "admission/plugins.h"
#include "base/banned.h"

static bool is_security_level(struct str text)
{
    static const struct str levels[] = { STR("privileged"), STR("baseline"), STR("restricted") };
    return words_have(text, WORDS(levels));
}

/* "latest" or "v1.N" */
static bool is_security_version(struct str text)
{
    uint64_t minor;
    if (str_eq(text, STR("latest")))
        return true;
    if (!str_starts(text, STR("v1.")))
        return false;
    text = str_skip(text, 3);
    return str_to_u64(text, &minor) && minor <= INT64_MAX && (text.n == 1 || text.p[0] != '0');
}

static void note_security_labels(struct field_errors *e, const struct value *ns)
{
    static const struct {
        struct str level, version;
    } modes[] = {
        { STR("pod-security.kubernetes.io/enforce"),
          STR("pod-security.kubernetes.io/enforce-version") },
        { STR("pod-security.kubernetes.io/audit"),
          STR("pod-security.kubernetes.io/audit-version") },
        { STR("pod-security.kubernetes.io/warn"), STR("pod-security.kubernetes.io/warn-version") },
    };
    const struct value *labels = value_dig(ns, "metadata", "labels");
    const struct field_path *path = path_at(path_root("metadata"), "labels");
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        const struct value *level = value_get(labels, modes[i].level),
                           *version = value_get(labels, modes[i].version);
        if (level && !is_security_level(value_str(level)))
            fault_text(e, path_key(path, modes[i].level), value_str(level),
                       "must be one of privileged, baseline, restricted");
        if (version && !is_security_version(value_str(version)))
            fault_text(e, path_key(path, modes[i].version), value_str(version),
                       "must be \"latest\" or \"v1.x\"");
    }
}

static bool have_same_faults(const struct field_errors *a, const struct field_errors *b)
{
    const struct err_cause *x = a->first, *y = b->first;
    for (; x && y && str_eq(x->field, y->field) && str_eq(x->msg, y->msg); x = x->next)
        y = y->next;
    return !x && !y;
}

/* Nothing is asked of the pods of a namespace that says nothing, or "privileged"; auditors are told
 * so. The other levels are not enforced yet. */
static int note_policy(struct admission_request *req, struct err *err)
{
    struct value ns = value_object();
    int r = req->cluster->read(req->arg, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r < 0)
        return r;
    const struct value *labels = value_dig(&ns, "metadata", "labels");
    struct str level = value_text(labels, "pod-security.kubernetes.io/enforce"),
               version = value_text(labels, "pod-security.kubernetes.io/enforce-version");
    if (level.n && !str_eq(level, STR("privileged")))
        return 0;
    if (!version.n || !is_security_version(version))
        version = STR("latest");
    req->cluster->annotate(req->arg, STR("pod-security.kubernetes.io/enforce-policy"),
                           arena_printf(req->arena, "privileged:" STR_FMT, STR_ARG(version)));
    return 0;
}

/* What was wrong before may stay so. */
static int validate_namespace(struct admission_request *req, const struct value *ns,
                              struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(req->arena), old = FIELD_ERRORS_INIT(req->arena);
    note_security_labels(&e, ns);
    if (e.n && req->old_obj)
        note_security_labels(&old, req->old_obj);
    if (old.n && have_same_faults(&e, &old))
        return 0;
    return field_errors_report(&e, req->stored->group, req->stored->type->name,
                               value_str(value_dig(ns, "metadata", "name")), err);
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    if (str_eq(req->target->plural, STR("namespaces")))
        return validate_namespace(req, obj, err);
    return req->cluster->annotate ? note_policy(req, err) : 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("namespaces"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { STR(""), STR("pods"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_pod_security = {
    .name = "PodSecurity",
    .targets = targets,
    .validate = validate,
};
