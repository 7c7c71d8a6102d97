package thirdrail

import (
	"context"
	"errors"
	"slices"

	"github.com/thirdrail-dev/thirdrail/internal/confine"
)

// Report is what a machine and an interpreter give to a run.
type Report struct {
	// Kernel is its name and release. Python is the interpreter's path, and
	// PythonVersion its release; both are empty when none was found.
	Kernel        string `json:"kernel"`
	Python        string `json:"python,omitempty"`
	PythonVersion string `json:"pythonVersion,omitempty"`
	// Isolation is how a run's processes are kept together.
	Isolation string `json:"isolation,omitempty"`
	// Mechanisms are all that can confine a run, whether they are in force or not.
	Mechanisms []Mechanism `json:"mechanisms"`
	// Limits are what holds each limit of a run.
	Limits []HeldLimit `json:"limits,omitempty"`
	// Wrapper is the command around each run, if there is one.
	Wrapper []string `json:"wrapper,omitempty"`
	// Refusal is why New refuses the configuration, or empty.
	Refusal string `json:"refusal,omitempty"`
}

// Mechanism is one means of confinement.
type Mechanism struct {
	// Name is MechanismLandlock or another of those names.
	Name string `json:"name"`
	// InForce tells whether a child has applied and proven it.
	InForce bool `json:"inForce"`
	// Required tells whether the default needs it.
	Required bool `json:"required"`
	// Gives is what it does for a run, in one line.
	Gives string `json:"gives"`
	// Remedy is how to get it where it isn't in force, or how to get more of it.
	Remedy string `json:"remedy,omitempty"`
}

// mechanisms are all of them, in the order of their importance.
var mechanisms = []Mechanism{
	{
		Name: MechanismLandlock, Required: true,
		Gives:  "reads and writes only what is opened; no TCP, no signals to others",
		Remedy: "Linux 5.13 or newer, with landlock in the boot parameter lsm= (see /sys/kernel/security/lsm)",
	},
	{
		Name: MechanismSeccomp, Required: true,
		Gives:  "no other process, no socket, no kernel interface that Python doesn't need",
		Remedy: "a kernel with CONFIG_SECCOMP_FILTER, and a container that lets programs filter their own calls",
	},
	{
		Name:   MechanismProcesses,
		Gives:  "sees no other process, and all of a run ends with it",
		Remedy: "run as root, or allow user namespaces: sysctl user.max_user_namespaces=10000, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0",
	},
	{
		Name:   MechanismRoot,
		Gives:  "what isn't opened doesn't exist; the workspace has the size of DiskBytes",
		Remedy: "as for pid-namespace, Linux 5.12 or newer, and a container that allows mounts in it (docker run --security-opt seccomp=unconfined)",
	},
	{
		Name:   MechanismUser,
		Gives:  "a user of its own for each run",
		Remedy: "run the host as root with own-root; runs with opened paths keep the host's user",
	},
	{
		Name:   MechanismNetwork,
		Gives:  "no network device at all",
		Remedy: "as for pid-namespace; it is left out with AllowNetwork",
	},
	{
		Name:   MechanismCgroup,
		Gives:  groupGives + "; memory and processes of all together",
		Remedy: groupRemedy,
	},
}

const (
	groupGives  = "counts and ends all processes of a run together"
	groupRemedy = "a cgroup v2 that this user may write, with memory and pids: start the host with systemd-run --user --scope -p Delegate=yes COMMAND, as root without --user"
)

// Report tells what holds the runs of this Runtime, as its children have proven it.
func (r *Runtime) Report() Report {
	report := reportOf(r.confinement.mechanismsInForce())
	report.Limits, report.Wrapper = r.confinement.heldLimits(), r.wrapper
	r.confinement.describeGroups(report.Mechanisms)
	report.Python, report.PythonVersion = r.interpreter.Path, r.interpreter.Version.String()
	report.Isolation = r.starter.Isolation().String()
	return report
}

// Examine tells what runs would get with config on this machine. It makes a Runtime
// to find out, and closes it. Where New refuses the machine, Refusal says why; a
// config that means nothing is an error, ErrMisuse.
func Examine(ctx context.Context, config Config) (Report, error) {
	r, err := New(ctx, config)
	switch {
	case errors.Is(err, ErrMisuse):
		return Report{}, err
	case err != nil:
		report := reportOf(nil)
		report.Refusal = err.Error()
		return report, nil
	}
	return r.Report(), r.Close()
}

func reportOf(inForce []string) Report {
	report := Report{Kernel: confine.Look().Kernel, Mechanisms: slices.Clone(mechanisms)}
	for i := range report.Mechanisms {
		m := &report.Mechanisms[i]
		if m.InForce = slices.Contains(inForce, m.Name); m.InForce {
			m.Remedy = ""
		}
	}
	return report
}
