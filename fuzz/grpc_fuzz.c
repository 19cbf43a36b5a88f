/* gRPC message framing: whatever the pieces, the same messages come out, framing them again gives
 * the same bytes, and the texts around them survive. The first byte is the size of the pieces. */
#include "net/grpc/grpc_wire.h"

#include <assert.h>

#include "base/banned.h"

enum { MAX_MESSAGE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int frame_again(void *arg, struct str message)
{
    assert(message.n <= MAX_MESSAGE);
    grpc_frame(arg, message);
    return 0;
}

static int read_in(struct str bytes, size_t step, struct buf *ret)
{
    struct grpc_reader r = { .max = MAX_MESSAGE };
    int e = 0;
    for (; bytes.n && e == 0; bytes = str_skip(bytes, step))
        e = grpc_reader_feed(&r, str_take(bytes, step), frame_again, ret, NULL);
    if (e == 0)
        buf_str_add(ret, buf_str(&r.partial));
    grpc_reader_done(&r);
    return e;
}

static void check_texts(struct str text)
{
    autobuf encoded = { 0 };
    autobuf decoded = { 0 };
    int64_t ns;
    grpc_message_encode(&encoded, text);
    grpc_message_decode(&decoded, buf_str(&encoded));
    assert(str_eq(buf_str(&decoded), text));
    buf_reset(&decoded);
    grpc_message_decode(&decoded, text);
    assert(decoded.n <= text.n);
    assert(!grpc_timeout_parse(text, &ns) || ns >= 0);
    (void)grpc_content_type(text);
    (void)grpc_status_parse(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct str bytes = { (const char *)data + 1, size - 1 };
    autobuf whole = { 0 };
    autobuf pieces = { 0 };
    int e = read_in(bytes, SIZE_MAX, &whole);
    assert(read_in(bytes, (size_t)data[0] + 1, &pieces) == e);
    assert(str_eq(buf_str(&whole), buf_str(&pieces)));
    assert(e != 0 || str_eq(buf_str(&whole), bytes));
    check_texts(bytes);
    return 0;
}
