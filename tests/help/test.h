/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What every suite needs: Check, Cleave, and how its main looks. */

#include <check.h>
#include <cleave/cleave.h>

#include "dump.h"

/* A suite's file ends with CLEAVE_TEST_MAIN ("conv", add_tests), where add_tests (Suite *) adds the
 * test cases. */
int cleave_test_main (const char *name, void (*add_tests) (Suite *suite));

#define CLEAVE_TEST_MAIN(name, add_tests)                                                          \
  int main (void) { return cleave_test_main (name, add_tests); }

/* A test case with these tests: cleave_add_case (suite, "infer", test_a, test_b, NULL). */
void
cleave_add_case (Suite *suite, const char *name, const TTest *test, ...) G_GNUC_NULL_TERMINATED;
