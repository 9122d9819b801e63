/* See recording.h. */

#define _GNU_SOURCE
#include "recording.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Atomic int mode = AUTOMATIC;
_Atomic unsigned recording = 1; /* The number of the file that is written. */
_Atomic uint64_t next_number = 1;
uint64_t first_number = 1, end_number;
static char path[PATH_MAX];
static char *header;
static int file = -1;
static off_t file_size;
static unsigned long dropped;
static int is_automatic;
static int64_t paused_at;
static _Atomic int64_t paused_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread struct thread *mine;

int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t end_time(void)
{
    return now() - paused_ns;
}

/* The file: pages of line ends, of which each thread takes one chunk at a time. */

static char *more_of_the_file(void)
{
    char *chunk = MAP_FAILED;
    /* Blocks are claimed before they are written: a full disk must not become a signal. */
    if (file_size + CHUNK <= MAX_FILE && posix_fallocate(file, file_size, CHUNK) == 0)
        chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, file, file_size);
    if (chunk == MAP_FAILED)
        return NULL;
    file_size += CHUNK;
    return memset(chunk, '\n', CHUNK);
}

static void write_header(void)
{
    int length = snprintf(header, CHUNK, "traceview-nvtx\t1\t%ld\t%ld\t%020lu\t", (long)getpid(), (long)getppid(), dropped);
    header[length] = '\n';
}

static int open_file(void)
{
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file_size = 0;
    header = file < 0 ? NULL : more_of_the_file();
    if (!header)
        return 0;
    write_header();
    return 1;
}

static void close_file(void)
{
    if (file >= 0)
        close(file);
    if (header)
        munmap(header, CHUNK);
    file = -1;
    header = NULL;
}

static void thread_ends(void *ended)
{
    struct thread *thread = ended;
    if (thread->chunk)
        munmap(thread->chunk, CHUNK);
    mine = NULL;
    free(thread);
}

/* In a forked child the file is the parent's. */
static void forked(void)
{
    pthread_mutex_init(&lock, NULL);
    mode = mode == AUTOMATIC || is_automatic ? AUTOMATIC : OFF;
    recording++;
    dropped = 0;
    close_file();
    if (mine)
        mine->id = syscall(SYS_gettid);
}

static void make_ready(void)
{
    pthread_key_create(&key, thread_ends);
    pthread_atfork(NULL, NULL, forked);
}

void set_up(void)
{
    pthread_once(&once, make_ready);
}

struct thread *this_thread(void)
{
    if (!mine) {
        set_up();
        mine = calloc(1, sizeof *mine);
        if (mine) {
            mine->id = syscall(SYS_gettid);
            pthread_setspecific(key, mine);
        }
    }
    return mine;
}

static int next_chunk(struct thread *thread)
{
    if (thread->chunk)
        munmap(thread->chunk, CHUNK);
    pthread_mutex_lock(&lock);
    thread->chunk = NULL;
    thread->used = 0;
    thread->recording = recording;
    if (mode != OFF && file < 0 && !open_file())
        mode = OFF;
    if (mode != OFF)
        thread->chunk = more_of_the_file();
    pthread_mutex_unlock(&lock);
    return thread->chunk != NULL;
}

void count_dropped(void)
{
    pthread_mutex_lock(&lock);
    dropped++;
    if (header)
        write_header();
    pthread_mutex_unlock(&lock);
}

void write_line(struct thread *thread, const struct line *line)
{
    int has_place = thread->chunk && thread->recording == recording && thread->used + MAX_LINE <= CHUNK;
    if (!has_place && !next_chunk(thread)) {
        count_dropped();
        return;
    }
    char *to = thread->chunk + thread->used;
    *to++ = line->kind;
    *to++ = '\t';
    to += copy_number(to, (uint64_t)line->time);
    *to++ = '\t';
    to += copy_number(to, line->number);
    *to++ = '\t';
    to += copy_number(to, (uint64_t)thread->id);
    *to++ = '\t';
    if (line->domain) {
        memcpy(to, line->domain->bytes, line->domain->length);
        to += line->domain->length;
    }
    *to++ = '\t';
    memcpy(to, line->name, line->length);
    to += line->length;
    *to++ = '\n';
    thread->used = (unsigned)(to - thread->chunk);
}

int is_on(void)
{
    int found = mode;
    if (found == AUTOMATIC) {
        const char *folder = getenv("TRACEVIEW_DIR");
        pthread_mutex_lock(&lock);
        if (mode == AUTOMATIC) {
            is_automatic = 1;
            int length = snprintf(path, sizeof path, "%s/raw/.nvtx-%ld.log", folder ? folder : "", (long)getpid());
            mode = folder && length < (int)sizeof path ? ON : OFF;
        }
        found = mode;
        pthread_mutex_unlock(&lock);
    }
    return found == ON;
}

/* What a collector calls */

/* Record nothing until `traceview_nvtx_open`; what was recorded without a collector goes away. */
__attribute__((visibility("default"))) void traceview_nvtx_off(void)
{
    set_up();
    pthread_mutex_lock(&lock);
    mode = OFF;
    recording++;
    if (is_automatic && file >= 0)
        unlink(path);
    is_automatic = 0;
    dropped = 0;
    paused_ns = 0;
    close_file();
    pthread_mutex_unlock(&lock);
}

/* Record what begins from here on into a new file, which is made with the first line. */
__attribute__((visibility("default"))) void traceview_nvtx_open(const char *new_path)
{
    traceview_nvtx_off();
    pthread_mutex_lock(&lock);
    first_number = next_number;
    if (strlen(new_path) < sizeof path) {
        strcpy(path, new_path);
        mode = ON;
    }
    pthread_mutex_unlock(&lock);
}

/* Record no more beginnings; what has begun is still written when it ends. The file may be renamed, and what is done
 * until `traceview_nvtx_resume` is not the program's. */
__attribute__((visibility("default"))) void traceview_nvtx_end(void)
{
    pthread_mutex_lock(&lock);
    paused_at = now();
    end_number = next_number;
    mode = mode == ON && file >= 0 ? ENDING : OFF;
    pthread_mutex_unlock(&lock);
}

/* The program goes on. */
__attribute__((visibility("default"))) void traceview_nvtx_resume(void)
{
    paused_ns = now() - paused_at;
}
