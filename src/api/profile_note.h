/* profile_note.h - security profiles as older manifests name them, in annotations of pods. */
#pragma once

#include "base/str.h"

/* The `type` of a field that says the same as the annotation: Unconfined, RuntimeDefault or
 * Localhost; empty if none does. `*ret_local` is the name of the profile, of Localhost only. */
struct str profile_note_type(struct str note, struct str *ret_local);
