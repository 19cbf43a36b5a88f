/* thread.h - a thread of the library, which no signal reaches. Private to this folder. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `stack_bytes` 0: the system's choice, for threads that run code of the program. False: the system
 * has none left. */
bool thread_start(pthread_t *ret, size_t stack_bytes, void *(*run)(void *), void *arg);

/* A condition whose waits end by the monotonic clock. */
void cond_init_monotonic(pthread_cond_t *c);
/* Waits until that moment (monotonic, in nanoseconds). False: it has come. */
bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);
