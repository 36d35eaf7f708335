/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples, the scheduler, exact counts: what lies between calls. */
#include "analyze/archive/emit_shared.h"
#include <string.h>

void emit_sample(struct emit_location *location, const struct ww_sample *sample, uint32_t context)
{
    if (!context)
        return;
    OTF2_AttributeList *attributes = NULL;
    uint32_t generator = sample->flags & WW_S_SYNC      ? ARCHIVE_GEN_SYNC
                         : sample->flags & WW_S_BLOCKED ? ARCHIVE_GEN_BLOCKED
                         : sample->flags & WW_S_KERNEL  ? ARCHIVE_GEN_KERNEL
                                                        : ARCHIVE_GEN_USER;
    if (sample->weight_ns != location->sample_period_ns) {
        attributes = location->attributes;
        OTF2_AttributeList_AddUint64(attributes, ARCHIVE_ATTR_WEIGHT, sample->weight_ns);
    }
    WRITE(location, CallingContextSample, attributes, emit_time(location, sample->time_ns), context - 1,
          OTF2_UNDEFINED_UINT32, generator);
}

void emit_switch(struct emit_location *location, const struct ww_switch *record)
{
    OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value = {.unsigned_int = !(record->flags & WW_SW_OUT)      ? ARCHIVE_SCHED_ON
                                              : record->flags & WW_SW_PREEMPTED ? ARCHIVE_SCHED_PREEMPTED
                                                                                : ARCHIVE_SCHED_OFF};
    WRITE(location, Metric, NULL, emit_time(location, record->time_ns), ARCHIVE_METRIC_SCHED, 1, &type, &value);
}

void emit_control(struct emit_location *location, const struct ww_control *record)
{
    WRITE(location, MeasurementOnOff, NULL, emit_time(location, record->time_ns),
          record->level ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
}

/* OTF2's attribute lists are linear: a record carries few attributes and says how many are still to come. */
void emit_bins(struct emitter *emitter, struct emit_location *location, const struct ww_bins *bins, uint64_t time_ns)
{
    enum { BINS_A_RECORD = 32 };
    uint64_t t = emit_time(location, time_ns);
    if (!bins->n)
        WRITE(location, ParameterUnsignedInt, NULL, t, ARCHIVE_PARAM_COUNTS, 0);
    for (uint32_t i = 0; i < bins->n; i++) {
        struct emit_counter counter = {.counters = bins->module, .what = bins->what};
        uint64_t value;
        const uint8_t *bin = bins->bins + (size_t)i * (sizeof counter.point + sizeof value);
        memcpy(&counter.point, bin, sizeof counter.point);
        memcpy(&value, bin + sizeof counter.point, sizeof value);
        uint32_t id = intern_put(&emitter->counters, &counter, sizeof counter);
        OTF2_AttributeList_AddUint64(location->attributes, ARCHIVE_ATTR_COUNTERS + id, value);
        if ((i + 1) % BINS_A_RECORD == 0 || i + 1 == bins->n)
            WRITE(location, ParameterUnsignedInt, location->attributes, t, ARCHIVE_PARAM_COUNTS, bins->n - 1 - i);
    }
}
