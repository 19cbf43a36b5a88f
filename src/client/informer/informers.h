/* informers.h - all informers of a program, one after another, for the rooms of this folder. */
#pragma once

#include <sampan/informer.h>

/* Waits until it has synced, or the server has said that it has no such resource; else as
 * spn_informer_wait(). */
bool informer_wait_served(struct spn_informer *i, struct spn_stop *stop, int64_t ms);

void informers_each(struct spn_informers *all,
                    void (*fn)(void *arg, struct spn_informer *i, const struct spn_target *what),
                    void *arg);
