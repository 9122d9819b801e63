/* The file that is being written, and what each thread of the program has open.
 *
 * Lines are written into pages of the file itself, one chunk for each thread, so that what is there survives however the
 * process ends and no call waits for another thread's. A full disk or MAX_FILE only ends the recording; what that cost
 * is counted in the first line. */

#ifndef TRACEVIEW_NVTX_RECORDING_H
#define TRACEVIEW_NVTX_RECORDING_H

#include <stdatomic.h>
#include <stdint.h>

#include "text.h"

enum { MAX_DEPTH = 64, CHUNK = 1 << 16, MAX_LINE = 2 * (MAX_NAME + 1) + 80, MAX_FILE = 64 << 20 };

/* A domain or a registered string; it lives as long as the process. */
struct text {
    unsigned length;
    char bytes[];
};

struct range {
    const struct text *domain;
    int64_t start;
    unsigned recording; /* 0: it began while nothing was recorded. */
    unsigned length;
    char name[MAX_NAME + 1];
};

struct thread {
    char *chunk;
    unsigned used, recording, depth, too_deep;
    long id;
    struct range open[MAX_DEPTH];
};

struct line {
    char kind;
    int64_t time;
    uint64_t number;
    const struct text *domain;
    const char *name;
    unsigned length;
};

/* AUTOMATIC: no collector has called, and nothing has been said yet. ENDING: what has begun may still end. */
enum { AUTOMATIC, OFF, ON, ENDING };

extern _Atomic int mode;
extern _Atomic unsigned recording; /* The number of the file that is written. */
extern _Atomic uint64_t next_number; /* Of ranges that any thread may end. */
extern uint64_t first_number, end_number; /* Those that began in this recording. */

void set_up(void);
struct thread *this_thread(void); /* NULL without memory */
int is_on(void); /* whether what begins now is recorded; in a process without a collector, the first to ask begins */
int64_t now(void);
int64_t end_time(void); /* the same without the time that writing the recording took in the middle of a range */
void write_line(struct thread *thread, const struct line *line);
void count_dropped(void);

#endif
