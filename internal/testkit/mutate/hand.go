package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readHand reads changes made by hand. Each is a block of lines: "# " and what the bug would be, a file, the lines that are
// replaced with "-" in front, and those in their place with "+". Empty lines separate blocks.
func readHand(path string) (all []change, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		c, err := parseHand(block)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// appendHand appends a change to such a file: the lines that it is in, with as many before them as make them the only ones.
func appendHand(path string, c *change) error {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return err
	}
	text := string(src)
	from, end, fresh := c.from, c.to, c.new
	if strings.HasSuffix(c.old, "\n") { // whole lines
		end, fresh = end-1, strings.TrimSuffix(fresh, "\n")
	}
	to := end + strings.IndexByte(text[end:]+"\n", '\n')
	for first := true; first || from > 0 && strings.Count(text, text[from:to]+"\n") > 1; first = false {
		from = 1 + strings.LastIndexByte(text[:max(0, from-1)], '\n')
	}
	lines := func(sign, text string) string { return sign + strings.ReplaceAll(text, "\n", "\n"+sign) + "\n" }
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	place, _, _ := strings.Cut(c.place(), ":")
	_, err = fmt.Fprintf(f, "# %s\n%s\n%s%s\n", c.text(), place, lines("-", text[from:to]), lines("+", text[from:c.from]+fresh+text[end:to]))
	return errors.Join(err, f.Close())
}

// parseHand returns the change of a block. It fails unless the lines are in the file, once.
func parseHand(block string) (c change, err error) {
	for line := range strings.SplitSeq(block, "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			c.name = "(" + line[2:] + ")"
		case strings.HasPrefix(line, "-"):
			c.old += line[1:] + "\n"
		case strings.HasPrefix(line, "+"):
			c.new += line[1:] + "\n"
		default:
			c.file, err = filepath.Abs(line)
		}
	}
	if err != nil {
		return c, err
	}
	src, err := os.ReadFile(c.file)
	if err != nil {
		return c, err
	}
	if n := strings.Count(string(src), c.old); n != 1 || c.old == "" {
		return c, fmt.Errorf("%s: the lines to be replaced are there %d times, want once", c.name, n)
	}
	c.from = strings.Index(string(src), c.old)
	c.to = c.from + len(c.old)
	c.line = 1 + strings.Count(string(src[:c.from]), "\n")
	return c, nil
}
