/* backup.h - /sampan/v1/backup: the whole store as one file, while writes go on. */
#pragma once

#include "net/http.h"
#include "server/api.h"

/* Answers the exchange later, from a worker. */
void backup_serve(struct api *api, struct http_exchange *x);
