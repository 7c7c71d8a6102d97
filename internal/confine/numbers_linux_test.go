package confine

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChildCallsByTheRightNumbers compares the child's table of system calls with
// this machine's. TestOnArm64 does it for that one.
func TestChildCallsByTheRightNumbers(t *testing.T) {
	source, err := os.ReadFile("../../python/thirdrail_child/native.py")
	if err != nil {
		t.Fatal(err)
	}
	machine := map[string]string{"amd64": `"x86_64": {`, "arm64": `"aarch64": {`}[runtime.GOARCH]
	_, own, found := strings.Cut(string(source), machine)
	own, _, _ = strings.Cut(own, "}")
	_, anywhere, _ := strings.Cut(string(source), "_NUMBERS_ANYWHERE = {")
	anywhere, _, _ = strings.Cut(anywhere, "}")
	if machine == "" || !found {
		t.Fatalf("the child has no table for %s", runtime.GOARCH)
	}
	got := map[string]int{}
	for _, entry := range regexp.MustCompile(`"(\w+)": (\d+)`).FindAllStringSubmatch(own+anywhere, -1) {
		got[entry[1]], _ = strconv.Atoi(entry[2])
	}
	want := map[string]int{
		"mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT, "capget": unix.SYS_CAPGET,
		"capset": unix.SYS_CAPSET, "seccomp": unix.SYS_SECCOMP, "prctl": unix.SYS_PRCTL, "ptrace": unix.SYS_PTRACE,
		"unshare": unix.SYS_UNSHARE, "socket": unix.SYS_SOCKET, "connect": unix.SYS_CONNECT, "close_range": unix.SYS_CLOSE_RANGE,
		"mount_setattr": unix.SYS_MOUNT_SETATTR, "landlock_create_ruleset": unix.SYS_LANDLOCK_CREATE_RULESET,
		"landlock_add_rule": unix.SYS_LANDLOCK_ADD_RULE, "landlock_restrict_self": unix.SYS_LANDLOCK_RESTRICT_SELF,
		"pidfd_open": unix.SYS_PIDFD_OPEN, "setns": unix.SYS_SETNS, "memfd_create": unix.SYS_MEMFD_CREATE,
		"mmap": unix.SYS_MMAP, "mprotect": unix.SYS_MPROTECT, "munmap": unix.SYS_MUNMAP, "mremap": unix.SYS_MREMAP,
		"madvise": unix.SYS_MADVISE,
	}
	for name, number := range got {
		if known, ok := want[name]; !ok || number != known {
			t.Errorf("%s is %d in the child, want %d (a new name belongs into this test)", name, number, known)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the child knows %d calls, want %d", len(got), len(want))
	}
}
