/* A double of NVIDIA's driver for tests: libcuda.so.1, libnvidia-ml.so.1. Two GPUs, of which the process computes on
 * the second. Every look at the counters finds them further on, as a GPU at work does. */
#include <stdio.h>
#include <string.h>

typedef struct { unsigned long long reference_us, held_ns; } Violation;

static int looks = 0;

int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = device; return 0; }
int cuDeviceGetPCIBusId(char *bus, int size, int device) { snprintf(bus, size, "0000:%02x:00.0", 0x1b + device); return 0; }

int nvmlInit_v2(void) { looks += 1; return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle) {
    /* Above 32 bits, so that a caller who cuts it off is found. */
    *handle = (void *)0x7f0000001c00;
    return strcmp(bus, "0000:1c:00.0") != 0;
}
static int wrong(void *handle) { return handle != (void *)0x7f0000001c00; }
int nvmlDeviceGetName(void *handle, char *name, unsigned size) { snprintf(name, size, "Given GPU"); return wrong(handle); }
int nvmlDeviceGetClockInfo(void *handle, int kind, unsigned *mhz) {
    *mhz = kind == 2 ? 2619 : looks == 1 ? 1755 : 1380;
    return wrong(handle);
}
int nvmlDeviceGetMaxClockInfo(void *handle, int kind, unsigned *mhz) { *mhz = 1980; return wrong(handle) || kind != 1; }
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius) { *celsius = 71; return wrong(handle); }
int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw) { *mw = 689500; return wrong(handle); }
int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *mw) { *mw = 700000; return wrong(handle); }
int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj) {
    *mj = 9000000000000ull + 1500ull * looks;
    return wrong(handle);
}
int nvmlDeviceGetViolationStatus(void *handle, int policy, Violation *told) {
    /* It does not tell of heat. */
    told->held_ns = 8000000000ull + 9000000ull * looks;
    return wrong(handle) || policy != 0;
}
/* A driver before 535 has no function of the newer name. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits) {
    *bits = looks == 1 ? 0x1 : 0x4;
    return wrong(handle);
}
