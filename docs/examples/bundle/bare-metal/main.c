/* SPDX-License-Identifier: 0BSD */

/* Runs the bundle `net` once, and prints the size of its arena and the sum of its results. The
 * input comes row by row, as from a camera; here the input is a ramp. */

#include "net.h"

#include <stdio.h>

#define COLUMNS 96
#define CHANNELS 3

static union
{
  unsigned char bytes[NET_ARENA_SIZE];
  uint32_t align;
} arena;

/* Writes a row of the input. */
static void
read_row (void *user_data, int32_t row, uint8_t *to)
{
  (void) user_data;
  for (int32_t i = 0; i < COLUMNS * CHANNELS; i++)
    to[i] = (uint8_t) (row + i);
}

int
main (void)
{
  const uint8_t *results = arena.bytes + NET_V4_OFFSET;
  unsigned long sum = 0;
  NetIo io;

  io.read_x = read_row;
  io.user_data = NULL;
  net_run (arena.bytes, &io);
  for (unsigned long i = 0; i < NET_V4_SIZE; i++)
    sum += results[i];
  printf ("arena %u bytes, sum %lu\n", (unsigned) NET_ARENA_SIZE, sum);
  return 0;
}
