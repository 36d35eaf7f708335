/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function a command, each in its own file. argv[0] is the command's name, argv[1] its first argument. The result
 * is the exit status of the tool: 0, 1 after one line on stderr, or STATUS_DEGRADED; what else there is, the help says
 * (record: the status of the recorded program).
 */
#pragma once
#include "analyze/cmd/options.h"
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_html(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_trend(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_cc(int argc, char **argv);
int cmd_salvage(int argc, char **argv);
int cmd_loops(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_join(int argc, char **argv);

/* The exit status when a result was printed, but of a run that lacks something that its analysis should rest on. */
enum { STATUS_DEGRADED = 2 };

extern const struct manual manual_record, manual_report, manual_list, manual_rm, manual_annotate, manual_html,
    manual_diff, manual_trend, manual_export, manual_check, manual_cc, manual_salvage, manual_loops, manual_convert,
    manual_join;
