/* config.h - what plugins are told at the start: an AdmissionConfiguration
 * (apiserver.config.k8s.io/v1), the file of --admission-control-config-file.
 *
 *     plugins:
 *     - name: EventRateLimit
 *       path: limits.yaml        # beside this file; or
 *       configuration: { ... }   # right here
 *
 * Each plugin that is on and has a `configure` is called once, whether or not the file names it,
 * and makes of its tree what it needs. That stays until the server ends, and any thread may use it.
 * What a plugin changes of it later is its own to guard. */
#pragma once

#include "admission/admission.h"

struct admission_config; /* of all plugins of a server */

/* What flags say. All zero: nothing. */
struct admission_options {
    const char *file; /* the AdmissionConfiguration; NULL: none */
    /* How long pods that say nothing of it stay on a node that is lost (DefaultTolerationSeconds);
     * without one, five minutes. */
    struct admission_seconds {
        bool is_set;
        int64_t n;
    } not_ready, unreachable;
};

/* Reads the files. ERR_INVALID. */
int admission_config_load(const struct admission_options *opt,
                          const struct admission_choice *choice, struct admission_config **ret,
                          struct err *err);
struct admission_config *admission_config_free(struct admission_config *c);

/* What the plugin that is asked has made of its configuration; NULL: nothing. */
void *admission_configured(const struct admission_request *req);
/* What flags say; NULL: nothing is configured. */
const struct admission_options *admission_options_of(const struct admission_request *req);

/* ---- For plugins that read their tree ---- */

/* The type that a tree must have, and the fields that it may have beside it. */
struct admission_form {
    struct str version, kind;
    const struct str *fields;
    size_t n;
};

/* ERR_INVALID in the words of a strict decoder. */
int admission_config_check(const struct value *tree, const struct admission_form *form,
                           struct err *err);
/* The same of an object inside, which `where` names for messages. */
int admission_config_fields(const struct value *obj, struct str where, const struct str *fields,
                            size_t n, struct err *err);
