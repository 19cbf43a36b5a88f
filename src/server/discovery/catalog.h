/* catalog.h - everything that is served, built in and custom, by group and version.
 *
 * Made anew for each document that tells of it: definitions and APIServices come and go. Groups are
 * in the order of discovery; the versions of a group stand together, the preferred one first. */
#pragma once

#include "api/kind.h"
#include "base/arena.h"
#include "server/apiservice/apiservice.h"
#include "server/custom/custom.h"

struct catalog_version {
    struct str group, version;
    const struct kind_resource **resources; /* in the order of their plurals */
    size_t n;
    bool custom; /* nothing of it is built in */
    /* An APIService alone names it: somebody else serves it, or nobody does. */
    const struct apiservice *foreign;
};

struct catalog {
    struct catalog_version *versions;
    size_t n;
    struct custom **customs; /* references to what the resources are of */
    size_t n_customs;
    struct apiservice **services; /* references to those that the versions name */
    size_t n_services;
};

/* Lies in the arena but for the references. `kinds` and `services` may be NULL. */
void catalog_make(struct arena *a, enum kind_choice choice, struct custom_kinds *kinds,
                  struct apiservices *services, struct catalog *ret);
void catalog_done(struct catalog *c);

/* NULL if there is none that is served here; of a group the preferred version, whoever serves it.
 */
const struct catalog_version *catalog_find(const struct catalog *c, struct str group,
                                           struct str version);
const struct catalog_version *catalog_group(const struct catalog *c, struct str group);
