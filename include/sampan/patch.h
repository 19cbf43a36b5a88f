/* sampan/patch.h - patches of Kubernetes objects: apply them, and make them from documents.
 *
 *     char *patch = NULL, *why = NULL;
 *     if (spn_patch_three_way(last_applied, wanted, live, true, &patch, &why) < 0)
 *         fprintf(stderr, "%s\n", why);
 *
 * Documents and patches are JSON in UTF-8; what stands behind `n` bytes is not looked at. Results
 * are as kube-apiserver and kubectl make them. A result is text with a NUL behind it that the
 * caller frees with free(); it is written on success only. `ret_why`, which may be NULL, gets a
 * message for people on failure only, to be freed likewise.
 *
 * Strategic merge patch and server-side apply go by the kind that the document names (apiVersion
 * and kind); a kind that is not built in, such as a custom resource, is SPN_PATCH_NO_KIND: use a
 * merge patch then, as kubectl does.
 *
 * Everything is a pure function: no I/O, no clock, no globals, any thread. Time and memory are near
 * linear in the sizes of what is given; depth, number of operations and copied bytes are bounded.
 * Where there is no memory left the process ends. */
#pragma once

#include <sampan/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return on failure. */
enum spn_patch_error {
    SPN_PATCH_BAD = -1,       /* no JSON, or no patch of that kind */
    SPN_PATCH_INVALID = -2,   /* cannot be applied to this document */
    SPN_PATCH_CONFLICT = -3,  /* somebody else has changed, or owns, what is to be changed */
    SPN_PATCH_NO_KIND = -4,   /* the document names no kind that is known */
    SPN_PATCH_TOO_LARGE = -5, /* too many operations */
};

enum spn_patch_type {
    SPN_PATCH_JSON,      /* RFC 6902 */
    SPN_PATCH_MERGE,     /* RFC 7386 */
    SPN_PATCH_STRATEGIC, /* a merge patch that knows the kind: lists by their keys, directives */
};

/* The document with the patch applied. */
SPN_API int spn_patch_apply(enum spn_patch_type type, struct spn_text doc, struct spn_text patch,
                            char **ret, char **ret_why);

/* The merge patch that turns `from` into `to`; `{}` if they are equal. */
SPN_API int spn_patch_merge(struct spn_text from, struct spn_text to, char **ret, char **ret_why);

/* The strategic merge patch that turns `original` into `modified`; `{}` if there is nothing to
 * do. */
SPN_API int spn_patch_two_way(struct spn_text original, struct spn_text modified, char **ret,
                              char **ret_why);

/* The strategic merge patch that brings `current` to `modified`, deleting only what `original` had
 * and `modified` has not: what `kubectl apply` sends, `original` being the configuration that was
 * applied last. Without `overwrite` a field that somebody else has changed meanwhile is
 * SPN_PATCH_CONFLICT. */
SPN_API int spn_patch_three_way(struct spn_text original, struct spn_text modified,
                                struct spn_text current, bool overwrite, char **ret,
                                char **ret_why);

/* Server-side apply, as the server does it. */
struct spn_apply {
    const char *manager;     /* who applies */
    const char *now;         /* RFC 3339 in UTC, whole seconds */
    const char *subresource; /* "status", ...; NULL: the object itself */
    bool force;              /* take what others own */
};

/* The object that `config` makes of `live` (a NULL pointer: there is none yet), with
 * metadata.managedFields and without defaults. SPN_PATCH_CONFLICT names the fields that others
 * own. */
SPN_API int spn_patch_apply_config(const struct spn_apply *how, struct spn_text live,
                                   struct spn_text config, char **ret, char **ret_why);

#ifdef __cplusplus
}
#endif
