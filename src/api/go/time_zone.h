/* time_zone.h - which names of time zones there are. Rules only: no files are looked at. */
#pragma once

#include "base/str.h"

/* "Europe/Berlin", "UTC"; case matters. */
bool time_zone_is_known(struct str name);
