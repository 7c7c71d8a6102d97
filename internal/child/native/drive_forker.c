/*
 * A host and a nursery in small, for the test of the forker on each architecture:
 *
 *     drive_forker FORKER KEEPER
 *
 * It ends with 0, or with the number of the line where something else happened than should.
 */

#include "forker.c" /* for its types; what is tested comes from the file */

#define AF_UNIX 1
#define SOCK_SEQPACKET 5
#define READ_EXECUTE 5
#define AT_FDCWD -100

#define check(wanted) \
	do { \
		if (!(wanted)) \
			leave(__LINE__ % 251 + 1); \
	} while (0)

static int an_error = 11; /* EAGAIN */
static int *error(void) { return &an_error; }
static int plain_fork(void) { return (int)call(__NR_clone, SIGCHLD, 0, 0, 0, 0); }

static struct forker f;
static long message[64];
static int pipe[2];
static char memory[1 << 17] __attribute__((aligned(1 << 16)));

/* What a nursery does. The children write their order into the pipe, and end with 7. */
static void nurse(long control, const char *code, const char *holder)
{
	f.control = control;
	f.own = call(__NR_pidfd_open, call(__NR_getpid, 0, 0, 0, 0, 0), 0, 0, 0, 0);
	f.holder = holder;
	f.fork = plain_fork;
	f.error = error;
	f.message = (char *)message;
	f.message_bytes = sizeof message;
	long file = call(__NR_openat, AT_FDCWD, (long)code, 0, 0, 0);
	long (*loaded)(struct forker *) =
		(long (*)(struct forker *))call(__NR_mmap, 0, 1 << 16, READ_EXECUTE, MAP_PRIVATE, file);
	long got = loaded(&f);
	call(__NR_write, f.files[0], (long)(f.message + sizeof(struct request)), got - sizeof(struct request), 0, 0);
	leave(f.file_count == FILES ? 7 : 8);
}

static void ask(long control, long kind, long number, const char *order, long count)
{
	struct request request = { kind, number };
	struct vector parts[2] = { { &request, sizeof request }, { (void *)order, 5 } };
	struct rights rights = { RIGHTS_HEADER + count * sizeof(int), SOL_SOCKET, SCM_RIGHTS, { pipe[1], pipe[1], pipe[1] } };
	struct message_header header = { 0, 0, parts, order ? 2 : 1, count ? &rights : 0, count ? sizeof rights : 0, 0 };
	check(call(__NR_sendmsg, control, (long)&header, 0, 0, 0) > 0);
}

static struct report hear(long control)
{
	struct report report = { 0 };
	check(call(__NR_read, control, (long)&report, sizeof report, 0, 0) == sizeof report);
	return report;
}

/* Give memory for the children to copy, in a file. */
static void give_pages(long control)
{
	struct range range = { memory, sizeof memory };
	long file = call(__NR_memfd_create, (long)"pages", 0, 0, 0, 0);
	check(call(__NR_write, file, (long)&range, sizeof range, 0, 0) == sizeof range);
	int out = pipe[1];
	pipe[1] = (int)file;
	ask(control, PAGES, sizeof range, 0, 1);
	pipe[1] = out;
}

__attribute__((used)) void drive(long *stack)
{
	char **arguments = (char **)(stack + 1);
	int ends[2];
	check(call(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET, 0, (long)ends, 0) == 0);
	check(call(__NR_pipe2, (long)pipe, 0, 0, 0, 0) == 0);
	long nursery = call(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (nursery == 0) {
		call(__NR_close, ends[0], 0, 0, 0, 0);
		nurse(ends[1], arguments[1], arguments[2]);
	}
	call(__NR_close, ends[1], 0, 0, 0, 0);
	long control = ends[0];
	give_pages(control);
	for (long number = 41; number < 44; number++) {
		ask(control, FORK, number, "hello", FILES);
		struct report report = hear(control);
		check(report.kind == FORKED && report.number == number && report.a > 0 && report.b > 0);
		long program = report.a, holder = report.b;
		char text[8] = { 0 };
		check(call(__NR_read, pipe[0], (long)text, sizeof text, 0, 0) == 5 && text[0] == 'h' && text[4] == 'o');
		report = hear(control);
		check(report.kind == ENDED && report.number == program && report.a == 7 << 8);
		check(report.b >= 0 && report.c >= 0);
		ask(control, END, holder, 0, 0);
		report = hear(control);
		check(report.kind == ENDED && report.number == holder && report.a == SIGKILL);
	}
	ask(control, FORK, 50, "hello", 1);
	struct report report = hear(control);
	check(report.kind == REFUSED && report.number == 50 && report.a == AT_FILES && report.b == EMFILE);
	call(__NR_close, control, 0, 0, 0, 0);
	int status = 1;
	check(call(__NR_wait4, nursery, (long)&status, 0, 0, 0) == nursery && status == 0);
	leave(0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall drive\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tbl drive\n");
#endif
