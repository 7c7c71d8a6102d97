package main

import (
	"fmt"
	"strings"
)

// script stands for a model. It looks at the last message, as a model would.
type script struct{ step int }

const guessed = `rows = await shop.orders(name="Ada")
return sum(r["total"] for r in rows)`

const mended = `rows = await shop.orders(customer="Ada")
large = [r for r in rows if r["total"] > 10]
print(len(rows), "orders seen")
return {"ids": [r["id"] for r in large], "total": sum(r["total"] for r in large)}`

func (s *script) next(messages []string) (code, answer string) {
	last := messages[len(messages)-1]
	s.step++
	switch {
	case s.step == 1:
		return guessed, ""
	case strings.Contains(last, "unexpected keyword argument 'name'"):
		_, reason, _ := strings.Cut(last, "ToolError: ")
		show("the model is told", reason)
		return mended, ""
	default:
		show("and then", last)
		return "", "done in " + fmt.Sprint(s.step-1) + " programs"
	}
}

func show(title, text string) { fmt.Printf("-- %s:\n%s\n", title, text) }
