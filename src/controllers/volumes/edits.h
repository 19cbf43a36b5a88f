/* edits.h - what binding changes in claims and volumes, beside volume_set_claim() of src/select.
 * Functions change the tree, in the arena, and return true if something is different now. Rules
 * only: no I/O. */
#pragma once

#include <sampan/value.h>

/* The volume is nobody's any more; one that a user reserved for a claim stays reserved. */
void volume_clear_claim(struct spn_arena *a, struct spn_value *volume);
bool volume_set_phase(struct spn_arena *a, struct spn_value *volume, const char *phase,
                      struct spn_text message);
/* What keeps a volume of our own making from going before its data goes, and the mark of those
 * whose driver has changed. */
bool volume_set_protection(struct spn_arena *a, struct spn_value *volume);

/* The claim says that the volume is its own, for good. */
bool claim_set_volume(struct spn_arena *a, struct spn_value *claim, const struct spn_value *volume);
/* `volume` is NULL: it has none. SPN_INVALID: the volume does not say how large it is. */
int claim_set_phase(struct spn_arena *a, struct spn_value *claim, const char *phase,
                    const struct spn_value *volume, bool *ret_changed, struct spn_err *err);
/* Tells who is to make its volume. */
bool claim_set_provisioner(struct spn_arena *a, struct spn_value *claim, struct spn_text name);
/* The mark of a claim whose provisioner has been replaced by a driver. */
bool claim_set_migration(struct spn_arena *a, struct spn_value *claim);

/* The volume that a host path is. */
struct spn_value *volume_of_host_path(struct spn_arena *a, const struct spn_value *claim,
                                      const struct spn_value *class, struct spn_text name,
                                      struct spn_text path);
