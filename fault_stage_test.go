//go:build linux

package thirdrail

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// A stage is a point in the life of a run. At it, a host does something rash.
type stage string

const (
	workspaceMade stage = "the workspace is made"
	childStarted  stage = "before boot"
	halfBoot      stage = "half of boot is sent"
	bootSent      stage = "in boot"
	bootAcked     stage = "ready"
	programSent   stage = "the program is sent"
	programRuns   stage = "the program runs"
	inCall        stage = "in a call"
	atDone        stage = "done"
)

// runStages are all of them, in order.
var runStages = []stage{workspaceMade, childStarted, halfBoot, bootSent, bootAcked, programSent, programRuns, inCall, atDone}

// stageProgram comes to all stages, and ends by itself only when it is asked to.
const stageProgram = "print('up')\nawait tools.echo(1)\nreturn 1"

// playTo makes a run by hand up to a stage and calls reached there. What it made is
// left as it is.
func playTo(rt *Runtime, last stage, reached func(*child.Process)) error {
	limits := DefaultLimits()
	workspace, err := rt.folder.NewWorkspace()
	if err != nil {
		return err
	}
	if last == workspaceMade {
		reached(nil)
		return nil
	}
	process, err := rt.starter.Start(workspace.Path, child.Environment(rt.confinement.workspace(workspace.Path)))
	if err != nil {
		return err
	}
	namespaces, err := checkNamespaces(testNamespaces(), false)
	if err != nil {
		return err
	}
	boot := bootFrame(limits, rt.numbers, rt.interpreter.BareBytes, namespaces.frames)
	if boot.Confinement, err = rt.confinement.value(rt.confinement.policy(workspace.Path, limits)); err != nil {
		return err
	}
	text := wire.Append(nil, boot)
	if err := process.Rail.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	heard := bufio.NewReader(process.Rail)
	for _, step := range []struct {
		at   stage
		send string
		wait string
	}{
		{childStarted, "", ""},
		{halfBoot, string(text[:len(text)/2]), ""},
		{bootSent, string(text[len(text)/2:]), ""},
		{bootAcked, "", `"boot-ack"`},
		{programSent, string(wire.Append(nil, &wire.Run{Program: stageProgram})), ""},
		{programRuns, "", `"log`},
		{inCall, "", `"call"`},
		{atDone, string(wire.Append(nil, &wire.ReplyValue{ID: 0, Value: lossless.Null})), `"done"`},
	} {
		if err := say(process, heard, step.send, step.wait); err != nil {
			return fmt.Errorf("%s: %w", step.at, err)
		}
		if step.at == last {
			reached(process)
			return nil
		}
	}
	return fmt.Errorf("there is no stage %q", last)
}

// say sends a text to a child, if there is one, and reads until a line has wait in
// it, if that is anything.
func say(process *child.Process, heard *bufio.Reader, text, wait string) error {
	if _, err := process.Rail.WriteString(text); text != "" && err != nil {
		return err
	}
	for line := ""; wait != "" && !strings.Contains(line, wait); {
		var err error
		if line, err = heard.ReadString('\n'); err != nil {
			return fmt.Errorf("waiting for %s: %w", wait, err)
		}
	}
	return nil
}

// waitForEnd says that the stage is reached, and waits for what comes.
func waitForEnd(*child.Process) {
	fmt.Println("up")
	select {}
}
