/* back_off.h - pauses that double: of containers that end again and again, and of images that
 * cannot be had. By key. Any thread; time is an argument (any clock, in nanoseconds). */
#pragma once

#include "base/str.h"

struct back_off;

/* The first pause, and the longest. After twice the longest without a call a key begins anew. */
struct back_off *back_off_new(int64_t first_ms, int64_t max_ms);
struct back_off *back_off_free(struct back_off *b);

/* The next, longer pause begins. `since_ns`: when it last went wrong; long ago it begins anew. */
void back_off_next(struct back_off *b, struct str key, int64_t since_ns, int64_t now_ns);
/* Whether the pause after `since_ns` is not over yet. */
bool back_off_is_waiting(struct back_off *b, struct str key, int64_t since_ns, int64_t now_ns);
/* The same after the last back_off_next(). */
bool back_off_is_waiting_still(struct back_off *b, struct str key, int64_t now_ns);
int64_t back_off_ms(struct back_off *b, struct str key); /* the pause; 0: none */
/* Forgets keys that begin with this. */
void back_off_forget(struct back_off *b, struct str prefix);
