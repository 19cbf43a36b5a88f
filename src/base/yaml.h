/* yaml.h - YAML as the Kubernetes tools read it, to value tree and back. Reading stands on libyaml.
 *
 * Reading follows sigs.k8s.io/yaml over go-yaml v2. Plain scalars resolve nearly by YAML 1.1 (yes,
 * on and y are true; ~ is null; 017 and 0o17 are 15; 1_000 is 1000; quoted ones are strings).
 * Numbers keep all their digits. Keys become strings as that library makes them; merge keys (<<)
 * work, and in a mapping that has one the last field of a name counts. Tags: !!str !!int !!float
 * !!bool !!null
 * !!timestamp !!binary mean what they say, another tag makes a scalar a string and says nothing
 * about a collection. Duplicate keys are kept in order, as in json.h. .inf and .nan cannot be JSON
 * and are refused. Depth, alias expansion (CVE-2019-11253) and the scanner's work (CVE-2019-11254)
 * are bounded. Text is copied into the arena: the input need not outlive the tree.
 *
 * Writing gives what sigs.k8s.io/yaml gives: two-space indent, sequences flush with their key,
 * lines folded at 80 columns, fields in tree order, strings quoted only where reading them back
 * would change them. Reading what was written gives the same tree, with the one exception of
 * numbers beyond the range of a double, which YAML readers take for strings. No I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

struct yaml_options {
    struct str *ret_duplicate; /* if set: path of the first duplicate key, or empty; in the arena */
};

/* One document. ERR_BAD_REQUEST with the line, as go-yaml words it; empty input is VALUE_NULL; more
 * than one document is an error. `opt` may be NULL. */
int yaml_read(struct arena *a, struct str text, const struct yaml_options *opt, struct value *ret,
              struct err *err);

/* A stream of documents, one at a time: 1 and `*ret`, or 0 at the end, or a negative code, after
 * which the stream stays at its end. Empty documents are skipped, as kubectl does. `text` must live
 * as long as the stream; the arena holds all documents. */
struct yaml_stream;
struct yaml_stream *yaml_stream_new(struct arena *a, struct str text,
                                    const struct yaml_options *opt);
int yaml_stream_next(struct yaml_stream *s, struct value *ret, struct err *err);
struct yaml_stream *yaml_stream_free(struct yaml_stream *s);

/* What a strict reader says of duplicate keys, in the order met: `line 7: key "k" already set in
 * map`. At most `max`; returns how many. Of the first document of a text that has been read; one
 * that is too deep and large (LIMIT_YAML_FLOW_WORK) is not read to its end. */
size_t yaml_duplicates(struct arena *a, struct str text, struct str *ret, size_t max);

void yaml_write(struct buf *out, const struct value *v); /* ends with a newline */
