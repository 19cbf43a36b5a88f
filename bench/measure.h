/* measure.h - what the benches share: how long something takes, and giving up.
 *
 * The best of many rounds counts, so that a busy machine disturbs little. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Ends the program with a word about what has failed, unless it is good. */
void measure_must(bool good, const char *what);

int64_t measure_wall_ns(void);
/* Processor time of this thread: others on the machine take theirs between. */
int64_t measure_thread_ns(void);
/* Processor time of the process without this thread, in seconds: that of the server, where this
 * thread is the one that asks. */
double measure_others_s(void);

/* Microseconds of one call by that clock, best of the rounds. */
double measure_us(int64_t (*now_ns)(void), void (*once)(void));
