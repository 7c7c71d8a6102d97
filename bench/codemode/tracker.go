package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An issue is what a tracker's API says of one, as public trackers do.
type issue struct {
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	State     string    `json:"state"`
	URL       string    `json:"url"`
	Author    account   `json:"author"`
	Assignees []account `json:"assignees"`
	Labels    []label   `json:"labels"`
	Milestone string    `json:"milestone,omitempty"`
	Comments  int       `json:"comments"`
	Reactions reactions `json:"reactions"`
	CreatedAt string    `json:"created_at"`
	UpdatedAt string    `json:"updated_at"`
	Body      string    `json:"body"`
}

type account struct {
	Login string `json:"login"`
	ID    int    `json:"id"`
	URL   string `json:"url"`
}

type label struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

type reactions struct {
	Total    int `json:"total"`
	ThumbsUp int `json:"thumbs_up"`
	Heart    int `json:"heart"`
	Eyes     int `json:"eyes"`
}

// A summary is an issue as a list shows it.
type summary struct {
	Number    int      `json:"number"`
	Title     string   `json:"title"`
	State     string   `json:"state"`
	Labels    []string `json:"labels"`
	UpdatedAt string   `json:"updated_at"`
}

type listQuery struct {
	Repo    string `json:"repo" jsonschema:"the repository, as OWNER/NAME"`
	State   string `json:"state,omitempty" jsonschema:"open, closed or all; open unless given"`
	Label   string `json:"label,omitempty" jsonschema:"only issues with this label"`
	Page    int    `json:"page,omitempty" jsonschema:"the page, from 1 on"`
	PerPage int    `json:"per_page,omitempty" jsonschema:"issues on a page, at most 100; 30 unless given"`
}

type listResult struct {
	Total  int       `json:"total"`
	Issues []summary `json:"issues"`
}

type issueQuery struct {
	Repo   string `json:"repo" jsonschema:"the repository, as OWNER/NAME"`
	Number int    `json:"number" jsonschema:"the number of the issue"`
}

type labelQuery struct {
	Repo   string   `json:"repo" jsonschema:"the repository, as OWNER/NAME"`
	Number int      `json:"number" jsonschema:"the number of the issue"`
	Labels []string `json:"labels" jsonschema:"the names of the labels to add"`
}

type searchQuery struct {
	Repo  string `json:"repo" jsonschema:"the repository, as OWNER/NAME"`
	Words string `json:"words" jsonschema:"what the title or the body must contain"`
}

// repository is the only one that the tracker has.
const repository = "acme/payments"

// newTracker returns a server with the tools of an issue tracker. The client doesn't
// need all of them, as is usual.
func newTracker() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	all := issues()
	find := func(repo string, number int) (*issue, error) {
		for i := range all {
			if repo == repository && all[i].Number == number {
				return &all[i], nil
			}
		}
		return nil, fmt.Errorf("there is no issue %d in %q", number, repo)
	}
	mcp.AddTool(server, &mcp.Tool{Name: "list_issues", Description: "List the issues of a repository, newest first. Gives a summary of each; use get_issue for its assignees, reactions and text."},
		func(_ context.Context, _ *mcp.CallToolRequest, q listQuery) (*mcp.CallToolResult, listResult, error) {
			return nil, list(all, q), nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "get_issue", Description: "Get an issue with its author, assignees, labels, milestone, reactions and text."},
		func(_ context.Context, _ *mcp.CallToolRequest, q issueQuery) (*mcp.CallToolResult, *issue, error) {
			one, err := find(q.Repo, q.Number)
			return nil, one, err
		})
	mcp.AddTool(server, &mcp.Tool{Name: "search_issues", Description: "Search the titles and texts of the issues of a repository."},
		func(_ context.Context, _ *mcp.CallToolRequest, q searchQuery) (*mcp.CallToolResult, listResult, error) {
			var found []issue
			for _, one := range all {
				if strings.Contains(one.Title+"\n"+one.Body, q.Words) {
					found = append(found, one)
				}
			}
			return nil, list(found, listQuery{Repo: q.Repo, State: "all"}), nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "add_labels", Description: "Add labels to an issue. Labels that it has already stay as they are."},
		func(_ context.Context, _ *mcp.CallToolRequest, q labelQuery) (*mcp.CallToolResult, *issue, error) {
			one, err := find(q.Repo, q.Number)
			if err != nil {
				return nil, nil, err
			}
			changed := *one
			changed.Labels = append([]label{}, one.Labels...)
			for _, name := range q.Labels {
				changed.Labels = append(changed.Labels, label{name, "ededed"})
			}
			return nil, &changed, nil
		})
	return server
}

// list returns the page of issues that a query asks for.
func list(all []issue, q listQuery) listResult {
	result := listResult{Issues: []summary{}}
	page, size := max(q.Page, 1), min(max(q.PerPage, 0), 100)
	if size == 0 {
		size = 30
	}
	state := q.State
	if state == "" {
		state = "open"
	}
	for _, one := range all {
		s := summary{Number: one.Number, Title: one.Title, State: one.State, Labels: []string{}, UpdatedAt: one.UpdatedAt}
		labelled := q.Label == ""
		for _, l := range one.Labels {
			s.Labels = append(s.Labels, l.Name)
			labelled = labelled || l.Name == q.Label
		}
		if q.Repo != repository || !labelled || state != "all" && state != one.State {
			continue
		}
		if result.Total++; result.Total > (page-1)*size && result.Total <= page*size {
			result.Issues = append(result.Issues, s)
		}
	}
	return result
}

// issues returns what the tracker has: always the same, eighteen of them open bugs.
func issues() []issue {
	people := []string{"mara-lind", "tobias-k", "jchen", "ngozi", "pavel-h"}
	parts := []string{"refund webhook", "invoice PDF", "currency rounding", "card retry", "ledger export", "tax lookup"}
	faults := []string{"times out under load", "drops the last item", "is sent twice", "shows a stale amount", "fails for accounts without a region"}
	begin := time.Date(2026, time.November, 28, 9, 0, 0, 0, time.UTC)
	var all []issue
	for i := range 24 {
		part, fault := parts[i%len(parts)], faults[i%len(faults)]
		author := person(people[i%len(people)])
		updated := begin.Add(-time.Duration(i*i%37) * 30 * time.Hour)
		one := issue{
			Number: 1482 - 7*i, Title: strings.ToUpper(part[:1]) + part[1:] + " " + fault, State: "open",
			Author: author, Assignees: []account{}, Labels: []label{{"bug", "d73a4a"}, {"area/" + strings.Fields(part)[0], "0e8a16"}},
			Comments: i * 5 % 13, Reactions: reactions{ThumbsUp: i * 7 % 23, Heart: i % 3, Eyes: i % 4},
			CreatedAt: updated.Add(-time.Duration(50+i) * 24 * time.Hour).Format(time.RFC3339), UpdatedAt: updated.Format(time.RFC3339),
		}
		one.URL = fmt.Sprintf("https://tracker.example/%s/issues/%d", repository, one.Number)
		one.Reactions.Total = one.Reactions.ThumbsUp + one.Reactions.Heart + one.Reactions.Eyes
		if i%4 == 3 { // one in four is no bug
			one.Labels[0] = label{"enhancement", "a2eeef"}
		}
		if i%3 == 1 {
			one.Assignees = append(one.Assignees, person(people[(i+2)%len(people)]))
		}
		if i%5 == 0 {
			one.Milestone = "2026.12"
		}
		one.Body = bodyOf(i, part, fault)
		all = append(all, one)
	}
	return all
}

func person(login string) account {
	id := 0
	for _, letter := range login {
		id = id*31%9_999_991 + int(letter)
	}
	return account{login, id, "https://tracker.example/" + login}
}

// bodyOf returns the text of an issue, as long as such texts are.
func bodyOf(i int, part, fault string) string {
	environments := []string{"production, eu-west", "production, us-east", "staging"}
	return fmt.Sprintf(`### What happens

The %[1]s %[2]s. We first saw it on build 4.%[3]d.%[4]d in %[5]s, and since then %[6]d customers have written in. It is not limited to one plan: we could reproduce it with a test account that was created the same day.

### Steps

1. Open an order with at least %[7]d lines and pay it with a stored card.
2. Start the %[1]s from the order's page, and wait until it is marked as done.
3. Compare what the customer gets with the entries in the ledger.

### Expected

The %[1]s finishes within five seconds, and both amounts are the same.

### Log

`+"```"+`
ERROR payments.worker order=ord_%08[8]x attempt=%[9]d status=%[10]d
  File "payments/worker.py", line %[11]d, in handle
    await self.settle(order, retry=policy)
payments.errors.SettlementError: %[1]s %[2]s
`+"```"+`
`, part, fault, 10+i%5, i*3%17, environments[i%len(environments)], 2+i*11%40, 3+i%6, 0x5bd1e995*uint32(i+1), 1+i%4, 500+i%4, 100+i*29%300)
}
