/* What keeper.c and forker.c share: the kernel, called without a libc. */

#include <asm/unistd.h>

#define SIGCHLD 17
#define EINTR 4

static long call(long number, long a, long b, long c, long d, long e)
{
	long result;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	__asm__ volatile("syscall"
		: "=a"(result)
		: "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;
	__asm__ volatile("svc 0"
		: "+r"(x0)
		: "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		: "memory");
	result = x0;
#endif
	return result;
}

/* struct rusage of getrusage(2), as the kernel has it on 64 bit machines. */
struct usage {
	long user_seconds, user_microseconds, system_seconds, system_microseconds;
	long resident_kibibytes;
	long rest[13];
};

static long microseconds(const struct usage *used)
{
	return (used->user_seconds + used->system_seconds) * 1000000 +
		used->user_microseconds + used->system_microseconds;
}

static __attribute__((noreturn)) void leave(long code)
{
	for (;;)
		call(__NR_exit_group, code, 0, 0, 0, 0);
}
