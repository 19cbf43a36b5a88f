/* validate_common.h - what the rules of many kinds share: reading members of an object as a Go
 * struct would have them, paths, faults, and checks of names, numbers, sets of values, ports,
 * addresses, selectors and quantities.
 *
 * A check_...() notes what is wrong at `path` in upstream's words and returns whether nothing was.
 * On the good path nothing is allocated. Values may be absent or of another type: they count as
 * what Go has where nothing is set. */
#pragma once

#include "api/names.h"
#include "api/validate/fault.h"
#include "api/validate/validate_internal.h"
#include "api/words.h"

/* ---- Reading ---- */

/* A member that is there and not null, or NULL. */
static inline const struct value *validate__member(const struct value *obj, struct str key)
{
    const struct value *v = value_get(obj, key);
    return value_is(v, VALUE_NULL) ? NULL : v;
}
static inline int64_t validate__int(const struct value *v)
{
    int64_t n = 0;
    (void)value_to_int(v, &n);
    return n;
}
static inline size_t validate__count(const struct value *v)
{
    return value_is(v, VALUE_ARRAY) || value_is(v, VALUE_OBJECT) ? v->n : 0;
}
/* The entry of a map whose keys are sorted, as those of a read object are; NULL without one. Maps
 * that outsiders made large are searched in steps. */
const struct value *validate_map_member(const struct value *map, struct str key);

#define validate_member(obj, lit) validate__member((obj), STR(lit))
#define validate_int(obj, lit)    validate__int(value_get((obj), STR(lit)))
#define validate_count(obj, lit)  validate__count(value_get((obj), STR(lit))) /* items or fields */

/* ---- Paths: on the stack of the block that names them ---- */

#define path_at(parent_path, lit) \
    (&(const struct field_path){ .parent = (parent_path), .name = STR(lit) })
#define path_item(parent_path, i) \
    (&(const struct field_path){ .parent = (parent_path), .index = (i) })
#define path_key(parent_path, map_key) \
    (&(const struct field_path){ .parent = (parent_path), .name = (map_key), .is_key = true })
/* The outermost field. */
#define path_root(lit) (&(const struct field_path){ .name = STR(lit) })

/* ---- Numbers ---- */

bool validate_nonnegative(struct field_errors *e, const struct field_path *path, int64_t n);
bool validate_positive(struct field_errors *e, const struct field_path *path, int64_t n);
/* "must be between LOW and HIGH, inclusive" */
bool validate_between(struct field_errors *e, const struct field_path *path, int64_t n, int64_t low,
                      int64_t high);
bool validate_port(struct field_errors *e, const struct field_path *path, int64_t port);
/* A user or group. */
bool validate_id(struct field_errors *e, const struct field_path *path, int64_t id);

/* ---- Texts ---- */

bool validate_name(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                   struct str name);
/* Required, and then a name. */
bool validate_required_name(struct field_errors *e, const struct field_path *path,
                            enum name_rule rule, struct str name);
bool validate_required(struct field_errors *e, const struct field_path *path, struct str text);
/* One of a few values, listed in the order of the message; shown as JSON. */
bool validate_one_of(struct field_errors *e, const struct field_path *path, struct str text,
                     const struct str *values, size_t n);
bool validate_port_name(struct field_errors *e, const struct field_path *path, struct str name);
/* A number or the name of a port. */
bool validate_port_or_name(struct field_errors *e, const struct field_path *path,
                           const struct value *port);
bool validate_header_name(struct field_errors *e, const struct field_path *path, struct str name);
bool validate_env_name(struct field_errors *e, const struct field_path *path, struct str name);
/* "acme.io/foo" */
bool validate_domain_path(struct field_errors *e, const struct field_path *path, struct str text);
/* "example.com/signer-name" */
bool validate_signer_name(struct field_errors *e, const struct field_path *path, struct str name);
/* A domain of at least two labels; a dot may end it. */
bool validate_domain_name(struct field_errors *e, const struct field_path *path, struct str text);
bool validate_wildcard_domain(struct field_errors *e, const struct field_path *path,
                              struct str text);
/* Whether the name is the domain or ends with a dot and the domain. */
bool validate_is_in_domain(struct str name, const char *domain);
/* A path below something: relative, and never up. */
bool validate_descending_path(struct field_errors *e, const struct field_path *path,
                              struct str text);
bool validate_no_backsteps(struct field_errors *e, const struct field_path *path, struct str text);

/* ---- Addresses ---- */

/* Of fields that may have an unusual but clear form; a value among `old_values` (a list, or NULL)
 * is taken as it is. */
bool validate_ip_legacy(struct field_errors *e, const struct field_path *path, struct str ip,
                        const struct value *old_values);
bool validate_cidr_legacy(struct field_errors *e, const struct field_path *path, struct str cidr,
                          const struct value *old_values);
/* Of newer fields: canonical too. */
bool validate_ip(struct field_errors *e, const struct field_path *path, struct str ip);
bool validate_cidr(struct field_errors *e, const struct field_path *path, struct str cidr);
/* An address with the bits of its network, canonical: 10.9.8.7/24. */
bool validate_interface_address(struct field_errors *e, const struct field_path *path,
                                struct str address);

/* ---- Labels and selectors ---- */

bool validate_labels(struct field_errors *e, const struct field_path *path,
                     const struct value *labels);
bool validate_annotations(struct field_errors *e, const struct field_path *path,
                          const struct value *annotations);
enum { SELECTOR_ANY_VALUES = 1 }; /* label values are not looked at: an old object had bad ones */
bool validate_label_selector(struct field_errors *e, const struct field_path *path,
                             const struct value *selector, unsigned flags);
/* Whether validate_label_selector() would say nothing. */
bool validate_is_label_selector(const struct value *selector, unsigned flags);
/* Whether an expression of the selector has a value that is no label value. */
bool validate_selector_has_bad_value(const struct value *selector);
/* Whether the labels are selected; by an absent selector none, by an empty one all. Selectors that
 * are not valid select nothing. */
bool validate_selector_matches(const struct value *selector, const struct value *labels);
bool validate_selector_is_empty(const struct value *selector); /* there, but asks for nothing */

/* What the operator of a selector says of its values. */
enum selector_operator {
    OPERATOR_WITH_VALUES, /* In, NotIn */
    OPERATOR_WITHOUT,     /* Exists, DoesNotExist */
    OPERATOR_WITH_NUMBER, /* Gt, Lt */
    OPERATOR_UNKNOWN,
};
enum selector_operator validate_operator_of(struct str text);

/* ---- Quantities ---- */

bool validate_nonnegative_quantity(struct field_errors *e, const struct field_path *path,
                                   struct str quantity);
bool validate_positive_quantity(struct field_errors *e, const struct field_path *path,
                                struct str quantity);

/* ---- Numbers or percentages ---- */

/* A number that is not negative, or a percentage. */
bool validate_int_or_percent(struct field_errors *e, const struct field_path *path,
                             const struct value *v);
/* At most "100%"; says nothing of numbers and of what is no percentage. */
bool validate_not_over_100_percent(struct field_errors *e, const struct field_path *path,
                                   const struct value *v);
/* The number, or the number in front of '%'; 0 of anything else. */
int64_t validate_amount(const struct value *v);
/* Whether it is a percentage of the right form. */
bool validate_is_percent(const struct value *v);

/* ---- Changes ---- */

/* Whether two values are the same to upstream: absent, null and an empty list or map are one. */
bool validate_is_same(const struct value *a, const struct value *b);
bool validate_immutable(struct field_errors *e, const struct field_path *path,
                        const struct value *new_val, const struct value *old_val);
