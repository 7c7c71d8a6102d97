package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail"
)

func TestDoctor(t *testing.T) {
	s := invoke(t, "", "doctor")
	out := s.stdout.String()
	for _, part := range []string{"kernel       ", "Python 3.", "landlock", "seccomp", "A run is confined by what is in force."} {
		if !strings.Contains(out, part) {
			t.Errorf("output lacks %q:\n%s", part, out)
		}
	}
	if s.ProcessState.ExitCode() != exitSuccess {
		t.Errorf("exit status %d", s.ProcessState.ExitCode())
	}
}

func TestDoctorAsJSON(t *testing.T) {
	for _, c := range []struct {
		args    []string
		inForce bool
		network bool
	}{
		{nil, true, true},
		{[]string{"--allow-network"}, true, false},
		{[]string{"--sandbox", "off"}, false, false},
	} {
		s := invoke(t, "", append([]string{"doctor", "--json"}, c.args...)...)
		var report thirdrail.Report
		if err := json.Unmarshal(s.stdout.Bytes(), &report); err != nil {
			t.Fatalf("%q: %v", s.stdout.String(), err)
		}
		for _, m := range report.Mechanisms {
			// A control group without some controller comes with how to get that too.
			partly := m.Name == thirdrail.MechanismCgroup && m.InForce
			if m.Required && m.InForce != c.inForce || !partly && m.InForce == (m.Remedy != "") || m.Gives == "" {
				t.Errorf("%v: %+v", c.args, m)
			}
			if m.Name == thirdrail.MechanismNetwork && m.InForce && !c.network {
				t.Errorf("%v: %+v", c.args, m)
			}
		}
	}
}

func TestDoctorRefuses(t *testing.T) {
	s := invoke(t, "", "doctor", "--python", "/none/python3")
	if s.ProcessState.ExitCode() != exitFailure || !strings.Contains(s.stdout.String(), "A run is refused: ") || s.stderr.Len() > 0 {
		t.Errorf("exit status %d, output %q, stderr %q", s.ProcessState.ExitCode(), s.stdout.String(), s.stderr.String())
	}
	s = invoke(t, "", "doctor", "--allow", "luck")
	if s.ProcessState.ExitCode() != exitMisuse || !strings.Contains(s.stderr.String(), `--allow has "luck"`) {
		t.Errorf("exit status %d, stderr %q", s.ProcessState.ExitCode(), s.stderr.String())
	}
}
