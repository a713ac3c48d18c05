/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* Reads the options of a split from text, as a command line or a pipeline gives them. */

/* Returns whether one of the options is a limit, so that a search can find the split. */
gboolean cleave_split_texts_have_limit (GHashTable *texts);
