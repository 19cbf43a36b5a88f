/* validate_volume.h - sources of volumes: those that pods and persistent volumes have in common,
 * and those that only persistent volumes have. */
#pragma once

#include "api/validate/validate_common.h"

/* Checks a source of this field name ("hostPath", "nfs", ...) at `path`, which names it as upstream
 * does; false, and nothing is noted, where pods and persistent volumes differ in it or have none
 * such. */
bool validate_common_source(struct field_errors *e, const struct field_path *path, struct str name,
                            const struct value *source);
/* What ISCSI sources of both have in common; `volume` is the name of the volume. */
void validate_iscsi_source(struct field_errors *e, const struct field_path *path,
                           const struct value *iscsi, struct str volume);

/* The spec of a PersistentVolume, or the one inside a VolumeAttachment (`is_inline`). */
void validate_volume_spec(struct field_errors *e, const struct field_path *path,
                          const struct value *spec, struct str name, bool is_inline,
                          bool any_node_values);
