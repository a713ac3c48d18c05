/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The headers that most tests include. With -Db_pch=true, the compiler reads them once for each
 * program. */

#include <string.h>

#include <check.h>
#include <cleave/cleave.h>
