/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzzer without libFuzzer: `fuzz_x N DIRECTORY` gives it each file of a corpus as
 * it is, and then N mutations of each.
 *
 * The one rule: the same corpus gives the same inputs, so that what failed fails again.
 * Nothing here learns from what was reached; `make fuzz` does that.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 65536
#define MOST_FILES 512
#define MOST_CHANGES 8 /* of one input */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int
LLVMFuzzerInitialize(int *argc, char ***argv);

typedef struct file {
    char *name;
    uint8_t *bytes;
    size_t size;
} file;

typedef struct corpus {
    file files[MOST_FILES];
    size_t n_files;
    uint64_t state; /* of what is drawn */
} corpus;

/* Ends the program where replaying itself has failed. */
static void
require(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(1);
    }
}

/* ---- the corpus ---- */

static void
add_file(corpus *c, const char *directory, const char *name)
{
    char path[4096];
    require(snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path,
            name);
    FILE *in = fopen(path, "rb");
    require(in != NULL && c->n_files < MOST_FILES, path);
    file *f = &c->files[c->n_files++];
    f->name = strdup(name);
    f->bytes = malloc(MOST_BYTES);
    require(f->name != NULL && f->bytes != NULL, path);
    f->size = fread(f->bytes, 1, MOST_BYTES, in);
    require(ferror(in) == 0 && feof(in) != 0, path);
    fclose(in);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const file *)a)->name, ((const file *)b)->name);
}

/* A directory has no order. */
static void
read_corpus(corpus *c, const char *directory)
{
    DIR *open = opendir(directory);
    require(open != NULL, directory);
    const struct dirent *entry;
    while ((entry = readdir(open)) != NULL) {
        if (entry->d_name[0] != '.') {
            add_file(c, directory, entry->d_name);
        }
    }
    closedir(open);
    qsort(c->files, c->n_files, sizeof c->files[0], by_name);
}

/* ---- mutations ---- */

/* A number below `n`, which is not 0 (SplitMix64). */
static size_t
draw(corpus *c, size_t n)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ z >> 31) % n);
}

/* Takes a piece out. */
static size_t
erase(corpus *c, uint8_t *bytes, size_t size)
{
    size_t at = draw(c, size);
    size_t n = 1 + draw(c, size - at);
    memmove(bytes + at, bytes + at + n, size - at - n);
    return size - n;
}

/* Puts a piece of any file in. */
static size_t
insert(corpus *c, uint8_t *bytes, size_t size)
{
    const file *from = &c->files[draw(c, c->n_files)];
    if (from->size == 0) {
        return size;
    }
    size_t begin = draw(c, from->size);
    size_t n = 1 + draw(c, from->size - begin);
    size_t at = draw(c, size + 1);
    if (n > MOST_BYTES - size) {
        return size;
    }
    memmove(bytes + at + n, bytes + at, size - at);
    memcpy(bytes + at, from->bytes + begin, n);
    return size + n;
}

/* Turns a bit, or sets a byte to one of those that things end at. */
static void
alter(corpus *c, uint8_t *bytes, size_t size)
{
    static const uint8_t ends[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    size_t at = draw(c, size);
    if (draw(c, 2) == 0) {
        bytes[at] ^= (uint8_t)(1u << draw(c, 8));
    } else {
        bytes[at] = ends[draw(c, sizeof ends)];
    }
}

static size_t
mutate(corpus *c, uint8_t *bytes, size_t size)
{
    for (size_t n = 1 + draw(c, MOST_CHANGES); n > 0; n--) {
        size_t how = size > 0 ? draw(c, 8) : 7;
        if (how == 7) {
            size = insert(c, bytes, size);
        } else if (how == 6) {
            size = erase(c, bytes, size);
        } else {
            alter(c, bytes, size);
        }
    }
    return size;
}

/* Out of memory that ends where the input does. */
static void
run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    require(copy != NULL, "memory");
    memcpy(copy, bytes, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

int
main(int argc, char **argv)
{
    static corpus c;
    static uint8_t bytes[MOST_BYTES];
    if (argc != 3) {
        fprintf(stderr, "usage: %s MUTATIONS DIRECTORY\n", argv[0]);
        return 2;
    }
    if (LLVMFuzzerInitialize != NULL) {
        (void)LLVMFuzzerInitialize(&argc, &argv);
    }
    read_corpus(&c, argv[2]);
    unsigned long n_mutations = strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < c.n_files; i++) {
        const file *f = &c.files[i];
        fprintf(stderr, "%s\n", f->name); /* the last one is the one that failed */
        run(f->bytes, f->size);
        for (unsigned long k = 0; k < n_mutations; k++) {
            memcpy(bytes, f->bytes, f->size);
            run(bytes, mutate(&c, bytes, f->size));
        }
    }
    for (size_t i = 0; i < c.n_files; i++) {
        free(c.files[i].name);
        free(c.files[i].bytes);
    }
    return c.n_files > 0 ? 0 : 1;
}
