package thirdrail

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A family is a process's descendants at one moment, and all that lives in the PID
// namespaces that were made for them. A confined child can't be known by its
// environment, which names no path of the host: only by where it came from.
type family struct {
	members    map[string]bool // number and time of start, which no other process has
	namespaces map[string]bool
}

// kin is what is needed of /proc/PID/stat, see proc_pid_stat(5).
type kin struct {
	pid, parent int
	born        string
	alive       bool
}

// everybody returns all processes of the machine by number.
func everybody() map[int]kin {
	found := map[int]kin{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		const state, parent, threads, born = 0, 1, 17, 19
		if len(fields) <= born {
			continue
		}
		number, _ := strconv.Atoi(fields[parent])
		found[pid] = kin{pid, number, fields[born], fields[state] != "Z" && fields[state] != "X" || fields[threads] > "1"}
	}
	return found
}

func (k kin) key() string { return fmt.Sprintf("%d born %s", k.pid, k.born) }

// processNamespace returns the PID namespace of a process, or "".
func processNamespace(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return name
}

// familyOf returns the descendants of a process, without itself.
func familyOf(pid int) family {
	f := family{map[string]bool{}, map[string]bool{}}
	all := everybody()
	own := processNamespace(os.Getpid())
	children := map[int][]kin{}
	for _, k := range all {
		children[k.parent] = append(children[k.parent], k)
	}
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		k := queue[0]
		f.members[k.key()] = true
		if name := processNamespace(k.pid); name != "" && name != own {
			f.namespaces[name] = true
		}
		queue = append(queue, children[k.pid]...)
	}
	return f
}

// living returns those of the family that live, and who joined their namespaces.
func (f family) living() []string {
	var found []string
	for _, k := range everybody() {
		if k.alive && (f.members[k.key()] || f.namespaces[processNamespace(k.pid)]) {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", k.pid))
			found = append(found, k.key()+" "+short(strings.ReplaceAll(string(command), "\x00", " ")))
		}
	}
	return found
}

// processesOf returns the living processes that this one started, directly or not,
// and those that have mark in their environment or on their command line.
func processesOf(mark string) []string {
	return append(processesWith(mark), familyOf(os.Getpid()).living()...)
}
