/* yaml.h - YAML as the Kubernetes tools read it, to value tree and back. Stands on libyaml.
 *
 * Reading follows sigs.k8s.io/yaml over go-yaml v2: scalars resolve by YAML 1.1 (yes/no/on/off,
 * ~, 0o17 and 017, 0x1f, .inf are numbers or booleans; quoted ones are strings), keys become
 * strings as that library makes them, merge keys (<<) work, duplicate keys are refused, tags other
 * than the core ones are refused. Depth and alias expansion are bounded (CVE-2019-11253); work is
 * linear in the input. .inf and .nan cannot be JSON and are refused.
 *
 * Writing gives what sigs.k8s.io/yaml gives: two-space indent, sequences flush with their key,
 * fields in tree order, strings quoted only where reading them back would change them. No I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

/* One document. ERR_BAD_REQUEST with line and column; empty input is VALUE_NULL; more than one
 * document is an error. */
int yaml_read(struct arena *a, struct str text, struct value *ret, struct err *err);

/* A stream of documents, one at a time: 1 and `*ret`, or 0 at the end, or a negative code.
 * Empty documents are skipped, as kubectl does. */
struct yaml_stream;
struct yaml_stream *yaml_stream_new(struct arena *a, struct str text);
int yaml_stream_next(struct yaml_stream *s, struct value *ret, struct err *err);
struct yaml_stream *yaml_stream_free(struct yaml_stream *s);

void yaml_write(struct buf *out, const struct value *v); /* ends with a newline */
