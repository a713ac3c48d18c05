/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "channels.h"

CleaveChannelSet *cleave_rank_program_get_channels (CleaveRankProgram *program);
