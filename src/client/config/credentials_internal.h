/* credentials_internal.h - credentials whose time a test decides. */
#pragma once

#include <sampan/credentials.h>

#include "base/clock.h"

/* The clock lives longer. */
struct spn_credentials *credentials_new_with_clock(const struct spn_config *cfg,
                                                   const struct clock *clock);
