/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures a call of a bundle's run function RUN on an emulated board (emulate.py). The linker
 * option --wrap redirects the calls of RUN to this file. Prints the bytes of stack that the call
 * used. If a macro names a clock, also prints the ticks of the clock during the call. TIMER is the
 * address of a CMSDK timer. COUNTER is the address of a counter of Corstone SSE-300. With
 * RV32_CLOCK, the clock is the RISC-V register minstret, which in QEMU 7.2 counts nanoseconds, and
 * a tick has 64 ns.
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

#if defined TIMER
static volatile uint32_t *const timer =
    (volatile uint32_t *) TIMER; /* registers: control, value, reload */
#elif defined COUNTER
static volatile uint32_t *const counter =
    (volatile uint32_t *) COUNTER; /* registers: control, status, value */
#endif

static void
start_clock (void)
{
#if defined TIMER
  timer[2] = 0xffffffffu;
  timer[1] = 0xffffffffu;
  timer[0] = 1;
#elif defined COUNTER
  counter[0] = 1;
#endif
}

/* Returns the ticks of the clock. The CMSDK timer counts down. */
static inline uint32_t
read_clock (void)
{
  uint32_t ticks = 0;

#if defined TIMER
  ticks = timer[1];
#elif defined COUNTER
  ticks = counter[2];
#elif defined RV32_CLOCK
  uint32_t high, low, again;

  do
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrr %0, minstreth\n\t"
                     "csrr %1, minstret\n\tcsrr %2, minstreth\n\t.option pop"
                     : "=r"(high), "=r"(low), "=r"(again));
  while (high != again);
  ticks = high << 26 | low >> 6;
#endif
  return ticks;
}

/* If `is_begin`, fills the stack below this call with a pattern. Otherwise, returns the number of
 * bytes of stack that have changed since the fill. */
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
  uint32_t ticks, stack;

  paint_stack (1);
  start_clock ();
  ticks = read_clock ();
  NAME (__real_, RUN) (a, b, c, d);
  ticks = read_clock () - ticks;
#ifdef TIMER
  ticks = 0u - ticks;
#endif
  stack = paint_stack (0);
  printf ("stack %lu ticks %lu\n", (unsigned long) stack, (unsigned long) ticks);
}
