/* backup.h - /sampan/v1/backup: the whole store as one file, while writes go on.
 *
 * An object that is damaged is a reason to refuse it all, and named. With the query BACKUP_SKIP
 * such objects are left out; each is named in a Warning header, as far as there is room, and in the
 * log. */
#pragma once

#include "net/http/http.h"
#include "server/core/api.h"

#define BACKUP_SKIP "skipDamaged=true"

/* Answers the exchange later, from a worker. */
void backup_serve(struct api *api, struct http_exchange *x);
