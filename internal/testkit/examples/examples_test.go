package examples

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

const page = "# Page\n\n```\n$ one \\\n   more\nout 1.5 s\n\n$ two\n```\n\n<!-- run: long, figures -->\n```\n$ three\n{\"a\":1,\n \"b\":[1,...,3]}\n```\n" +
	"```\nno command\n```\n<!-- release\n```\n$ hidden\n```\n-->\n<!-- run: elsewhere: a moon -->\n```\n$ four\n```\n<!-- run: TestX -->\n```\n$ five\n```\n"

func TestParse(t *testing.T) {
	all := must.Get(Parse(page))(t)
	must.Same(t, "lines", []int{4, 8, 13, 27, 31}, []int{all[0].Line, all[1].Line, all[2].Line, all[3].Line, all[4].Line})
	c := all[0]
	should.Not(t, c.Text != "one \\\n   more" || c.Want != "out 1.5 s\n\n" || c.Long || c.figures, "%+v", c)
	c = all[2]
	should.Hold(t, c.Long && c.figures && !c.Elsewhere && c.Test == "", "%+v", c)
	should.Not(t, !all[3].Elsewhere || all[3].Long || all[4].Test != "TestX" || all[4].Elsewhere, "%+v", all)
	for _, comment := range []string{"", "short", "long figures", "elsewhere", "elsewhere: "} {
		should.Not(t, must.Err(Parse("<!-- run: "+comment+" -->\n```\n$ a\n```\n")) == nil, "%q", comment)
	}
}

// TestCheck: what depends on the machine may differ, all else may not.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		Command
		got    string
		status int
		fails  bool
	}{
		{Command: Command{Want: "1,892 in 1.5 s: 26.8 M positions/s with avx512 kernels; 63 MiB\n"}, got: "1,892  in 20 ms: 3 G positions/s with bmi2 kernels; 1.2 GiB\n"},
		{Command: Command{Want: "1,892 in 1.5 s\n"}, got: "1,893 in 1.5 s\n", fails: true},
		{Command: Command{Want: "mean 1.385661 0.40 34.5\n"}, got: "mean 1.385661 12.25 3.1\n"},
		{Command: Command{Want: "mean 1.385661\n"}, got: "mean 1.385662\n", fails: true},
		{Command: Command{Want: "a\n...\nz\n"}, got: "a\nb\nc\nz\n"},
		{Command: Command{Want: "a\n...\nz\n"}, got: "a\nb\nc\n", fails: true},
		{Command: Command{Want: "a (...)\n"}, got: "a (b)\nc\n", fails: true},
		{Command: Command{Want: "{\"a\":[1,...,3],\n \"seconds\":2}\n"}, got: "{\"a\":[1,2,3],\"seconds\":7e-3}\n"},
		{Command: Command{Want: "{\"a\":[1,...,3]}\n"}, got: "{\"a\":[1,2,4]}\n", fails: true},
		{Command: Command{Want: "x 1 of 2\n", figures: true}, got: "x 7 of 9\n"},
		{Command: Command{Want: "x 1 of 2\n", figures: true}, got: "y 7 of 9\n", fails: true},
		{Command: Command{Want: "x 10 of 2.5\n", figures: true, about: true}, got: "x 11 of 2.3\n"},
		{Command: Command{Want: "x 10 of 2.5\n", figures: true, about: true}, got: "x 11 of 2.2\n", fails: true},
		{Command: Command{Want: "cores ok 2\ndisk bad\n", words: true}, got: "cores warning\ndisk ok\n"},
		{Command: Command{Want: "cores ok 2\ndisk bad\n", words: true}, got: "cores ok 2\n", fails: true},
		{Command: Command{Want: "http://localhost:8080/\n"}, got: "http://localhost:4711/\n"},
		{Command: Command{Want: "value 0\n"}, got: "2026-11-25 01:02:03 layer 3\nvalue 0\n"},
		{Command: Command{Want: "{\"a\":\n 1}\n"}, got: "2026-11-25 01:02:03 layer 3\n{\"a\":1}\n"},
		{Command: Command{Want: "value 0\n"}, got: "value 0\n", status: 1, fails: true},
		{Command: Command{Want: "a\ngrenier: no\n"}, got: "a\ngrenier: no\n", status: 4},
		{Command: Command{Want: "a\ngrenier: no\n"}, got: "a\ngrenier: no\n", fails: true},
		{Command: Command{}, got: "anything\n"},
		{Command: Command{}, got: "anything\n", status: 2, fails: true},
	} {
		problem := c.check(c.got, c.status)
		should.Hold(t, (problem != "") == c.fails, "%q for %q, status %d: %s", c.got, c.Want, c.status, problem)
	}
}

// TestRun: commands share a shell, and a server that stays is reached.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, dir+"/serve", []byte("#!/bin/sh\necho http://$2/; echo Ctrl-C stops; exec sleep 1000\n"))
	all, err := Parse("```\n$ export A=b; cd .\n$ echo $A\nb\n```\n<!-- run: stays -->\n```\n$ sh ./serve\nhttp://localhost:0/\n...\n```\n```\n$ type curl | head -1\ncurl is a function\n$ false || (exit 3); echo $?\n3\n```\n")
	must.OK(t, err)
	Run(t, "page", dir, []string{"B=c"}, all)
	should.Has(t, string(must.Read(t, dir+"/served")), "localhost")
}
