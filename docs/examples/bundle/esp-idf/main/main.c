/* SPDX-License-Identifier: 0BSD */

/* Runs the bundle `net` once. The arena is static, so that the linker reports if it does not fit.
 */

#include "net.h"

#include <inttypes.h>
#include <stdio.h>

static uint8_t arena[NET_ARENA_SIZE] __attribute__ ((aligned (NET_ARENA_ALIGN)));

void app_main (void);

/* Writes a row of the input, as a driver of a camera would. */
static void
read_row (void *user_data, int32_t row, uint8_t *to)
{
  (void) user_data;
  for (int32_t i = 0; i < 96 * 3; i++)
    to[i] = (uint8_t) (row + i);
}

void
app_main (void)
{
  NetIo io = { .read_x = read_row };
  uint32_t sum = 0;

  net_run (arena, &io);
  for (uint32_t i = 0; i < NET_V4_SIZE; i++)
    sum += arena[NET_V4_OFFSET + i];
  printf ("sum %" PRIu32 "\n", sum);
}
