/* when.h - which changes matter, for controllers that look at everything now and then instead. */
#pragma once

#include <sampan/controller.h>

/* None does. */
static inline bool when_never(void *arg, const struct spn_object *old_o,
                              const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    (void)new_o;
    return false;
}
