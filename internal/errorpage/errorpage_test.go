package errorpage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# Page\n\n| other | table |\n|---|---|\n| `a` | `b` |\n\n" + head + "\n|---|---|---|---|\n" +
	"| two lines | `a = 1`<br>`  return a` | ``a `b` c`` | `return 1 \\| 2` |\n" +
	"| its own backticks | `` `x` `` | ```` ``` ```` | `y` |\n\ntext\n\n| other | table |\n|---|---|\n| c | d |\n"

func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{"two lines", "a = 1\n  return a", "a `b` c", "return 1 | 2"},
		{"its own backticks", "`x`", "```", "y"},
	}
	if diff := cmp.Diff(want, Rows(t, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
