package confine

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// machineOf returns the filter of openings as it is sent, on a machine that runs
// it. The own number is 4711.
func machineOf(t testing.TB, o openings) *bpf.VM {
	t.Helper()
	machine, err := machineFor(rules(o))
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// machineFor returns the filter of rules on such a machine.
func machineFor(list []rule) (*bpf.VM, error) {
	calls, err := assemble(list)
	if err != nil {
		return nil, err
	}
	program := calls.Program
	for _, offset := range calls.Own {
		binary.NativeEndian.PutUint32(program[offset:], 4711)
	}
	var instructions []bpf.Instruction
	for ; len(program) > 0; program = program[8:] {
		instructions = append(instructions, bpf.RawInstruction{
			Op: binary.NativeEndian.Uint16(program), Jt: program[2], Jf: program[3], K: binary.NativeEndian.Uint32(program[4:]),
		}.Disassemble())
	}
	return bpf.NewVM(instructions)
}

// evaluate returns the error number that a call gets, 0 when it is allowed.
func evaluate(t testing.TB, machine *bpf.VM, arch, number uint32, arguments ...uint32) unix.Errno {
	t.Helper()
	// The machine reads numbers as a network has them.
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offsetNumber:], number)
	binary.BigEndian.PutUint32(data[offsetArchitecture:], arch)
	for i, argument := range arguments {
		binary.BigEndian.PutUint32(data[offsetArguments+8*i:], argument)
		binary.BigEndian.PutUint32(data[offsetArguments+8*i+4:], 0xdeadbeef) // the upper half
	}
	verdict, err := machine.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	switch action := uint32(verdict); {
	case action == unix.SECCOMP_RET_ALLOW:
		return 0
	case action&unix.SECCOMP_RET_ACTION_FULL == unix.SECCOMP_RET_ERRNO:
		return unix.Errno(action & unix.SECCOMP_RET_DATA)
	default:
		t.Fatalf("call %d: action %#x", number, action)
		return 0
	}
}

const (
	plainThread   = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM
	plainFork     = unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | uint32(unix.SIGCHLD)
	someoneElse   = 4712
	ownNumber     = 4711
	minusOne      = 0xffffffff
	nonBlocking   = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	otherMachines = 0x40000003 // AUDIT_ARCH_I386
)

func TestFilter(t *testing.T) {
	strict, processes := openings{attributes: true}, openings{processes: true, attributes: true}
	network, bare := openings{network: true, attributes: true}, openings{}
	for _, c := range []struct {
		name      string
		open      openings
		call      uint32
		arguments []uint32
		want      unix.Errno
	}{
		{"read", strict, unix.SYS_READ, nil, 0},
		{"openat", strict, unix.SYS_OPENAT, nil, 0},
		{"futex", strict, unix.SYS_FUTEX, nil, 0},
		{"a thread", strict, unix.SYS_CLONE, []uint32{plainThread}, 0},
		{"fork", strict, unix.SYS_CLONE, []uint32{plainFork}, unix.EPERM},
		{"fork, opened", processes, unix.SYS_CLONE, []uint32{plainFork}, 0},
		{"a namespace by clone", strict, unix.SYS_CLONE, []uint32{unix.CLONE_NEWUSER}, unix.EPERM},
		{"a namespace by clone, processes opened", processes, unix.SYS_CLONE, []uint32{unix.CLONE_NEWUSER | uint32(unix.SIGCHLD)}, unix.EPERM},
		{"a namespace with a thread", strict, unix.SYS_CLONE, []uint32{plainThread | unix.CLONE_NEWNET}, unix.EPERM},
		{"clone3", processes, unix.SYS_CLONE3, nil, unix.ENOSYS},
		{"execve", strict, unix.SYS_EXECVE, nil, unix.EPERM},
		{"execve, opened", processes, unix.SYS_EXECVE, nil, 0},
		{"kill itself", strict, unix.SYS_KILL, []uint32{ownNumber, 9}, 0},
		{"kill another", strict, unix.SYS_KILL, []uint32{someoneElse, 0}, unix.EPERM},
		{"kill the group", strict, unix.SYS_KILL, []uint32{0, 9}, unix.EPERM},
		{"kill all", strict, unix.SYS_KILL, []uint32{minusOne, 9}, unix.EPERM},
		{"kill another, opened", processes, unix.SYS_KILL, []uint32{someoneElse, 9}, 0},
		{"raise", strict, unix.SYS_TGKILL, []uint32{ownNumber, 1, 6}, 0},
		{"tgkill another", strict, unix.SYS_TGKILL, []uint32{someoneElse, 1, 6}, unix.EPERM},
		{"limits of itself", strict, unix.SYS_PRLIMIT64, []uint32{0, 7}, 0},
		{"limits of another", strict, unix.SYS_PRLIMIT64, []uint32{1, 7}, unix.EPERM},
		{"own priority", strict, unix.SYS_SETPRIORITY, []uint32{unix.PRIO_PROCESS, 0, 5}, 0},
		{"a user's priority", strict, unix.SYS_SETPRIORITY, []uint32{unix.PRIO_USER, 0, 5}, unix.EPERM},
		{"another's affinity", strict, unix.SYS_SCHED_SETAFFINITY, []uint32{1}, unix.EPERM},
		{"another's affinity, opened", processes, unix.SYS_SCHED_SETAFFINITY, []uint32{1}, unix.EPERM},
		{"socketpair", strict, unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX, unix.SOCK_STREAM | nonBlocking}, 0},
		{"a pair of datagrams", strict, unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, unix.EPERM},
		{"socket", strict, unix.SYS_SOCKET, []uint32{unix.AF_INET, unix.SOCK_STREAM}, unix.EPERM},
		{"socket, opened", network, unix.SYS_SOCKET, []uint32{unix.AF_INET, unix.SOCK_STREAM}, 0},
		{"a timeout of a socket", strict, unix.SYS_SETSOCKOPT, []uint32{0, unix.SOL_SOCKET, unix.SO_RCVTIMEO}, 0},
		{"more memory for a socket", strict, unix.SYS_SETSOCKOPT, []uint32{0, unix.SOL_SOCKET, unix.SO_SNDBUF}, unix.EPERM},
		{"fcntl", strict, unix.SYS_FCNTL, []uint32{0, unix.F_SETFL}, 0},
		{"a larger pipe", strict, unix.SYS_FCNTL, []uint32{0, unix.F_SETPIPE_SZ}, unix.EPERM},
		{"signals for input", strict, unix.SYS_FCNTL, []uint32{0, unix.F_SETOWN}, unix.EPERM},
		{"ioctl", strict, unix.SYS_IOCTL, []uint32{0, unix.TCGETS}, 0},
		{"typing into a terminal", strict, unix.SYS_IOCTL, []uint32{0, unix.TIOCSTI}, unix.EPERM},
		{"a thread's name", strict, unix.SYS_PRCTL, []uint32{unix.PR_SET_NAME}, 0},
		{"dumpable again", strict, unix.SYS_PRCTL, []uint32{unix.PR_SET_DUMPABLE, 1}, unix.EPERM},
		{"what personality", strict, unix.SYS_PERSONALITY, []uint32{minusOne}, 0},
		{"no randomisation", strict, unix.SYS_PERSONALITY, []uint32{0x40000}, unix.EPERM},
		{"a mode", strict, unix.SYS_FCHMODAT, nil, 0},
		{"a mode of the user's files", bare, unix.SYS_FCHMODAT, nil, unix.EPERM},
		{"io_uring", strict, unix.SYS_IO_URING_SETUP, nil, unix.ENOSYS},
		{"ptrace", processes, unix.SYS_PTRACE, nil, unix.EPERM},
		{"the newest call", strict, lastCall, nil, 0},
		{"a call from the future", strict, lastCall + 1, nil, unix.ENOSYS},
		{"x32", strict, 0x40000000 | unix.SYS_READ, nil, unix.ENOSYS},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evaluate(t, machineOf(t, c.open), architecture, c.call, c.arguments...); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for _, call := range []uint32{unix.SYS_READ, 1, 4} {
		if got := evaluate(t, machineOf(t, strict), otherMachines, call); got != unix.ENOSYS {
			t.Errorf("call %d of another architecture: %v", call, got)
		}
	}
}

// TestFilterIsItsRules compares the tree with a walk through the rules, one by one:
// for every number, and for any arguments.
func TestFilterIsItsRules(t *testing.T) {
	for _, o := range []openings{{}, {attributes: true}, {processes: true}, {network: true}, {true, true, true}} {
		machine, list := machineOf(t, o), rules(o)
		for call := range uint32(lastCall + 10) {
			if got, want := evaluate(t, machine, architecture, call), byRules(list, call, make([]uint32, 6)); got != want {
				t.Errorf("call %d: got %v, want %v", call, got, want)
			}
		}
		rapid.Check(t, func(rt *rapid.T) {
			call := rapid.Uint32Range(0, lastCall+10).Draw(rt, "call")
			arguments := rapid.SliceOfN(rapid.OneOf(
				rapid.SampledFrom([]uint32{0, 1, 2, ownNumber, minusOne, plainThread, plainFork, unix.F_SETOWN, unix.TIOCSTI}), rapid.Uint32(),
			), 6, 6).Draw(rt, "arguments")
			if got, want := evaluate(t, machine, architecture, call, arguments...), byRules(list, call, arguments); got != want {
				rt.Errorf("call %d %v: got %v, want %v", call, arguments, got, want)
			}
		})
	}
}

func byRules(list []rule, call uint32, arguments []uint32) unix.Errno {
	if call > lastCall {
		return unix.ENOSYS
	}
	for _, r := range list {
		for _, named := range r.calls {
			if named == call {
				return r.verdict(arguments)
			}
		}
	}
	return 0
}

func (r rule) verdict(arguments []uint32) unix.Errno {
	for _, test := range r.unless {
		value := arguments[test.argument]
		if test.mask != 0 {
			value &= test.mask
		}
		found := false
		for _, in := range test.in {
			if in == ownProcess {
				in = ownNumber
			}
			found = found || value == in
		}
		if found == test.not {
			return r.refusal
		}
	}
	if len(r.unless) == 0 {
		return r.refusal
	}
	return 0
}

func TestRulesHaveReasons(t *testing.T) {
	for _, r := range rules(openings{}) {
		if r.why == "" || len(r.calls) == 0 || r.refusal != unix.EPERM && r.refusal != unix.ENOSYS {
			t.Errorf("rule %+v", r)
		}
	}
}

// TestLeavesAreMerged has neighbours that do the same, others, and the first number
// of all.
func TestLeavesAreMerged(t *testing.T) {
	leaves, err := leavesOf([]rule{
		{calls: []uint32{7, 0, 6, 8}, refusal: unix.EPERM},
		{calls: []uint32{9}, refusal: unix.ENOSYS},
		{calls: []uint32{11}, refusal: unix.EPERM},
	})
	if err != nil {
		t.Fatal(err)
	}
	var firsts []uint32
	for _, l := range leaves {
		firsts = append(firsts, l.first)
	}
	if want := []uint32{0, 1, 6, 9, 10, 11, 12}; !slices.Equal(firsts, want) {
		t.Errorf("leaves begin at %v, want %v", firsts, want)
	}
}

func TestTwoRulesForOneCall(t *testing.T) {
	twice := []rule{{calls: []uint32{1, 2}, refusal: unix.EPERM}, {calls: []uint32{2}, refusal: unix.EPERM}}
	if _, err := assemble(twice); err == nil {
		t.Error("no error")
	}
}

// TestSplit compares the two filters of a nursery's child with the one of a child
// that was started by itself.
func TestSplit(t *testing.T) {
	for _, o := range []openings{
		{}, {attributes: true}, {processes: true, attributes: true}, {network: true, attributes: true}, {processes: true, network: true},
	} {
		shared, own := split(rules(o))
		whole := machineOf(t, o)
		first, err := machineFor(shared)
		if err != nil {
			t.Fatal(err)
		}
		second, err := machineFor(own)
		if err != nil {
			t.Fatal(err)
		}
		for number := range uint32(lastCall + 2) {
			for _, arguments := range [][]uint32{{}, {ownNumber}, {someoneElse}, {plainThread}, {plainFork}, {1, unix.SOCK_STREAM}, {0, ownNumber}, {3, unix.F_SETOWN}} {
				want := evaluate(t, whole, architecture, number, arguments...)
				got := evaluate(t, first, architecture, number, arguments...)
				if got == 0 {
					got = evaluate(t, second, architecture, number, arguments...)
				}
				if got != want {
					t.Errorf("%+v: call %d with %v: %v, want %v", o, number, arguments, got, want)
				}
			}
		}
		for _, number := range nurseryCalls {
			if err := evaluate(t, first, architecture, number, plainFork); err != 0 {
				t.Errorf("%+v: a nursery may not call %d: %v", o, number, err)
			}
		}
	}
}
