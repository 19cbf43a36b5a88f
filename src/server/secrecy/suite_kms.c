#include "server/secrecy/suite_kms.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/wire.h"
#include "net/grpc/grpc.h"
#include "server/secrecy/secrecy_wire.h"

static const struct str annotation = { "kms.example.com", 15 };

static void key_name(const struct suite_kms *k, char ret[static 32])
{
    (void)snprintf(ret, 32, "key-%d", atomic_load(&k->key_number));
}

static struct str field_of(struct str message, uint64_t number)
{
    struct wire_field f;
    while (wire_next(&message, &f) > 0)
        if (f.number == number)
            return f.bytes;
    return STR("");
}

static void end_with(struct grpc_call *call, struct buf *answer)
{
    grpc_call_send(call, buf_str(answer));
    grpc_call_end(call, GRPC_OK, STR(""));
}

static void status(void *arg, struct grpc_call *call, struct str message)
{
    struct suite_kms *k = arg;
    char name[32];
    autobuf answer = { 0 };
    (void)message;
    atomic_fetch_add(&k->n_status, 1);
    key_name(k, name);
    wire_bytes(&answer, 1, STR("v2"));
    wire_bytes(&answer, 2, k->is_ill ? STR("out of order") : STR("ok"));
    wire_bytes(&answer, 3, str_of(name));
    end_with(call, &answer);
}

static void add_turned(struct buf *out, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        buf_byte(out, (char)(bytes.p[i] ^ 0x55));
}

static void encrypt(void *arg, struct grpc_call *call, struct str message)
{
    struct suite_kms *k = arg;
    char name[32];
    autobuf answer = { 0 }, sealed = { 0 }, note = { 0 };
    atomic_fetch_add(&k->n_encrypt, 1);
    key_name(k, name);
    buf_printf(&sealed, "%s|", name);
    add_turned(&sealed, field_of(message, 1));
    wire_bytes(&note, 1, annotation);
    wire_bytes(&note, 2, str_of(name));
    wire_bytes(&answer, 1, buf_str(&sealed));
    wire_bytes(&answer, 2, str_of(name));
    wire_bytes(&answer, 3, buf_str(&note));
    end_with(call, &answer);
}

/* What it has told must come back with what it has sealed. */
static void decrypt(void *arg, struct grpc_call *call, struct str message)
{
    struct suite_kms *k = arg;
    autobuf answer = { 0 }, plain = { 0 };
    struct str sealed = field_of(message, 1), key_id = field_of(message, 3),
               note = field_of(message, 4), name = str_cut(&sealed, '|');
    atomic_fetch_add(&k->n_decrypt, 1);
    if (k->fails || !str_eq(name, key_id) || !str_eq(field_of(note, 1), annotation) ||
        !str_eq(field_of(note, 2), key_id)) {
        grpc_call_end(call, GRPC_INVALID_ARGUMENT, STR("this is not mine"));
        return;
    }
    add_turned(&plain, sealed);
    wire_bytes(&answer, 1, buf_str(&plain));
    end_with(call, &answer);
}

static void gone(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_end(call, GRPC_CANCELLED, STR(""));
}

static void listen_with(void *arg, struct grpc_call *call,
                        void (*on_message)(void *, struct grpc_call *, struct str))
{
    struct suite_kms *k = arg;
    struct grpc_call_events events = { .arg = arg, .on_gone = gone };
    if (!k->is_silent)
        events.on_message = on_message;
    grpc_call_listen(call, &events);
}

static void start_status(void *arg, struct grpc_call *call)
{
    listen_with(arg, call, status);
}

static void start_encrypt(void *arg, struct grpc_call *call)
{
    listen_with(arg, call, encrypt);
}

static void start_decrypt(void *arg, struct grpc_call *call)
{
    listen_with(arg, call, decrypt);
}

static const struct grpc_method methods[] = {
    { "/v2.KeyManagementService/Status", start_status },
    { "/v2.KeyManagementService/Encrypt", start_encrypt },
    { "/v2.KeyManagementService/Decrypt", start_decrypt },
};

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    (void)x;
    return HTTP_BODY_STREAM;
}

static void on_request(void *arg, struct http_exchange *x)
{
    grpc_serve(x, methods, ARRAY_LEN(methods), arg);
}

bool suite_kms_start(struct suite_kms *k, const char *socket_path)
{
    *k = (struct suite_kms){ .key_number = 1 };
    arena_init(&k->arena);
    (void)unlink(socket_path);
    const struct http_handler handler = { .arg = k, .on_head = on_head, .on_request = on_request };
    struct str address = arena_printf(&k->arena, "unix:%s", socket_path);
    return solo_init(&k->solo, &handler, NULL, NULL, NULL) == 0 &&
           http_server_listen(k->solo.http, address, NULL, &k->arena, NULL, NULL) == 0 &&
           solo_run(&k->solo, NULL) == 0;
}

void suite_kms_stop(struct suite_kms *k)
{
    solo_done(&k->solo);
    arena_done(&k->arena);
}
