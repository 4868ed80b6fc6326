package main

import (
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
