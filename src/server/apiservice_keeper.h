/* apiservice_keeper.h - APIServices are kept true: upstream's availability, discovery and
 * registration controllers.
 *
 * Those of custom kinds come and go with their definitions. Servers of others are asked whether
 * they are there, and what they serve: when their APIService, its Service or the endpoints of that
 * have changed, every half minute, and sooner while they do not answer. Each is asked by a worker
 * that may wait, so a slow one delays nobody else. Any thread. */
#pragma once

#include "server/core/api.h"

struct apiservice_keeper;

/* Once there are loops; all are looked at soon. */
struct apiservice_keeper *apiservice_keeper_new(struct api *api, struct loop *loop);
/* Neither loops nor workers run any more. NULL will do. */
struct apiservice_keeper *apiservice_keeper_free(struct apiservice_keeper *k);

/* api->on_apiservice_changed, on_service_changed and on_definition_changed: see there. */
void apiservice_keeper_changed(struct api *api, struct str name);
void apiservice_keeper_service_changed(struct api *api, struct str ns);
void apiservice_keeper_definition_changed(struct api *api);
