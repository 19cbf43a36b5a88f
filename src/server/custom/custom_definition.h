/* custom_definition.h - what becomes of a CustomResourceDefinition once it is in the store: names
 * are accepted or not, it is established, and its end takes its objects along.
 *
 * Upstream has controllers for this; here it is done before the request that changed the definition
 * is answered, so that whoever got the answer can use what it defines. These wait for the store:
 * workers call them. */
#pragma once

#include "server/core/api.h"

bool custom_definition_is(const struct kind_resource *r);

/* After the definition was written: brings its status up to date, and what is served. */
int custom_definition_settle(struct api *api, struct str name, struct err *err);

/* On its way out, before it is stored: the time, and the finalizer that keeps it until its objects
 * are gone. */
void custom_definition_mark_deleted(struct arena *a, struct value *crd, struct str now);
/* The same for any definition: if it is marked for deletion its objects are deleted, and once none
 * is left it goes, too. To be called again when one of the objects that held out is gone. */
int custom_definition_finish(struct api *api, struct str name, struct err *err);
/* After a start: what was interrupted. */
int custom_definition_resume(struct api *api, struct err *err);
