/* validate_internal.h - shared by the files with the rules of the kinds. */
#pragma once

#include "api/validate/validate.h"

/* A kind's rules; any function may be NULL. */
struct validate_rules {
    struct str group, kind;
    void (*create)(struct field_errors *e, const struct value *obj);
    void (*update)(struct field_errors *e, const struct value *obj, const struct value *old_obj);
    void (*update_sub)(struct field_errors *e, struct str sub, const struct value *obj,
                       const struct value *old_obj);
    void (*warn)(struct validate_warnings *w, const struct value *obj, const struct value *old_obj);
    struct str version; /* only for requests of that version; without: of any */
};

/* One table a file, ended by a row without a kind; all of them are listed in validate.c. */
extern const struct validate_rules validate__core[];
extern const struct validate_rules validate__admission[];
extern const struct validate_rules validate__apiregistration[];
extern const struct validate_rules validate__certificates[];
extern const struct validate_rules validate__certificates_pod[];
extern const struct validate_rules validate__coordination[];
extern const struct validate_rules validate__dropped[];
extern const struct validate_rules validate__pod[];
extern const struct validate_rules validate__quota[];
extern const struct validate_rules validate__policy[];
extern const struct validate_rules validate__autoscaling[];
extern const struct validate_rules validate__batch[];
extern const struct validate_rules validate__stateful[];
extern const struct validate_rules validate__apps[];
extern const struct validate_rules validate__rbac[];
extern const struct validate_rules validate__resource[];
extern const struct validate_rules validate__review[];
extern const struct validate_rules validate__persistent[];
extern const struct validate_rules validate__storage[];
extern const struct validate_rules validate__webhook[];
extern const struct validate_rules validate__definition[];
extern const struct validate_rules validate__endpoints[];
extern const struct validate_rules validate__event[];
extern const struct validate_rules validate__flowcontrol[];
extern const struct validate_rules validate__ingress[];
extern const struct validate_rules validate__network[];
extern const struct validate_rules validate__node[];
extern const struct validate_rules validate__service[];
