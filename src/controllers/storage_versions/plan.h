/* plan.h - what a StorageVersion says once some servers are gone. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* Whether a server of that name is still there. */
typedef bool storage_versions_is_live(void *arg, struct spn_text server);

enum storage_versions_rest {
    STORAGE_VERSIONS_SAME,
    STORAGE_VERSIONS_FEWER, /* its status has changed */
    STORAGE_VERSIONS_NONE,  /* nobody is left: it goes */
};
/* Takes the others out of its status, with what they agreed on. */
enum storage_versions_rest storage_versions_trim(struct spn_arena *a, struct spn_value *version,
                                                 storage_versions_is_live *is_live, void *arg,
                                                 int64_t now_ns);
