package bench

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

//go:embed calls.py
var callsProgram string

//go:embed pingpong.py
var pingPongProgram string

// callsPerRound is how many calls a program makes, one by one and gathered.
const callsPerRound = 1000

const pingPongName = "the same over a bare socket pair with json"

// calls compares calls with lines of json over a socket pair. All of them measure
// themselves, so that no start is in it.
func (s *session) calls(ctx context.Context) error {
	variants := []variant{{pingPongName, s.pingPong}}
	gathered := map[string]samples{}
	for _, method := range s.methods {
		name := fmt.Sprintf("a call and its reply, %v", method)
		variants = append(variants, variant{name, func(ctx context.Context) (float64, error) {
			alone, together, err := s.echoes(ctx, method)
			gathered[name] = append(gathered[name], together)
			return alone, err
		}})
	}
	figures, err := s.alternate(ctx, max(s.options.Rounds/2, 1), variants)
	if err != nil {
		return err
	}
	for _, v := range variants[1:] {
		s.add(v.name, figures[v.name], pingPongName, figures[pingPongName], microseconds)
		together := gathered[v.name][1:] // without the round that doesn't count
		s.add(fmt.Sprintf("%s, of %d gathered", v.name, callsPerRound), together, "one by one", figures[v.name], microseconds)
	}
	return nil
}

// echoes returns how long a call takes by itself, and one of many at once.
func (s *session) echoes(ctx context.Context, method thirdrail.StartMethod) (alone, together float64, err error) {
	echo := func(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil }
	count, err := lossless.Of(callsPerRound)
	if err != nil {
		return 0, 0, err
	}
	result, err := s.run(ctx, kind{start: method}, thirdrail.Request{
		Program:    callsProgram,
		Data:       count,
		Namespaces: []thirdrail.Namespace{{Global: "tools", Funcs: thirdrail.Funcs{"echo": echo}}},
	})
	if err != nil {
		return 0, 0, err
	}
	var seconds [2]float64
	err = result.Decode(&seconds)
	return seconds[0], seconds[1], err
}

// pingPong returns how long one line and its answer take.
func (s *session) pingPong(ctx context.Context) (float64, error) {
	host, child, err := socketPair()
	if err != nil {
		return 0, err
	}
	defer host.Close()
	command := exec.CommandContext(ctx, s.python.Path, "-I", "-c", pingPongProgram, strconv.Itoa(callsPerRound))
	command.ExtraFiles = []*os.File{child}
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	err = command.Start()
	_ = child.Close()
	if err != nil {
		return 0, err
	}
	answerErr := answer(host)
	if err := command.Wait(); err != nil {
		return 0, fmt.Errorf("the other end of the socket pair: %w: %s", err, complaint.String())
	}
	if answerErr != nil {
		return 0, answerErr
	}
	return strconv.ParseFloat(strings.TrimSpace(output.String()), 64)
}

// answer sends every line back as a reply, until the other end closes.
func answer(host *os.File) error {
	lines := bufio.NewScanner(host)
	for lines.Scan() {
		var call struct {
			ID   int64           `json:"id"`
			Args json.RawMessage `json:"args"`
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return err
		}
		reply, err := json.Marshal(map[string]any{"id": call.ID, "value": call.Args})
		if err != nil {
			return err
		}
		if _, err := host.Write(append(reply, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}
