/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command-line tool from inside the program, unseen by it. */
#pragma once

enum { TOOL_FAILED = -1, TOOL_ENDLESS = -2 };

/* Runs `whywait command run_dir [argument]` to its end. Exit status; TOOL_FAILED when it could not be run or was
 * killed; TOOL_ENDLESS when it was killed here since it had not ended after so many seconds. The program gets no
 * SIGCHLD, and no wait of its own sees the child. */
int tool_run(const char *run_dir, const char *command, const char *argument, unsigned most_s);
