/* convert_internal.h - kinds whose versions differ in more than names. Private to this folder.
 *
 * One pair of functions for each row of convert.c, in convert_*.c by area. `_in` changes an object
 * of the old version so that it reads as one of the hub, `_out` the reverse. Fields that the other
 * one does not have may be left: they are dropped afterwards, when the object is read by its table,
 * which puts the fields in order too. */
#pragma once

#include "api/convert.h"

/* convert_event.c */
int convert__event_in(struct arena *a, struct value *obj, struct err *err);
int convert__event_out(struct arena *a, struct value *obj, struct err *err);

/* convert_hpa.c */
int convert__autoscaler_v1_in(struct arena *a, struct value *obj, struct err *err);
int convert__autoscaler_v1_out(struct arena *a, struct value *obj, struct err *err);
