#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

static void exhausted_abort(size_t wanted)
{
    fprintf(stderr, "sampan: out of memory (%zu bytes)\n", wanted);
    abort();
}

void (*mem_exhausted)(size_t wanted) = exhausted_abort;

static void *checked(void *p, size_t n)
{
    if (!p)
        mem_exhausted(n);
    return p;
}

static size_t product(size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        mem_exhausted(SIZE_MAX);
    return total ? total : 1;
}

void *mem_alloc(size_t n)
{
    return checked(malloc(n ? n : 1), n);
}

void *mem_zalloc(size_t n)
{
    return checked(calloc(1, n ? n : 1), n);
}

void *mem_array(size_t n, size_t size)
{
    return mem_zalloc(product(n, size));
}

void *mem_resize(void *p, size_t n, size_t size)
{
    size_t total = product(n, size);
    return checked(realloc(p, total), total);
}

void *mem_dup(const void *p, size_t n)
{
    void *copy = mem_alloc(n);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

void mem_cleanup_free(void *pp)
{
    free(*(void **)pp);
}

void mem_cleanup_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}
