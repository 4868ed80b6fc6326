//go:build unix

package siegetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"grenier/internal/testkit/layerfiletest"
	"grenier/kernels/crc32c"
)

// Target is a file that is going to be damaged, and data that damages may need besides.
type Target struct {
	Name   string            // of the file
	Others []string          // files of the same run
	Donors map[string][]byte // files of other runs, by name
	Canary string            // name of a tree that nobody may change
}

// Forgery says which data damage changes behind right checksums: a reader who believes
// them is not at fault.
type Forgery int

// Degrees of forgery.
const (
	Plain  Forgery = iota // nothing: checksums show it
	Listed                // fields of a manifest or a checkpoint
	Scored                // that, and the scores of a layer
)

// Damage is one way to damage a file.
type Damage struct {
	Name   string
	Forged Forgery
	do     func(r *rand.Rand, tr *Tree, t Target) error
}

// Do damages the file. It fails with an error of the operating system. It does nothing
// if the file is gone, or if earlier damage has made it a link, which may lead to a
// canary, or a FIFO, which would block the test.
func (d Damage) Do(r *rand.Rand, tr *Tree, t Target) error {
	t.Others = slices.DeleteFunc(slices.Clone(t.Others), func(name string) bool { return !tr.plain(name) })
	if !tr.plain(t.Name) || len(t.Others) == 0 {
		return fs.ErrNotExist
	}
	return d.do(r, tr, t)
}

// plain reports whether there is a regular file with no other name.
func (tr *Tree) plain(name string) bool {
	info, err := tr.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<26 {
		return false
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	return ok && about.Nlink == 1
}

// Places are the damages that put something else in place of a file, whatever was in
// it.
var Places = Damages[slices.IndexFunc(Damages, func(d Damage) bool { return d.Name == "mode" }):]

// Damages are all ways.
var Damages = []Damage{
	{"flip bits", Plain, contents(flip)},
	{"flip many bits", Plain, contents(flipMany)},
	{"overwrite a range", Plain, contents(overwrite)},
	{"zero a range", Plain, contents(zero)},
	{"zero a page", Plain, contents(zeroPage)},
	{"set eight bytes", Plain, contents(extreme)},
	{"move a range", Plain, contents(moved)},
	{"truncate", Plain, contents(truncate)},
	{"extend", Plain, contents(extend)},
	{"append itself", Plain, contents(double)},
	{"empty", Plain, contents(func(*rand.Rand, []byte) []byte { return nil })},
	{"other text", Plain, contents(diary)},
	{"change a number in JSON", Listed, contents(editJSON)},
	{"change a header", Plain, contents(forgeHeader)},
	{"forge a layer", Scored, forgeLayer},
	{"change a sealed document", Listed, contents(forgeSealed)},
	{"delete", Plain, func(_ *rand.Rand, tr *Tree, t Target) error { return tr.Remove(t.Name) }},
	{"swap with another file", Plain, swapFiles},
	{"copy of another file", Plain, copyOther},
	{"file of another run", Listed, donated},
	{"mode", Plain, mode},
	{"directory instead", Plain, instead(directory)},
	{"directory with a file instead", Plain, instead(fullDirectory)},
	{"symbolic link to a canary", Plain, link("diary.txt", "empty", "layer-00.gl")},
	{"symbolic link to a directory of canaries", Plain, link("photos", "work", ".")},
	{"dangling symbolic link", Plain, link("nothing", "photos/nothing")},
	{"symbolic link to itself", Plain, instead(selfLink)},
	{"hard link to a canary", Plain, instead(hardLink)},
	{"symbolic link to a symbolic link to a canary", Plain, link("link")},
	{"symbolic link to the file itself elsewhere", Plain, elsewhere},
	{"FIFO", Plain, instead(fifo)},
	{"device", Plain, instead(device)},
	{"socket", Plain, instead(socket)},
	{"sparse", Plain, sparse},
	{"old", Plain, old},
}

// contents is a damage that changes the bytes of a file.
func contents(change func(r *rand.Rand, data []byte) []byte) func(*rand.Rand, *Tree, Target) error {
	return func(r *rand.Rand, tr *Tree, t Target) error {
		data, err := tr.ReadFile(t.Name)
		if err != nil {
			return err
		}
		return tr.WriteFile(t.Name, change(r, data), 0o644)
	}
}

// span returns a random range of data.
func span(r *rand.Rand, data []byte, most int) []byte {
	if len(data) == 0 {
		return nil
	}
	start := r.IntN(len(data))
	return data[start:min(len(data), start+1+r.IntN(most))]
}

func flip(r *rand.Rand, data []byte) []byte {
	for range 1 + r.IntN(3) {
		if len(data) > 0 {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	}
	return data
}

func flipMany(r *rand.Rand, data []byte) []byte {
	for range len(data) / 10 {
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
	}
	return data
}

func overwrite(r *rand.Rand, data []byte) []byte {
	noise(r, span(r, data, 200))
	return data
}

// noise fills data with random bytes.
func noise(r *rand.Rand, data []byte) {
	for i := range data {
		data[i] = byte(r.Uint32())
	}
}

func zero(r *rand.Rand, data []byte) []byte {
	clear(span(r, data, 200))
	return data
}

func zeroPage(r *rand.Rand, data []byte) []byte {
	start := r.IntN(len(data)/4096+1) * 4096
	clear(data[start:min(len(data), start+4096)])
	return data
}

// extreme puts a number there that overflows something.
func extreme(r *rand.Rand, data []byte) []byte {
	numbers := []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 48, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	if len(data) >= 8 {
		binary.LittleEndian.PutUint64(data[r.IntN(len(data)-7):], numbers[r.IntN(len(numbers))])
	}
	return data
}

func moved(r *rand.Rand, data []byte) []byte {
	copy(span(r, data, 100), slices.Clone(span(r, data, 100)))
	return data
}

func truncate(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data)+1)] }

func extend(r *rand.Rand, data []byte) []byte {
	more := make([]byte, 1+r.IntN(5000))
	if r.IntN(2) == 0 {
		noise(r, more)
	}
	return append(data, more...)
}

func double(_ *rand.Rand, data []byte) []byte { return append(data, data...) }

func diary(r *rand.Rand, _ []byte) []byte {
	return bytes.Repeat([]byte("Dear diary, "), 1+r.IntN(1000))
}

var (
	number  = regexp.MustCompile(`\d+`)
	jsonSum = regexp.MustCompile(`  "crc32c": "[0-9a-f]{8}"\n}\n$`)
)

// editJSON puts another number into a text, and the checksum of a manifest right.
func editJSON(r *rand.Rand, data []byte) []byte {
	end := len(data)
	at := jsonSum.FindIndex(data)
	if at != nil {
		end = at[0]
	}
	all := number.FindAllIndex(data[:end], -1)
	if len(all) == 0 {
		return flip(r, data)
	}
	numbers := []string{"0", "1", "-1", "7", "255", "65536", "4294967296", "281474976710657", "9223372036854775807",
		"18446744073709551616", "1e308", "0.5", "null", `"a"`, "[]"}
	place := all[r.IntN(len(all))]
	text := append(append(slices.Clone(data[:place[0]]), numbers[r.IntN(len(numbers))]...), data[place[1]:end]...)
	if at != nil {
		text = fmt.Appendf(text, "  \"crc32c\": \"%08x\"\n}\n", crc32c.Of(text))
	}
	return text
}

// forgeHeader changes the header of a layer file and its checksum. The footer has the
// right one.
func forgeHeader(r *rand.Rand, data []byte) []byte {
	const size = 84
	if len(data) < size {
		return flip(r, data)
	}
	overwriteAt(r, data[12:size-4])
	binary.LittleEndian.PutUint32(data[size-4:], crc32c.Of(data[:size-4]))
	return data
}

// forgeSealed changes the contents of a sealed document and its checksum.
func forgeSealed(r *rand.Rand, data []byte) []byte {
	const before, behind = 40, 4
	if len(data) <= before+behind {
		return flip(r, data)
	}
	end := len(data) - behind
	overwriteAt(r, data[before:end])
	binary.LittleEndian.PutUint32(data[end:], crc32c.Of(data[:end]))
	return data
}

func overwriteAt(r *rand.Rand, data []byte) {
	if r.IntN(2) == 0 {
		extreme(r, data)
		return
	}
	noise(r, span(r, data, 8))
}

func (t Target) other(r *rand.Rand) string { return t.Others[r.IntN(len(t.Others))] }

func swapFiles(r *rand.Rand, tr *Tree, t Target) error {
	other, between := t.other(r), t.Name+"-between"
	err := tr.Rename(t.Name, between)
	if err == nil && other != t.Name {
		err = tr.Rename(other, t.Name)
	}
	if err == nil {
		err = tr.Rename(between, other)
	}
	return err
}

func copyOther(r *rand.Rand, tr *Tree, t Target) error {
	data, err := tr.ReadFile(t.other(r))
	if err != nil {
		return err
	}
	return tr.WriteFile(t.Name, data, 0o644)
}

// donated takes the file of the same name of another run, or else any.
func donated(r *rand.Rand, tr *Tree, t Target) error {
	var same, all []string
	for _, name := range slices.Sorted(maps.Keys(t.Donors)) {
		all = append(all, name)
		if path.Base(name) == path.Base(t.Name) {
			same = append(same, name)
		}
	}
	if len(same) == 0 {
		same = all
	}
	if len(same) == 0 {
		return fs.ErrNotExist
	}
	return tr.WriteFile(t.Name, t.Donors[same[r.IntN(len(same))]], 0o644)
}

func mode(r *rand.Rand, tr *Tree, t Target) error {
	return tr.Chmod(t.Name, []fs.FileMode{0, 0o200, 0o444, 0o777}[r.IntN(4)])
}

// instead removes a file and puts something else there.
func instead(put func(r *rand.Rand, tr *Tree, t Target) error) func(*rand.Rand, *Tree, Target) error {
	return func(r *rand.Rand, tr *Tree, t Target) error {
		if err := tr.Remove(t.Name); err != nil {
			return err
		}
		return put(r, tr, t)
	}
}

func directory(_ *rand.Rand, tr *Tree, t Target) error {
	return tr.Mkdir(t.Name, 0o755)
}

func fullDirectory(r *rand.Rand, tr *Tree, t Target) error {
	if err := directory(r, tr, t); err != nil {
		return err
	}
	return tr.WriteFile(t.Name+"/mine.txt", []byte("mine"), 0o644)
}

// link is a damage that puts a symbolic link to one of the canaries there.
func link(canaries ...string) func(*rand.Rand, *Tree, Target) error {
	return instead(func(r *rand.Rand, tr *Tree, t Target) error {
		up := strings.Repeat("../", strings.Count(t.Name, "/"))
		return tr.Symlink(path.Join(up, t.Canary, canaries[r.IntN(len(canaries))]), t.Name)
	})
}

func selfLink(_ *rand.Rand, tr *Tree, t Target) error {
	return tr.Symlink(path.Base(t.Name), t.Name)
}

func hardLink(r *rand.Rand, tr *Tree, t Target) error {
	return tr.Link(t.Canary+"/"+[]string{"diary.txt", "empty", "photos/cat.jpg"}[r.IntN(3)], t.Name)
}

func fifo(_ *rand.Rand, tr *Tree, t Target) error {
	return syscall.Mkfifo(tr.Path(t.Name), 0o644)
}

// socket leaves the name of a socket that nobody listens on.
func socket(_ *rand.Rand, tr *Tree, t Target) error {
	return syscall.Mknod(tr.Path(t.Name), syscall.S_IFSOCK|0o644, 0)
}

// elsewhere moves the file, which is none of the program's then, and leaves a link to it.
func elsewhere(_ *rand.Rand, tr *Tree, t Target) error {
	if err := tr.Rename(t.Name, t.Name+"-moved"); err != nil {
		return err
	}
	return tr.Symlink(path.Base(t.Name)+"-moved", t.Name)
}

// device makes a device that takes and gives nothing, as far as the file system lets it
// work. It needs the rights of the super-user.
func device(_ *rand.Rand, tr *Tree, t Target) error {
	return syscall.Mknod(tr.Path(t.Name), syscall.S_IFCHR|0o666, 1<<8|3)
}

// sparse makes a file of the same beginning much longer than any disk.
func sparse(r *rand.Rand, tr *Tree, t Target) error {
	f, err := tr.OpenFile(t.Name, syscall.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(1 << (30 + r.IntN(11)))
}

// old makes a file look old.
func old(_ *rand.Rand, tr *Tree, t Target) error {
	return tr.Chtimes(t.Name, time.Unix(1, 0), time.Unix(1, 0))
}

// forgeLayer changes something in a layer file, puts all its checksums right, and that in the
// manifest too, unless earlier damage has put something else in the place of that.
func forgeLayer(r *rand.Rand, tr *Tree, t Target) error {
	data, err := tr.ReadFile(t.Name)
	if err != nil {
		return err
	}
	list := path.Join(path.Dir(t.Name), "manifest.json")
	if !tr.plain(list) {
		return fs.ErrNotExist
	}
	manifest, err := tr.ReadFile(list)
	if err != nil {
		return err
	}
	entry := regexp.MustCompile(`("file": "` + regexp.QuoteMeta(path.Base(t.Name)) + `",\s+"bytes": \d+,\s+"codec": "\w+",\s+"checksum": )"[0-9a-f]{8}"`)
	at := jsonSum.FindIndex(manifest)
	if at == nil || !entry.Match(manifest) || !forge(r, data) {
		return fs.ErrNotExist
	}
	footer := binary.LittleEndian.Uint32(data[len(data)-layerfiletest.FooterSize+64:])
	text := entry.ReplaceAll(manifest[:at[0]], fmt.Appendf(nil, `${1}"%08x"`, footer))
	text = fmt.Appendf(text, "  \"crc32c\": \"%08x\"\n}\n", crc32c.Of(text))
	if err := tr.WriteFile(list, text, 0o644); err != nil {
		return err
	}
	return tr.WriteFile(t.Name, data, 0o644)
}

// forge changes a part of a layer file and puts its checksums right. It returns false for
// something that does not look like a layer file.
func forge(r *rand.Rand, data []byte) bool {
	if len(data) < layerfiletest.HeaderSize+layerfiletest.FooterSize {
		return false
	}
	end := len(data) - layerfiletest.FooterSize
	foot := data[end:]
	blocks := layerfiletest.HeaderSize + uint64(binary.LittleEndian.Uint32(data[72:]))
	index := binary.LittleEndian.Uint64(foot)
	if blocks > index || index > uint64(end) {
		return false
	}
	parts := [][]byte{data[12:76], data[layerfiletest.HeaderSize:blocks], data[blocks:index], data[index:end], foot[:16], foot[24:64]}
	overwriteAt(r, parts[r.IntN(len(parts))])
	layerfiletest.ResealBlocks(data)
	return true
}
