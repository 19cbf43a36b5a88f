#include "admission/pod_security/pod_security_policy.h"

#include "admission/config.h"
#include "api/names.h"
#include "api/text_set.h"
#include "api/validate/validate_common.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/banned.h"

#define LABEL(name) STR("pod-security.kubernetes.io/" name)
#define LATEST                                       \
    {                                                \
        POD_SECURITY_PRIVILEGED, POD_SECURITY_LATEST \
    }

static const struct str level_names[POD_SECURITY_LEVELS] = { STR("privileged"), STR("baseline"),
                                                             STR("restricted") };

const struct pod_security_config pod_security_config_default = {
    .defaults = { .enforce = LATEST, .audit = LATEST, .warn = LATEST },
};

/* ---- Levels and versions ---- */

static const char level_fault[] = "must be one of privileged, baseline, restricted",
                  version_fault[] = "must be \"latest\" or \"v1.x\"";

static bool read_level(struct str text, enum pod_security_level *ret)
{
    size_t i = words_find(text, WORDS(level_names));
    *ret = i < POD_SECURITY_LEVELS ? (enum pod_security_level)i : POD_SECURITY_RESTRICTED;
    return i < POD_SECURITY_LEVELS;
}

/* "latest" or "v1.N" */
static bool read_version(struct str text, int64_t *ret)
{
    uint64_t minor;
    *ret = POD_SECURITY_LATEST;
    if (str_eq(text, STR("latest")))
        return true;
    if (!str_starts(text, STR("v1.")))
        return false;
    text = str_skip(text, 3);
    if (!str_to_u64(text, &minor) || minor > INT64_MAX || (text.n > 1 && text.p[0] == '0'))
        return false;
    *ret = (int64_t)minor;
    return true;
}

struct str pod_security_mode_text(struct arena *a, const struct pod_security_mode *m)
{
    struct str level = level_names[m->level];
    if (m->minor == POD_SECURITY_LATEST)
        return arena_printf(a, STR_FMT ":latest", STR_ARG(level));
    return arena_printf(a, STR_FMT ":v1.%lld", STR_ARG(level), (long long)m->minor);
}

bool pod_security_mode_eq(const struct pod_security_mode *a, const struct pod_security_mode *b)
{
    return a->level == b->level && a->minor == b->minor;
}

bool pod_security_is_privileged(const struct pod_security_policy *p)
{
    return p->enforce.level == POD_SECURITY_PRIVILEGED &&
           p->audit.level == POD_SECURITY_PRIVILEGED && p->warn.level == POD_SECURITY_PRIVILEGED;
}

/* ---- Labels ---- */

/* Which labels there are, and can be read. */
struct labelled {
    bool level, version;
};

static struct labelled read_labels(const struct value *labels, struct str level, struct str version,
                                   struct pod_security_mode *mode, struct field_errors *faults)
{
    const struct field_path *path = path_at(path_root("metadata"), "labels");
    const struct value *said = value_get(labels, level), *of = value_get(labels, version);
    struct labelled ret = { said, of };
    if (said && !read_level(value_str(said), &mode->level)) {
        fault_text(faults, path_key(path, level), value_str(said), level_fault);
        ret.level = false;
    }
    if (of && !read_version(value_str(of), &mode->minor))
        fault_text(faults, path_key(path, version), value_str(of), version_fault);
    return ret;
}

struct pod_security_policy pod_security_policy_of(const struct value *labels,
                                                  const struct pod_security_policy *defaults,
                                                  struct field_errors *faults)
{
    struct pod_security_policy p = *defaults;
    struct labelled enforce =
        read_labels(labels, LABEL("enforce"), LABEL("enforce-version"), &p.enforce, faults);
    struct labelled audit =
        read_labels(labels, LABEL("audit"), LABEL("audit-version"), &p.audit, faults);
    if (!audit.level && value_get(labels, LABEL("audit")))
        p.audit.level = POD_SECURITY_PRIVILEGED;
    struct labelled warn =
        read_labels(labels, LABEL("warn"), LABEL("warn-version"), &p.warn, faults);
    if (!warn.level && value_get(labels, LABEL("warn")))
        p.warn.level = POD_SECURITY_PRIVILEGED;
    /* What is enforced is warned of as well: of a Deployment nothing is enforced. */
    if (!value_get(labels, LABEL("warn")) && enforce.level && p.enforce.level > p.warn.level) {
        p.warn.level = p.enforce.level;
        if (!warn.version)
            p.warn.minor = p.enforce.minor;
    }
    return p;
}

static bool is_equivalent(const struct pod_security_mode *a, const struct pod_security_mode *b)
{
    return pod_security_mode_eq(a, b) ||
           (a->level == POD_SECURITY_PRIVILEGED && b->level == POD_SECURITY_PRIVILEGED);
}

struct str pod_security_ignored(struct arena *a, const struct value *labels,
                                const struct pod_security_policy *p,
                                const struct pod_security_policy *defaults)
{
    const struct {
        const char *name;
        struct str level, version;
        const struct pod_security_mode *mode;
    } modes[] = {
        { "enforce", LABEL("enforce"), LABEL("enforce-version"), &p->enforce },
        { "audit", LABEL("audit"), LABEL("audit-version"), &p->audit },
        { "warn", LABEL("warn"), LABEL("warn-version"), &p->warn },
    };
    autobuf text = { 0 };
    if (pod_security_is_privileged(p) ||
        (is_equivalent(&p->enforce, &defaults->enforce) &&
         is_equivalent(&p->audit, &defaults->audit) && is_equivalent(&p->warn, &defaults->warn)))
        return STR("");
    buf_byte(&text, '(');
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        bool is_said = value_get(labels, modes[i].level) || value_get(labels, modes[i].version);
        if (is_said && modes[i].mode->level != POD_SECURITY_PRIVILEGED)
            buf_printf(&text, "%s%s=" STR_FMT, text.n > 1 ? ", " : "", modes[i].name,
                       STR_ARG(pod_security_mode_text(a, modes[i].mode)));
    }
    buf_byte(&text, ')');
    return arena_str(a, buf_str(&text));
}

/* ---- Configuration ---- */

bool pod_security_exempts(const struct pod_security_exemptions *of, struct str name)
{
    return name.n && words_have(name, of->at, of->n);
}

struct reader {
    struct arena *arena;
    struct field_errors faults;
    struct err *err;
};

static int need_text(struct reader *r, const struct value *v, const struct field_path *path)
{
    if (!v || value_is(v, VALUE_STRING) || value_is(v, VALUE_NULL))
        return 0;
    return err_set(r->err, ERR_INVALID, STR_FMT " must be a string",
                   STR_ARG(field_path_text(r->arena, path)));
}

static int read_default(struct reader *r, const struct value *defaults, struct str level,
                        struct str version, struct pod_security_mode *ret)
{
    static const struct field_path at = { .name = STR("defaults") };
    const struct field_path level_at = field_child(&at, level),
                            version_at = field_child(&at, version);
    const struct value *l = value_get(defaults, level), *v = value_get(defaults, version);
    int bad = need_text(r, l, &level_at);
    if (bad == 0)
        bad = need_text(r, v, &version_at);
    if (bad < 0)
        return bad;
    if (value_str(l).n && !read_level(value_str(l), &ret->level))
        fault_text(&r->faults, &level_at, value_str(l), level_fault);
    if (value_str(v).n && !read_version(value_str(v), &ret->minor))
        fault_text(&r->faults, &version_at, value_str(v), version_fault);
    return 0;
}

static int read_defaults(struct reader *r, const struct value *defaults,
                         struct pod_security_policy *ret)
{
    static const struct str fields[] = { STR("enforce"), STR("enforce-version"),
                                         STR("warn"),    STR("warn-version"),
                                         STR("audit"),   STR("audit-version") };
    struct pod_security_mode *modes[] = { &ret->enforce, &ret->warn, &ret->audit };
    int bad = !defaults || value_is(defaults, VALUE_NULL)
                  ? 0
                  : admission_config_fields(defaults, STR("defaults"), WORDS(fields), r->err);
    for (size_t i = 0; bad == 0 && i < ARRAY_LEN(modes); i++)
        bad = read_default(r, defaults, fields[2 * i], fields[2 * i + 1], modes[i]);
    return bad;
}

/* Namespaces and runtime classes have names with rules; users need only have one. */
static void check_exempt(struct reader *r, const struct field_path *path, struct str name,
                         enum name_rule rule)
{
    struct name_faults faults = { 0 };
    autobuf text = { 0 };
    if (rule == NAME_ANY && !name.n)
        fault_text(&r->faults, path, name, "username must not be empty");
    if (rule == NAME_ANY || name_check(rule, name, &faults))
        return;
    for (size_t i = 0; i < faults.n; i++)
        buf_printf(&text, "%s%s%s", i ? ", " : "", faults.list[i].part, faults.list[i].why);
    field_error(&r->faults, FIELD_INVALID, path, field_quoted(&r->faults, name), STR_FMT,
                STR_ARG(buf_str(&text)));
}

static int read_exempt(struct reader *r, const struct value *list, struct str field,
                       enum name_rule rule, struct pod_security_exemptions *ret)
{
    static const struct field_path top = { .name = STR("exemptions") };
    const struct field_path at = field_child(&top, field);
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    if (!list || list->type == VALUE_NULL)
        return 0;
    if (list->type != VALUE_ARRAY)
        return err_set(r->err, ERR_INVALID, "exemptions." STR_FMT " must be a list",
                       STR_ARG(field));
    struct str *names = arena_array(r->arena, struct str, list->n);
    value_each_item (it, list) {
        const struct field_path path = field_index(&at, i);
        int bad = need_text(r, it, &path);
        if (bad < 0)
            return bad;
        size_t before = r->faults.n;
        names[i] = arena_str(r->arena, value_str(it));
        check_exempt(r, &path, names[i], rule);
        if (r->faults.n == before && !text_set_add(&seen, names[i], list))
            field_error(&r->faults, FIELD_DUPLICATE, &path, field_quoted(&r->faults, names[i]),
                        "%s", "");
        i++;
    }
    *ret = (struct pod_security_exemptions){ names, i };
    return 0;
}

static int read_exemptions(struct reader *r, const struct value *exemptions,
                           struct pod_security_config *ret)
{
    static const struct str fields[] = { STR("usernames"), STR("namespaces"),
                                         STR("runtimeClasses") };
    if (!exemptions || value_is(exemptions, VALUE_NULL))
        return 0;
    int bad = admission_config_fields(exemptions, STR("exemptions"), WORDS(fields), r->err);
    if (bad == 0)
        bad = read_exempt(r, value_get(exemptions, fields[1]), fields[1], NAME_LABEL,
                          &ret->namespaces);
    if (bad == 0)
        bad = read_exempt(r, value_get(exemptions, fields[2]), fields[2], NAME_SUBDOMAIN,
                          &ret->runtime_classes);
    if (bad == 0)
        bad = read_exempt(r, value_get(exemptions, fields[0]), fields[0], NAME_ANY, &ret->users);
    return bad;
}

int pod_security_config_read(struct arena *a, const struct value *tree,
                             struct pod_security_config *ret, struct err *err)
{
    static const struct str versions[] = {
        STR("pod-security.admission.config.k8s.io/v1"),
        STR("pod-security.admission.config.k8s.io/v1beta1"),
        STR("pod-security.admission.config.k8s.io/v1alpha1"),
    };
    static const struct str fields[] = { STR("defaults"), STR("exemptions") };
    size_t version = words_find(value_text(tree, "apiVersion"), WORDS(versions));
    const struct admission_form form = { versions[version < ARRAY_LEN(versions) ? version : 0],
                                         STR("PodSecurityConfiguration"), WORDS(fields) };
    struct reader r = { .arena = a, .faults = FIELD_ERRORS_INIT(err->arena), .err = err };
    *ret = pod_security_config_default;
    int bad = admission_config_check(tree, &form, err);
    if (bad == 0)
        bad = read_defaults(&r, value_get(tree, STR("defaults")), &ret->defaults);
    if (bad == 0)
        bad = read_exemptions(&r, value_get(tree, STR("exemptions")), ret);
    if (bad == 0 && r.faults.n)
        bad = err_set(err, ERR_INVALID, "PodSecurity invalid: " STR_FMT,
                      STR_ARG(field_errors_text(&r.faults)));
    return bad;
}
