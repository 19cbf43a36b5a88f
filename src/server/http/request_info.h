/* request_info.h - what a request is about by its path alone, whether or not there is such a
 * thing: what is authorized and audited. As upstream reads paths. Pure; everything lies in the
 * arena or is static. */
#pragma once

#include "select/fields.h"
#include "select/labels.h"
#include "server/http/request.h"

struct request_info {
    bool is_resource; /* else only path and verb count */
    struct str verb;  /* "list"; of anything else the method, in lower case */
    struct str path;  /* decoded */
    struct str group, version, resource, sub, ns, name; /* empty where there is none */
    struct fields_selector fields; /* that a list, a watch or the like is narrowed to */
    struct labels_selector labels; /* the same */
};

/* `req` has the parameters (request_parse()). */
void request_info_read(struct arena *a, const struct http_request *http, const struct request *req,
                       struct request_info *ret);

/* Whether what was found to be served is what the path says. A request that is authorized by one
 * reading of its path must not be served by another. */
bool request_info_fits(const struct request_info *info, const struct request *req);
