//go:build linux

package thirdrail

// signalAttacks send signals to other processes, and change their limits and their
// place in the scheduler. The victim survives the signals and counts them.
var signalAttacks = []attack{
	{Name: "kill a victim", Program: `
os.kill(victim["pid"], signal.SIGUSR1)
through("sent")
`},
	{Name: "kill asks whether a victim lives", Program: `
os.kill(victim["pid"], 0)
through("it lives")
`},
	{Name: "kill the host", Program: `
os.kill(host, signal.SIGWINCH)
through("sent")
`},
	{Name: "kill the parent", Program: `
os.kill(os.getppid(), 0)
through("may be sent")
`},
	{Name: "kill a sibling", Program: `
os.kill(sibling["pid"], 0)
through("may be sent")
`},
	{Name: "tgkill", Program: `
through(call("tgkill", victim["pid"], victim["pid"], signal.SIGUSR1))
`},
	{Name: "tkill", Program: `
through(call("tkill", victim["pid"], signal.SIGUSR1))
`},
	{Name: "sigqueue", Program: `
SI_QUEUE = -1
information = struct.pack("iiiiii", signal.SIGUSR2, 0, SI_QUEUE, 0, os.getpid(), os.getuid()).ljust(128, b"\0")
through(call("rt_sigqueueinfo", victim["pid"], signal.SIGUSR2, information))
`},
	{Name: "sigqueue to a thread", Program: `
SI_QUEUE = -1
information = struct.pack("iiiiii", signal.SIGUSR2, 0, SI_QUEUE, 0, os.getpid(), os.getuid()).ljust(128, b"\0")
through(call("rt_tgsigqueueinfo", victim["pid"], victim["pid"], signal.SIGUSR2, information))
`},
	{Name: "pidfd_send_signal", Program: `
through(call("pidfd_send_signal", call("pidfd_open", victim["pid"], 0), signal.SIGUSR1, None, 0))
`},
	{Name: "pidfd_send_signal by a folder of proc", Program: `
fd = os.open("/proc/%d" % victim["pid"], os.O_RDONLY | os.O_DIRECTORY)
through(call("pidfd_send_signal", fd, signal.SIGUSR1, None, 0))
`},
	{Name: "killpg of a victim", Program: `
os.killpg(victim["pid"], signal.SIGUSR1)
through("sent")
`},
	{Name: "killpg of its own group", Program: `
os.killpg(0, 0)
if os.getpgrp() != os.getpid():
    through("the group has others in it")
`, Off: "a run leads a group of its own"},
	{Name: "kill of everybody", Program: `
os.kill(-1, 0)  # 0 is sent to nobody, but tells whether there is somebody
through("there are others")
`},
	{Name: "F_SETOWN", Program: `
one, other = socket.socketpair()
fcntl.fcntl(one, fcntl.F_SETOWN, victim["pid"])
fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
other.send(b"x")
if await watch.signal({"number": int(signal.SIGIO)}):
    through("SIGIO arrived")
`},
	{Name: "F_SETOWN_EX with a chosen signal", Program: `
number = int(signal.SIGRTMIN) + 5
F_SETSIG, F_SETOWN_EX, PROCESS = 10, 15, 1
one, other = os.pipe()
fcntl.fcntl(one, F_SETOWN_EX, struct.pack("ii", PROCESS, victim["pid"]))
fcntl.fcntl(one, F_SETSIG, number)
fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(other, b"x")
if await watch.signal({"number": number}):
    through("it arrived")
`},
	{Name: "owner of a socket by ioctl", Program: `
SIOCSPGRP, FIOASYNC = 0x8902, 0x5452
one, other = socket.socketpair()
fcntl.ioctl(one, SIOCSPGRP, struct.pack("i", victim["pid"]))
fcntl.ioctl(one, FIOASYNC, struct.pack("i", 1))
other.send(socket.MSG_OOB.to_bytes(1, "little"))
if await watch.signal({"number": int(signal.SIGIO)}):
    through("SIGIO arrived")
`},
	{Name: "death signal of the parent undone", Program: `
SET_PDEATHSIG = 1
call("prctl", SET_PDEATHSIG, 0, 0, 0, 0)
through("it would outlive its parent")
`},
	{Name: "limits of another, read", Program: `
through(resource.prlimit(victim["pid"], resource.RLIMIT_NOFILE))
`},
	{Name: "limits of another, set", Program: `
through(resource.prlimit(victim["pid"], resource.RLIMIT_NOFILE, (99, 999)))
`},
	{Name: "nice value of another", Program: `
os.setpriority(os.PRIO_PROCESS, victim["pid"], 7)
through("set")
`},
	{Name: "nice value of another's group", Program: `
os.setpriority(os.PRIO_PGRP, victim["pid"], 8)
through("set")
`},
	{Name: "processors of another", Program: `
os.sched_setaffinity(victim["pid"], {0})
through("set")
`},
	{Name: "scheduling of another", Program: `
os.sched_setscheduler(victim["pid"], os.SCHED_BATCH, os.sched_param(0))
through("set")
`},
	{Name: "disk priority of another", Program: `
PROCESS, IDLE = 1, 3 << 13
through(call("ioprio_set", PROCESS, victim["pid"], IDLE))
`},
	{Name: "real time for itself", Program: `
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
through("set")
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
`},
	{Name: "first of all in the scheduler", Program: `
os.setpriority(os.PRIO_PROCESS, 0, -15)
through("set")
os.setpriority(os.PRIO_PROCESS, 0, 0)
`},
	{Name: "spared by the memory killer", Program: `
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("-900")
through("set")
`, Off: withoutRight},
}
