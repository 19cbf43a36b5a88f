/* go_dump.h - an object as upstream's hash sees it: Go's dump of the struct that it is read into.
 *
 * Upstream names ReplicaSets by a hash of the text that the Go package spew prints for a pod
 * template ("%#v"): every field of every struct in Go's order, with Go's names and types, absent
 * ones too. The tables of src/api have the order and the types; what they do not have, names that
 * are not simply the JSON name with a capital, is in go_dump.c. Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"
#include "base/value.h"

/* Of a struct that is no pointer: "(v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){...} ...}". */
void go_dump(struct buf *out, const struct kind_type *t, const struct value *v);
