// Package should says what is wrong and lets the test go on; package must ends it.
//
// What a failure is about is a format and what goes into it, or nothing.
package should

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Test is what fails: a test, or a part of one.
type Test interface {
	Helper()
	Errorf(format string, args ...any)
}

// Not fails if something is wrong.
func Not(t Test, wrong bool, format string, args ...any) {
	if wrong {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Hold fails if something is not so.
func Hold(t Test, right bool, format string, args ...any) {
	if !right {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// OK fails if there is an error.
func OK(t Test, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("%v", err)
	}
}

// Equal fails if got is not what it should be.
func Equal[T comparable](t Test, got, want T, about ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s", Differ(got, want, about))
	}
}

// List fails if got does not have the elements that it should have, in their order.
func List[S ~[]E, E comparable](t Test, got, want S, about ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%s", Differ(got, want, about))
	}
}

// Has fails for each part that a text lacks.
func Has(t Test, text string, parts ...string) {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Helper()
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// Lacks fails for each word that a text has.
func Lacks(t Test, text string, words ...string) {
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Helper()
			t.Errorf("%q is in\n%s", word, text)
		}
	}
}

// Be fails if an error is not the one that it should be; nil stands for none.
func Be(t Test, err, want error, about ...any) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("%s", Differ(err, want, about))
	}
}

// Says fails if an error is not the one that it should be, or its text lacks a part.
func Says(t Test, err, want error, parts ...string) {
	t.Helper()
	if Be(t, err, want); err != nil {
		Has(t, err.Error(), parts...)
	}
}

// Differ returns the message of a difference.
func Differ(got, want any, about []any) string {
	text := fmt.Sprintf("got %v, want %v", got, want)
	switch a, b := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); got := got.(type) {
	case string:
		text = fmt.Sprintf("got %s, want %s", a, b)
		if strings.Contains(got, "\n") {
			text = fmt.Sprintf("got\n%s\nwant\n%s", got, want)
		}
	case []string:
		text = fmt.Sprintf("got %s, want %s", a, b)
	}
	if len(about) == 0 {
		return text
	}
	return fmt.Sprintf(about[0].(string), about[1:]...) + ": " + text
}
