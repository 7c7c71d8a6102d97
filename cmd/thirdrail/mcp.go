package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/mcp"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

func newMCP() *cobra.Command {
	var options mcpOptions
	command := &cobra.Command{
		Use:   "mcp --config FILE",
		Short: "Serve Code Mode over MCP servers",
		Long: `Connect to the MCP servers that FILE lists, and be one MCP server over all of them:
with one tool, run_code, that runs Python programs which call their tools.

FILE is what MCP clients use: {"mcpServers": {"NAME": {"command": "…", "args": […],
"env": {…}}, "NAME2": {"url": "https://…", "headers": {…}}}}. Beside it, a member
"thirdrail" may hold any flag of this command by its name, such as {"wall": "2m",
"deny": ["mail.*"]}; flags given here go before it.

Without --http it speaks MCP on standard input and output, for a client that starts
it. With --http it listens, for any number of clients, at http://ADDR/mcp.

All tools may be called, but those with an explicit destructiveHint of true are asked
for: the client's user sees the tool and its arguments. --allow, --ask and --deny say
otherwise for SERVER.TOOL, where * stands for any text; the pattern with the most
letters counts. A denied tool is not in the catalogue at all.

Exit status 0: the client is gone. 2: it was used wrongly, or no server could be
started, and nothing is left of it.`,
		Example: `  thirdrail mcp --config servers.json
  thirdrail mcp --config servers.json --http 8080 --deny 'mail.*' --ask 'files.write_*'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("mcp takes no arguments, and got %q; write thirdrail mcp --config FILE", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	options.addFlags(command.Flags())
	return command
}

// run does everything that can go wrong by misuse before it starts a server.
func (o *mcpOptions) run(command *cobra.Command) error {
	config, policy, err := o.read(command.Flags())
	if err != nil {
		return err
	}
	surviveClosedOutput()
	ctx, stop := interruptible(command.Context())
	defer stop()
	logger := warnings(command.ErrOrStderr(), slog.LevelInfo)
	var listener net.Listener
	if o.http != "" {
		if listener, err = o.listen(); err != nil {
			return err
		}
		defer listener.Close()
	}
	o.config.Logger = logger
	o.config.MaxConcurrent = o.runs + o.questions // a run that waits for an answer keeps its place
	runtime, err := thirdrail.New(ctx, o.config)
	if err != nil {
		return errors.New(strings.ReplaceAll(inFlags(err).Error(), "--allow ", "--allow-missing "))
	}
	servers, err := o.connect(ctx, config, logger)
	if err != nil {
		return errors.Join(err, runtime.Close())
	}
	server, err := mcp.New(runtime, servers, mcp.Options{
		Version: version(), Policy: policy, Code: o.code, TextBytes: int(o.textBytes),
		Waiting: o.config.Limits.Waiting, Questions: o.questions, Logger: logger,
	})
	if err != nil {
		return errors.Join(err, servers.Close(), runtime.Close())
	}
	o.warnUnused(policy, servers, logger)
	if listener != nil {
		err = o.serveHTTP(ctx, server, listener, logger)
	} else {
		err = server.ServeIO(ctx, io.NopCloser(command.InOrStdin()), nopCloser{command.OutOrStdout()})
	}
	if err != nil {
		err = failure{err}
	}
	return errors.Join(err, server.Close(), servers.Close(), runtime.Close())
}

// nopCloser is standard output, which isn't ours to close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// connect connects to all servers. Those that fail are logged, and are an error when
// none is left, or with --strict.
func (o *mcpOptions) connect(ctx context.Context, config upstream.Config, logger *slog.Logger) (*upstream.Servers, error) {
	servers, err := upstream.Connect(ctx, config, upstream.Options{Logger: logger, StartLimit: o.startLimit})
	if err != nil {
		return nil, err
	}
	const remedy = "mend it in --config, or take it out"
	failed, others := []string{}, 0
	for _, status := range servers.Status() {
		if status.State == upstream.Failed {
			failed = append(failed, fmt.Sprintf("the server %q could not be started: %v", status.Name, status.Err))
		} else {
			others++
		}
	}
	if len(failed) == 0 || others > 0 && !o.strict {
		for _, reason := range failed {
			logger.Warn("thirdrail: " + reason + "; " + remedy + "; the others work without it, and it is tried again")
		}
		return servers, nil
	}
	return nil, errors.Join(fmt.Errorf("%s; %s", strings.Join(failed, "; "), remedy), servers.Close())
}

// warnUnused tells of rules of the policy that are for no tool there is.
func (o *mcpOptions) warnUnused(policy mcp.Policy, servers *upstream.Servers, logger *slog.Logger) {
	for _, status := range servers.Status() {
		if status.State != upstream.Ready {
			return // its tools are not known yet
		}
	}
	tools := servers.Tools()
	for _, rule := range policy.Rules {
		used := false
		for _, tool := range tools {
			used = used || rule.Matches(tool.Namespace, tool.Name)
		}
		if !used {
			logger.Warn("thirdrail: a rule of the policy is for no tool", "rule", rule.Decision.String(), "server", rule.Server, "tool", rule.Tool)
		}
	}
}

// listen opens the address of --http.
func (o *mcpOptions) listen() (net.Listener, error) {
	address := o.http
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--http %q is no address; write a port, as in --http 8080, or HOST:PORT", o.http)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	address = net.JoinHostPort(host, port)
	if !mcp.IsLoopback(address) && o.token == "" {
		return nil, fmt.Errorf("--http %s can be reached by other machines, and so could all your servers; give clients a token with THIRDRAIL_MCP_TOKEN or --token, or write --http %s",
			o.http, port)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		var reason *net.OpError
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return nil, fmt.Errorf("--http %s can't be used: %w; end what uses it, or choose another port (0 takes a free one)", o.http, err)
	}
	return listener, nil
}

// serveHTTP serves until ctx ends.
func (o *mcpOptions) serveHTTP(ctx context.Context, server *mcp.Server, listener net.Listener, logger *slog.Logger) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.Handler(mcp.HTTP{Token: o.token, Origins: o.origins}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the MCP endpoint is /mcp", http.StatusNotFound)
	})
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	logger.Info("thirdrail: serving", "url", "http://"+listener.Addr().String()+"/mcp")
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	var err error
	select {
	case err = <-served:
		served <- http.ErrServerClosed
	case <-ctx.Done():
	}
	// Runs end first, so that their requests can.
	err = errors.Join(err, server.Close())
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if web.Shutdown(patience) != nil {
		_ = web.Close()
	}
	<-served
	return err
}

// defaultRuns is how many runs go on at once.
func defaultRuns() int { return 4 * goruntime.GOMAXPROCS(0) }
