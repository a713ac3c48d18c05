/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* Reads the options of a split from text, as a command line or a pipeline gives them. The public
 * functions of text.c are declared in cleave-split.h; pass.c and the command call them. */

/* Returns whether one of the options is a limit, so that a search can find the split. */
gboolean cleave_split_texts_have_limit (GHashTable *texts);
