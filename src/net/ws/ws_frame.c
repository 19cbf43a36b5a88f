/* ws_frame.c - a state machine over head and payload of one frame after the other. */
#include "net/ws/ws_frame.h"

#include "base/utf8.h"
#include "base/banned.h"

enum {
    BIT_FIN = 0x80,
    BITS_RESERVED = 0x70,
    BIT_MASKED = 0x80,
    LENGTH_16 = 126,
    LENGTH_64 = 127,
    KEPT_BYTES = 64 << 10, /* a buffer larger than this is given back after its message */
};

void ws_reader_init(struct ws_reader *r, size_t max_message, const struct ws_reader_events *events)
{
    *r = (struct ws_reader){ .max_message = max_message, .events = events };
}

void ws_reader_done(struct ws_reader *r)
{
    buf_done(&r->message);
}

bool ws_code_valid(unsigned code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

void ws_unmask(char *p, size_t n, const unsigned char mask[static 4], size_t at)
{
    unsigned char turned[8];
    for (size_t i = 0; i < sizeof(turned); i++)
        turned[i] = mask[(at + i) % 4];
    uint64_t wide;
    memcpy(&wide, turned, sizeof(wide));
    size_t i = 0;
    for (; n - i >= sizeof(wide); i += sizeof(wide)) {
        uint64_t word;
        memcpy(&word, p + i, sizeof(word));
        word ^= wide;
        memcpy(p + i, &word, sizeof(word));
    }
    for (; i < n; i++)
        p[i] = (char)(p[i] ^ (char)turned[i % 8]);
}

static bool is_control(unsigned opcode)
{
    return opcode >= WS_OP_CLOSE;
}

static size_t extended_length_bytes(unsigned length7)
{
    return length7 == LENGTH_16 ? 2 : length7 == LENGTH_64 ? 8 : 0;
}

/* The first two bytes say how long the head is; until they are here, two are wanted. */
static size_t head_wanted(const struct ws_reader *r)
{
    if (r->head_n < 2)
        return 2;
    return 2 + extended_length_bytes(r->head[1] & 0x7f) + (r->is_client ? 0 : sizeof(r->mask));
}

static uint64_t head_length(const struct ws_reader *r)
{
    unsigned length7 = r->head[1] & 0x7f;
    size_t n = extended_length_bytes(length7);
    uint64_t length = n ? 0 : length7;
    for (size_t i = 0; i < n; i++)
        length = length << 8 | r->head[2 + i];
    return length;
}

/* RFC 6455 5.2 and 5.5, as far as the first two bytes tell: said before more is waited for. */
static unsigned check_first_bytes(const struct ws_reader *r)
{
    unsigned opcode = r->head[0] & 0x0f, length7 = r->head[1] & 0x7f;
    bool fin = r->head[0] & BIT_FIN;
    bool is_masked = r->head[1] & BIT_MASKED;
    if (r->head[0] & BITS_RESERVED || is_masked == r->is_client)
        return WS_CODE_PROTOCOL;
    if (is_control(opcode))
        return opcode > WS_OP_PONG || !fin || length7 > WS_CONTROL_MAX ? WS_CODE_PROTOCOL : 0;
    if (opcode > WS_OP_BINARY)
        return WS_CODE_PROTOCOL;
    bool continues = opcode == WS_OP_CONTINUATION;
    return continues == (r->message_type != 0) ? 0 : WS_CODE_PROTOCOL;
}

static unsigned start_payload(struct ws_reader *r)
{
    uint64_t length = head_length(r);
    r->opcode = r->head[0] & 0x0f;
    r->fin = r->head[0] & BIT_FIN;
    if (length >> 63)
        return WS_CODE_PROTOCOL;
    if (!is_control(r->opcode)) {
        if (length > r->max_message - r->message.n)
            return WS_CODE_TOO_LARGE;
        if (r->opcode != WS_OP_CONTINUATION)
            r->message_type = r->opcode;
    }
    if (!r->is_client) /* else it stays zero, which changes nothing */
        memcpy(r->mask, r->head + head_wanted(r) - sizeof(r->mask), sizeof(r->mask));
    r->mask_at = 0;
    r->left = length;
    r->control_n = 0;
    r->in_payload = true;
    return 0;
}

/* Takes what the head still lacks; 0 also while it is incomplete. */
static unsigned feed_head(struct ws_reader *r, struct str *bytes)
{
    size_t n = head_wanted(r) - r->head_n;
    if (n > bytes->n)
        n = bytes->n;
    memcpy(r->head + r->head_n, bytes->p, n);
    *bytes = str_skip(*bytes, n);
    bool had_two = r->head_n >= 2;
    r->head_n += n;
    unsigned code = !had_two && r->head_n == 2 ? check_first_bytes(r) : 0;
    if (code)
        return code;
    return r->head_n >= 2 && r->head_n == head_wanted(r) ? start_payload(r) : 0;
}

static void feed_payload(struct ws_reader *r, struct str *bytes)
{
    size_t n = r->left < bytes->n ? (size_t)r->left : bytes->n;
    if (!n)
        return;
    char *to = r->control + r->control_n;
    if (is_control(r->opcode)) {
        memcpy(to, bytes->p, n);
        r->control_n += n;
    } else if (!r->events->on_message) {
        r->left -= n;
        *bytes = str_skip(*bytes, n);
        return;
    } else {
        buf_add(&r->message, bytes->p, n);
        to = r->message.p + r->message.n - n;
    }
    ws_unmask(to, n, r->mask, r->mask_at);
    r->mask_at += n;
    r->left -= n;
    *bytes = str_skip(*bytes, n);
}

static unsigned end_message(struct ws_reader *r)
{
    enum ws_type type = r->message_type;
    r->message_type = 0;
    if (!r->events->on_message)
        return 0;
    if (type == WS_TEXT && !utf8_valid(buf_str(&r->message)))
        return WS_CODE_BAD_TEXT;
    r->events->on_message(r->events->arg, type, buf_str(&r->message));
    if (r->message.cap > KEPT_BYTES)
        buf_done(&r->message);
    buf_reset(&r->message);
    return 0;
}

static unsigned end_close(struct ws_reader *r)
{
    struct str payload = { r->control, r->control_n };
    unsigned code = WS_CODE_NONE;
    if (payload.n == 1)
        return WS_CODE_PROTOCOL;
    if (payload.n) {
        code = (unsigned)((unsigned char)payload.p[0] << 8 | (unsigned char)payload.p[1]);
        if (!ws_code_valid(code))
            return WS_CODE_PROTOCOL;
        if (!utf8_valid(str_skip(payload, 2)))
            return WS_CODE_BAD_TEXT;
    }
    r->closed = true;
    r->events->on_close(r->events->arg, code, str_skip(payload, 2));
    return 0;
}

static unsigned end_frame(struct ws_reader *r)
{
    r->in_payload = false;
    r->head_n = 0;
    switch (r->opcode) {
    case WS_OP_CLOSE:
        return end_close(r);
    case WS_OP_PING:
        r->events->on_ping(r->events->arg, (struct str){ r->control, r->control_n });
        return 0;
    case WS_OP_PONG:
        return 0;
    default:
        return r->fin ? end_message(r) : 0;
    }
}

/* A step towards the end of the frame; 0, or why the connection is to be closed. */
static unsigned feed_step(struct ws_reader *r, struct str *bytes)
{
    if (!r->in_payload) {
        unsigned code = feed_head(r, bytes);
        if (code)
            return code;
    }
    if (!r->in_payload)
        return 0;
    feed_payload(r, bytes);
    return r->left ? 0 : end_frame(r);
}

unsigned ws_reader_feed(struct ws_reader *r, struct str bytes)
{
    while (!r->closed && bytes.n) {
        unsigned code = feed_step(r, &bytes);
        if (code) {
            r->closed = true;
            return code;
        }
    }
    return 0;
}

static size_t put_length(unsigned char *to, size_t bytes, uint64_t n)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(n >> 8 * (bytes - 1 - i));
    return bytes;
}

static size_t write_head(unsigned char head[static WS_HEAD_MAX], enum ws_opcode opcode,
                         size_t length)
{
    head[0] = (unsigned char)(BIT_FIN | opcode);
    if (length < LENGTH_16) {
        head[1] = (unsigned char)length;
        return 2;
    }
    size_t bytes = length <= UINT16_MAX ? 2 : 8;
    head[1] = bytes == 2 ? LENGTH_16 : LENGTH_64;
    return 2 + put_length(head + 2, bytes, length);
}

void ws_frame_write(struct buf *out, enum ws_opcode opcode, struct str payload)
{
    unsigned char head[WS_HEAD_MAX];
    size_t n = write_head(head, opcode, payload.n);
    buf_reserve(out, n + payload.n);
    buf_add(out, head, n);
    buf_str_add(out, payload);
}

void ws_frame_write_masked(struct buf *out, enum ws_opcode opcode, struct str payload,
                           const unsigned char mask[static 4])
{
    unsigned char head[WS_HEAD_MAX];
    size_t n = write_head(head, opcode, payload.n);
    head[1] |= BIT_MASKED;
    buf_reserve(out, n + 4 + payload.n);
    buf_add(out, head, n);
    buf_add(out, mask, 4);
    buf_str_add(out, payload);
    ws_unmask(out->p + out->n - payload.n, payload.n, mask, 0);
}

void ws_frame_write_close(struct buf *out, unsigned code, struct str reason)
{
    char payload[WS_CONTROL_MAX] = { (char)(code >> 8), (char)code };
    if (!ws_code_valid(code)) {
        ws_frame_write(out, WS_OP_CLOSE, STR(""));
        return;
    }
    reason = str_take(reason, sizeof(payload) - 2);
    while (reason.n && !utf8_valid(reason))
        reason.n--;
    if (reason.n)
        memcpy(payload + 2, reason.p, reason.n);
    ws_frame_write(out, WS_OP_CLOSE, (struct str){ payload, 2 + reason.n });
}
