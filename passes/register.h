/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "info.h"

/* Unregisters all passes except the first `n_passes` of cleave_pass_list (). If a module fails to
 * load, load.c removes the passes that the module has registered. */
void cleave_pass_unregister_after (guint n_passes);
