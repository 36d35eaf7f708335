/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command-line tool from inside the program, unseen by it. */
#pragma once

/* Runs `whywait command run_dir [argument]` to its end. Exit status, or -1 when it could not be run. The program gets
 * no SIGCHLD, and no wait of its own sees the child. */
int tool_run(const char *run_dir, const char *command, const char *argument);
