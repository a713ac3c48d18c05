/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Exit statuses. CLEAVE_DONE: success. CLEAVE_NO: a limit is not met, or outputs differ.
 * CLEAVE_WRONG: wrong usage, or an input that cannot be read. */
enum { CLEAVE_DONE = 0, CLEAVE_NO = 1, CLEAVE_WRONG = 2 };

/* Run a command, whose name is argv[0], and return the exit status. They set the error only with
 * the status CLEAVE_WRONG. */
int cleave_cmd_bundle (int argc, char **argv, GError **error);
int cleave_cmd_info (int argc, char **argv, GError **error);
int cleave_cmd_dot (int argc, char **argv, GError **error);
int cleave_cmd_fit (int argc, char **argv, GError **error);
int cleave_cmd_split (int argc, char **argv, GError **error);
int cleave_cmd_compile (int argc, char **argv, GError **error);
int cleave_cmd_run (int argc, char **argv, GError **error);
int cleave_cmd_diff (int argc, char **argv, GError **error);
int cleave_cmd_memory (int argc, char **argv, GError **error);
int cleave_cmd_opt (int argc, char **argv, GError **error);
int cleave_cmd_partition (int argc, char **argv, GError **error);
int cleave_cmd_extract (int argc, char **argv, GError **error);
int cleave_cmd_demo (int argc, char **argv, GError **error);
int cleave_cmd_report (int argc, char **argv, GError **error);
int cleave_cmd_simulate (int argc, char **argv, GError **error);

/* Return the options (GOptionEntry, NULL-terminated) of the commands that `report` runs. The
 * variables of the entries are not used by the commands. */
GArray *cleave_cmd_split_list_options (void);
GArray *cleave_cmd_fit_list_options (void);
