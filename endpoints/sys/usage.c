/* Reads the memory from /proc, and the time from the system. */
#include "endpoints/sys/usage.h"

#include <stdio.h>
#include <sys/resource.h>

uint64_t ep_usage_rss_peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    unsigned long long kib = 0;
    char line[256];

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
            break;
    }
    fclose(file);
    return kib * 1024;
}

uint64_t ep_usage_cpu_us(void)
{
    struct rusage ru;

    if (getrusage(RUSAGE_SELF, &ru))
        return 0;
    return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}
