/* suite_files.h - words for tests that change a store's files behind its back. */
#pragma once

#include <sys/types.h>

#include "store/suite_fixture.h"

void copy_file(const char *from, const char *to);
void copy_tree(const char *from, const char *to);
/* The path of the last segment. */
void last_segment(const char *dir, char ret[static 256]);
off_t size_of(const char *path); /* -1: there is no such file */
/* Where the good records of a segment end. */
off_t end_of(const char *path);
/* Zeros from `at` on, as long as the file is: what a crash leaves of a write that it cut short. */
void tear(const char *path, off_t at);
void flip(const char *path, off_t at, unsigned char bits);
/* Flips a bit wherever `text` stands in the file, also on pages that are free by now. */
bool flip_text(struct fixture *f, const char *path, const char *text);

int open_dir(struct fixture *f, const char *dir, struct store **ret);
/* Is the word in the last error? */
bool says(struct fixture *f, const char *word);
/* Copies the folder as it is: what a crash at this moment would leave. */
void crash_copy(struct fixture *f, char to[static 128]);
uint64_t rev_of(struct fixture *f, const char *dir);
/* Three keys with a value of a few words each, in the view. */
void fill_words(struct fixture *f);
/* For a store_skip: adds the key to the struct buf `arg`. */
void note_damaged(void *arg, struct str key, struct str what);
