/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures a call of a bundle's run function RUN on an emulated board (emulate.py). The linker
 * option --wrap redirects the calls of RUN to this file. Prints the bytes of stack that the call
 * used. If the board has a CMSDK timer, also prints the ticks that the timer counted during the
 * call.
 *
 * RUN has two to four parameters, all pointers. The boards pass four pointers in registers, so the
 * wrapper can pass on four pointers in all cases. */

#include <stdint.h>
#include <stdio.h>

#define STACK_BYTES 3072
#define PATTERN 0x5a

#define JOIN(a, b) a##b
#define NAME(prefix, run) JOIN (prefix, run)

void NAME (__real_, RUN) (void *a, void *b, void *c, void *d);
void NAME (__wrap_, RUN) (void *a, void *b, void *c, void *d);

#ifdef TIMER
/* Registers of the timer: control, value, reload. */
static volatile uint32_t *const timer = (volatile uint32_t *) TIMER;
#endif

/* If `is_begin`, fills the stack below this call with a pattern. If not `is_begin`, returns the
 * number of bytes of stack that have changed since the fill. */
static uint32_t __attribute__ ((noinline)) paint_stack (int is_begin)
{
  volatile unsigned char mark = 0;
  uintptr_t top = (uintptr_t) &mark - 256, at;

  if (is_begin)
    for (at = top - STACK_BYTES; at < top; at++)
      *(volatile unsigned char *) at = PATTERN;
  for (at = top - STACK_BYTES; at < top; at++)
    if (*(volatile unsigned char *) at != PATTERN)
      break;
  return at == top ? 0 : (uint32_t) (top + 256 - at);
}

void
NAME (__wrap_, RUN) (void *a, void *b, void *c, void *d)
{
  uint32_t ticks = 0, stack;

  paint_stack (1);
#ifdef TIMER
  timer[2] = 0xffffffffu;
  timer[1] = 0xffffffffu;
  timer[0] = 1;
  ticks = timer[1];
#endif
  NAME (__real_, RUN) (a, b, c, d);
#ifdef TIMER
  ticks -= timer[1];
#endif
  stack = paint_stack (0);
  printf ("stack %lu ticks %lu\n", (unsigned long) stack, (unsigned long) ticks);
}
