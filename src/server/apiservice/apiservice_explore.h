/* apiservice_explore.h - what an extension server says that it serves: whether it answers at all,
 * its resources for discovery, and its OpenAPI documents.
 *
 * The server asks as upstream's aggregator does, by its front proxy's certificate and in the name
 * of users of its own. These wait: for workers that may. */
#pragma once

#include "server/apiservice/apiservice.h"

/* The document of the version: `https://ADDRESS/apis/GROUP/VERSION`. */
struct str apiservice_url(struct arena *a, const struct apiservice *s, struct str address);

/* Whether it answers with its discovery document. ERR_UNAVAILABLE says why not, in upstream's
 * words. */
int apiservice_probe(struct arena *a, const struct apiservice *s, struct str address,
                     struct err *err);

/* What it tells of its version. Where it fails, what was told before is passed on as old. */
void apiservice_explore(struct apiservices *all, struct arena *a, const struct apiservice *s,
                        struct str address);

/* JSON of the resources in an APIResourceList, as the aggregated form of discovery has them. False
 * if it is none. */
bool apiservice_resources(struct arena *a, struct str list, struct str *ret);
