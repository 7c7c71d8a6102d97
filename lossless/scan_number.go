package lossless

// numberRest walks a number that starts at start, whose sign and integer digits
// end at i, and applies the number rule.
func (s *scanner) numberRest(start, i int) (int, cause) {
	text := s.text
	first := start
	if text[start] == '-' {
		first++
	}
	switch {
	case first == i && i == len(text):
		return i, ended
	case first == i:
		return i, notDigit
	case text[first] == '0' && i-first > 1:
		return first + 1, leadingZero
	}
	integer, exponent := i, 0
	if i < len(text) && text[i] == '.' {
		i++
		digits := i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i == digits {
			return s.noDigit(i)
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		digits := i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if exponent = i - digits; exponent == 0 {
			return s.noDigit(i)
		}
	}
	if s.double {
		s.double64(start, integer, i, exponent > 0)
	} else if integer != i && (exponent > 2 || integer-first > plainExponent) && parseDecimal(text[start:i]).overflows() {
		s.note(start, beyondRange)
	}
	return i, fine
}

func (s *scanner) noDigit(i int) (int, cause) {
	if i == len(s.text) {
		return i, ended
	}
	return i, notDigit
}

// double64 applies the Double profile to the number from start to end, whose
// integer digits end at integer.
func (s *scanner) double64(start, integer, end int, exponent bool) {
	token := s.text[start:end]
	if len(token) <= safeDigits && !exponent {
		if zeros, ok := shortDecimal(token, integer-start); ok {
			if zeros > 0 {
				s.saved += zeros
				s.changed = true
			}
			return
		}
	}
	size, same, c := doubleNumber(token, integer == end)
	if c != fine {
		s.note(start, c)
		return
	}
	s.saved += len(token) - size
	if !same {
		s.changed = true
	}
}

// shortDecimal finds the canonical spelling under Double of most numbers that
// have no exponent and at most 15 digits. Two decimals so short never share a
// double, so the digits are already the shortest that tell it, but for zeros at
// the end of a fraction: it returns how many bytes those are. It leaves to
// others zeros and what is below 1e-6, which ECMAScript writes with an exponent.
func shortDecimal(token []byte, integer int) (zeros int, ok bool) {
	small := token[0] == '0' || token[0] == '-' && token[1] == '0'
	if integer == len(token) {
		return 0, !small
	}
	end := len(token)
	for token[end-1] == '0' {
		end--
	}
	if token[end-1] == '.' {
		return len(token) - end + 1, !small
	}
	return len(token) - end, !small || end-integer <= len(".000001")
}
