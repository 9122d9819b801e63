/* The part of NVTX 3's interface that a tool needs (in its own headers: nvtxTypes.h and nvToolsExt.h), declared by us so
 * that no header has to be found where a program is profiled. A test compares it with NVIDIA's headers. */

#ifndef TRACEVIEW_NVTX_INTERFACE_H
#define TRACEVIEW_NVTX_INTERFACE_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { TABLE_OF_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { ASCII = 1, UNICODE = 2, REGISTERED = 3 };
enum { NO_TRACKING = -2 }; /* What push and pop return without a tool, too. */

typedef void (*Function)(void);

typedef struct {
    size_t struct_size;
    int (*GetModuleFunctionTable)(int module, Function ***table, unsigned *size);
} Callbacks;

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
} Attributes;

#endif
