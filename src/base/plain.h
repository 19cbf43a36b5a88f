/* plain.h - the inner loop of JSON text: how far do plain bytes reach?
 *
 * Plain means that a byte stands for itself inside a JSON string whatever its neighbours are: ASCII
 * from space upward, without the quote and the backslash. Everything else (controls, 0x80 and up)
 * is looked at one by one by the caller. Blocks are 16 bytes with SSE2 and 8 bytes elsewhere; no
 * byte outside the given range is read or written, so tails are done with overlapping blocks.
 * Private to this folder; both forms are always compiled where possible, so that both are tested.
 */
#pragma once

#include "base/str.h"

static inline bool plain_is(char c)
{
    return (unsigned char)c - 0x20u < 0x60 && c != '"' && c != '\\';
}

static inline uint64_t plain_load(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    return w;
}

/* True when one of the eight bytes is not plain. */
static inline bool plain_word_is_broken(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
    uint64_t hits = w | ((w - ones * 0x20) & ~w);
    hits |= (quote - ones) & ~quote;
    hits |= (backslash - ones) & ~backslash;
    return hits & ones * 0x80;
}

static inline size_t plain_span_bytes(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && plain_is(p[i]))
        i++;
    return i;
}

static inline size_t plain_span_swar(const char *p, size_t n)
{
    size_t i = 0;
    while (i + 8 <= n && !plain_word_is_broken(plain_load(p + i)))
        i += 8;
    return i + plain_span_bytes(p + i, n - i);
}

static inline size_t plain_copy_bytes(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i < n && plain_is(from[i]); i++)
        to[i] = from[i];
    return i;
}

/* Fewer than eight bytes; four and more as two halves of a word that overlap in the text. */
static inline size_t plain_copy_few(char *to, const char *from, size_t n)
{
    uint32_t head, tail;
    if (n < 4)
        return plain_copy_bytes(to, from, n);
    memcpy(&head, from, 4);
    memcpy(&tail, from + n - 4, 4);
    if (plain_word_is_broken((uint64_t)tail << 32 | head))
        return plain_copy_bytes(to, from, n);
    memcpy(to, &head, 4);
    memcpy(to + n - 4, &tail, 4);
    return n;
}

static inline size_t plain_copy_swar(char *to, const char *from, size_t n)
{
    size_t i = 0;
    while (i + 8 <= n && !plain_word_is_broken(plain_load(from + i))) {
        memcpy(to + i, from + i, 8);
        i += 8;
    }
    if (n - i < 8)
        return i + plain_copy_few(to + i, from + i, n - i);
    return i + plain_copy_bytes(to + i, from + i, n - i);
}

#ifdef __SSE2__
#include <emmintrin.h>

/* One bit per byte that is not plain. As signed bytes 0x80 and up are below 0x20 too. */
static inline unsigned plain_breaks(__m128i x)
{
    __m128i hits = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
    hits = _mm_or_si128(hits, _mm_cmpeq_epi8(x, _mm_set1_epi8('"')));
    hits = _mm_or_si128(hits, _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(hits);
}

static inline unsigned plain_breaks_at(const char *p)
{
    return plain_breaks(_mm_loadu_si128((const __m128i *)p));
}

static inline size_t plain_span_sse2(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        unsigned hits = plain_breaks_at(p + i);
        if (hits)
            return i + (unsigned)__builtin_ctz(hits);
    }
    return i + plain_span_swar(p + i, n - i);
}

static inline size_t plain_copy_16(char *to, const char *from)
{
    __m128i x = _mm_loadu_si128((const __m128i *)from);
    _mm_storeu_si128((__m128i *)to, x);
    return (unsigned)__builtin_ctz(plain_breaks(x) | 0x10000);
}

/* 8 to 15 bytes as two words that overlap. */
static inline size_t plain_copy_short(char *to, const char *from, size_t n)
{
    uint64_t head = plain_load(from), tail = plain_load(from + n - 8);
    if (plain_breaks(_mm_set_epi64x((long long)tail, (long long)head)))
        return plain_copy_bytes(to, from, n);
    memcpy(to, &head, 8);
    memcpy(to + n - 8, &tail, 8);
    return n;
}

static inline size_t plain_copy_sse2(char *to, const char *from, size_t n)
{
    if (n < 8)
        return plain_copy_few(to, from, n);
    if (n < 16)
        return plain_copy_short(to, from, n);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        size_t plain = plain_copy_16(to + i, from + i);
        if (plain < 16)
            return i + plain;
    }
    /* What this block repeats is known to be plain, so its first hit is the first of all. */
    return n - 16 + plain_copy_16(to + n - 16, from + n - 16);
}
#endif

/* How many of the `n` bytes at `p` are plain, counted from the front. */
static inline size_t plain_span(const char *p, size_t n)
{
#ifdef __SSE2__
    return plain_span_sse2(p, n);
#else
    return plain_span_swar(p, n);
#endif
}

/* The same, and copies them. Up to `n` bytes of `to` may be written. */
static inline size_t plain_copy(char *to, const char *from, size_t n)
{
#ifdef __SSE2__
    return plain_copy_sse2(to, from, n);
#else
    return plain_copy_swar(to, from, n);
#endif
}
