/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "info.h"

/* Unregisters all passes except the first `n_passes` of cleave_pass_list (). */
void cleave_pass_unregister_after (guint n_passes);
