/* generate.h - what `sampan generate` does: one file in, definitions and C out. */
#pragma once

#include "base/err.h"

struct generate_options {
    const char *from;    /* the file */
    const char *kind;    /* what it is: "crd", "kinds" or "header"; NULL: by its name */
    const char *crd;     /* the YAML file to write; NULL: none */
    const char *c;       /* the folder for gen_PREFIX.h and gen_PREFIX.c; NULL: none */
    const char *prefix;  /* NULL: the name of the kind */
    const char *version; /* of a definition; NULL: the one that is stored */
    char **with;         /* further files of kinds/ that the file names types of */
    int n_with;
};

/* ERR_INVALID says what is wrong with the file and where; mistakes in files of kinds/ end the
 * process. */
int generate(struct arena *a, const struct generate_options *opt, struct err *err);
