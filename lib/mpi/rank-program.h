/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "channels.h"

/* Gives stream.c access to the messages of a rank's program (CleaveRankProgram, rank-program.c).
 * When one of several programs fails, stream.c reports the failure through the channels of the
 * other programs. */

CleaveChannelSet *cleave_rank_program_get_channels (CleaveRankProgram *program);
