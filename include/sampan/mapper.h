/* sampan/mapper.h - which resources a server has, and what users call them.
 *
 *     struct spn_resource found;
 *     if (spn_mapper_find(m, spn_text_of("deploy.apps"), NULL, a, &found, &err) < 0)
 *         ...
 *     struct spn_target web = spn_resource_target(&found, ns, name);
 *
 * The server is asked at the first question, by aggregated discovery or, where it has none, version
 * by version. What it says is kept. A question that finds nothing asks it again, but not too often.
 * A part of the API that is down, such as an aggregated server, does not hide the others; asked for
 * something of it, the answer is SPN_UNAVAILABLE instead of SPN_NOT_FOUND. Any thread. Results lie
 * in the caller's arena. */
#pragma once

#include <sampan/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_mapper;

struct spn_mapper_options {
    int64_t refresh_ms; /* what is not found is looked for again, at most so often; 0: 5 s */
};

struct spn_resource {
    struct spn_text group, version, plural; /* as in struct spn_target */
    struct spn_text kind, singular;
    bool namespaced;
    struct spn_texts verbs, short_names, categories, subresources;
};

/* `opt` may be NULL. The client lives longer. */
SPN_API struct spn_mapper *spn_mapper_new(struct spn_client *c,
                                          const struct spn_mapper_options *opt);
SPN_API struct spn_mapper *spn_mapper_free(struct spn_mapper *m);

/* By what a user says, as kubectl takes it: plural, singular, short name or kind, alone or with a
 * group or a beginning of one, or with version and group: "pods", "po", "Deployment",
 * "deploy.apps", "deployments.v1.apps". Of several the first one counts: groups in the server's
 * order, the core before all, and in a group the preferred version. */
SPN_API int spn_mapper_find(struct spn_mapper *m, struct spn_text words, const struct spn_call *how,
                            struct spn_arena *a, struct spn_resource *ret, struct spn_err *err);
/* By what an object says of itself: "apps/v1" and "Deployment". */
SPN_API int spn_mapper_of_kind(struct spn_mapper *m, struct spn_text api_version,
                               struct spn_text kind, const struct spn_call *how,
                               struct spn_arena *a, struct spn_resource *ret, struct spn_err *err);

struct spn_resources {
    const struct spn_resource *items;
    size_t n;
};
/* Each resource of a category ("all") once, in its preferred version; NULL: of all of them. */
SPN_API int spn_mapper_list(struct spn_mapper *m, const char *category, const struct spn_call *how,
                            struct spn_arena *a, struct spn_resources *ret, struct spn_err *err);
/* Parts that the server could not tell about, as "group/version" each. */
SPN_API int spn_mapper_missing(struct spn_mapper *m, const struct spn_call *how,
                               struct spn_arena *a, struct spn_texts *ret, struct spn_err *err);
/* The next question asks the server. */
SPN_API void spn_mapper_reset(struct spn_mapper *m);

/* The namespace is left out where the resource has none. */
SPN_API struct spn_target spn_resource_target(const struct spn_resource *r, struct spn_text ns,
                                              struct spn_text name);

#ifdef __cplusplus
}
#endif
