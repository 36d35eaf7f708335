/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/gate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gate_parse(const char *text, struct gate *gate)
{
    static const char *const names[] = {":time", ":waiting", ":cause", ":computing", ":executions", ""};
    char *end;
    *gate = (struct gate){.share = strtod(text, &end) / 100};
    if (end == text || !(gate->share >= 0) || isinf(gate->share))
        return false;
    end += *end == '%';
    for (gate->what = GATE_TIME; gate->what <= GATE_ANY; gate->what++)
        if (!strcmp(end, names[gate->what]))
            return true;
    return false;
}

static void check_row(const struct compare_row *row, double before_ns, const struct gate *gate, gate_hits *hits)
{
    double change_ns = compare_change(row);
    if (row->verdict == COMPARE_MORE && change_ns > gate->share * before_ns)
        *vec_push(hits) = (struct gate_hit){.row = row, .share = before_ns > 0 ? change_ns / before_ns : INFINITY};
}

void gate_check(const struct comparison *comparison, const struct gate *gate, gate_hits *hits, bool *is_blind)
{
    const struct compare_row *rows = comparison->rows.at;
    const struct compare_row *time = &rows[comparison->group_row[GROUP_RUN_TIME]],
                             *waiting = &rows[comparison->group_row[GROUP_PROGRAM]];
    *is_blind = gate->what != GATE_EXECUTIONS && !time->test.is_known;
    if (gate->what == GATE_TIME || gate->what == GATE_ANY)
        check_row(time, time->mean_ns[0], gate, hits);
    if (gate->what == GATE_WAITING || gate->what == GATE_ANY)
        check_row(waiting, waiting->mean_ns[0], gate, hits);
    for (size_t i = 0; i < comparison->rows.n; i++) {
        bool is_computing = rows[i].group == GROUP_COMPUTING;
        bool is_asked = gate->what == GATE_ANY || gate->what == (is_computing ? GATE_COMPUTING : GATE_CAUSE);
        if (is_asked && rows[i].depth == 1 && (is_computing || rows[i].group == GROUP_PROGRAM))
            check_row(&rows[i], rows[comparison->group_row[rows[i].group]].mean_ns[0], gate, hits);
    }
    for (size_t i = 0; i < comparison->facts.n && (gate->what == GATE_EXECUTIONS || gate->what == GATE_ANY); i++) {
        const struct compare_fact *fact = &comparison->facts.at[i];
        double before = fact->before ? (double)fact->before->sum : 0,
               after = fact->after ? (double)fact->after->sum : 0;
        if (after - before > gate->share * before)
            *vec_push(hits) =
                (struct gate_hit){.fact = fact, .share = before > 0 ? (after - before) / before : INFINITY};
    }
}
