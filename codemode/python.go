package codemode

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hardWords can't be names in Python at all.
var hardWords = words(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// builtins are functions and types that a name would hide, from Python 3.9 to 3.13.
var builtins = words(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod
	compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset
	getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max
	memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice
	sorted staticmethod str sum super tuple type vars zip ArithmeticError AssertionError AttributeError
	BaseException BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
	ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError
	Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError
	FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
	InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError
	NameError NotADirectoryError NotImplemented NotImplementedError OSError OverflowError PendingDeprecationWarning
	PermissionError ProcessLookupError PythonFinalizationError RecursionError ReferenceError ResourceWarning
	RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
	TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
	UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError`)

// typeWords are what declarations are made of. A declaration of the same name would
// change what they mean.
var typeWords = words(`Any Literal NotRequired TypeAlias TypedDict annotations`)

// modules are those that programs import most. A namespace of the name would be
// lost to the import.
var modules = words(`abc argparse array ast asyncio base64 bisect calendar collections contextlib copy csv
	dataclasses datetime decimal difflib enum fractions functools glob hashlib heapq html http inspect io itertools
	json logging math operator os pathlib pickle pprint random re secrets shutil socket sqlite3 statistics string
	struct subprocess sys tempfile textwrap threading time traceback types typing unicodedata urllib uuid warnings
	xml zlib numpy pandas np pd`)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// isIdentifier tells whether name is one in every Python from 3.9 on, spelled as
// Python itself spells it. Of the world's letters those are taken that have been in
// Unicode for long.
func isIdentifier(name string) bool {
	for i, r := range name {
		if !isNameRune(r) || i == 0 && unicode.IsDigit(r) {
			return false
		}
	}
	return name != "" && !hardWords[name] && norm.NFKC.IsNormalString(name)
}

func isNameRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	old := r < 0x0530 || 0x0621 <= r && r < 0x064B || 0x3041 <= r && r < 0x3097 || 0x30A1 <= r && r < 0x30FB ||
		0x4E00 <= r && r < 0x9FA6 || 0xAC00 <= r && r < 0xD7A4
	return old && unicode.IsLetter(r)
}

// quote returns text as a Python string literal in ASCII and on one line, but for
// letters and other printable characters, which stay.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case isPlain(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain tells whether a character may stand in source as it is: it can be seen,
// ends no line and turns no direction.
func isPlain(r rune) bool {
	return r != utf8.RuneError && unicode.IsPrint(r) && !unicode.Is(unicode.Bidi_Control, r)
}

// prose returns text on one line, at most limit characters long, with nothing in it
// that isn't plain. It may stand in a comment.
func prose(text string, limit int) string {
	if len(text) <= limit && isProse(text) {
		return text
	}
	line := strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	line = strings.Map(func(r rune) rune {
		if r == ' ' || isPlain(r) {
			return r
		}
		return -1
	}, line)
	return cut(line, limit)
}

// isProse tells whether text is words of ASCII with single spaces between.
func isProse(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' ' || text == ""
}

// cut shortens text to limit characters, at a word's end where one is near.
func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	short := string([]rune(text)[:max(limit-1, 0)])
	if space := strings.LastIndexByte(short, ' '); space > len(short)/2 {
		short = short[:space]
	}
	return strings.TrimRight(short, " ,.;:") + "…"
}

// paragraphs returns text as the inside of a docstring, line by line.
func paragraphs(text string, limit int) []string {
	var lines []string
	blank := false
	for _, line := range strings.Split(cutLines(text, limit), "\n") {
		line = prose(line, limit)
		if line == "" {
			blank = len(lines) > 0
			continue
		}
		if blank {
			lines = append(lines, "")
			blank = false
		}
		line = strings.ReplaceAll(line, `\`, `\\`)
		lines = append(lines, strings.ReplaceAll(line, `"""`, `\"\"\"`))
	}
	return lines
}

func cutLines(text string, limit int) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(text)
	return cut(strings.TrimSpace(text), limit)
}

// docstring returns the lines of a docstring, indented. There is none without lines.
func docstring(indent string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	if len(lines) == 1 {
		line := lines[0]
		if strings.HasSuffix(line, `"`) {
			line += " " // a backslash could meet one that is there
		}
		return []string{indent + `"""` + line + `"""`}
	}
	out := []string{indent + `"""` + lines[0]}
	for _, line := range lines[1:] {
		if line != "" {
			line = indent + line
		}
		out = append(out, line)
	}
	return append(out, indent+`"""`)
}
