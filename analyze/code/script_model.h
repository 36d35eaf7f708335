/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of a routine of a script: its loops are blocks of the text. Private to this folder. */
#pragma once
#include "analyze/code/modules.h"

struct model *script_model_build(struct code *code, uint32_t module, uint32_t routine);
