/*
 * The keeper: the first process of a child's PID namespace. ../doc.go says what it is for.
 *
 *     keeper STATUS_FD PROGRAM ARGUMENT...
 *
 * Its own program is open behind STATUS_FD, see ../keeper_linux.go. It starts PROGRAM, which
 * gets every descriptor but these two, reaps whatever ends, and when
 * PROGRAM has ended writes a report to STATUS_FD and ends. With it the kernel ends everything
 * else in the namespace. The report is three integers of 64 bits: the wait status of PROGRAM,
 * the CPU time of it and its children in microseconds, and the largest resident set of one of
 * them in bytes.
 *
 *     holder
 *
 * Without arguments it starts nothing and waits for ever: a nursery forks the program itself,
 * into the namespace that this process then holds (thirdrail_child/nursery.py).
 *
 * One is started for every run, and forking an interpreter costs several milliseconds where
 * page faults are slow. So this has no libc and no heap, and fits in one page. build.sh makes
 * the binaries beside it.
 */

#include "system.h"

/* Whatever loses its parent becomes this process's, and is to leave no zombie. */
static void hold(void)
{
	struct { long handler, flags, restorer, mask; } ignore = { 1, 0, 0, 0 };
	call(__NR_rt_sigaction, SIGCHLD, (long)&ignore, 0, sizeof ignore.mask, 0);
	for (;;)
		call(__NR_ppoll, 0, 0, 0, 0, 0);
}

/* The kernel puts the number of arguments, the arguments and the environment on the stack. */
__attribute__((used)) void keep(long *stack)
{
	long count = stack[0];
	char **arguments = (char **)(stack + 1);
	char **environment = arguments + count + 1;
	if (count == 1)
		hold();
	if (count < 3)
		leave(64);
	long status_fd = 0;
	for (char *digit = arguments[1]; *digit; digit++)
		status_fd = status_fd * 10 + (*digit - '0');

	/*
	 * A nursery's children are the second processes of their namespaces, and libraries know
	 * a fork by the process's number. So what is started here is never the second.
	 */
	if (call(__NR_clone, SIGCHLD, 0, 0, 0, 0) == 0)
		leave(0);
	long program = call(__NR_clone, SIGCHLD, 0, 0, 0, 0); /* a plain fork */
	if (program < 0)
		leave(71);
	if (program == 0) {
		call(__NR_close, status_fd, 0, 0, 0, 0);
		call(__NR_close, status_fd + 1, 0, 0, 0, 0);
		call(__NR_execve, (long)arguments[2], (long)(arguments + 2), (long)environment, 0, 0);
		leave(127);
	}
	/* The host must see the end of these when the program's copies are closed. */
	for (long fd = 0; fd < status_fd; fd++)
		call(__NR_close, fd, 0, 0, 0, 0);
	for (;;) {
		int status = 0;
		struct usage used;
		long ended = call(__NR_wait4, -1, (long)&status, 0, (long)&used, 0);
		if (ended == program) {
			long report[3] = {
				status,
				microseconds(&used),
				used.resident_kibibytes * 1024,
			};
			call(__NR_write, status_fd, (long)report, sizeof report, 0, 0);
			leave(0);
		}
		if (ended < 0 && ended != -EINTR)
			leave(71);
	}
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall keep\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tbl keep\n");
#endif
