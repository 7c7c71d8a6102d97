package lossless

// Check walks one JSON text once and returns the size of its canonical form.
//
// The error is an *Error, or nil if the text may cross as it is. A text that
// isn't JSON (ErrSyntax, ErrUTF8) has no size. Otherwise size is right also
// with an error: ErrOverBudget comes before ErrDuplicateName and the number
// errors (ErrNumberRange, ErrInexact, ErrNegativeZero), wherever in the text
// they occur, and of those the first is told. A number that may not cross is
// measured as it is spelled.
func Check(text []byte, o Options) (size int64, err error) {
	size, _, err = check(text, o)
	return size, err
}

// check is Check, which also tells whether the text is canonical already.
func check(text []byte, o Options) (size int64, canonical bool, err error) {
	s := scanner{text: text, double: o.Numbers == Double}
	end, c := s.value(0)
	if c == fine {
		if end = s.skip(end); end < len(text) {
			c = trailing
		}
	}
	s.release()
	if c != fine {
		return 0, false, errorAt(text, end, c)
	}
	size = int64(len(text) - s.saved)
	if o.MaxBytes > 0 && size > o.MaxBytes {
		return size, false, overBudget(size, o.MaxBytes)
	}
	if first := s.first(); first.cause != fine {
		return size, false, errorAt(text, first.at, first.cause)
	}
	return size, !s.changed, nil
}

// first returns the earlier of the faults that the walk noted.
func (s *scanner) first() fault {
	if s.names.cause == fine || s.number.cause != fine && s.number.at < s.names.at {
		return s.number
	}
	return s.names
}

// Parse checks text as Check does and returns its canonical form. The Value
// aliases text where text is canonical already, so text must not change after.
//
// Under Double the canonical form may be much longer than the text (1e300 is
// written with 301 digits), so a text of unknown origin wants a budget.
func Parse(text []byte, o Options) (Value, error) {
	size, canonical, err := check(text, o)
	if err != nil {
		return Value{}, err
	}
	if canonical {
		return Value{text[:len(text):len(text)]}, nil
	}
	return Value{appendCanonical(make([]byte, 0, size), text, o.Numbers)}, nil
}

// AppendCanonical checks text as Check does and appends its canonical form to
// dst. With an error it returns dst as it was.
func AppendCanonical(dst, text []byte, o Options) ([]byte, error) {
	size, canonical, err := check(text, o)
	if err != nil {
		return dst, err
	}
	if canonical {
		return append(dst, text...), nil
	}
	if need := len(dst) + int(size); need > cap(dst) {
		grown := make([]byte, len(dst), need)
		copy(grown, dst)
		dst = grown
	}
	return appendCanonical(dst, text, o.Numbers), nil
}
