package lossless

import "strconv"

// maxPointer is where the Pointer of an Error is cut, and maxSteps how many
// steps can be in it: each has at least two bytes.
const (
	maxPointer = 1024
	maxSteps   = maxPointer / 2
)

// step is one open container on the way to a place: an array's index, or an
// object's name as the offsets of its text.
type step struct {
	object     bool
	index      int
	start, end int
	named      bool
}

// pointerAt returns the JSON Pointer of the value or name at offset at of a
// text that is JSON up to there. The text after at is not looked at.
func pointerAt(text []byte, at int) string {
	text = text[:min(at, len(text))]
	var steps []step
	depth := 0
	for i := 0; i < len(text); {
		inner := depth - 1
		switch text[i] {
		case '[', '{':
			if depth < maxSteps {
				steps = append(steps, step{object: text[i] == '{'})
			}
			depth++
		case ']', '}':
			depth--
			steps = steps[:min(depth, len(steps))]
		case ',':
			if inner >= 0 && inner < len(steps) {
				steps[inner].index++
				steps[inner].named = false
			}
		case '"':
			end := partialStringEnd(text, i)
			if end <= len(text) && inner >= 0 && inner < len(steps) && steps[inner].object && !steps[inner].named {
				steps[inner].start, steps[inner].end, steps[inner].named = i+1, end-1, true
			}
			i = end
			continue
		}
		i++
	}
	return pointerOf(text, steps)
}

// pointerOf spells the steps.
func pointerOf(text []byte, steps []step) string {
	var p []byte
	for _, step := range steps {
		switch {
		case !step.object:
			p = strconv.AppendInt(append(p, '/'), int64(step.index), 10)
		case step.named:
			name, _ := appendDecoded(nil, text[step.start:step.end])
			p = appendPointerToken(p, name)
		}
		if len(p) > maxPointer {
			return prefixOf(string(p), maxPointer)
		}
	}
	return string(p)
}

// appendPointerToken appends one reference token of RFC 6901.
func appendPointerToken(p []byte, name []byte) []byte {
	p = append(p, '/')
	for _, c := range name {
		switch c {
		case '~':
			p = append(p, '~', '0')
		case '/':
			p = append(p, '~', '1')
		default:
			p = append(p, c)
		}
	}
	return p
}

// partialStringEnd is stringEnd for a text that may end inside the string.
func partialStringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text) + 1
}
