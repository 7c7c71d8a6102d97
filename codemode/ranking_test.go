package codemode

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// tokenCases are texts and the words by which they are found.
var tokenCases = map[string][]string{
	"createPullRequest":             {"creat", "pull", "request"},
	"API-post-page":                 {"api", "post", "page"},
	"list_issues, getting replies!": {"list", "issu", "get", "repli"},
	"x2y":                           {"x", "2", "y"},
	"Über straße":                   {"über", "straße"},
	"creation, created: creating":   {"creation", "creat", "creat"},
	"a":                             {"a"},
	"":                              nil,
}

func TestTokens(t *testing.T) {
	for text, want := range tokenCases {
		got := tokens(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzTokens: no text makes it panic, and no word is empty.
func FuzzTokens(f *testing.F) {
	for text := range tokenCases {
		f.Add(text)
	}
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, word := range tokens(text) {
			if word == "" || strings.ContainsFunc(word, unicode.IsSpace) {
				t.Errorf("%q has the word %q", text, word)
			}
		}
	})
}

// What TestRanking asks for, a little below what was measured.
const (
	leastMean  = 0.90
	leastThree = 73
)

// rankingCases are queries as models write them, and the one tool of
// testdata/ranking/tools.json that each is after.
var rankingCases = []struct{ query, want string }{
	// The words of the tool's own name, however they are put together.
	{"create pull request", "github.create_pull_request"},
	{"createPullRequest", "github.create_pull_request"},
	{"git commit", "git.git_commit"},
	{"slack post message", "slack.slack_post_message"},
	{"list-allowed-directories", "filesystem.list_allowed_directories"},
	{"BrowserTakeScreenshot", "browser.browser_take_screenshot"},
	{"kubernetes pods list", "kubernetes.pods_list"},
	{"notion post page", "notion.API-post-page"},
	{"notion retrieve page", "notion.API-retrieve-a-page"},
	// Other forms of the words.
	{"merging pull requests", "github.merge_pull_request"},
	{"file deletion in a pod", "kubernetes.pods_delete"},
	{"sending emails", "mail.send_email"},
	{"commenting on issues", "github.add_issue_comment"},
	{"refunding a payment", "payments.create_refund"},
	{"cancelled subscriptions", "payments.cancel_subscription"},
	{"navigation to an URL", "browser.browser_navigate"},
	{"renaming files", "filesystem.move_file"},
	{"scaling deployments", "kubernetes.resources_scale"},
	{"forked repositories", "github.fork_repository"},
	{"reacting with emojis", "slack.slack_add_reaction"},
	{"writing a file to disk", "filesystem.write_file"},
	{"explanation of a query plan", "postgres.explain_query"},
	// A task, in a sentence.
	{"open a new issue in the repository", "github.create_issue"},
	{"close an issue on github", "github.update_issue"},
	{"what issues are open in a repo", "github.list_issues"},
	{"approve a pull request", "github.create_pull_request_review"},
	{"which files does this pull request change", "github.get_pull_request_files"},
	{"history of commits in the local repository", "git.git_log"},
	{"switch to another branch", "git.git_checkout"},
	{"see unstaged changes", "git.git_diff_unstaged"},
	{"send a message to a slack channel", "slack.slack_post_message"},
	{"reply in a thread", "slack.slack_reply_to_thread"},
	{"latest messages in a channel", "slack.slack_get_channel_history"},
	{"find out when everybody is free for a meeting", "calendar.freeBusy"},
	{"schedule an event and invite people", "calendar.createEvent"},
	{"move an event to another time", "calendar.updateEvent"},
	{"upcoming events in my calendar", "calendar.listEvents"},
	{"mark a mail as read", "mail.modify_labels"},
	{"save the attachment of an email", "mail.download_attachment"},
	{"search my inbox for messages from the boss", "mail.search_emails"},
	{"how much money is on the account", "payments.retrieve_balance"},
	{"give a customer their money back", "payments.create_refund"},
	{"bill a customer", "payments.create_invoice"},
	{"columns of a table", "postgres.describe_table"},
	{"run an SQL select", "postgres.query"},
	{"insert rows with sql", "postgres.execute_sql"},
	{"what tables does the database have", "postgres.list_tables"},
	{"take a screenshot of the web page", "browser.browser_take_screenshot"},
	{"fill in a form field", "browser.browser_type"},
	{"press a button on the page", "browser.browser_click"},
	{"download a web page as markdown", "web.fetch"},
	{"search the web", "web.brave_web_search"},
	{"restaurants nearby", "web.brave_local_search"},
	{"read the last lines of a text file", "filesystem.read_text_file"},
	{"replace some lines in a file", "filesystem.edit_file"},
	{"find files by name pattern", "filesystem.search_files"},
	{"size of a file", "filesystem.get_file_info"},
	{"list files in a folder", "filesystem.list_directory"},
	{"make a folder", "filesystem.create_directory"},
	{"logs of a pod", "kubernetes.pods_log"},
	{"run a command inside a container pod", "kubernetes.pods_exec"},
	{"install a helm chart", "kubernetes.helm_install"},
	{"stack trace of an error", "sentry.get_issue_details"},
	{"releases of a project", "sentry.find_releases"},
	{"how do I get from one place to another", "maps.maps_directions"},
	{"weather tomorrow", "maps.get_forecast"},
	{"coordinates of an address", "maps.maps_geocode"},
	{"travel time between places", "maps.maps_distance_matrix"},
	{"remember a fact about an entity", "memory.add_observations"},
	{"connect two entities in the knowledge graph", "memory.create_relations"},
	{"forget an entity", "memory.delete_entities"},
	// Words cut short.
	{"list repo commits", "github.list_commits"},
	{"search repos", "github.search_repositories"},
	{"create dir", "filesystem.create_directory"},
	{"get user info from slack", "slack.slack_get_user_profile"},
	{"exec in pod", "kubernetes.pods_exec"},
}

// rankingTools returns the tools of a file in the form that thirdrail tools reads.
func rankingTools(t testing.TB) []Tool {
	t.Helper()
	data, err := os.ReadFile("testdata/ranking/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []Tool
	for namespace, list := range parse(t, string(data)).Get("namespaces").Members() {
		for _, one := range list.Elements() {
			tools = append(tools, Tool{
				Namespace: namespace, Name: text(one.Get("name")), Description: text(one.Get("description")),
				InputSchema: one.Get("inputSchema"), Handler: echo,
			})
		}
	}
	if len(tools) < 60 {
		t.Fatalf("only %d tools", len(tools))
	}
	return tools
}

// found returns the true names of what a query finds, best first.
func found(s *Set, query string) (names []string) {
	for _, one := range s.index.find(query, s.catalogue.count) {
		names = append(names, one.Namespace+"."+one.Name)
	}
	return names
}

// TestRanking: what a query is after comes first or nearly so. The mean reciprocal rank
// is 1 where it is always first, and 1/2 where it is always second.
func TestRanking(t *testing.T) {
	s := newSet(t, rankingTools(t)...)
	reciprocal, first, three := 0.0, 0, 0
	for _, c := range rankingCases {
		hits := found(s, c.query)
		place := slices.Index(hits, c.want)
		if place >= 0 {
			reciprocal += 1 / float64(place+1)
		}
		if place == 0 {
			first++
		} else {
			t.Logf("%q: %s has rank %d after %.3q", c.query, c.want, place+1, hits[:min(3, len(hits))])
		}
		if place >= 0 && place < 3 {
			three++
		}
	}
	count := len(rankingCases)
	mean := reciprocal / float64(count)
	t.Logf("mean reciprocal rank %.3f; of %d queries %d have the tool first, %d among the first three", mean, count, first, three)
	if mean < leastMean || three < leastThree {
		t.Error("it was better before")
	}
}

// TestRankingIsStable: neither the order in which tools are given nor making the Set
// again changes what is found; tools that fit alike come in the order of their names.
func TestRankingIsStable(t *testing.T) {
	tools := rankingTools(t)
	orders := func(tools []Tool) string {
		s := newSet(t, tools...)
		var all []string
		for _, c := range rankingCases {
			all = append(all, fmt.Sprint(found(s, c.query)))
		}
		return fmt.Sprint(all)
	}
	first := orders(tools)
	slices.Reverse(tools)
	if orders(tools) != first {
		t.Error("another order of tools gives another ranking")
	}
	alike := newSet(t, simple(t, "b", "run_x", echo), simple(t, "a", "run_y", echo), simple(t, "a", "run_x", echo))
	if got := fmt.Sprint(found(alike, "run")); got != "[a.run_x a.run_y b.run_x]" {
		t.Errorf("tools that fit alike come as %s", got)
	}
}
