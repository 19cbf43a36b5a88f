/* names.h - what the name of an object may look like, and upstream's words when it does not.
 *
 * Each resource has one of a handful of rules; most names are DNS subdomains. The same machinery
 * checks the parts of labels, annotations and finalizers. A check is one or two passes over the
 * text; that a resource has a rule of its own is a row in the table of names.c. */
#pragma once

#include "base/arena.h"

enum name_rule {
    NAME_SUBDOMAIN,
    NAME_LONG, /* a subdomain too, in the newer words that count bytes */
    NAME_LABEL,
    NAME_LABEL_1035,
    NAME_PATH_SEGMENT, /* anything that can stand in a URL and in a storage key */
    NAME_ANY,          /* the kind has no rule; a path segment is asked for in the end */
    NAME_CONFIG_KEY,
    NAME_IP,              /* a canonical address */
    NAME_STORAGE_VERSION, /* GROUP.RESOURCE */
    /* Rules that read the object's spec; here only their part without it (see meta.c). */
    NAME_TRUST_BUNDLE,
    NAME_API_SERVICE,
    NAME_DEFINITION,
    /* Not of objects: label and annotation keys and finalizers; label values. */
    NAME_QUALIFIED,
    NAME_LABEL_VALUE,
};

enum { NAME_FAULTS_MAX = 4, NAME_LABEL_MAX = 63, NAME_SUBDOMAIN_MAX = 253 };

/* Why a text is no such name; each fault reads `part` followed by `why`. */
struct name_faults {
    size_t n;
    struct {
        const char *part, *why;
    } list[NAME_FAULTS_MAX];
    char address[80]; /* words about the canonical form; `why` may point here */
};

/* Adds to `faults`, which the caller has zeroed, and returns whether there are none. */
bool name_check(enum name_rule rule, struct str name, struct name_faults *faults);
/* The same for a generateName: a dash may stand at its end. */
bool name_check_prefix(enum name_rule rule, struct str prefix, struct name_faults *faults);

/* The rule of a resource's names; NAME_SUBDOMAIN for all that are not built in. */
enum name_rule name_rule_of(struct str group, struct str resource);

/* `base` cut to what a label allows, and five letters and digits made from `random`. */
struct str name_generate(struct arena *a, struct str base, uint64_t random);
