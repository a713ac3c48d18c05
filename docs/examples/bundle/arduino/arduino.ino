// SPDX-License-Identifier: 0BSD

// Runs the bundle `net` once a second and prints the time and the sum of its results. Copy the files of
// the bundle except net-test.c into this folder; the IDE compiles all C files beside a sketch.

#include "net.h"

static uint8_t arena[NET_ARENA_SIZE] __attribute__ ((aligned (NET_ARENA_ALIGN)));

// Writes a row of the input, as a driver of a camera would.
static void
read_row (void *, int32_t row, uint8_t *to)
{
  for (int32_t i = 0; i < 96 * 3; i++)
    to[i] = (uint8_t) (row + i);
}

void
setup ()
{
  Serial.begin (115200);
}

void
loop ()
{
  NetIo io = {};
  unsigned long start = millis (), sum = 0;

  io.read_x = read_row;
  net_run (arena, &io);
  for (unsigned long i = 0; i < NET_V4_SIZE; i++)
    sum += arena[NET_V4_OFFSET + i];
  Serial.print (millis () - start);
  Serial.print (" ms, sum ");
  Serial.println (sum);
  delay (1000);
}
