/* What a server may send to the library: objects in JSON or protobuf, frames of watches, discovery.
 * The first byte says which. */
#include "client/calls/client_codec.h"
#include "client/calls/lines.h"
#include "client/calls/mapping.h"

#include <assert.h>

#include "base/json.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_object(struct arena *a, struct str bytes)
{
    struct value v;
    autobuf out = { 0 };
    if (codec_read(a, bytes, &v, NULL) == 0)
        json_write(&out, &v);
}

static void read_frame(struct arena *a, struct str frame)
{
    struct str type, object;
    if (codec_read_event(frame, &type, &object, NULL) == 0)
        read_object(a, object);
}

/* Frames are the same whatever the pieces are that they come in. */
static size_t read_frames(struct arena *a, struct str bytes, size_t step)
{
    struct lines l = { .is_framed = true };
    size_t sum = 0;
    for (struct str frame; bytes.n; bytes = str_skip(bytes, step)) {
        buf_reset(&l.piece);
        buf_str_add(&l.piece, str_take(bytes, step));
        lines_refilled(&l);
        for (; lines_next(&l, &frame); sum = 31 * sum + frame.n)
            if (a)
                read_frame(a, frame);
    }
    lines_done(&l);
    return sum;
}

static void read_discovery(struct str bytes, bool is_aggregated)
{
    struct mapping *m = mapping_new();
    struct value doc;
    const struct mapping_query q = { .name = STR("po"), .group = STR("a"), .has_group = true };
    if (json_read(mapping_arena(m), bytes, NULL, &doc, NULL) == 0) {
        if (is_aggregated)
            mapping_add_aggregated(m, &doc);
        else
            mapping_add_version(m, STR("apps"), STR("v1"), &doc);
        (void)mapping_find(m, &q);
        (void)mapping_may_miss(m, &q);
        (void)mapping_list(m, STR(""), mapping_arena(m));
    }
    mapping_unref(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str bytes = { (const char *)data + 1, size - 1 };
    if (!size)
        return 0;
    arena_init(&a);
    switch (data[0] % 4) {
    case 0:
        read_object(&a, bytes);
        break;
    case 1:
        assert(read_frames(&a, bytes, size) == read_frames(NULL, bytes, 3));
        break;
    default:
        read_discovery(bytes, data[0] % 4 == 2);
    }
    arena_done(&a);
    return 0;
}
