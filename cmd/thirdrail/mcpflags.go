package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// mcpOptions are the flags of mcp. The configuration may set them too.
type mcpOptions struct {
	file             string
	policy           string
	allow, ask, deny []string
	http, token      string
	origins          []string
	strict           bool
	startLimit       time.Duration
	runs, questions  int
	textBytes        int64
	code             codemode.Options
	config           thirdrail.Config
}

// tokenVariable holds a token that is on no command line, which others can read.
const tokenVariable = "THIRDRAIL_MCP_TOKEN"

func (o *mcpOptions) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	o.textBytes = 24 << 10
	flags.StringVar(&o.file, "config", "", "JSON `FILE|-` of MCP servers, as clients use it")
	flags.StringVar(&o.http, "http", "", "listen at `[HOST:]PORT` instead of speaking on standard input and output")
	flags.StringVar(&o.token, "token", "", "the bearer `TOKEN` that clients must send over HTTP (default $"+tokenVariable+")")
	flags.StringSliceVar(&o.origins, "origin", nil, "the `ORIGIN` of a web page that may call over HTTP; may be repeated")
	flags.StringArrayVar(&o.allow, "allow", nil, "`SERVER.TOOL` that programs may call; may be repeated")
	flags.StringArrayVar(&o.ask, "ask", nil, "`SERVER.TOOL` that the client's user is asked for; may be repeated")
	flags.StringArrayVar(&o.deny, "deny", nil, "`SERVER.TOOL` that no program is told of; may be repeated")
	flags.StringVar(&o.policy, "policy", "", "JSON `FILE` of such rules: {\"default\": …, \"allow\": […], \"ask\": […], \"deny\": […]}")
	flags.BoolVar(&o.strict, "strict", false, "end when one server can't be started, and not only when none can")
	flags.DurationVar(&o.startLimit, "start-limit", 10*time.Second, "how long to wait for servers; slower ones join later")
	flags.IntVar(&o.runs, "runs", defaultRuns(), "how many programs run at once; more wait")
	flags.IntVar(&o.questions, "questions", 16, "how many questions to users may be open at once")
	flags.IntVar(&o.code.Inline, "inline", codemode.DefaultInline, "up to how many tools the description declares; beyond it, they are searched for")
	flags.Var((*units.Size)(&o.textBytes), "text-bytes", "the most output and value that a model is shown")
	addLimitFlags(flags, &o.config.Limits)
	flags.Var(choice[lossless.Numbers]{&o.config.Numbers, []option[lossless.Numbers]{
		{"exact", lossless.Exact}, {"double", lossless.Double},
	}}, "numbers", "which numbers cross: all exactly, or those that a double holds")
	flags.StringVar(&o.config.Python, "python", "", "the interpreter, as a `PATH` or a name (default python3, then python)")
	flags.StringSliceVar(&o.config.Preload, "preload", nil, "`MODULES` to import once for all programs, as a,b")
	flags.IntVar(&o.config.Spares, "spares", 0, "how many interpreters are forked ahead at most; 0 is one for each processor and one more")
	flags.Var(choice[thirdrail.StartMethod]{&o.config.Start, []option[thirdrail.StartMethod]{
		{"auto", thirdrail.StartAuto}, {"fork", thirdrail.StartFork}, {"spawn", thirdrail.StartSpawn},
	}}, "start", "how interpreters are started: auto forks where it can")
	walls := pflag.NewFlagSet("", pflag.ContinueOnError)
	addSandboxFlags(walls, &o.config.Sandbox)
	walls.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "allow" { // that is for tools here
			flag.Name = "allow-missing"
		}
		flags.AddFlag(flag)
	})
}

// addLimitFlags adds every limit of a run.
func addLimitFlags(flags *pflag.FlagSet, limits *thirdrail.Limits) {
	limit := thirdrail.DefaultLimits()
	flags.Var((*units.Duration)(&limits.Wall), "wall", "the most time for a program"+byDefault(limit.Wall))
	flags.Var((*units.Duration)(&limits.Waiting), "waiting", "the most time that it may wait for answers of the user beside"+byDefault(limit.Waiting))
	flags.Var((*units.Duration)(&limits.CPU), "cpu", "the most processor time"+byDefault(limit.CPU))
	flags.Var((*units.Size)(&limits.Memory), "memory", "the most memory"+byDefault(units.FormatSize(limit.Memory)))
	flags.Var((*units.Size)(&limits.DiskBytes), "disk-bytes", "the most it may write to its folder"+byDefault(units.FormatSize(limit.DiskBytes)))
	flags.Var((*units.Size)(&limits.LogBytes), "log-bytes", "the most output that is kept"+byDefault(units.FormatSize(limit.LogBytes)))
	flags.Var((*units.Size)(&limits.ValueBytes), "value-bytes", "the largest value"+byDefault(units.FormatSize(limit.ValueBytes)))
	flags.Var((*units.Size)(&limits.FrameBytes), "frame-bytes", "the largest arguments or result of one call"+byDefault(units.FormatSize(limit.FrameBytes)))
	flags.IntVar(&limits.CallsInFlight, "calls-in-flight", limit.CallsInFlight, "the most calls of one program at once")
	flags.IntVar(&limits.Processes, "processes", limit.Processes, "the most processes and threads, with --allow-processes")
}

// read returns the servers and the policy of the configuration and the flags.
func (o *mcpOptions) read(flags *pflag.FlagSet) (config upstream.Config, policy mcp.Policy, err error) {
	if o.file == "" {
		return config, policy, errors.New(`no servers given; write thirdrail mcp --config FILE, with {"mcpServers": {"NAME": {"command": "…"}}} in FILE`)
	}
	if o.file == standardInput && o.http == "" {
		return config, policy, errors.New("--config can't come from standard input, on which the client speaks; put it into a file")
	}
	text, err := readInput("configuration", o.file, os.Stdin)
	if err != nil {
		return config, policy, err
	}
	if config, err = upstream.ReadConfig(bytes.NewReader(text)); err != nil {
		return config, policy, fmt.Errorf("--config %q: %w", o.file, err)
	}
	if err := setFlags(flags, text); err != nil {
		return config, policy, fmt.Errorf("--config %q: \"thirdrail\": %w", o.file, err)
	}
	if o.token == "" {
		o.token = os.Getenv(tokenVariable)
	}
	if policy, err = o.rules(config); err != nil {
		return config, policy, err
	}
	return config, policy, o.check(config)
}

// check refuses flags that mean nothing.
func (o *mcpOptions) check(config upstream.Config) error {
	enabled := 0
	for _, server := range config.Servers {
		if !server.Disabled {
			enabled++
		}
	}
	if enabled == 0 {
		return fmt.Errorf("--config %q lists no server that is enabled; add one to \"mcpServers\"", o.file)
	}
	for _, least := range []struct {
		flag string
		n    int
	}{{"runs", o.runs}, {"questions", o.questions}, {"inline", o.code.Inline}, {"calls-in-flight", o.config.Limits.CallsInFlight}, {"processes", o.config.Limits.Processes}} {
		if least.n < 1 {
			return fmt.Errorf("--%s is %d; write 1 or more, or leave it out for the default", least.flag, least.n)
		}
	}
	if o.startLimit <= 0 {
		return fmt.Errorf("--start-limit is %v; write a time such as 10s", o.startLimit)
	}
	if o.textBytes < 1000 || o.textBytes > 64<<20 {
		return fmt.Errorf("--text-bytes is %d; write 1000 to 64MiB", o.textBytes)
	}
	if o.http == "" && (len(o.origins) > 0) {
		return errors.New("--origin is for --http; leave it out, or listen")
	}
	return absolute(&o.config.Sandbox)
}

// rules returns the policy of the policy file and the flags together.
func (o *mcpOptions) rules(config upstream.Config) (policy mcp.Policy, err error) {
	var servers []string
	for _, server := range config.Servers {
		servers = append(servers, server.Name)
	}
	if o.policy != "" {
		text, err := readInput("policy", o.policy, os.Stdin)
		if err != nil {
			return policy, err
		}
		if policy, err = mcp.ParsePolicy(text, servers); err != nil {
			return policy, fmt.Errorf("--policy %q: %w", o.policy, err)
		}
	}
	for _, list := range []struct {
		flag     string
		decision mcp.Decision
		patterns []string
	}{{"allow", mcp.Allow, o.allow}, {"ask", mcp.Ask, o.ask}, {"deny", mcp.Deny, o.deny}} {
		for _, pattern := range list.patterns {
			server, tool, err := mcp.ParsePattern(pattern, servers)
			if err != nil {
				return policy, fmt.Errorf("--%s %w", list.flag, err)
			}
			policy.Rules = append(policy.Rules, mcp.Rule{Server: server, Tool: tool, Decision: list.decision})
		}
	}
	return policy, nil
}

// setFlags takes flags from the member "thirdrail" of a configuration, where they
// weren't given.
func setFlags(flags *pflag.FlagSet, text []byte) error {
	var file struct {
		Own map[string]json.RawMessage `json:"thirdrail"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte(byteOrderMark)), &file); err != nil {
		return errors.New("it is no object; write {\"wall\": \"2m\"}, with the flags of thirdrail mcp by their names")
	}
	for name, value := range file.Own {
		flag := flags.Lookup(name)
		if flag == nil || name == "config" || name == "help" {
			return fmt.Errorf("there is no setting %q; thirdrail mcp --help lists the flags, and each is one", name)
		}
		if flag.Changed {
			continue
		}
		words, err := settingWords(value)
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		for _, word := range words {
			if err := flags.Set(name, word); err != nil {
				return fmt.Errorf("%q: %w", name, flagReason(err))
			}
		}
	}
	return nil
}

// settingWords returns a setting as it would be written on the command line.
func settingWords(value json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	var words []string
	for _, one := range list {
		var text string
		switch {
		case json.Unmarshal(one, &text) == nil:
			words = append(words, text)
		case len(one) > 0 && strings.IndexByte("{[n", one[0]) < 0:
			words = append(words, string(one)) // a number, true or false
		default:
			return nil, errors.New("it is no text, number, true or false, nor a list of them")
		}
	}
	return words, nil
}

// flagReason returns what is wrong with a flag's value, without its name.
func flagReason(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}
