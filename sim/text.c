/* Makes the lines of processes. */
#include "sim/text.h"

#include "sim/random.h"

/* After this many lines a process begins again with its first one. */
enum { LINES = 5000 };

static uint64_t voice_of(const struct sim_job *job, uint32_t n)
{
    if (n == job->odd)
        return UINT32_MAX;
    return job->voices == 0 ? n : n % job->voices;
}

static uint8_t byte_of(const struct sim_job *job, uint64_t voice,
                       uint64_t offset)
{
    uint64_t line = offset / job->line_bytes % LINES;
    uint64_t at = offset % job->line_bytes;
    uint64_t hash = sim_random_mix(voice << 32 | line);

    if (at + 1 == job->line_bytes)
        return '\n';
    return (uint8_t)('a' + (hash >> at % 16 * 4 & 15));
}

void sim_text_write(const struct sim_job *job, uint32_t n, uint64_t offset,
                    uint8_t *mem, uint32_t len_bytes)
{
    uint64_t voice = voice_of(job, n);

    for (uint32_t i = 0; i < len_bytes; i++)
        mem[i] = byte_of(job, voice, offset + i);
}

bool sim_text_is(const struct sim_job *job, uint32_t n, uint64_t offset,
                 const uint8_t *mem, uint32_t len_bytes)
{
    uint64_t voice = voice_of(job, n);

    for (uint32_t i = 0; i < len_bytes; i++) {
        if (mem[i] != byte_of(job, voice, offset + i))
            return false;
    }
    return true;
}
