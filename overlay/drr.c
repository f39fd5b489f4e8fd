/* Deficit round robin: decides which input is served next. */
#include "overlay/drr.h"

#include "overlay/base/panic.h"

void ov_drr_init(struct ov_drr *drr, struct ov_drr_input *inputs,
                 uint16_t count, uint32_t quantum_bytes)
{
    *drr = (struct ov_drr){
        .inputs = inputs,
        .count = count,
        .quantum_bytes = quantum_bytes,
        .line = {OV_DRR_NONE, OV_DRR_NONE},
        .aside = {OV_DRR_NONE, OV_DRR_NONE},
    };
    for (uint16_t i = 0; i < count; i++)
        inputs[i] = (struct ov_drr_input){.next = OV_DRR_NONE};
}

static void append(struct ov_drr *drr, struct ov_drr_line *line, uint16_t input)
{
    drr->inputs[input].next = OV_DRR_NONE;
    if (line->first == OV_DRR_NONE)
        line->first = input;
    else
        drr->inputs[line->last].next = input;
    line->last = input;
}

static uint16_t take_first(struct ov_drr *drr)
{
    uint16_t input = drr->line.first;

    drr->line.first = drr->inputs[input].next;
    drr->is_served = false;
    return input;
}

void ov_drr_push(struct ov_drr *drr, uint16_t input)
{
    OV_ASSERT(input < drr->count);
    if (drr->inputs[input].is_queued)
        return;
    drr->inputs[input].is_queued = true;
    drr->inputs[input].deficit_bytes = 0; /* an idle input saves up nothing */
    append(drr, &drr->line, input);
}

uint16_t ov_drr_first(struct ov_drr *drr)
{
    struct ov_drr_input *input;

    while (drr->line.first != OV_DRR_NONE) {
        input = &drr->inputs[drr->line.first];
        if (!drr->is_served) {
            input->deficit_bytes += (int32_t)drr->quantum_bytes;
            drr->is_served = true;
        }
        if (input->deficit_bytes > 0)
            return drr->line.first;
        append(drr, &drr->line, take_first(drr));
    }
    return OV_DRR_NONE;
}

void ov_drr_spend(struct ov_drr *drr, uint32_t bytes, bool has_more)
{
    struct ov_drr_input *input = &drr->inputs[drr->line.first];

    OV_ASSERT(drr->is_served);
    input->deficit_bytes -= (int32_t)bytes;
    if (!has_more) {
        take_first(drr);
        input->is_queued = false;
    } else if (input->deficit_bytes <= 0) {
        append(drr, &drr->line, take_first(drr));
    }
}

void ov_drr_aside(struct ov_drr *drr)
{
    uint16_t input;

    OV_ASSERT(drr->is_served);
    input = take_first(drr);
    drr->inputs[input].deficit_bytes = 0; /* an input that is set aside saves up
                                             nothing either */
    append(drr, &drr->aside, input);
}

void ov_drr_back(struct ov_drr *drr)
{
    while (drr->aside.first != OV_DRR_NONE) {
        uint16_t input = drr->aside.first;

        drr->aside.first = drr->inputs[input].next;
        append(drr, &drr->line, input);
    }
}
