/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Included by every suite: the framework Check, Cleave, and the registration of suites. A suite is
 * a file that ends with CLEAVE_TEST_SUITE. The main function in suites.c runs the suites that its
 * argument names. */

#include <check.h>
#include <cleave/cleave.h>

#include "dump.h"

/* Number of trials of a random test: normally n. A trial is ten times slower with a sanitizer or in
 * an emulator. So an emulator runs n / 4 trials. A sanitizer looks for wrong accesses, not for
 * wrong bits, so it runs the smaller of n / 4 and 6 trials, but at least n / 8. Examples for a
 * sanitizer: 2 of 8 trials, 6 of 40, 50 of 400. */
#define CLEAVE_TRIALS(n)                                                                           \
  (CLEAVE_SANITIZED  ? MAX (((n) + 7) / 8, MIN (((n) + 3) / 4, 6))                                 \
   : CLEAVE_EMULATED ? ((n) + 3) / 4                                                               \
                     : (n))

/* Like ck_assert(), for long loops: it does nothing if the condition holds, while each assertion of
 * Check writes to a file. */
#define cleave_assert(condition)                                                                   \
  do                                                                                               \
    if (!(condition))                                                                              \
      ck_abort_msg ("%s does not hold", #condition);                                               \
  while (0)

/* Registers a suite. A file ends with CLEAVE_TEST_SUITE ("conv", add_tests), where add_tests
 * (Suite *) adds the test cases. */
void cleave_test_add_suite (const char *file, const char *name, void (*add_tests) (Suite *suite));

#define CLEAVE_TEST_SUITE(name, add_tests)                                                         \
  static void __attribute__ ((constructor)) add_suite (void)                                       \
  {                                                                                                \
    cleave_test_add_suite (__FILE__, name, add_tests);                                             \
  }

/* Adds a test case with these tests: cleave_add_case (suite, "infer", test_a, test_b, NULL). */
void
cleave_add_case (Suite *suite, const char *name, const TTest *test, ...) G_GNUC_NULL_TERMINATED;
