/* SPDX-License-Identifier: BSD-3-Clause */
/* 1 when the task gave up, which ends it wherever it is. */
int attempt(void (*task)(int), int n);
void give_up(int n);
