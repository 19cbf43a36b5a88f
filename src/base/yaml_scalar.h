/* yaml_scalar.h - what a YAML scalar means to the Kubernetes tools: the implicit types of go-yaml
 * v2.
 *
 * Those are nearly YAML 1.1: y, yes and on are true; 017 and 0o17 are 15; underscores between
 * digits are dropped; sexagesimal numbers are strings. What looks like a time stamp is a string
 * too, but one that has to be quoted when written. Private to the YAML reader and writer. */
#pragma once

#include "base/value.h"

enum yaml_kind {
    YAML_KIND_STR,
    YAML_KIND_NULL,
    YAML_KIND_BOOL,
    YAML_KIND_INT,
    YAML_KIND_FLOAT,
    YAML_KIND_NOT_FINITE, /* .inf and .nan, which JSON does not have */
    YAML_KIND_TIMESTAMP,
};

/* The kind of a plain scalar. With `ret`, also its value: numbers keep their digits and are JSON
 * number text, in the arena or in `text`; strings point to `text`; NOT_FINITE is a string too, the
 * one that a key would be. */
enum yaml_kind yaml_resolve(struct arena *a, struct str text, struct value *ret);

/* 12:30 and the like: strings to us, numbers to YAML 1.1 readers, hence quoted when written. */
bool yaml_is_base60(struct str text);

/* A scalar as the key of an object, in the arena unless it is a string. False for null and for
 * integers above INT64_MAX, which sigs.k8s.io/yaml refuses. */
bool yaml_key(struct arena *a, const struct value *v, struct str *ret);
