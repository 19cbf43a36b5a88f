/* client_verbs.h - which calls a kind gets, by the markers of Go's client-gen:
 *
 *     // +genclient:onlyVerbs=get,list,watch
 *     // +genclient:skipVerbs=delete,deleteCollection
 *     // +genclient:noVerbs
 *     // +genclient:noStatus
 *
 * A definition remembers what is left out in an annotation, so that header and definition lead to
 * the same code. */
#pragma once

#include "base/arena.h"

enum client_verb {
    CLIENT_CREATE = 1 << 0,
    CLIENT_UPDATE = 1 << 1,
    CLIENT_UPDATE_STATUS = 1 << 2,
    CLIENT_DELETE = 1 << 3,
    CLIENT_DELETE_COLLECTION = 1 << 4,
    CLIENT_GET = 1 << 5,
    CLIENT_LIST = 1 << 6,
    CLIENT_WATCH = 1 << 7,
    CLIENT_PATCH = 1 << 8,
    CLIENT_APPLY = 1 << 9,
    CLIENT_APPLY_STATUS = 1 << 10,
    CLIENT_ALL = (1 << 11) - 1,
};

/* "get,updateStatus" as bits; spaces around commas do not count. False: `*ret_unknown` is none. */
bool client_verbs_read(struct str list, unsigned *ret, struct str *ret_unknown);
struct str client_verbs_text(struct arena *a, unsigned verbs);
