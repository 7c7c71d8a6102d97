/*
 * The forker: the loop in which a nursery forks children. thirdrail_child/nursery.py calls
 * it once, and it returns only in the children. ../forker_linux.go has the other end.
 *
 * It is machine code because a nursery that ran Python between two forks would write to a
 * hundred pages of the memory that it shares with its children, which the kernel then copies
 * one by one.
 *
 * It has no data of its own, so that build.sh makes plain code that runs wherever it is put.
 */

#include "system.h"

#define SIGKILL 9
#define EMFILE 24
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define NONBLOCKING_CLOSE_ON_EXEC (04000 | 02000000) /* SFD_NONBLOCK | SFD_CLOEXEC */
#define POLLIN 1
#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MSG_NOSIGNAL 0x4000
#define MSG_CMSG_CLOEXEC 0x40000000
#define WNOHANG 1
#define CLONE_NEWPID 0x20000000
#define READ_WRITE 3       /* PROT_READ | PROT_WRITE */
#define MAP_PRIVATE 2
#define MADV_POPULATE_WRITE 23
#define PIDFD_SELF_THREAD -10000

enum { FILES = 3, MOST_FILES = 4 }; /* of a child; the last is its control group */

/* What nursery.py gives, in an order that it knows. */
struct forker {
	long control;           /* the socket of the host */
	long own;               /* a pidfd of this process */
	const char *holder;     /* the program that holds a namespace */
	int (*fork)(void);      /* libc's */
	int *(*error)(void);    /* where libc puts errno */
	char *message;          /* what a child was ordered */
	long message_bytes;
	long files[MOST_FILES]; /* what a child has got */
	long file_count;
};

/* What the host sends: this, and for a child its order. */
struct request {
	long kind;
	long number; /* of the child; of bytes that a file with pages has; of a process to kill */
};

enum { FORK = 1, PAGES, END };

/* What the host is told. */
struct report {
	long kind, number, a, b, c;
};

enum { FORKED = 1, REFUSED, ENDED };
enum { AT_FILES, AT_NAMESPACE, AT_HOLDER, AT_FORK, AT_WATCH }; /* what was refused */

struct range {
	char *start;
	unsigned long bytes;
};

/* Pages that each child is going to write to. */
struct pages {
	struct range *ranges;
	long count, file_bytes;
};

struct vector { void *base; unsigned long bytes; };

struct message_header {
	void *name;
	unsigned long name_bytes;
	struct vector *parts;
	unsigned long part_count;
	void *control;
	unsigned long control_bytes;
	unsigned long flags;
};

struct rights {
	unsigned long bytes;
	int level, type;
	int files[MOST_FILES];
};

#define RIGHTS_HEADER __builtin_offsetof(struct rights, files)

static void tell(struct forker *f, struct report report, const long *files)
{
	struct vector part = { &report, sizeof report };
	struct rights rights = { RIGHTS_HEADER + 2 * sizeof(int), SOL_SOCKET, SCM_RIGHTS, { 0 } };
	struct message_header header = { 0, 0, &part, 1, 0, 0, 0 };
	if (files) {
		rights.files[0] = (int)files[0];
		rights.files[1] = (int)files[1];
		header.control = &rights;
		header.control_bytes = rights.bytes;
	}
	long sent;
	do
		sent = call(__NR_sendmsg, f->control, (long)&header, MSG_NOSIGNAL, 0, 0);
	while (sent == -EINTR);
	if (sent < 0)
		leave(0); /* the host is gone */
}

/* Take a message and its descriptors. Return its size, or leave when there is no more. */
static long receive(struct forker *f)
{
	struct vector part = { f->message, f->message_bytes };
	struct rights rights = { 0 };
	struct message_header header = { 0, 0, &part, 1, &rights, sizeof rights, 0 };
	long got;
	do
		got = call(__NR_recvmsg, f->control, (long)&header, MSG_CMSG_CLOEXEC, 0, 0);
	while (got == -EINTR);
	if (got <= 0)
		leave(0);
	f->file_count = 0;
	if (header.control_bytes > RIGHTS_HEADER && rights.level == SOL_SOCKET && rights.type == SCM_RIGHTS)
		for (long i = 0; i < (long)((rights.bytes - RIGHTS_HEADER) / sizeof(int)) && i < MOST_FILES; i++)
			f->files[f->file_count++] = rights.files[i];
	return got;
}

/* Tell how processes have ended. */
static void bury(struct forker *f)
{
	for (;;) {
		int status = 0;
		struct usage used;
		long pid = call(__NR_wait4, -1, (long)&status, WNOHANG, (long)&used, 0);
		if (pid == -EINTR)
			continue;
		if (pid <= 0)
			return;
		tell(f, (struct report){ ENDED, pid, status, microseconds(&used), used.resident_kibibytes * 1024 }, 0);
	}
}

/*
 * Start the program that is the first process of the namespace for new children. Until it is
 * executed it shares this memory, so it has nothing but registers.
 */
static long start_holder(const char *path, void *arguments, void *environment)
{
	long result;
#if defined(__x86_64__)
	__asm__ volatile(
		"mov $0x4111, %%edi\n\t" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
		"xor %%esi, %%esi\n\t"
		"xor %%edx, %%edx\n\t"
		"xor %%r10d, %%r10d\n\t"
		"xor %%r8d, %%r8d\n\t"
		"mov %[clone], %%eax\n\t"
		"syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jnz 1f\n\t"
		"mov %[path], %%rdi\n\t"
		"mov %[arguments], %%rsi\n\t"
		"mov %[environment], %%rdx\n\t"
		"mov %[execve], %%eax\n\t"
		"syscall\n\t"
		"mov $127, %%edi\n\t"
		"mov %[exit], %%eax\n\t"
		"syscall\n"
		"1:"
		: "=&a"(result)
		: [path] "r"(path), [arguments] "r"(arguments), [environment] "r"(environment),
		  [clone] "i"(__NR_clone), [execve] "i"(__NR_execve), [exit] "i"(__NR_exit)
		: "rdi", "rsi", "rdx", "r8", "r10", "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov x0, #0x4111\n\t"
		"mov x1, #0\n\t"
		"mov x2, #0\n\t"
		"mov x3, #0\n\t"
		"mov x4, #0\n\t"
		"mov x8, %[clone]\n\t"
		"svc #0\n\t"
		"cbnz x0, 1f\n\t"
		"mov x0, %[path]\n\t"
		"mov x1, %[arguments]\n\t"
		"mov x2, %[environment]\n\t"
		"mov x8, %[execve]\n\t"
		"svc #0\n\t"
		"mov x0, #127\n\t"
		"mov x8, %[exit]\n\t"
		"svc #0\n"
		"1:\n\t"
		"mov %[result], x0"
		: [result] "=&r"(result)
		: [path] "r"(path), [arguments] "r"(arguments), [environment] "r"(environment),
		  [clone] "i"(__NR_clone), [execve] "i"(__NR_execve), [exit] "i"(__NR_exit)
		: "x0", "x1", "x2", "x3", "x4", "x8", "memory", "cc");
#endif
	return result;
}

static void refuse(struct forker *f, long number, long place, long error)
{
	tell(f, (struct report){ REFUSED, number, place, error, 0 }, 0);
}

/* Fork a child in a namespace of its own. Return 0 in the child, else something else. */
static long start(struct forker *f, long number)
{
	if (f->file_count < FILES) {
		refuse(f, number, AT_FILES, EMFILE);
		return 1;
	}
	long result = call(__NR_unshare, CLONE_NEWPID, 0, 0, 0, 0);
	if (result < 0) {
		refuse(f, number, AT_NAMESPACE, -result);
		return 1;
	}
	const char *arguments[2] = { f->holder, 0 }, *environment[1] = { 0 };
	long holder = start_holder(f->holder, arguments, environment), pid = -1, error = 0;
	if (holder > 0) {
		pid = f->fork();
		if (pid == 0)
			return 0;
		error = pid < 0 ? *f->error() : 0;
	}
	if (call(__NR_setns, f->own, CLONE_NEWPID, 0, 0, 0) < 0)
		leave(71); /* no other child could have a namespace */
	if (pid < 0) {
		if (holder > 0)
			call(__NR_kill, holder, SIGKILL, 0, 0, 0);
		refuse(f, number, holder > 0 ? AT_FORK : AT_HOLDER, holder > 0 ? error : -holder);
		return 1;
	}
	long watch[2] = {
		call(__NR_pidfd_open, pid, 0, 0, 0, 0),
		call(__NR_pidfd_open, holder, 0, 0, 0, 0),
	};
	if (watch[0] < 0 || watch[1] < 0) {
		call(__NR_kill, pid, SIGKILL, 0, 0, 0);
		call(__NR_kill, holder, SIGKILL, 0, 0, 0);
		refuse(f, number, AT_WATCH, watch[0] < 0 ? -watch[0] : -watch[1]);
	} else {
		tell(f, (struct report){ FORKED, number, pid, holder, 0 }, watch);
	}
	for (int i = 0; i < 2; i++)
		if (watch[i] >= 0)
			call(__NR_close, watch[i], 0, 0, 0, 0);
	return 1;
}

/* Take the pages from a file. Those of before are forgotten. */
static void take(struct pages *pages, long file, long bytes)
{
	if (pages->ranges)
		call(__NR_munmap, (long)pages->ranges, pages->file_bytes, 0, 0, 0);
	*pages = (struct pages){ 0 };
	long at = call(__NR_mmap, 0, bytes, READ_WRITE, MAP_PRIVATE, file);
	if (at < 0 && at > -4096)
		return;
	pages->ranges = (struct range *)at;
	pages->file_bytes = bytes;
	for (long i = 0; i < bytes / (long)sizeof(struct range); i++) {
		struct range one = pages->ranges[i];
		/* What a child has mapped by itself isn't here. An old kernel takes none of them. */
		if (call(__NR_madvise, (long)one.start, one.bytes, MADV_POPULATE_WRITE, 0, 0) == 0)
			pages->ranges[pages->count++] = one;
	}
}

/* Make the pages this child's own, by one call where the kernel has it. */
static void copy(const struct pages *pages)
{
	if (call(__NR_process_madvise, PIDFD_SELF_THREAD, (long)pages->ranges, pages->count, MADV_POPULATE_WRITE, 0) > 0)
		return;
	for (long i = 0; i < pages->count; i++)
		call(__NR_madvise, (long)pages->ranges[i].start, pages->ranges[i].bytes, MADV_POPULATE_WRITE, 0, 0);
}

/* Serve the host. Return in a child, with the size of the message that ordered it. */
__attribute__((section(".text.first"), used)) long serve(struct forker *f)
{
	struct pages pages = { 0 };
	unsigned long ends = 1UL << (SIGCHLD - 1), before;
	char info[128]; /* struct signalfd_siginfo */
	call(__NR_rt_sigprocmask, SIG_BLOCK, (long)&ends, (long)&before, sizeof ends, 0);
	long signals = call(__NR_signalfd4, -1, (long)&ends, sizeof ends, NONBLOCKING_CLOSE_ON_EXEC, 0);
	if (signals < 0)
		leave(71);
	for (;;) {
		struct { int file; short wanted, is; } watched[2] = { { (int)f->control, POLLIN, 0 }, { (int)signals, POLLIN, 0 } };
		call(__NR_ppoll, (long)watched, 2, 0, 0, 0);
		if (watched[1].is) {
			call(__NR_read, signals, (long)info, sizeof info, 0, 0);
			bury(f);
		}
		if (!watched[0].is)
			continue;
		long got = receive(f);
		struct request *request = (struct request *)f->message;
		if (request->kind == END) {
			call(__NR_kill, request->number, SIGKILL, 0, 0, 0);
		} else if (request->kind == PAGES) {
			take(&pages, f->file_count ? f->files[0] : -1, request->number);
		} else if (start(f, request->number) == 0) {
			call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0);
			copy(&pages);
			return got;
		}
		for (long i = 0; i < f->file_count; i++)
			call(__NR_close, f->files[i], 0, 0, 0, 0);
	}
}
