#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/banned.h"

/* Reflected polynomial 0x1EDC6F41. */
static uint32_t by_bits(uint32_t crc, const unsigned char *p, size_t n)
{
    while (n--) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
    }
    return crc;
}

#if defined(__x86_64__)

/* x^n mod P for n bytes, so that three streams run side by side and are joined afterwards: the
 * instruction has a latency of three cycles and a throughput of one. */
enum { LANE = 256 };

static uint32_t shift_table[4][256];

static uint32_t shift_lane(uint32_t crc)
{
    return shift_table[0][crc & 255] ^ shift_table[1][crc >> 8 & 255] ^
           shift_table[2][crc >> 16 & 255] ^ shift_table[3][crc >> 24];
}

__attribute__((constructor)) static void make_shift_table(void)
{
    static const unsigned char zeros[LANE];
    for (int byte = 0; byte < 4; byte++)
        for (uint32_t v = 0; v < 256; v++)
            shift_table[byte][v] = 0;
    /* Shifting is linear: build it from the 32 single bits. */
    uint32_t bit_image[32];
    for (int bit = 0; bit < 32; bit++)
        bit_image[bit] = by_bits(1u << bit, zeros, LANE);
    for (int byte = 0; byte < 4; byte++)
        for (uint32_t v = 0; v < 256; v++)
            for (int bit = 0; bit < 8; bit++)
                if (v >> bit & 1)
                    shift_table[byte][v] ^= bit_image[byte * 8 + bit];
}

static uint64_t word(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    return w;
}

__attribute__((target("sse4.2"))) static uint32_t by_cpu(uint32_t crc, const unsigned char *p,
                                                         size_t n)
{
    uint64_t a = crc;
    while (n >= 3 * (size_t)LANE) {
        uint64_t b = 0, c = 0;
        for (size_t i = 0; i < LANE; i += 8) {
            a = _mm_crc32_u64(a, word(p + i));
            b = _mm_crc32_u64(b, word(p + LANE + i));
            c = _mm_crc32_u64(c, word(p + 2 * (size_t)LANE + i));
        }
        a = shift_lane((uint32_t)a) ^ b;
        a = shift_lane((uint32_t)a) ^ c;
        p += 3 * (size_t)LANE;
        n -= 3 * (size_t)LANE;
    }
    for (; n >= 8; p += 8, n -= 8)
        a = _mm_crc32_u64(a, word(p));
    for (; n; p++, n--)
        a = _mm_crc32_u8((uint32_t)a, *p);
    return (uint32_t)a;
}

#endif

uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_cpu(~crc, p, n);
#endif
    return ~by_bits(~crc, p, n);
}
