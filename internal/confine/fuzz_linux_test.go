package confine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// proofAnswers are what a child, honest or not, could answer to twoProofs.
var proofAnswers = []struct {
	name, text string
	proven     bool
}{
	{"both refused", `{"privileges":"held","files.read":"EACCES"}`, true},
	{"more than was asked", `{"files.read":"ENOENT","privileges":"EPERM","other":[1]}`, true},
	{"nothing", `{}`, false},
	{"one missing", `{"privileges":"held"}`, false},
	{"one open", `{"privileges":"held","files.read":"open"}`, false},
	{"an error that is no refusal", `{"privileges":"held","files.read":"EINTR"}`, false},
	{"another spelling", `{"privileges":"Held","files.read":"EACCES"}`, false},
	{"another name", `{"Privileges":"held","files.read":"EACCES"}`, false},
	{"an empty answer", `{"privileges":"","files.read":"EACCES"}`, false},
	{"a number", `{"privileges":13,"files.read":"EACCES"}`, false},
	{"nested", `{"privileges":{"privileges":"held"},"files":{"read":"EACCES"}}`, false},
	{"a list", `["held","EACCES"]`, false},
	{"null", `null`, false},
	{"escapes", `{"privileges":"\u0068eld","files.read":"EACCE\u0053"}`, true},
	{"a lone surrogate", `{"privileges":"held\ud800","files.read":"EACCES"}`, false},
}

var twoProofs = &Policy{Proofs: []Proof{{Name: "privileges", Kind: "privileges"}, {Name: "files.read", Kind: "read"}}}

func TestCheck(t *testing.T) {
	for _, c := range proofAnswers {
		answer, err := lossless.Parse([]byte(c.text), lossless.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := twoProofs.Check(answer); (err == nil) != c.proven || err != nil && !errors.Is(err, ErrUnproven) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := twoProofs.Check(lossless.Value{}); !errors.Is(err, ErrUnproven) {
		t.Errorf("no answer at all: %v", err)
	}
	if err := (*Policy)(nil).Check(lossless.Value{}); err != nil {
		t.Errorf("no policy: %v", err)
	}
}

// FuzzProof gives Check any answer and compares it with another reader of JSON.
func FuzzProof(f *testing.F) {
	for _, c := range proofAnswers {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, err := lossless.Parse(text, lossless.Options{})
		if err != nil {
			return // no frame, so no answer either
		}
		var members map[string]any
		proven := json.Unmarshal(text, &members) == nil
		for _, proof := range twoProofs.Proofs {
			got, ok := members[proof.Name].(string)
			proven = proven && ok && refusals[got]
		}
		err = twoProofs.Check(answer)
		if (err == nil) != proven {
			t.Errorf("%s: %v, want proven: %v", text, err, proven)
		}
		if err != nil && (!errors.Is(err, ErrUnproven) || strings.ContainsAny(err.Error(), "\n\r") || !utf8.ValidString(err.Error())) {
			t.Errorf("%s: message %q", text, err)
		}
	})
}

// FuzzPolicy composes a policy with any path, link and limit, and reads it back as
// JSON: nothing may change on the way, or it isn't sent.
func FuzzPolicy(f *testing.F) {
	f.Add("/usr/lib", "/lib", "usr/lib", "/tmp/run-1", int64(256<<20), uint64(1), 7, true, true)
	f.Add("/a \"b\"\n", "/\u2028", "../\\x", "/tmp/日本", int64(0), uint64(1<<63), 1, false, true)
	f.Add("/\xff", "/l", "t", "/tmp/x", int64(-1), uint64(0), 0, true, false)
	f.Fuzz(func(t *testing.T, path, link, target, folder string, disk int64, number uint64, version int, root, calls bool) {
		spec := Spec{
			Interpreter: &interpreter.Interpreter{Path: "/usr/bin/python3"}, Canary: filepath.Dir(folder), Socket: "s", Host: 1,
			OwnRoot: root, Landlock: max(version%9, 0), Calls: calls, Users: 1 << 30,
		}
		p := &Plan{spec: spec, places: places{
			all:   []place{{path, true, readAccess}, {link, false, writeAccess}},
			links: map[string]string{link: target},
		}}
		p.places.tidy()
		if err := p.compose(); err != nil {
			t.Fatal(err)
		}
		policy := p.Policy(Run{Folder: folder, DiskBytes: disk, Processes: 1, Number: number})
		value, err := lossless.Of(policy)
		texts := []string{path, link, target, folder}
		for _, text := range []string{path, link, folder} {
			if err == nil && (root || spec.Landlock > 0) && !utf8.ValidString(text) {
				t.Fatalf("%q is sent as %v", text, value)
			}
		}
		if err != nil {
			// One by one: two halves of a character don't make a whole.
			if !slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }) {
				t.Fatalf("%+v can't be sent: %v", policy, err)
			}
			return
		}
		var back Policy
		if err := json.Unmarshal(value.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		again, err := lossless.Of(&back)
		if err != nil || !again.Equal(value) {
			t.Errorf("read back and sent again: %v\n%s", err, cmp.Diff(value.String(), again.String()))
		}
		if diff := cmp.Diff(policy.Root, back.Root); diff != "" {
			t.Errorf("the root differs: %s", diff)
		}
		if diff := cmp.Diff(policy.Proofs, back.Proofs); diff != "" {
			t.Errorf("the proofs differ: %s", diff)
		}
	})
}

// FuzzFilter assembles any rules, and compares the filter with a walk through them.
// Eight bytes are a rule: how many calls from which on, the refusal, and a test.
func FuzzFilter(f *testing.F) {
	f.Add([]byte{5, 0, 1, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 255, 1, 1, 7, 3, 9, 200, 1, 4, 0, 2, 255, 0, 1})
	long := make([]byte, 0, 8*200)
	for i := range 200 { // beyond what a conditional jump reaches
		long = append(long, byte(2*i), byte(2*i>>8), 0, byte(i&1), 3, byte(i), byte(i), 1)
	}
	f.Add(long)
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []rule
		for ; len(data) >= 8; data = data[8:] {
			list = append(list, ruleOf(data, list))
		}
		machine, err := machineFor(list)
		if err != nil {
			if len(list) < 200 {
				t.Fatal(err)
			}
			return // more than the kernel takes
		}
		for call := range uint32(lastCall + 2) {
			for _, argument := range []uint32{0, 7, ownNumber} {
				arguments := []uint32{argument, argument, argument, argument, argument, argument}
				if got, want := evaluate(t, machine, architecture, call, arguments...), byRules(list, call, arguments); got != want {
					t.Fatalf("call %d %d: got %v, want %v", call, argument, got, want)
				}
			}
		}
	})
}

// ruleOf makes a rule of eight bytes, for calls that no other rule is for.
func ruleOf(data []byte, others []rule) rule {
	r := rule{refusal: unix.EPERM}
	if data[3]&1 == 1 {
		r.refusal = unix.ENOSYS
	}
	taken := map[uint32]bool{}
	for _, other := range others {
		for _, call := range other.calls {
			taken[call] = true
		}
	}
	first := uint32(binary.LittleEndian.Uint16(data)) % (lastCall + 1)
	for call := first; call <= min(first+uint32(data[2]), lastCall); call++ {
		if !taken[call] {
			r.calls = append(r.calls, call)
		}
	}
	for range data[4] % 3 {
		r.unless = append(r.unless, test{
			argument: int(data[5] % 6), mask: uint32(data[6]), not: data[7]&1 == 1, in: []uint32{uint32(data[5]), uint32(data[7]), ownProcess},
		})
	}
	return r
}
