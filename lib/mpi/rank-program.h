/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "channels.h"

/* The messages of a rank's program, for stream.c, which runs several programs at once. */

CleaveChannelSet *cleave_rank_program_get_channels (CleaveRankProgram *program);
