/* validate_resource.h - what the rules of claims and of slices of devices share. */
#pragma once

#include "api/validate/declared.h"
#include "api/validate/validate_parts.h"

/* What is declared of these kinds; in validate_resource_declared.c. */
extern const struct declared_type validate__claim, validate__claim_template, validate__class,
    validate__slice, validate__taint_rule;

/* A pool: names joined by slashes. */
void validate__pool(struct field_errors *e, const struct field_path *path, struct str name);
/* NAME or DOMAIN/NAME. */
void validate__device_key(struct field_errors *e, const struct field_path *path, struct str name);
void validate__taint(struct field_errors *e, const struct field_path *path,
                     const struct value *taint);
void validate__binding_conditions(struct field_errors *e, const struct field_path *path,
                                  const struct value *of);

void validate__create_slice(struct field_errors *e, const struct value *obj);
void validate__update_slice(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj);
