/* mem.h - the heap, for what outlives a request: never returns NULL.
 *
 * Out of memory ends the process through one hook. That is honest only because every size an
 * outsider can choose is first checked against a constant in limits.h. */
#pragma once

#include <stddef.h>

void *mem_alloc(size_t n);                        /* not zeroed */
void *mem_zalloc(size_t n);                       /* zeroed */
void *mem_array(size_t n, size_t size);           /* zeroed; checks n * size */
void *mem_resize(void *p, size_t n, size_t size); /* checks n * size */
void *mem_dup(const void *p, size_t n);

#define mem_new(type) ((type *)mem_zalloc(sizeof(type)))

/* Called once with the size that could not be had; must not return. The default prints a line
 * and aborts. */
extern void (*mem_exhausted)(size_t wanted);

/* Owning locals. `take` hands the value over and leaves NULL behind. */
void mem_cleanup_free(void *pp);
void mem_cleanup_close(int *fd);
#define autofree  __attribute__((cleanup(mem_cleanup_free)))
#define autoclose __attribute__((cleanup(mem_cleanup_close)))
#define take(pp)                     \
    ({                               \
        __auto_type taken__ = *(pp); \
        *(pp) = NULL;                \
        taken__;                     \
    })
static inline int take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}
