/* suite_admission.h - shared by the tests of the plugins: a cluster of a few trees, and rows of
 * what becomes of a write. Objects are JSON with single quotes. */
#pragma once

#include "base/idiom.h"
#include "admission/admission.h"

struct suite_object {
    struct str plural, name;
    const char *obj;
};

struct suite {
    const struct suite_object *objects;
    size_t n_objects;
    const char *allowed;     /* what everybody may do: "VERB RESOURCE NAME;" and so on */
    const struct user *user; /* who writes; NULL: the server */
    struct admission_choice choice;
    const struct admission_config *config; /* NULL: nothing is configured */
    const struct clock *clock;             /* NULL: the system's */
    bool looks; /* plugins look for namespaces themselves; else all of them are there */
};

struct suite_row {
    const char *group, *plural;
    const char *obj;     /* NULL: a delete */
    const char *old_obj; /* NULL: a create */
    const char *becomes; /* what it is after the plugins; NULL: what it was */
    const char *refused; /* why; NULL: it is not */
    const char *sub;     /* the path below the object; NULL: itself */
    const char *name;    /* of the path; NULL: that of the object */
    const char *ns;      /* NULL: "ns" */
    const char *said; /* warnings, "! TEXT", and "KEY=VALUE" for auditors, a line each; NULL: any */
};

/* Fails the test at the first row of which something else becomes. */
void suite_check(const struct suite *s, const struct suite_row *rows, size_t n);
#define SUITE_CHECK(suite, rows) suite_check(suite, rows, ARRAY_LEN(rows))

/* Whether nobody refuses the row's write. */
bool suite_is_admitted(const struct suite *s, const struct suite_row *row);

#define FORBIDDEN(what) what " is forbidden: "
