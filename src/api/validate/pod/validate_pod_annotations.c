/* Annotations of pods and templates that mean something: older ways to say what fields say now. */
#include "api/keys.h"
#include "api/profile_note.h"
#include "api/validate/pod/validate_pod.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/banned.h"

#define TOLERATIONS   STR("scheduler.alpha.kubernetes.io/tolerations")
#define DELETION_COST STR("controller.kubernetes.io/pod-deletion-cost")
#define SECCOMP_POD   STR(KEY_ALPHA_SECCOMP_POD)
#define SECCOMP       STR(KEY_ALPHA_SECCOMP_CONTAINER)
#define APPARMOR      STR(KEY_BETA_APPARMOR_CONTAINER)
#define LOCALHOST     STR("localhost/")

/* ---- Values ---- */

bool validate_is_deletion_cost(const struct value *annotations)
{
    const struct value *cost = validate_map_member(annotations, DELETION_COST);
    struct str text = value_str(cost);
    int64_t n;
    if (!cost)
        return true;
    bool starts_well = text.n && text.p[0] != '+' && (text.p[0] != '0' || text.n == 1);
    return starts_well && str_to_i64(text, &n) && n >= INT32_MIN && n <= INT32_MAX;
}

static void check_old_tolerations(struct field_errors *e, const struct field_path *path,
                                  struct str text, const struct pod_rules *rules)
{
    struct value tolerations;
    struct field_path at = field_child(path, TOLERATIONS);
    if (json_read(e->arena, text, NULL, &tolerations, NULL) == 0) {
        validate_tolerations(e, &at, &tolerations, rules->keeps_toleration_order);
        return;
    }
    struct str why = json_fault(e->arena, text);
    fault_text(e, path, TOLERATIONS, STR_FMT, STR_ARG(why));
}

void validate_seccomp_profile(struct field_errors *e, const struct field_path *path,
                              struct str profile)
{
    static const struct str known[] = { STR("runtime/default"), STR("docker/default"),
                                        STR("unconfined") };
    if (words_have(profile, WORDS(known)))
        return;
    if (str_starts(profile, LOCALHOST))
        (void)validate_descending_path(e, path, str_skip(profile, LOCALHOST.n));
    else
        fault_text(e, path, profile, "must be a valid seccomp profile");
}

static void check_seccomp(struct field_errors *e, const struct field_path *path, struct str key,
                          struct str profile)
{
    struct field_path at = field_child(path, key);
    validate_seccomp_profile(e, &at, profile);
}

void validate_apparmor_profile(struct field_errors *e, const struct field_path *path,
                               struct str profile, struct str shown)
{
    static const struct str known[] = { STR(""), STR("runtime/default"), STR("unconfined") };
    if (words_have(profile, WORDS(known)) || str_starts(profile, LOCALHOST))
        return;
    struct str quoted = field_quoted(e, profile);
    fault_text(e, path, shown, "invalid AppArmor profile name: " STR_FMT, STR_ARG(quoted));
}

static bool has_container(const struct value *spec, struct str name)
{
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++)
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            if (str_eq(value_text(it, "name"), name))
                return true;
    return false;
}

static void check_apparmor(struct field_errors *e, const struct field_path *path,
                           const struct value_field *f, const struct value *spec)
{
    const struct field_path *at = path_key(path, f->key);
    struct str container = str_skip(f->key, APPARMOR.n), profile = value_str(&f->val);
    if (!has_container(spec, container))
        fault_text(e, at, container, "container not found");
    validate_apparmor_profile(e, at, profile, profile);
}

void validate_pod_annotations(struct field_errors *e, const struct field_path *path,
                              const struct value *annotations, const struct value *spec,
                              const struct pod_rules *rules)
{
    if (!validate__count(annotations))
        return;
    const struct value *mirror = validate_map_member(annotations, POD_MIRROR),
                       *tolerations = validate_map_member(annotations, TOLERATIONS),
                       *seccomp = validate_map_member(annotations, SECCOMP_POD);
    if (mirror && !value_text(spec, "nodeName").n)
        fault_text(e, path_key(path, POD_MIRROR), value_str(mirror),
                   "must set spec.nodeName if mirror pod annotation is set");
    if (value_str(tolerations).n)
        check_old_tolerations(e, path, value_str(tolerations), rules);
    if (!rules->keeps_deletion_cost && !validate_is_deletion_cost(annotations))
        fault_text(e, path_key(path, DELETION_COST),
                   value_str(validate_map_member(annotations, DELETION_COST)),
                   "must be a 32bit integer");
    if (seccomp)
        check_seccomp(e, path, SECCOMP_POD, value_str(seccomp));
    value_each_field (f, annotations)
        if (str_starts(f->key, SECCOMP))
            check_seccomp(e, path, f->key, value_str(&f->val));
    value_each_field (f, annotations)
        if (str_starts(f->key, APPARMOR))
            check_apparmor(e, path, f, spec);
}

/* ---- Changes ---- */

static void forbid_change(struct field_errors *e, const struct field_path *path, struct str key,
                          const char *apparmor, const char *mirror)
{
    if (str_starts(key, APPARMOR))
        fault_forbidden(e, path_key(path, key), "%s", apparmor);
    if (str_eq(key, POD_MIRROR))
        fault_forbidden(e, path_key(path, key), "%s", mirror);
}

void validate_pod_annotations_kept(struct field_errors *e, const struct value *pod,
                                   const struct value *old_pod, const struct pod_rules *rules)
{
    const struct value *new_notes = value_dig(pod, "metadata", "annotations"),
                       *old_notes = value_dig(old_pod, "metadata", "annotations");
    const struct field_path *path = path_at(path_root("metadata"), "annotations");
    value_each_field (f, old_notes) {
        const struct value *now = validate_map_member(new_notes, f->key);
        if (!now || !str_eq(value_str(now), value_str(&f->val)))
            forbid_change(e, path, f->key, "may not remove or update AppArmor annotations",
                          "may not remove or update mirror pod annotation");
    }
    value_each_field (f, new_notes)
        if (!validate_map_member(old_notes, f->key))
            forbid_change(e, path, f->key, "may not add AppArmor annotations",
                          "may not add mirror pod annotation");
    validate_pod_annotations(e, path, new_notes, value_get(pod, STR("spec")), rules);
}

/* ---- Annotations beside fields ---- */

/* One profile said twice must be the same one. `other_default` is a second name of the default. */
static void check_match(struct field_errors *e, const struct field_path *path, struct str note,
                        const struct value *profile, struct str other_default, const char *what)
{
    static const struct str types[] = { STR("Unconfined"), STR("RuntimeDefault"),
                                        STR("Localhost") };
    struct str type = value_text(profile, "type"), noted_local,
               noted = profile_note_type(note, &noted_local);
    const struct value *local = validate_member(profile, "localhostProfile");
    bool is_other_default =
        str_eq(type, types[1]) && other_default.n && str_eq(note, other_default);
    bool same = !words_have(type, WORDS(types)) || str_eq(type, noted) || is_other_default;
    if (!same)
        fault_forbidden(e, path_at(path, "type"), "%s type in annotation and field must match",
                        what);
    else if (str_eq(type, types[2]) && (!local || !str_eq(noted_local, value_str(local))))
        fault_forbidden(e, path_at(path, "localhostProfile"),
                        "%s profile in annotation and field must match", what);
}

static const struct value *container_note(struct field_errors *e, const struct value *annotations,
                                          struct str prefix, const struct value *container)
{
    struct str key = arena_printf(e->arena, STR_FMT STR_FMT, STR_ARG(prefix),
                                  STR_ARG(value_text(container, "name")));
    return validate_map_member(annotations, key);
}

static void match_apparmor(struct field_errors *e, const struct field_path *path,
                           const struct value *annotations, const struct value *container,
                           const struct value *of_pod)
{
    const struct value *own = validate_member(validate_member(container, "securityContext"),
                                              "appArmorProfile"),
                       *profile = own ? own : of_pod;
    const struct value *note = profile ? container_note(e, annotations, APPARMOR, container) : NULL;
    if (note)
        check_match(e, path_at(path_at(path, "securityContext"), "appArmorProfile"),
                    value_str(note), profile, STR(""), "apparmor");
}

static void match_seccomp(struct field_errors *e, const struct field_path *path,
                          const struct value *annotations, const struct value *container)
{
    const struct value *profile =
        validate_member(validate_member(container, "securityContext"), "seccompProfile");
    const struct value *note = profile ? container_note(e, annotations, SECCOMP, container) : NULL;
    if (note)
        check_match(e, path_at(path_at(path, "securityContext"), "seccompProfile"), value_str(note),
                    profile, STR("docker/default"), "seccomp");
}

void validate_pod_profiles_match(struct field_errors *e, const struct field_path *path,
                                 const struct value *annotations, const struct value *spec)
{
    if (!validate__count(annotations))
        return;
    const struct value *sc = validate_member(spec, "securityContext"),
                       *seccomp = validate_member(sc, "seccompProfile"),
                       *note = validate_map_member(annotations, SECCOMP_POD),
                       *apparmor = validate_member(sc, "appArmorProfile");
    bool is_windows = str_eq(value_str(value_dig(spec, "os", "name")), STR("windows"));
    if (seccomp && note)
        check_match(e, path_at(path_at(path, "securityContext"), "seccompProfile"), value_str(note),
                    seccomp, STR("docker/default"), "seccomp");
    for (int pass = 0; pass < (is_windows ? 1 : 2); pass++)
        for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
            struct field_path list = field_child(path, pod_container_lists[k]);
            size_t i = 0;
            value_each_item (it, value_get(spec, pod_container_lists[k])) {
                const struct field_path *at = path_item(&list, i++);
                if (pass == 0)
                    match_seccomp(e, at, annotations, it);
                else
                    match_apparmor(e, at, annotations, it, apparmor);
            }
        }
}
