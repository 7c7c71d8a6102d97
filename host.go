package thirdrail

import (
	"fmt"
	"log/slog"
	"unicode/utf8"
)

// checkText refuses text that can't cross as JSON.
func checkText(what, text string) error {
	if !utf8.ValidString(text) {
		return misuse("%s is not valid UTF-8; convert it first", what)
	}
	return nil
}

// guarded returns f such that a panic in it is logged and ends the calls, since
// nobody could recover it on a goroutine of ours.
func guarded(f func(string), logger *slog.Logger) func(string) {
	if f == nil {
		return nil
	}
	broken := false
	return func(text string) {
		if broken {
			return
		}
		defer func() {
			if reason := recover(); reason != nil {
				broken = true
				logger.Error("thirdrail: OnLog panicked", "reason", fmt.Sprint(reason))
			}
		}()
		f(text)
	}
}
