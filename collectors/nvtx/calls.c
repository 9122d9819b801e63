/* Receives what a program says through NVTX, without Nsight: an NVTX injection library that writes a text file.
 *
 * NVTX loads the library that NVTX_INJECTION64_PATH names at the program's first NVTX call, asks it to fill in the
 * functions behind its calls, and without such a library does nothing at all. `../nvtx_injection.py` builds this folder
 * and says its name.
 *
 * Invariant: the program behaves as without us. No call blocks on another thread's call, fails or prints.
 *
 * The file is lines of six fields with tabs between, and empty lines:
 *     traceview-nvtx  1  pid  parent's pid  lines that were dropped  -
 *     R  start  duration  thread  domain  name     a range that was pushed and popped
 *     S  start  number    thread  domain  name     a range begins that any thread may end
 *     E  end    number    thread  domain           it ends
 *     M  time   0         thread  domain  name     a mark
 * Times are nanoseconds of CLOCK_REALTIME. A range is written if it began while we recorded, also when it ends later.
 * Names longer than MAX_NAME bytes are cut; categories, colours and payloads are not kept.
 *
 * Without a collector that calls traceview_nvtx_open, a process records from its first NVTX call on, in
 * TRACEVIEW_DIR/raw/.nvtx-<pid>.log. */

#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "recording.h"

static unsigned copy_message(char *to, const Attributes *event)
{
    if (!event || !event->message.ascii)
        return 0;
    if (event->message_type == REGISTERED) {
        const struct text *text = event->message.registered;
        memcpy(to, text->bytes, text->length);
        return text->length;
    }
    if (event->message_type == UNICODE)
        return copy_wide(to, event->message.unicode);
    return event->message_type == ASCII ? copy_bytes(to, event->message.ascii) : 0;
}

static void mark(const struct text *domain, const Attributes *event)
{
    struct thread *thread = is_on() ? this_thread() : NULL;
    char name[MAX_NAME + 1];
    if (thread)
        write_line(thread, &(struct line){'M', now(), 0, domain, name, copy_message(name, event)});
}

static uint64_t start(const struct text *domain, const Attributes *event)
{
    uint64_t id = next_number++;
    struct thread *thread = is_on() ? this_thread() : NULL;
    char name[MAX_NAME + 1];
    if (thread)
        write_line(thread, &(struct line){'S', now(), id, domain, name, copy_message(name, event)});
    return id;
}

static void end(const struct text *domain, uint64_t id)
{
    int found = mode;
    int is_ours = id >= first_number && (found == ON || (found == ENDING && id < end_number));
    struct thread *thread = is_ours ? this_thread() : NULL;
    if (thread)
        write_line(thread, &(struct line){'E', end_time(), id, domain, "", 0});
}

static int push(const struct text *domain, const Attributes *event)
{
    int is_recorded = is_on();
    struct thread *thread = this_thread();
    if (!thread)
        return NO_TRACKING;
    if (thread->depth == MAX_DEPTH) {
        thread->too_deep++;
        if (is_recorded)
            count_dropped();
        return NO_TRACKING;
    }
    struct range *range = &thread->open[thread->depth++];
    range->domain = domain;
    range->recording = is_recorded ? recording : 0;
    if (is_recorded) {
        range->length = copy_message(range->name, event);
        range->start = now();
    }
    return NO_TRACKING;
}

static int pop(const struct text *domain)
{
    struct thread *thread = this_thread();
    if (!thread)
        return NO_TRACKING;
    if (thread->too_deep) {
        thread->too_deep--;
        return NO_TRACKING;
    }
    unsigned place = thread->depth;
    while (place && thread->open[place - 1].domain != domain)
        place--;
    if (!place--)
        return NO_TRACKING;
    struct range *range = &thread->open[place];
    int found = mode;
    if (range->recording == recording && (found == ON || found == ENDING)) {
        int64_t stop = end_time(); /* The wall clock can be set back. */
        uint64_t length = stop > range->start ? (uint64_t)(stop - range->start) : 0;
        write_line(thread, &(struct line){'R', range->start, length, domain, range->name, range->length});
    }
    thread->depth--;
    memmove(range, range + 1, (thread->depth - place) * sizeof *range);
    return NO_TRACKING;
}

#define ASCII_EVENT(text) (&(Attributes){.message_type = ASCII, .message.ascii = (text)})
#define WIDE_EVENT(text) (&(Attributes){.message_type = UNICODE, .message.unicode = (text)})

static void MarkEx(const Attributes *event) { mark(NULL, event); }
static void MarkA(const char *text) { mark(NULL, ASCII_EVENT(text)); }
static void MarkW(const wchar_t *text) { mark(NULL, WIDE_EVENT(text)); }
static uint64_t RangeStartEx(const Attributes *event) { return start(NULL, event); }
static uint64_t RangeStartA(const char *text) { return start(NULL, ASCII_EVENT(text)); }
static uint64_t RangeStartW(const wchar_t *text) { return start(NULL, WIDE_EVENT(text)); }
static void RangeEnd(uint64_t id) { end(NULL, id); }
static int RangePushEx(const Attributes *event) { return push(NULL, event); }
static int RangePushA(const char *text) { return push(NULL, ASCII_EVENT(text)); }
static int RangePushW(const wchar_t *text) { return push(NULL, WIDE_EVENT(text)); }
static int RangePop(void) { return pop(NULL); }

/* Handles stay valid for as long as the process lives: no text is ever freed. */
static struct text *kept(const Attributes *event)
{
    char bytes[MAX_NAME + 1];
    unsigned length = copy_message(bytes, event);
    struct text *text = malloc(sizeof *text + length);
    if (text) {
        text->length = length;
        memcpy(text->bytes, bytes, length);
    }
    return text;
}

static struct text *RegisterA(const struct text *domain, const char *text)
{
    (void)domain;
    return kept(ASCII_EVENT(text));
}

static struct text *RegisterW(const struct text *domain, const wchar_t *text)
{
    (void)domain;
    return kept(WIDE_EVENT(text));
}

static struct text *CreateA(const char *text) { return kept(ASCII_EVENT(text)); }
static struct text *CreateW(const wchar_t *text) { return kept(WIDE_EVENT(text)); }

/* Categories, resources and names of threads are not kept: their places stay empty, which makes their calls nothing. */
static const Function core[] = {
    NULL, (Function)MarkEx, (Function)MarkA, (Function)MarkW, (Function)RangeStartEx, (Function)RangeStartA,
    (Function)RangeStartW, (Function)RangeEnd, (Function)RangePushEx, (Function)RangePushA, (Function)RangePushW,
    (Function)RangePop,
};
static const Function core2[] = {
    NULL, (Function)mark, (Function)start, (Function)end, (Function)push, (Function)pop, NULL, NULL, NULL, NULL,
    (Function)RegisterA, (Function)RegisterW, (Function)CreateA, (Function)CreateW,
};

static int fill(const Callbacks *callbacks, int module, const Function *ours, unsigned count)
{
    Function **table = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module, &table, &size) || !table)
        return 0;
    for (unsigned place = 1; place < count && place < size; place++)
        if (ours[place] && table[place])
            *table[place] = ours[place];
    return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
    const Callbacks *callbacks = get_table(TABLE_OF_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    set_up();
    /* A program may use NVTX without domains through a library that knows none. */
    return fill(callbacks, MODULE_CORE, core, sizeof core / sizeof *core)
        | fill(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
}
