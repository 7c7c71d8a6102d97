package upstream

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

func state(s *Servers) State { return s.Status()[0].State }

func TestAServerThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines(""))
	before := fmt.Sprint(names(s))
	for range 2 {
		_, err := callTool(t, s, t.Context(), "crash", `{}`)
		if err == nil || !strings.Contains(err.Error(), `the server "raw" ended during the call`) ||
			!strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "out of cheese") {
			t.Fatalf("a server that ends: %v", err)
		}
		if got := fmt.Sprint(names(s)); got != before {
			t.Errorf("tools while it is away\n got %s\nwant %s", got, before)
		}
		await(t, s, "the server is back", func() bool {
			one := s.Status()[0]
			return one.State == Ready && !one.Stale && one.Err == nil && callWorks(t, s)
		})
	}
	if got := fmt.Sprint(names(s)); got != before {
		t.Errorf("tools of the next process\n got %s\nwant %s", got, before)
	}
}

// callWorks tells whether a call succeeds.
func callWorks(t *testing.T, s *Servers) bool {
	t.Helper()
	_, err := callTool(t, s, t.Context(), "text", `{"text":"x"}`)
	return err == nil
}

func names(s *Servers) (all []string) {
	for _, one := range s.Tools() {
		all = append(all, one.Name, one.InputSchema.String())
	}
	return all
}

// TestACallMeanwhileRaises has a server that ends and can't start again.
func TestACallMeanwhileRaises(t *testing.T) {
	t.Parallel()
	command := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(os.Args[0], command); err != nil {
		t.Fatal(err)
	}
	one := lines("")
	one.Command = command
	s := connect(t, Options{}, one)
	if err := os.Remove(command); err != nil {
		t.Fatal(err)
	}
	if _, err := callTool(t, s, t.Context(), "crash", `{}`); err == nil {
		t.Fatal("a server that ends gave a result")
	}
	await(t, s, "the failure is known", func() bool {
		one := s.Status()[0]
		return one.State == Restarting && one.Stale && one.Err != nil && strings.Contains(one.Err.Error(), "can't be") || strings.Contains(fmt.Sprint(one.Err), "not found")
	})
	_, err := callTool(t, s, t.Context(), "text", `{}`)
	if err == nil || !strings.Contains(err.Error(), `the server "raw" is not running`) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("a call meanwhile: %v", err)
	}
	if len(s.Tools()) == 0 {
		t.Error("the last good list is gone")
	}
	if err := os.Symlink(os.Args[0], command); err != nil {
		t.Fatal(err)
	}
	await(t, s, "the server is back", func() bool { return state(s) == Ready })
}

func TestAServerThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	missing := Server{Name: "missing", Command: "no-such-command-anywhere"}
	dies := Server{Name: "dies", Command: "sh", Args: []string{"-c", "echo bad key >&2; exit 7"}}
	free := listener(t)
	away := Server{Name: "away", URL: "http://" + free}
	s := connect(t, Options{}, missing, lines(""), dies, away)
	for i, want := range []string{
		`the command "no-such-command-anywhere" is not found; install it`, "",
		`exit status 7 (its last words: bad key)`, "connection refused",
	} {
		got := s.Status()[i]
		if want == "" {
			if got.State != Ready || got.Err != nil {
				t.Errorf("%+v", got)
			}
			continue
		}
		if got.State != Failed || got.Err == nil || !strings.Contains(got.Err.Error(), want) || got.Tools != 0 || got.Stale {
			t.Errorf("%+v; want %s", got, want)
		}
	}
	if !callWorks(t, s) {
		t.Error("the good one is not called")
	}
}

// listener returns an address where nobody listens.
func listener(t *testing.T) string {
	t.Helper()
	one, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	return one.Addr().String()
}

func TestASlowServerJoinsLater(t *testing.T) {
	t.Parallel()
	slow, good := lines("only-many many=1 slow-list=500ms"), lines("")
	slow.Name = "slow"
	s := connect(t, Options{StartLimit: 100 * time.Millisecond}, slow, good)
	if state(s) != Starting {
		t.Skip("this machine took longer to start the other server than the slow one needs")
	}
	await(t, s, "the slow server is there", func() bool { return has(s, "many_000") && has(s, "echo") })
}

func TestAListThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	hangs, good := lines("slow-list=1h"), lines("")
	hangs.Name = "hangs"
	s := connect(t, Options{StartLimit: 10 * time.Millisecond}, hangs, good)
	await(t, s, "the good one is there", func() bool { return has(s, "echo") })
	if !callWorks(t, s) || state(s) != Starting {
		t.Errorf("%+v", s.Status())
	}
}

func TestAListThatChangesIsFollowed(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		must(t, s, t.Context(), "grow", `{}`)
		await(t, s, "the first new tool", func() bool { return has(s, "grown_0") })
		must(t, s, t.Context(), "grow", `{}`)
		await(t, s, "the second new tool", func() bool { return has(s, "grown_1") })
	})
}

func TestTheLastGoodListStays(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		before := len(s.Tools())
		must(t, s, t.Context(), "spoil", `{}`)
		stale := false
		await(t, s, "the next good list", func() bool {
			one := s.Status()[0]
			stale = stale || one.Stale && one.Err != nil
			if len(s.Tools()) < before {
				t.Fatal("the list shrank")
			}
			return has(s, "grown_0")
		})
		if !stale {
			t.Log("the stale list was replaced before it was seen")
		}
	})
}

func TestAListThatIsRefusedIsAFailure(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines("unlisted"))
	one := s.Status()[0]
	if one.State != Failed || one.Err == nil || !strings.Contains(one.Err.Error(), "out of order") {
		t.Errorf("%+v", one)
	}
}

func TestServersThatKnowNothingNewer(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"silent", "fragile", "greeting", "slow=50ms"} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			s := connect(t, Options{patient: 50 * time.Millisecond}, lines(words))
			await(t, s, "the server is there", func() bool { return state(s) == Ready })
			if !callWorks(t, s) {
				t.Errorf("%+v", s.Status())
			}
		})
	}
}

// TestAServerThatReadsNothing has calls to it end with their context, and Close end it.
func TestAServerThatReadsNothing(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines("deaf stubborn"))
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	for range queued + 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := callTool(t, s, ctx, "text", large); err == nil {
			t.Error("a call to a deaf server succeeded")
		}
		cancel()
	}
}

// TestRequestsWithoutEndEndTheServer has a server ask without waiting for answers.
func TestRequestsWithoutEndEndTheServer(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines("deaf"))
	x, err := s.servers[0].current()
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxOpen + 1 {
		x.receive(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i), nil, nil)
	}
	if got := context.Cause(x.ctx); got == nil || !strings.Contains(got.Error(), "without waiting") {
		t.Errorf("the session goes on: %v", got)
	}
}

func TestAnsweredRequestsAreNoTrouble(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines(""))
	for range 4 {
		must(t, s, t.Context(), "pings", fmt.Sprintf(`{"n":%d}`, maxOpen/4))
	}
	if !callWorks(t, s) {
		t.Errorf("%+v", s.Status())
	}
}

// TestAServerOverHTTPComesBack ends a server at a URL, and starts it at the same.
func TestAServerOverHTTPComesBack(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"", "modern"} {
		t.Run("protocol "+words, func(t *testing.T) {
			t.Parallel()
			raw, err := rawserver.New(words)
			if err != nil {
				t.Fatal(err)
			}
			address, stop := serve(t, raw, "127.0.0.1:0")
			s := connect(t, Options{}, Server{Name: "raw", URL: "http://" + address})
			stop()
			if _, err := callTool(t, s, t.Context(), "text", `{}`); err == nil {
				t.Error("a call to a server that is gone succeeded")
			}
			await(t, s, "the failure is known", func() bool { return state(s) == Restarting })
			serve(t, raw, address)
			await(t, s, "the server is back", func() bool { return state(s) == Ready })
			if !callWorks(t, s) {
				t.Errorf("%+v", s.Status())
			}
		})
	}
}
