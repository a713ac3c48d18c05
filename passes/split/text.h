/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* Whether options by name hold a limit, so that a split may be searched for. */
gboolean cleave_split_texts_have_limit (GHashTable *texts);
