/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that had not ended when the trace did: who was waiting, and for whom as far as the records tell. */
#pragma once
#include "analyze/waits/reader.h"

void open_waits_write(struct analysis *analysis, struct sites *sites, const struct reader *reader);
