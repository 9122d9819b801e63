/* Names as UTF-8 within a fixed length; a control character becomes its picture, so that a line of the file stays one. */

#ifndef TRACEVIEW_NVTX_TEXT_H
#define TRACEVIEW_NVTX_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { MAX_NAME = 255 };

/* Each returns how many bytes it wrote; a longer text is cut. Numbers take up to 20. NULL is no text. */
unsigned copy_bytes(char *to, const char *from);
unsigned copy_wide(char *to, const wchar_t *from);
unsigned copy_number(char *to, uint64_t value);

#endif
