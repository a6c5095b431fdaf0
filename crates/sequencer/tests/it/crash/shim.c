/* Records what a process does to the files below one folder, and makes one call fail if it is asked to.
 *
 * Loaded with LD_PRELOAD into a child of the crash tests. DEMUR_SHIM_ROOT names the folder, DEMUR_SHIM_LOG the file
 * that gets the record, DEMUR_SHIM_FAIL the number of the call that fails and the errno it fails with ("17 28").
 *
 * One lock is held from the call to its record, so the record is in the order in which things happened. A record is
 *
 *     kind (1 byte), inode (8), offset (8), length (4), then so many bytes
 *
 * in the byte order of the machine. Files are told apart by inode; their paths come with the records that name them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    CREATED = 'c',   /* bytes: path of a new file */
    FOLDER = 'd',    /* bytes: path of a folder, new or opened to be synced */
    WRITTEN = 'w',   /* offset, bytes: what was written */
    TRUNCATED = 't', /* offset: the new length */
    SYNCED = 's',    /* a file or a folder */
    RENAMED = 'r',   /* bytes: old path, zero, new path */
    UNLINKED = 'u',  /* bytes: path */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[4096];
static size_t root_length;
static int log_file = -1;
static long calls, failing = -1;
static int failure;
/* Which descriptors are of files below the root. */
static char watched[65536];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("DEMUR_SHIM_ROOT"), *record = getenv("DEMUR_SHIM_LOG");
    const char *fail = getenv("DEMUR_SHIM_FAIL");
    if (!folder || strlen(folder) >= sizeof root) return;
    strcpy(root, folder);
    if (record) log_file = REAL(open)(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fail && sscanf(fail, "%ld %d", &failing, &failure) != 2) abort();
    root_length = strlen(root);
}

static int below(const char *path) {
    return root_length && path && !strncmp(path, root, root_length) && (!path[root_length] || path[root_length] == '/');
}

static int is_watched(int file) {
    return file >= 0 && file < (int)sizeof watched && watched[file];
}

static uint64_t inode(int file) {
    struct stat status;
    return fstat(file, &status) ? 0 : status.st_ino;
}

static void record(char kind, uint64_t inode, uint64_t offset, const void *bytes, uint32_t length) {
    char head[21];
    if (log_file < 0) return;
    head[0] = kind;
    memcpy(head + 1, &inode, 8);
    memcpy(head + 9, &offset, 8);
    memcpy(head + 17, &length, 4);
    struct iovec parts[2] = {{head, sizeof head}, {(void *)bytes, length}};
    if (writev(log_file, parts, 2) != (ssize_t)(sizeof head + length)) abort();
}

/* Whether this call is the one that fails. The lock is held. */
static int fails(void) {
    if (calls++ != failing) return 0;
    errno = failure;
    return 1;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
    if (!below(path)) return REAL(openat)(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = (flags & O_CREAT) && access(path, F_OK);
    int file = is_new && fails() ? -1 : REAL(openat)(at, path, flags, mode);
    struct stat status;
    if (file >= 0 && file < (int)sizeof watched && !fstat(file, &status)) {
        watched[file] = 1;
        if (S_ISDIR(status.st_mode)) record(FOLDER, status.st_ino, 0, path, strlen(path));
        else if (is_new) record(CREATED, status.st_ino, 0, path, strlen(path));
        else if (flags & O_TRUNC) record(TRUNCATED, status.st_ino, 0, NULL, 0);
    }
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return file;
}

#define OPEN(name, ...)                                                                             \
    int name(__VA_ARGS__ const char *path, int flags, ...) {                                        \
        va_list rest;                                                                               \
        va_start(rest, flags);                                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                     \
        va_end(rest);                                                                               \
        return opened(AT, path, flags, mode);                                                       \
    }
#define AT AT_FDCWD
OPEN(open)
OPEN(open64)
#undef AT
#define AT at
#define COMMA ,
OPEN(openat, int at COMMA)
OPEN(openat64, int at COMMA)

int close(int file) {
    if (is_watched(file)) watched[file] = 0;
    return REAL(close)(file);
}

/* Runs one call on a watched file, unless it is the one that fails, and records it when it succeeded. */
#define WATCHED(type, call, records)                                                                \
    do {                                                                                            \
        if (!is_watched(file)) return call;                                                         \
        pthread_mutex_lock(&lock);                                                                  \
        type result = fails() ? -1 : call;                                                          \
        int error = errno;                                                                          \
        if (result >= 0) records;                                                                   \
        pthread_mutex_unlock(&lock);                                                                \
        errno = error;                                                                              \
        return result;                                                                              \
    } while (0)

ssize_t write(int file, const void *bytes, size_t length) {
    WATCHED(ssize_t, REAL(write)(file, bytes, length),
            record(WRITTEN, inode(file), lseek(file, 0, SEEK_CUR) - result, bytes, result));
}

#define PWRITE(name, offset_type)                                                                   \
    ssize_t name(int file, const void *bytes, size_t length, offset_type offset) {                  \
        WATCHED(ssize_t, REAL(name)(file, bytes, length, offset),                                   \
                record(WRITTEN, inode(file), offset, bytes, result));                               \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)                                                                 \
    int name(int file, offset_type length) {                                                        \
        WATCHED(int, REAL(name)(file, length), record(TRUNCATED, inode(file), length, NULL, 0));    \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                                  \
    int name(int file) {                                                                            \
        WATCHED(int, REAL(name)(file), record(SYNCED, inode(file), 0, NULL, 0));                    \
    }
SYNC(fsync)
SYNC(fdatasync)

/* The same for calls on paths. */
#define NAMED(call, records)                                                                        \
    do {                                                                                            \
        if (!below(path)) return call;                                                              \
        pthread_mutex_lock(&lock);                                                                  \
        int result = fails() ? -1 : call;                                                           \
        int error = errno;                                                                          \
        if (!result) records;                                                                       \
        pthread_mutex_unlock(&lock);                                                                \
        errno = error;                                                                              \
        return result;                                                                              \
    } while (0)

static void record_names(const char *from, const char *to) {
    char names[8192];
    int length = snprintf(names, sizeof names, "%s%c%s", from, 0, to);
    if (length < 0 || length >= (int)sizeof names) abort();
    record(RENAMED, 0, 0, names, length);
}

int rename(const char *path, const char *to) {
    NAMED(REAL(rename)(path, to), record_names(path, to));
}

int unlink(const char *path) {
    NAMED(REAL(unlink)(path), record(UNLINKED, 0, 0, path, strlen(path)));
}

int mkdir(const char *path, mode_t mode) {
    if (below(path) && !access(path, F_OK)) return REAL(mkdir)(path, mode);
    NAMED(REAL(mkdir)(path, mode), {
        struct stat status;
        record(FOLDER, stat(path, &status) ? 0 : status.st_ino, 0, path, strlen(path));
    });
}
