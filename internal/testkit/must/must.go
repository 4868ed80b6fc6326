// Package must ends tests where what they need cannot be had, or where something is wrong; package should lets them go on.
package must

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/should"
)

// Test is what ends: a test, or a part of one.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test if there is an error.
func OK(t Test, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Get returns what a call returned, but for its error, which ends the test:
//
//	f := must.Get(layerfile.Open(path))(t)
func Get[T any](value T, err error) func(t Test) T {
	return func(t Test) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// Err returns the error of a call, which must be the last of its results.
func Err(results ...any) error {
	last := results[len(results)-1]
	if last == nil {
		return nil
	}
	return last.(error)
}

// Not ends the test if something is wrong.
func Not(t Test, wrong bool, format string, args ...any) {
	if wrong {
		t.Helper()
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Hold ends the test if something is not so.
func Hold(t Test, right bool, format string, args ...any) {
	if !right {
		t.Helper()
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Equal ends the test if got is not what it should be; about is a format and what goes into it, or nothing.
func Equal[T comparable](t Test, got, want T, about ...any) {
	if got != want {
		t.Helper()
		t.Fatal(should.Differ(got, want, about))
	}
}

// List ends the test if got does not have the elements that it should have, in their order.
func List[S ~[]E, E comparable](t Test, got, want S, about ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Fatal(should.Differ(got, want, about))
	}
}

// Be ends the test if an error is not the one that it should be; nil stands for none.
func Be(t Test, err, want error, about ...any) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Fatal(should.Differ(err, want, about))
	}
}

// As returns an error as one of its kind. It ends the test if the error is none.
func As[E error](t Test, err error, about ...any) E {
	is, ok := errors.AsType[E](err)
	if !ok {
		t.Helper()
		t.Fatal(should.Differ(err, fmt.Sprintf("%T", is), about))
	}
	return is
}

// Ended returns a context of a test that has ended.
func Ended(t interface{ Context() context.Context }) context.Context {
	ctx, end := context.WithCancel(t.Context())
	end()
	return ctx
}

// Panic ends the test, with something about it, if do does not panic.
func Panic(t Test, do func(), about ...any) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Helper()
			t.Fatal(append([]any{"no panic: "}, about...)...)
		}
	}()
	do()
}

// XML returns the elements of a text. It ends the test if that is not well formed.
func XML(t Test, text string) []xml.StartElement {
	t.Helper()
	return elements(t, xml.NewDecoder(strings.NewReader(text)))
}

// HTML is XML for pages, where some elements need no end.
func HTML(t Test, text string) []xml.StartElement {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	return elements(t, d)
}

func elements(t Test, d *xml.Decoder) (all []xml.StartElement) {
	t.Helper()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		OK(t, err)
		if start, ok := token.(xml.StartElement); ok {
			all = append(all, start.Copy())
		}
	}
}

// JSON returns what a text holds. It ends the test if that is no JSON of its kind.
func JSON[T any, S ~string | ~[]byte](t Test, text S) (value T) {
	t.Helper()
	OK(t, json.Unmarshal([]byte(text), &value))
	return value
}

// Same ends the test if got is not what it should be.
func Same(t Test, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(what + " (-want +got):\n" + diff)
	}
}

// Read returns the contents of a file.
func Read(t Test, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	OK(t, err)
	return data
}

// Rows returns the rows of a CSV file below its heading.
func Rows(t Test, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(Read(t, path))).ReadAll()
	OK(t, err)
	return rows[1:]
}

// Write replaces the contents of a file in place, as damage does.
func Write(t Test, path string, data []byte) {
	t.Helper()
	OK(t, os.WriteFile(path, data, 0o644))
}

// Touch makes a file look like another one: its time changes.
func Touch(t Test, path string) {
	t.Helper()
	later := time.Now().Add(time.Hour)
	OK(t, os.Chtimes(path, later, later))
}

// Empty ends the test if something is in a directory.
func Empty(t Test, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	OK(t, err)
	if len(left) > 0 {
		t.Fatal("left behind in "+dir+": ", left)
	}
}

// Tree returns what is below a directory by name, itself included: the contents of files, and the kinds of all else.
func Tree(t Test, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || !d.Type().IsRegular() {
			all[name] = d.Type().String()
			return err
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	}))
	return all
}
