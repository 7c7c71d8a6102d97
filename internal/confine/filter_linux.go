package confine

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A rule refuses system calls, or allows them only with some arguments.
type rule struct {
	calls []uint32
	// refusal is the error number that the caller gets. ENOSYS makes libc and
	// Python fall back to older calls; EPERM is an exception in the program.
	refusal unix.Errno
	// unless are the tests that all must hold for the call to be allowed. None
	// means that it never is.
	unless []test
	why    string
}

// A test looks at one argument's lower 32 bits, which is all that the kernel takes
// of the arguments tested here.
type test struct {
	argument int
	mask     uint32 // zero means all bits
	in       []uint32
	not      bool // the argument must be none of in
}

// ownProcess stands in a filter for the number of the process that it is for,
// which only the child knows. No process has it: they end at 2^22.
const ownProcess = 0x7fffff01

// Offsets in struct seccomp_data, see seccomp(2).
const (
	offsetNumber       = 0
	offsetArchitecture = 4
	offsetArguments    = 16
)

// assemble makes the filter of rules, one instruction after the other as the
// kernel has them, and lists where the number of the child's process belongs.
//
// The kernel evaluates a new filter once for every system call that exists, and
// later for the calls that depend on arguments. So the filter is a binary tree.
func assemble(rules []rule) (*Calls, error) {
	leaves, err := leavesOf(rules)
	if err != nil {
		return nil, err
	}
	instructions := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArchitecture, Size: 4},
		// 32 bit calls on a 64 bit machine have other numbers.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
		refuse(unix.ENOSYS),
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		// What is newer than this list, and the calls of x32, which have a high bit.
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: lastCall, SkipTrue: 1},
		refuse(unix.ENOSYS),
	}
	instructions = append(instructions, tree(leaves)...)
	raw, err := bpf.Assemble(instructions)
	if err != nil {
		return nil, fmt.Errorf("confine: assembling the system call filter: %w", err)
	}
	if len(raw) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("confine: the system call filter has %d instructions, the kernel takes %d", len(raw), unix.BPF_MAXINSNS)
	}
	calls := &Calls{}
	for _, r := range raw {
		calls.Program = binary.NativeEndian.AppendUint16(calls.Program, r.Op)
		calls.Program = append(calls.Program, r.Jt, r.Jf)
		if r.K == ownProcess {
			calls.Own = append(calls.Own, len(calls.Program))
		}
		calls.Program = binary.NativeEndian.AppendUint32(calls.Program, r.K)
	}
	return calls, nil
}

// A leaf is what to do with all system calls from one on, up to the next leaf's.
type leaf struct {
	first uint32
	body  []bpf.Instruction
}

// leavesOf returns leaves for all numbers from 0 on, neighbours with the same body
// as one: the shorter the filter, the less each child pays for it.
func leavesOf(rules []rule) ([]leaf, error) {
	bodies := map[uint32][]bpf.Instruction{}
	for _, r := range rules {
		for _, call := range r.calls {
			if bodies[call] != nil {
				return nil, fmt.Errorf("confine: two rules for system call %d", call)
			}
			bodies[call] = r.body()
		}
	}
	allow := []bpf.Instruction{bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}}
	leaves := []leaf{{0, allow}}
	add := func(first uint32, body []bpf.Instruction) {
		switch last := &leaves[len(leaves)-1]; {
		case slices.Equal(last.body, body):
		case last.first == first:
			last.body = body
		default:
			leaves = append(leaves, leaf{first, body})
		}
	}
	for _, call := range slices.Sorted(maps.Keys(bodies)) {
		add(call, bodies[call])
		if bodies[call+1] == nil {
			add(call+1, allow)
		}
	}
	return leaves, nil
}

// tree returns a search for the number, which is loaded, among leaves.
func tree(leaves []leaf) []bpf.Instruction {
	if len(leaves) == 1 {
		return leaves[0].body
	}
	middle := len(leaves) / 2
	lower, upper := tree(leaves[:middle]), tree(leaves[middle:])
	var instructions []bpf.Instruction
	// A conditional jump goes no further than 255 instructions, a plain one does.
	if first := leaves[middle].first; len(lower) <= 255 {
		instructions = append(instructions, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: first, SkipTrue: uint8(len(lower))})
	} else {
		instructions = append(instructions,
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: first, SkipTrue: 1}, bpf.Jump{Skip: uint32(len(lower))})
	}
	return append(append(instructions, lower...), upper...)
}

// body returns what a rule does once its call is recognised. It always returns.
func (r rule) body() []bpf.Instruction {
	if len(r.unless) == 0 {
		return []bpf.Instruction{refuse(r.refusal)}
	}
	var instructions []bpf.Instruction
	for _, t := range r.unless {
		instructions = append(instructions, t.instructions(r.refusal)...)
	}
	return append(instructions, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
}

// instructions returns refusal when the test fails, and else goes on behind.
func (t test) instructions(refusal unix.Errno) []bpf.Instruction {
	instructions := []bpf.Instruction{bpf.LoadAbsolute{Off: offsetArguments + 8*uint32(t.argument), Size: 4}}
	if t.mask != 0 {
		instructions = append(instructions, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask})
	}
	for i, value := range t.in {
		instructions = append(instructions, bpf.JumpIf{Cond: bpf.JumpEqual, Val: value, SkipTrue: uint8(len(t.in) - i)})
	}
	if t.not {
		return append(instructions, bpf.Jump{Skip: 1}, refuse(refusal))
	}
	return append(instructions, refuse(refusal))
}

func refuse(number unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(number)}
}
