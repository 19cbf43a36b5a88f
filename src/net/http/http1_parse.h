/* http1_parse.h - HTTP/1.1 requests (RFC 9112): bytes and state in, no I/O. Private to this folder.
 *
 * Strict, because every leniency is a way to make two servers see different requests: lines end
 * with CR LF, names are tokens directly followed by a colon, nothing is folded, a request has one
 * Host and at most one way to say how long its body is. */
#pragma once

#include "net/http/http.h"

/* How far the search for the end of a head has come; all zero to begin with. */
struct http1_scan {
    size_t seen, line_start, lines;
};

/* The length of the head at the start of `bytes`, with its empty line; 0 if more is needed; or a
 * status (400, 414, 431), negative. `bytes` starts at the same place each time and only grows. */
ptrdiff_t http1_scan(struct http1_scan *s, struct str bytes, const struct http_limits *limits);

struct http1_head {
    struct str method, target, authority; /* target: as sent, or what follows the authority */
    enum http_version version;
    struct http_header *headers;
    size_t n_headers;
    size_t header_list;     /* names, values and 32 for each */
    int64_t content_length; /* -1: not said */
    bool chunked, expects_continue, close;
};

/* A head as http1_scan() has found it. Works in place: names become lower case, and the parts
 * point into `text`; the array lies in the arena. 0 or a status. */
int http1_head_parse(struct arena *a, char *text, size_t n, const struct http_limits *limits,
                     struct http1_head *ret);

/* The head of an answer, as http1_scan() has found it: the same way. `content_length` is -1 and
 * `chunked` false if the body goes on to the end of the connection. 0 or 400. */
struct http1_answer {
    int status;
    enum http_version version;
    struct http_header *headers;
    size_t n_headers;
    int64_t content_length;
    bool chunked;
};
int http1_answer_parse(struct arena *a, char *text, size_t n, const struct http_limits *limits,
                       struct http1_answer *ret);

/* A chunked body; all zero to begin with. */
struct http1_chunks {
    int state;
    bool has_digit;
    uint64_t left; /* of the chunk */
    size_t line_n; /* bytes of the line being read */
    size_t excess; /* bytes that were not body, above what is usual */
    size_t trailer_bytes, trailer_lines;
};

enum http1_step { HTTP1_MORE, HTTP1_PIECE, HTTP1_END };

/* Eats from the front of `*in`. A step or, negative, a status. */
int http1_chunks_next(struct http1_chunks *c, struct str *in, struct str *ret_piece,
                      const struct http_limits *limits);
