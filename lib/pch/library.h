/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The headers that most files of the library include. With -Db_pch=true, the compiler reads them
 * once in builds with a sanitizer or without optimization. */

#include <math.h>
#include <string.h>

#include <cleave/cleave.h>
