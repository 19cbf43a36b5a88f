/* object_room.h - objects of a list, many in one piece of memory, which goes when the last of them
 * has gone. What is freed with its list costs one call instead of hundreds; but an object that
 * outlives its neighbours keeps their memory. Private to this folder. One thread. */
#pragma once

#include <sampan/object.h>

struct object_room {
    struct room *now; /* that has space left */
};

/* spn_object_new(), in a room. NULL: in memory of its own. */
int object_new_in(struct object_room *room, const struct spn_value *v, struct spn_object **ret,
                  struct spn_err *err);
/* No more objects come. Those that are there stay. */
void object_room_done(struct object_room *all);
