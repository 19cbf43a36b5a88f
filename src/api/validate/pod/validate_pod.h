/* validate_pod.h - what the files with the rules of pods share, and what kinds with a pod template
 * use of them. */
#pragma once

#include "api/text_set.h"
#include "api/validate/validate_common.h"

/* What an old object has although it may not, and a change of it may therefore keep. */
struct pod_rules {
    bool is_pod; /* not a template */
    bool keeps_deletion_cost;
    bool keeps_selector_values; /* label values in affinities */
    bool keeps_node_values;     /* label values in a required node affinity */
    bool keeps_hugepages;
    bool keeps_spread_selectors;
    bool keeps_spread_keys;
    bool keeps_token_path;
    bool keeps_host_sysctls;
    bool keeps_init_resize; /* RestartContainer for an init container that is no sidecar */
    bool keeps_userns_devices;
    bool keeps_userns_host_network;
    bool keeps_toleration_order; /* the operators Lt and Gt */
    bool keeps_image_reference;  /* of an image volume: none */
    bool keeps_sys_admin;
};

/* `old_spec` and `old_meta` are NULL of a new object. */
struct pod_rules validate_pod_rules_of(const struct value *old_spec, const struct value *old_meta);

/* A pod's spec while it is checked. */
struct pod_scope {
    const struct pod_rules *rules;
    const struct value *spec, *meta;  /* metadata are NULL of a template */
    struct text_set volumes;          /* the good ones: name to volume */
    const struct value *grace_period; /* NULL: unknown */
    const struct value *os;           /* NULL: not told */
    struct str restart_policy;
    bool host_users;
};

/* ---- Whole pods ---- */

void validate_pod_spec(struct field_errors *e, const struct field_path *path,
                       const struct value *spec, const struct value *meta,
                       const struct pod_rules *rules);
/* `old_template` is NULL of a new object. */
void validate_pod_template(struct field_errors *e, const struct field_path *path,
                           const struct value *template, const struct value *old_template);
/* The rules of a pod's metadata and spec beyond those of a template's. */
void validate_whole_pod(struct field_errors *e, const struct value *pod,
                        const struct pod_rules *rules);
/* A name that is no label, with the words for why it should be one. */
void validate_warn_name(struct validate_warnings *w, struct str name, const char *words);
/* Warnings; `path` is NULL of a Pod. */
void validate_warn_pod(struct validate_warnings *w, const struct field_path *path,
                       const struct value *template);

/* ---- Parts, by file ---- */

/* Annotations with a meaning. */
void validate_pod_annotations(struct field_errors *e, const struct field_path *path,
                              const struct value *annotations, const struct value *spec,
                              const struct pod_rules *rules);
/* And that those which may not change have not. */
void validate_pod_annotations_kept(struct field_errors *e, const struct value *pod,
                                   const struct value *old_pod, const struct pod_rules *rules);
/* That profiles in annotations are those in fields; `path` is the spec's. */
void validate_pod_profiles_match(struct field_errors *e, const struct field_path *path,
                                 const struct value *annotations, const struct value *spec);
bool validate_is_deletion_cost(const struct value *annotations);
/* Profiles as annotations name them; `shown` is the value that a fault shows. */
void validate_seccomp_profile(struct field_errors *e, const struct field_path *path,
                              struct str profile);
void validate_apparmor_profile(struct field_errors *e, const struct field_path *path,
                               struct str profile, struct str shown);

void validate_pod_volumes(struct field_errors *e, const struct field_path *path,
                          struct pod_scope *scope);
void validate_projected_volume(struct field_errors *e, const struct field_path *path,
                               const struct value *projected, const struct pod_rules *rules);
void validate_file_mode(struct field_errors *e, const struct field_path *path,
                        const struct value *mode);
void validate_key_to_path(struct field_errors *e, const struct field_path *path,
                          const struct value *item);
void validate_downward_file(struct field_errors *e, const struct field_path *path,
                            const struct value *file);
/* A relative path that stays below and does not begin with "..". */
bool validate_local_path(struct field_errors *e, const struct field_path *path, struct str text);
void validate_user(struct field_errors *e, const struct field_path *path, const struct value *user);
/* What a container or a volume may read of its pod. */
void validate_field_ref(struct field_errors *e, const struct field_path *path,
                        const struct value *ref, bool volume);
void validate_resource_field_ref(struct field_errors *e, const struct field_path *path,
                                 const struct value *ref, bool volume);
bool validate_pull_policy(struct field_errors *e, const struct field_path *path, struct str policy);

void validate_containers(struct field_errors *e, const struct field_path *path,
                         const struct pod_scope *scope);
void validate_init_containers(struct field_errors *e, const struct field_path *path,
                              const struct pod_scope *scope);
void validate_ephemeral_containers(struct field_errors *e, const struct field_path *path,
                                   const struct pod_scope *scope);
/* `volumeMounts` and `volumeDevices` of a container, or of what has them like one. */
void validate_volume_mounts(struct field_errors *e, const struct field_path *path,
                            const struct value *container, const struct pod_scope *scope);
void validate_image_for_pod(struct field_errors *e, const struct field_path *path,
                            const struct value *container);
void validate_env(struct field_errors *e, const struct field_path *path, const struct value *env);
void validate_env_from(struct field_errors *e, const struct field_path *path,
                       const struct value *sources);
void validate_lifecycle(struct field_errors *e, const struct field_path *path,
                        const struct value *lifecycle, const struct pod_scope *scope);
void validate_probes(struct field_errors *e, const struct field_path *path,
                     const struct value *container, const struct pod_scope *scope);

void validate_security_context(struct field_errors *e, const struct field_path *path,
                               const struct value *sc, const struct pod_scope *scope);
void validate_pod_security_context(struct field_errors *e, const struct field_path *path,
                                   const struct pod_scope *scope);
void validate_host_process(struct field_errors *e, const struct field_path *path,
                           const struct value *spec);
/* What the pod's system forbids. */
void validate_pod_os(struct field_errors *e, const struct field_path *path,
                     const struct value *spec);
bool validate_sysctl_is_of_host(const struct value *spec, struct str name, const char **ret_field);

void validate_affinity(struct field_errors *e, const struct field_path *path,
                       const struct value *affinity, const struct pod_rules *rules);
void validate_tolerations(struct field_errors *e, const struct field_path *path,
                          const struct value *tolerations, bool with_order);
void validate_spread_constraints(struct field_errors *e, const struct field_path *path,
                                 const struct value *constraints, const struct pod_rules *rules);
bool validate_has_good_label_keys(const struct value *constraint);

/* What the containers ask for at the most, of `list` "requests" or "limits": all that run together,
 * or an init container beside the sidecars before it. Empty: none asks. */
struct str validate_pod_aggregate(struct arena *a, const struct value *spec, struct str list,
                                  struct str name);
void validate_pod_resources(struct field_errors *e, const struct field_path *path,
                            const struct value *spec, const struct pod_rules *rules);

void validate_pod_update(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod);
void validate_pod_update_status(struct field_errors *e, const struct value *pod,
                                const struct value *old_pod);
extern const struct validate_sub validate_pod_subs[]; /* the paths that change a running pod */
void validate_pod_status(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod, const struct pod_rules *rules);
void validate_pod_resize(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod, const struct pod_rules *rules);

/* ---- Walking ---- */

/* The lists of containers in the order in which upstream visits them. */
static const struct str pod_container_lists[] = { STR("initContainers"), STR("containers"),
                                                  STR("ephemeralContainers") };
#define POD_CONTAINER_LISTS 3

#define POD_MIRROR STR("kubernetes.io/config.mirror")

static inline bool validate_is_sidecar(const struct value *container)
{
    return str_eq(value_text(container, "restartPolicy"), STR("Always"));
}
