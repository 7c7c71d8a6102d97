package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt is what the user asks. It takes twenty calls: a list, eighteen issues, and a
// message.
const prompt = `Look through the open issues of acme/payments with the label "bug". Which of them are assigned to nobody and were not updated since 2 November 2026? Post one message to #triage that lists them, those with most reactions first, one a line as "#NUMBER TITLE (N reactions)". Then tell me how many there are.`

// steps is how many calls of tools that takes.
const steps = 20

// lookFirst is what a model runs that wants to see an issue before it writes the
// program.
const lookFirst = `page = await tracker.list_issues(repo="acme/payments", label="bug", per_page=1)
return await tracker.get_issue(repo="acme/payments", number=page["issues"][0]["number"])`

// theProgram does the task.
const theProgram = `import asyncio

page = await tracker.list_issues(repo="acme/payments", state="open", label="bug")
issues = await asyncio.gather(*(tracker.get_issue(repo="acme/payments", number=i["number"]) for i in page["issues"]))
stale = [i for i in issues if not i["assignees"] and i["updated_at"] < "2026-11-02"]
stale.sort(key=lambda i: i["reactions"]["total"], reverse=True)
text = "\n".join(f"#{i['number']} {i['title']} ({i['reactions']['total']} reactions)" for i in stale)
message = await chat.post_message(channel="#triage", text=text)
return {"count": len(stale), "message": message["id"]}`

// An ending is what a way to do the task ended in.
type ending struct {
	Count   int    `json:"count"`
	Message string `json:"message"` // the id of what was posted, which is made of its text
}

// answer is what the model says last.
func (e ending) answer() string {
	return fmt.Sprintf("%d open bugs of acme/payments are assigned to nobody and were not updated since 2 November 2026. I posted the list to #triage (%s).", e.Count, e.Message)
}

// tools returns what a model is told of a server's tools. Clients put the server's name
// before those of its tools, and leave out annotations and schemas of results.
func tools(ctx context.Context, session *mcp.ClientSession, prefix string) ([]definition, error) {
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var all []definition
	for _, tool := range list.Tools {
		all = append(all, definition{prefix + tool.Name, tool.Description, tool.InputSchema})
	}
	return all, nil
}

// A single is a model that calls tools itself, here by a script.
type single struct {
	sessions map[string]*mcp.ClientSession
	talk     *transcript
}

// calls makes calls in one turn of the model, and returns their results.
func (s *single) calls(ctx context.Context, made ...toolCall) ([]string, error) {
	var results []string
	for _, one := range made {
		server, tool, _ := strings.Cut(one.Name, "__")
		text, err := call(ctx, s.sessions[server], tool, one.Input)
		if err != nil {
			return nil, err
		}
		results = append(results, text)
	}
	s.talk.turn(made, results)
	return results, nil
}

// do does the task in single calls: each in a turn of its own, or those that don't
// depend on each other in one.
func (s *single) do(ctx context.Context, together bool) (ending, error) {
	listed, err := s.calls(ctx, toolCall{"tracker__list_issues", map[string]any{"repo": repository, "state": "open", "label": "bug"}})
	if err != nil {
		return ending{}, err
	}
	var page listResult
	if err := json.Unmarshal([]byte(listed[0]), &page); err != nil {
		return ending{}, err
	}
	var turns [][]toolCall
	for i, one := range page.Issues {
		get := toolCall{"tracker__get_issue", map[string]any{"repo": repository, "number": one.Number}}
		if i == 0 || !together {
			turns = append(turns, nil)
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], get)
	}
	var texts []string
	for _, turn := range turns {
		results, err := s.calls(ctx, turn...)
		if err != nil {
			return ending{}, err
		}
		texts = append(texts, results...)
	}
	text, count, err := chosen(texts)
	if err != nil {
		return ending{}, err
	}
	results, err := s.calls(ctx, toolCall{"chat__post_message", map[string]any{"channel": "#triage", "text": text}})
	if err != nil {
		return ending{}, err
	}
	var sent message
	if err := json.Unmarshal([]byte(results[0]), &sent); err != nil {
		return ending{}, err
	}
	end := ending{count, sent.ID}
	s.talk.end(end.answer())
	return end, nil
}

// chosen is what the model makes of the issues in its head.
func chosen(texts []string) (text string, count int, err error) {
	var stale []issue
	for _, text := range texts {
		var one issue
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			return "", 0, err
		}
		if len(one.Assignees) == 0 && one.UpdatedAt < "2026-11-02" {
			stale = append(stale, one)
		}
	}
	slices.SortStableFunc(stale, func(a, b issue) int { return b.Reactions.Total - a.Reactions.Total })
	var lines []string
	for _, one := range stale {
		lines = append(lines, fmt.Sprintf("#%d %s (%d reactions)", one.Number, one.Title, one.Reactions.Total))
	}
	return strings.Join(lines, "\n"), len(stale), nil
}

// programs does the task with programs, each in a turn.
func programs(ctx context.Context, session *mcp.ClientSession, talk *transcript, all ...string) (ending, error) {
	var last string
	for _, code := range all {
		result, err := runCode(ctx, session, code)
		if err != nil {
			return ending{}, err
		}
		talk.turn([]toolCall{{"thirdrail__run_code", map[string]any{"code": code}}}, []string{result})
		last = result
	}
	var end ending
	if err := json.Unmarshal([]byte(last), &end); err != nil {
		return ending{}, fmt.Errorf("the program returned %q: %w", last, err)
	}
	talk.end(end.answer())
	return end, nil
}

// task does the task in all ways, and returns what each costs.
func (b *bench) task(ctx context.Context) (ways []way, err error) {
	both := map[string]command{}
	direct := &single{sessions: map[string]*mcp.ClientSession{}}
	defer func() {
		for _, session := range direct.sessions {
			err = errors.Join(err, session.Close())
		}
	}()
	var theirs []definition
	for _, name := range []string{"tracker", "chat"} {
		if both[name], err = own(name); err != nil {
			return nil, err
		}
		session, err := connect(ctx, both[name])
		if err != nil {
			return nil, err
		}
		direct.sessions[name] = session
		some, err := tools(ctx, session, name+"__")
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, some...)
	}
	proxy, err := b.connectProxy(ctx, both)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	ours, err := tools(ctx, proxy, "thirdrail__")
	if err != nil {
		return nil, err
	}
	var ends []ending
	for _, one := range []struct {
		name  string
		tools []definition
		do    func(*transcript) (ending, error)
	}{
		{"single calls, one after the other", theirs, func(t *transcript) (ending, error) { direct.talk = t; return direct.do(ctx, false) }},
		{"single calls, at once where they can be", theirs, func(t *transcript) (ending, error) { direct.talk = t; return direct.do(ctx, true) }},
		{"one program", ours, func(t *transcript) (ending, error) { return programs(ctx, proxy, t, theProgram) }},
		{"a program that looks first, and one", ours, func(t *transcript) (ending, error) { return programs(ctx, proxy, t, lookFirst, theProgram) }},
	} {
		talk := newTranscript(one.tools, prompt)
		end, err := one.do(talk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		ends = append(ends, end)
		cost, err := talk.count(b.tokens)
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{one.name, cost})
	}
	return ways, sameEnd(ends, ways)
}

// sameEnd checks that all ways came to the same end, and that the task has its size.
func sameEnd(ends []ending, ways []way) error {
	for i, end := range ends {
		if end != ends[0] || end.Count == 0 || end.Message == "" {
			return fmt.Errorf("%s ended in %+v, and %s in %+v", ways[i].name, end, ways[0].name, ends[0])
		}
	}
	if made := ways[0].cost.calls; made != steps {
		return fmt.Errorf("the task took %d calls, and not %d", made, steps)
	}
	return nil
}
