package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// change replaces some bytes of a file.
type change struct {
	file     string
	line     int
	name     string // of the function, or of the change
	from, to int    // bytes
	old, new string
}

// place names the line and the function.
func (c *change) place() string {
	path := c.file
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, c.file); err == nil {
			path = short
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%s:%d %s", filepath.ToSlash(path), c.line, c.name), " ")
}

// text shows the change in a line of a table.
func (c *change) text() string {
	show := func(s string) string {
		const most = 90
		s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
		if len(s) > most {
			s = s[:most] + "..."
		}
		return "`" + s + "`"
	}
	return show(c.old) + " -> " + show(c.new)
}

// sitesOf returns the changes that are possible in the packages that patterns name.
func sitesOf(all []goPackage, patterns []string) (found []change, err error) {
	for _, p := range all {
		if !slices.ContainsFunc(patterns, p.matches) {
			continue
		}
		for _, name := range p.GoFiles {
			found, err = sitesInGo(found, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
		}
		for _, name := range p.SFiles {
			found, err = sitesInAssembly(found, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// finder finds the changes of a file.
type finder struct {
	path  string
	set   *token.FileSet
	src   []byte
	name  string // of the function
	fails bool   // its last result is an error
	found []change
}

// sitesInGo appends the changes of a Go file.
func sitesInGo(found []change, path string) ([]change, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &finder{path: path, set: token.NewFileSet(), src: src, found: found}
	file, err := parser.ParseFile(f.set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f.name, f.fails = "", false
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.name, f.fails = fn.Name.Name, endsWithError(fn.Type)
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(d, f.visit)
	}
	return f.found, nil
}

// endsWithError reports whether the last result of a function is an error.
func endsWithError(t *ast.FuncType) bool {
	if t.Results == nil {
		return false
	}
	last, ok := t.Results.List[len(t.Results.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// add notes that a node may become another text.
func (f *finder) add(n ast.Node, text string) { f.replace(n.Pos(), n.End(), text) }

func (f *finder) replace(from, to token.Pos, text string) {
	a, b := f.set.Position(from).Offset, f.set.Position(to).Offset
	f.found = append(f.found, change{f.path, f.set.Position(from).Line, f.name, a, b, string(f.src[a:b]), text})
}

// of returns the text of a node.
func (f *finder) of(n ast.Node) string {
	return string(f.src[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// swapped are the operators that are taken for each other.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND,
}

// visit notes what can be changed at a node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.add(n.Cond, "!("+f.of(n.Cond)+")")
	case *ast.BinaryExpr:
		if other, ok := swapped[n.Op]; ok {
			f.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.IncDecStmt:
		f.add(n, "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.add(n, "")
		}
	case *ast.ReturnStmt:
		f.visitReturn(n)
	case *ast.BranchStmt:
		f.visitBranch(n)
	case *ast.BasicLit:
		if x, err := strconv.ParseUint(n.Value, 0, 62); n.Kind == token.INT && err == nil {
			f.add(n, strconv.FormatUint(x+1, 10))
		}
	case *ast.CallExpr:
		if name := f.of(n.Fun); name == "errors.Join" || name == "max" || name == "min" { // in any order
			return true
		}
		for i := 1; i < len(n.Args) && !n.Ellipsis.IsValid(); i++ {
			a, b := n.Args[i-1], n.Args[i]
			if f.of(a) != f.of(b) {
				f.replace(a.Pos(), b.End(), f.of(b)+", "+f.of(a))
			}
		}
	}
	return true
}

// visitReturn notes that an error may be lost.
func (f *finder) visitReturn(n *ast.ReturnStmt) {
	if !f.fails || len(n.Results) == 0 {
		return
	}
	if last := n.Results[len(n.Results)-1]; f.of(last) != "nil" {
		f.add(last, "nil")
	}
}

// visitBranch notes that a loop may end instead of continuing, and the reverse.
func (f *finder) visitBranch(n *ast.BranchStmt) {
	other := map[token.Token]string{token.BREAK: "break", token.CONTINUE: "continue"}
	delete(other, n.Tok)
	if n.Label == nil && len(other) == 1 {
		for _, text := range other {
			f.add(n, text)
		}
	}
}

// immediate is a number in assembly: a constant, or an offset.
var immediate = regexp.MustCompile(`\$(0x[0-9a-fA-F]+|[0-9]+)\b`)

// sitesInAssembly appends the changes of a file of assembly: its constants.
func sitesInAssembly(found []change, path string) ([]change, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, offset := "", 0
	for i, line := range strings.SplitAfter(string(src), "\n") {
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(strings.TrimPrefix(rest, "·"), "(")
		} else if !strings.HasPrefix(line, "GLOBL ") { // more room changes nothing
			code, _, _ := strings.Cut(line, "//")
			for _, at := range immediate.FindAllStringSubmatchIndex(code, -1) {
				x, err := strconv.ParseUint(code[at[2]:at[3]], 0, 62)
				if err != nil {
					continue // it takes all 64 bits
				}
				found = append(found, change{path, i + 1, cmp.Or(name, "data"), offset + at[2], offset + at[3], strings.TrimSpace(code), fmt.Sprint(x + 1)})
			}
		}
		offset += len(line)
	}
	return found, nil
}

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
