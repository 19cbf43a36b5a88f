/* annotated.h - a C header whose comments say what API its structs are.
 *
 *     // +groupName=samplecrd.k8s.io
 *     // +versionName=v1
 *
 *     // Network is a range of addresses.
 *     // +genclient
 *     // +kubebuilder:subresource:status
 *     struct network {
 *         struct network_spec *spec;
 *         // +optional
 *         struct network_status *status;
 *     };
 *
 * Structs with +genclient are kinds. Members have the types of sampan/typed.h, point to structs of
 * the file or of the library (meta_v1_...), or are lists (struct X_list) and maps (struct X_map) of
 * them. A member is required unless +optional or a default stands above it. Its name in JSON is the
 * usual one (pod_cidr: podCidr) unless +json=podCIDR says another. Markers mean what they mean to
 * the Go tools; one that begins with +kubebuilder: and is not known is an error, others are left
 * alone. What the preprocessor would do is skipped.
 *
 * Reading and turning into definitions are rules only: no I/O. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* "+name=value", as it stands. */
struct annotated_marker {
    struct annotated_marker *next;
    struct str text; /* without the + */
    size_t line;
};

struct annotated_member {
    struct annotated_member *next;
    struct str name, type; /* type: the word behind `struct` */
    bool is_pointer;
    struct str about;
    struct annotated_marker *markers;
    size_t line;
};

struct annotated_struct {
    struct annotated_struct *next;
    struct str name, about;
    struct annotated_marker *markers;
    struct annotated_member *members;
    size_t line;
    bool is_open; /* while it is being turned into a schema */
    bool is_used; /* by the schema of some kind */
};

struct annotated {
    struct arena *arena;
    const char *file; /* for messages */
    struct annotated_struct *structs;
    struct annotated_marker *markers; /* all of them, of the whole file */
};

/* `text` must live as long as the result. ERR_INVALID as "FILE:LINE: ...". */
int annotated_read(struct arena *a, const char *file, struct str text, struct annotated *ret,
                   struct err *err);

/* A list of CustomResourceDefinitions, one for each kind, in the order of the file. ERR_INVALID. */
int annotated_definitions(struct annotated *in, struct value *ret, struct err *err);

/* ---- Between the two ---- */

int annotated_error(const struct annotated *in, size_t line, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
struct annotated_struct *annotated_find(const struct annotated *in, struct str name);
/* The value of the first marker of that name: "" if it has none, .p is NULL if there is no such
 * marker. */
struct str annotated_value(const struct annotated_marker *markers, struct str name);
static inline bool annotated_has(const struct annotated_marker *markers, struct str name)
{
    return annotated_value(markers, name).p;
}
