#include "net/crypto/salsa20.h"

#include <endian.h>
#include <string.h>

#include "base/banned.h"

/* Words of the state: 0, 5, 10 and 15 are constant, 1-4 and 11-14 are the key, 6-9 what comes in.
 */
enum { KEY_LOW = 1, INPUT = 6, KEY_HIGH = 11 };

static uint32_t load(const unsigned char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof(word));
    return le32toh(word);
}

static void store(unsigned char *p, uint32_t word)
{
    word = htole32(word);
    memcpy(p, &word, sizeof(word));
}

static uint32_t rotate(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *b ^= rotate(*a + *d, 7);
    *c ^= rotate(*b + *a, 9);
    *d ^= rotate(*c + *b, 13);
    *a ^= rotate(*d + *c, 18);
}

static void twenty_rounds(uint32_t x[static 16])
{
    for (int i = 0; i < 10; i++) {
        quarter_round(&x[0], &x[4], &x[8], &x[12]);
        quarter_round(&x[5], &x[9], &x[13], &x[1]);
        quarter_round(&x[10], &x[14], &x[2], &x[6]);
        quarter_round(&x[15], &x[3], &x[7], &x[11]);
        quarter_round(&x[0], &x[1], &x[2], &x[3]);
        quarter_round(&x[5], &x[6], &x[7], &x[4]);
        quarter_round(&x[10], &x[11], &x[8], &x[9]);
        quarter_round(&x[15], &x[12], &x[13], &x[14]);
    }
}

static void set_key(struct salsa20 *s, const unsigned char *key)
{
    static const unsigned char constant[] = "expand 32-byte k";
    for (size_t i = 0; i < 4; i++) {
        s->state[5 * i] = load(constant + 4 * i);
        s->state[KEY_LOW + i] = load(key + 4 * i);
        s->state[KEY_HIGH + i] = load(key + 16 + 4 * i);
    }
}

/* HSalsa20: a key for the rest of the nonce. The words that it gives are those that an outsider
 * knows, after the rounds. */
static void derive_key(struct salsa20 *s, unsigned char ret[static SALSA20_KEY_BYTES])
{
    uint32_t x[16];
    memcpy(x, s->state, sizeof(x));
    twenty_rounds(x);
    for (size_t i = 0; i < 4; i++) {
        store(ret + 4 * i, x[5 * i]);
        store(ret + 16 + 4 * i, x[INPUT + i]);
    }
}

void xsalsa20_init(struct salsa20 *s, const unsigned char key[static SALSA20_KEY_BYTES],
                   const unsigned char nonce[static XSALSA20_NONCE_BYTES])
{
    unsigned char derived[SALSA20_KEY_BYTES];
    set_key(s, key);
    for (size_t i = 0; i < 4; i++)
        s->state[INPUT + i] = load(nonce + 4 * i);
    derive_key(s, derived);
    set_key(s, derived);
    explicit_bzero(derived, sizeof(derived));
    s->state[INPUT] = load(nonce + 16);
    s->state[INPUT + 1] = load(nonce + 20);
    s->state[INPUT + 2] = s->state[INPUT + 3] = 0; /* the number of the block */
}

void salsa20_block(struct salsa20 *s, unsigned char ret[static SALSA20_BLOCK_BYTES])
{
    uint32_t x[16];
    memcpy(x, s->state, sizeof(x));
    twenty_rounds(x);
    for (size_t i = 0; i < 16; i++)
        store(ret + 4 * i, x[i] + s->state[i]);
    if (++s->state[INPUT + 2] == 0)
        s->state[INPUT + 3]++;
}
