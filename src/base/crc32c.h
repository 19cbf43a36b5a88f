/* crc32c.h - the Castagnoli checksum of everything the store keeps. Uses the CPU's instruction
 * where there is one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continue from `crc`; 0 starts. crc32c(crc32c(0, a), b) is that of a followed by b. */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);
