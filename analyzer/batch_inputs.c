/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What links lead to is looked at after everything that is there by its own name, so that
 * a link never takes a file's or directory's place.
 */
#include "batch_inputs.h"

#include "batch_dir.h"
#include "batch_names.h"
#include "sorting.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

/* A file or directory, by what the system knows it by. */
typedef struct node {
    dev_t device;
    ino_t inode;
} node;

typedef struct search {
    GHashTable *files;       /* node -> rs_batch_file */
    GHashTable *directories; /* node: seen, or not to be looked into */
    GPtrArray *links;        /* char *: to be followed at last */
    const char *own;         /* directory */
    GPtrArray *refused;      /* rs_batch_file */
} search;

typedef enum naming {
    BELOW,
    BY_NAME
} naming;
typedef enum target {
    ITSELF,
    A_LINK
} target;

static guint
node_hash(gconstpointer key)
{
    const node *n = key;
    return (guint)(n->inode * 31 + n->device);
}

static gboolean
node_equal(gconstpointer a, gconstpointer b)
{
    const node *x = a;
    const node *y = b;
    return x->device == y->device && x->inode == y->inode;
}

static void
free_file(gpointer data)
{
    rs_batch_file *file = data;
    g_free(file->path);
    g_free(file->refusal);
    g_free(file);
}

static node *
node_of(const struct stat *status)
{
    node *n = g_new0(node, 1);
    n->device = status->st_dev;
    n->inode = status->st_ino;
    return n;
}

static void
refuse(search *s, const char *path, const char *why)
{
    rs_batch_file *file = g_new0(rs_batch_file, 1);
    file->path = g_strdup(path);
    file->named = TRUE;
    file->refusal = g_strdup_printf("%s: %s", path, why);
    g_ptr_array_add(s->refused, file);
}

static void
add_file(search *s, const char *path, const struct stat *status, naming how)
{
    node *key = node_of(status);
    rs_batch_file *file = g_hash_table_lookup(s->files, key);
    if (file != NULL) {
        file->named |= how == BY_NAME;
        g_free(key);
        return;
    }
    file = g_new0(rs_batch_file, 1);
    file->path = g_strdup(path);
    file->bytes = (guint64)status->st_size;
    file->named = how == BY_NAME;
    g_hash_table_insert(s->files, key, file);
}

/* What is below a directory and cannot be looked at may be a capture; unless it has gone
 * meanwhile, or is a link that leads nowhere. */
static void
refuse_entry(search *s, const char *path, int why)
{
    if (why != ENOENT && why != ENOTDIR && why != ELOOP) {
        refuse(s, path, g_strerror(why));
    }
}

/* Names in a directory, sorted; NULL, and refused, if it cannot be read. */
static GPtrArray *
list_directory(search *s, const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        refuse(s, path, g_strerror(errno));
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL; errno = 0) {
        if (!g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, "..")) {
            g_ptr_array_add(names, g_strdup(entry->d_name));
        }
    }
    if (errno != 0) {
        refuse(s, path, g_strerror(errno)); /* what it has beside these is not known */
    }
    (void)closedir(dir);
    g_ptr_array_sort(names, rs_by_text_element);
    return names;
}

/* A directory's entries go onto the stack, the last one first. */
static void
push_entries(search *s, GPtrArray *stack, const char *path)
{
    g_autoptr(GPtrArray) names = list_directory(s, path);
    const char *between = g_str_has_suffix(path, "/") ? "" : "/";
    for (guint i = names != NULL ? names->len : 0; i > 0; i--) {
        const char *name = g_ptr_array_index(names, i - 1);
        char *entry = g_str_equal(path, ".") ? g_strdup(name)
                                             : g_strconcat(path, between, name, NULL);
        g_ptr_array_add(stack, entry);
    }
}

/* Looks at one entry that is no link. */
static void
enter(search *s, GPtrArray *stack, const char *path, const struct stat *status,
      naming how)
{
    if (S_ISDIR(status->st_mode)) {
        if ((how == BY_NAME || !rs_batch_dir_is_ours(path)) &&
            g_hash_table_add(s->directories, node_of(status))) {
            push_entries(s, stack, path);
        }
    } else if (S_ISREG(status->st_mode)) {
        add_file(s, path, status, how);
    } else if (how == BY_NAME) {
        refuse(s, path, "is neither a file nor a directory");
    }
}

/* Everything at and below `path`; links are kept for later. */
static void
walk(search *s, const char *path, const struct stat *first, naming how)
{
    g_autoptr(GPtrArray) stack = g_ptr_array_new_with_free_func(g_free);
    enter(s, stack, path, first, how);
    while (stack->len > 0) {
        g_autofree char *entry = g_ptr_array_steal_index(stack, stack->len - 1);
        struct stat status;
        if (lstat(entry, &status) != 0) {
            refuse_entry(s, entry, errno);
        } else if (S_ISLNK(status.st_mode)) {
            g_ptr_array_add(s->links, g_steal_pointer(&entry));
        } else {
            enter(s, stack, entry, &status, BELOW);
        }
    }
}

static gboolean
is_own(const search *s, const char *path)
{
    g_autofree char *real = realpath(path, NULL);
    g_autofree char *own = realpath(s->own, NULL);
    return real != NULL && own != NULL && g_str_has_prefix(real, own) &&
           (real[strlen(own)] == '\0' || real[strlen(own)] == '/');
}

/* Those that links lead to in turn come after all that were known before them. */
static void
follow_links(search *s)
{
    while (s->links->len > 0) {
        g_autoptr(GPtrArray) links = g_steal_pointer(&s->links);
        s->links = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_sort(links, rs_by_text_element);
        for (guint i = 0; i < links->len; i++) {
            const char *path = g_ptr_array_index(links, i);
            struct stat status;
            if (stat(path, &status) != 0) {
                refuse_entry(s, path, errno);
            } else if (!is_own(s, path)) {
                walk(s, path, &status, BELOW);
            }
        }
    }
}

static gboolean
is_pattern(const char *path)
{
    return strpbrk(path, "*?[") != NULL;
}

/* What the PATHs stand for, tidy and sorted, each once. */
static GPtrArray *
expand(search *s, const char *const *paths)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; paths[i] != NULL; i++) {
        struct stat status;
        glob_t found;
        if (lstat(paths[i], &status) == 0 || !is_pattern(paths[i])) {
            g_ptr_array_add(all, rs_batch_path_tidy(paths[i]));
        } else if (glob(paths[i], 0, NULL, &found) == 0) {
            for (gsize k = 0; k < found.gl_pathc; k++) {
                g_ptr_array_add(all, rs_batch_path_tidy(found.gl_pathv[k]));
            }
            globfree(&found);
        } else {
            refuse(s, paths[i], "no file has such a name");
        }
    }
    g_ptr_array_sort(all, rs_by_text_element);
    for (guint i = all->len; i > 1; i--) {
        if (g_str_equal(all->pdata[i - 1], all->pdata[i - 2])) {
            g_ptr_array_remove_index(all, i - 1);
        }
    }
    return all;
}

static void
take_paths(search *s, const GPtrArray *paths, target wanted)
{
    for (guint i = 0; i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        struct stat status;
        gboolean is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
        if (is_link != (wanted == A_LINK)) {
            continue;
        }
        if (stat(path, &status) != 0) {
            refuse(s, path, g_strerror(errno));
        } else if (!is_own(s, path)) {
            walk(s, path, &status, BY_NAME);
        }
    }
}

static gint
by_path(gconstpointer a, gconstpointer b)
{
    const rs_batch_file *x = *(rs_batch_file *const *)a;
    const rs_batch_file *y = *(rs_batch_file *const *)b;
    return strcmp(x->path, y->path);
}

static GPtrArray *
list_files(search *s)
{
    GPtrArray *all = s->refused;
    GHashTableIter iter;
    gpointer file;
    g_hash_table_iter_init(&iter, s->files);
    while (g_hash_table_iter_next(&iter, NULL, &file)) {
        g_ptr_array_add(all, file);
    }
    g_ptr_array_sort(all, by_path);
    return all;
}

GPtrArray *
rs_batch_inputs_find(const char *const *paths, const char *own_directory)
{
    search s = {
        .files = g_hash_table_new_full(node_hash, node_equal, g_free, NULL),
        .directories = g_hash_table_new_full(node_hash, node_equal, g_free, NULL),
        .links = g_ptr_array_new_with_free_func(g_free),
        .refused = g_ptr_array_new_with_free_func(free_file),
        .own = own_directory,
    };
    struct stat own;
    if (stat(own_directory, &own) == 0) {
        g_hash_table_add(s.directories, node_of(&own));
    }
    g_autoptr(GPtrArray) all = expand(&s, paths);
    take_paths(&s, all, ITSELF);
    take_paths(&s, all, A_LINK);
    follow_links(&s);
    GPtrArray *files = list_files(&s);
    g_hash_table_unref(s.files);
    g_hash_table_unref(s.directories);
    g_ptr_array_unref(s.links);
    return files;
}
