/* quota_charge.h - quotas on the way of a write: who is charged, and when others have to look
 * again.
 *
 * An object is written in one transaction with the quotas that it is charged to, on condition that
 * these are what admission has seen (plugin_resource_quota.c). That no quota has come or changed
 * meanwhile is a condition, too: a key for each namespace that ever had a quota, which is written
 * with every quota, but not when one is only charged. So what is used is never more than a quota
 * says, however many write at once. Where there was never a quota nobody looks for one: the
 * condition is then that this is still so. On a worker. */
#pragma once

#include "admission/admission.h"
#include "server/registry/registry_internal.h"

/* At the start: whether there is a quota, or was one. */
int quota_charge_load(struct api *api, struct err *err);

/* All quotas of a namespace, and the revision of its key. For struct admission_cluster. */
int quota_charge_each(void *call, struct str ns, admission_take *take, void *to, uint64_t *ret_rev,
                      struct err *err);
/* What admission has charged is written with the object. */
int quota_charge_add(struct call *c, const struct admission_charging *charging,
                     struct registry_extra *extra, struct err *err);
/* Before a quota is written or deleted, or a namespace deleted: its key changes with it. */
void quota_charge_mark(struct call *c, struct str name, bool gone, struct registry_extra *extra);
/* After something was written, deleted, or replaced: tells who counts. */
void quota_charge_written(struct call *c, bool gone);
void quota_charge_replaced(struct call *c, const struct value *old_obj, const struct value *obj);
/* The key of a namespace, for whoever writes quotas in another way. */
struct str quota_charge_key(struct arena *a, struct str ns);
