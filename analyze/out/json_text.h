/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from a recorded program as JSON. */
#pragma once
#include <jansson.h>

/* A new reference; null for NULL. What is no UTF-8, which jansson refuses, comes escaped. */
json_t *json_text(const char *text);
