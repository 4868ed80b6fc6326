// Package rundir is the directory of a run of the solver: sealed layers, the
// manifest that lists them, and unfinished work.
//
//	manifest.json   the list of sealed layers (package manifest)
//	layer-NN.gl     sealed layers (package layerfile), never changed
//	distance-NN.gd  distances of a layer, of the same form; they name its scores
//	work/           whatever the layer in progress needs: checkpoints, spills,
//	                files that are not complete yet; status.json, the last
//	                report of the solver
//	lock            says which process may write
//	solve.log       what happened so far, for people
//
// Layers and what is in work/ may be in other directories, on other disks (places.go).
//
// Any number of processes may read (Open); nothing that a reader sees ever
// changes in place. One process may write (Lock): it alone has a *Locked, and
// only a *Locked has methods that write.
//
// A layer becomes visible in two steps, both atomic: Publish gives its file the
// final name, SaveManifest lists it. A crash between them leaves a layer file
// that no manifest mentions; readers ignore it and the next run replaces it.
//
// A request that is refused changes nothing on disk. In particular, a directory
// that holds other things than a run is left alone: without a readable manifest
// nothing is ever deleted. Nothing is reached through symbolic links but sealed
// layers, which are only read (package vfs).
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/vfs"
	"grenier/kernels/fault"
)

// Names in a run directory.
const (
	ManifestName = "manifest.json"
	WorkName     = "work"
	LockName     = "lock"
)

var (
	// ErrMissing says that there is no run in the place given: no directory, or
	// an empty one. It matches fs.ErrNotExist.
	ErrMissing error = missing{}
	// ErrNotDir says that the path leads to something other than a directory.
	ErrNotDir = errors.New("not a directory")
	// ErrUnwritable says that the operating system does not let us write there.
	ErrUnwritable = errors.New("directory cannot be written")
	// ErrOtherDisk says that work/ is in another file system than the directory.
	ErrOtherDisk = errors.New("work/ is in another file system than the run directory: it must be a directory in the same")
	// ErrOtherRun says that an intact directory holds another run.
	ErrOtherRun = fault.New(fault.Usage, "directory of another run")
)

type missing struct{}

func (missing) Error() string        { return "no run directory" }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// OtherRunError is an ErrOtherRun. It matches corrupt.ErrMismatch too, but not
// corrupt.ErrCorrupt: nothing is wrong with the directory.
type OtherRunError struct {
	Path       string            // of the directory
	Has, Asked manifest.Identity // what it holds, and what was asked for
}

// Error names both runs.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s holds another run: %v; asked for: %v", e.Path, e.Has, e.Asked)
}

// Is reports whether target is one of the errors that this is.
func (e *OtherRunError) Is(target error) bool {
	return errors.Is(ErrOtherRun, target) || target == corrupt.ErrMismatch
}

// LayerName returns the name of the file of the layer with the given number of
// seeds, "layer-07.gl".
func LayerName(seeds int) string { return fmt.Sprintf("layer-%02d.gl", seeds) }

// DistanceName returns the name of the file of the distances of the layer with the given number of
// seeds, "distance-07.gd".
func DistanceName(seeds int) string { return fmt.Sprintf("distance-%02d.gd", seeds) }

// layerSeeds returns the number of seeds of the layer whose file has that name, if it
// is one that LayerName returns.
func layerSeeds(name string) (seeds int, ok bool) {
	return seedsOf(name, "layer-", ".gl", LayerName)
}

// isDistances reports whether a file of that name has distances: whether it is one that DistanceName returns.
func isDistances(name string) bool {
	_, ok := seedsOf(name, "distance-", ".gd", DistanceName)
	return ok
}

// seedsOf returns the number between prefix and suffix in a name, if named gives the name for it.
func seedsOf(name, prefix, suffix string, named func(int) string) (seeds int, ok bool) {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && named(n) == name
}

// Dir is a run directory, for reading.
type Dir struct{ path string }

// Open returns the run directory at path, whose manifest is there but not read
// yet. It fails with ErrMissing or ErrNotDir, or with an error that matches
// corrupt.ErrForeign if the directory holds something else.
func Open(path string) (*Dir, error) {
	d := &Dir{path: path}
	state, err := d.inspect()
	switch {
	case err != nil:
		return nil, err
	case state != hasManifest:
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	}
	return d, nil
}

// state is what a path leads to.
type state int

const (
	noDirectory state = iota
	noManifest        // an empty directory, or what is left of Lock after a crash
	hasManifest
)

// inspect looks at the directory without changing anything.
func (d *Dir) inspect() (state, error) {
	dir, err := d.open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noDirectory, nil
	case err != nil:
		return noDirectory, err
	}
	defer dir.Close()
	return look(dir)
}

// look finds out what a directory is.
func look(dir vfs.Dir) (state, error) {
	entries, err := dir.Entries()
	if err != nil {
		return noDirectory, err
	}
	return classify(dir, entries)
}

// open opens the directory. It fails with ErrNotDir.
func (d *Dir) open() (vfs.Dir, error) {
	dir, err := vfs.OpenDir(d.path)
	return dir, d.notDir(err)
}

// make is open for a directory that is made if there is none.
func (d *Dir) make() (vfs.Dir, error) {
	dir, err := vfs.MakeDir(d.path)
	return dir, d.notDir(err)
}

// notDir returns ErrNotDir if err says so.
func (d *Dir) notDir(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || isKind(err) {
		return fmt.Errorf("%s: %w", d.path, ErrNotDir)
	}
	return err
}

// isKind reports whether something is not a file, or not a directory, that should be one.
func isKind(err error) bool {
	_, ok := errors.AsType[*vfs.KindError](err)
	return ok
}

// classify tells a run directory from a foreign one. Lock makes
// the lock file first, so without one only an empty directory is ours to use.
func classify(dir vfs.Dir, entries []fs.FileInfo) (state, error) {
	names := make(map[string]bool)
	other := ""
	for _, e := range entries {
		names[e.Name()] = true
		if !ours(e.Name()) {
			other = e.Name()
		}
	}
	switch {
	case names[ManifestName]:
		return hasManifest, nil
	case len(names) == 0 || other == "" && isLock(dir):
		return noManifest, nil
	case other == "":
		other = entries[0].Name() // names like ours, but no lock
	}
	return noManifest, &corrupt.Error{File: dir.Path(""), Cause: foreign(other)}
}

// oldCalls is a file of earlier versions, which nothing reads any more.
const oldCalls = "calls.log"

// ours reports whether a solver that has just begun may have made an entry of that name.
func ours(name string) bool {
	switch name {
	case LockName, WorkName, LogName, oldCalls, ManifestName:
		return true
	}
	final, ok := vfs.TempFor(name)
	return ok && replaced(final)
}

// replaced reports whether a file of that name, directly in a run directory, is written
// under a temporary name first.
func replaced(name string) bool {
	_, isLayer := layerSeeds(name)
	return isLayer || isDistances(name) || name == ManifestName
}

// foreign is corrupt.ErrForeign for a directory: the name of what it holds.
type foreign string

func (f foreign) Error() string {
	return fmt.Sprintf("not a run directory: it holds %q but no %s", string(f), ManifestName)
}

func (f foreign) Is(target error) bool { return target == corrupt.ErrForeign }

// Path returns the path of the directory, as given.
func (d *Dir) Path() string { return d.path }

// ManifestPath returns the path of the manifest.
func (d *Dir) ManifestPath() string { return filepath.Join(d.path, ManifestName) }

// Manifest reads the manifest. A solver may replace it at any time; what is
// returned then is the old one or the new one. It fails as manifest.Load does.
func (d *Dir) Manifest() (*manifest.Manifest, error) { return manifest.Load(d.ManifestPath()) }

// LayerPath returns the path in the run directory of the file with the given number of seeds;
// see LayerFile for where a manifest says that it is.
func (d *Dir) LayerPath(seeds int) string { return filepath.Join(d.path, LayerName(seeds)) }

// Locked is a run directory that this process may write. It is not safe for
// concurrent use, but for SaveStatus.
type Locked struct {
	Dir
	dir        vfs.Dir // open
	own        vfs.Dir // work/, open
	work       vfs.Dir // the same, or another one: see PlaceWork
	layers     vfs.Dir // dir, or another one: see PlaceLayers
	layersPath string
	claimed    []vfs.Dir // those others
	lock       *lock
}

// Lock opens the directory at path for writing layers of the run id; it creates
// directory and manifest if there are none. Stale temporary files of a process
// that crashed are removed; everything else in work/ is kept.
//
// It fails with a *LockedError while another process, or this one, has the
// directory; with ErrNotDir, ErrUnwritable or ErrOtherDisk; with a *vfs.KindError if
// there is a link, or anything but a file, in place of a file; with errors that match
// corrupt.ErrForeign if the directory holds something else, with an *OtherRunError if
// it holds another run; and like manifest.Load.
func Lock(path string, id manifest.Identity) (*Locked, error) {
	l := &Locked{Dir: Dir{path: path}}
	if err := l.find(id); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	err := l.acquire()
	if err == nil {
		err = l.admit(id) // what is in the directory may have changed before we had the lock
	}
	if err == nil {
		err = l.prepare(id)
	}
	if err != nil {
		return nil, errors.Join(unwritable(path, err), l.Unlock())
	}
	return l, nil
}

// find opens the directory, and makes it if there is none, unless it may not be used for the run:
// then it changes nothing.
func (l *Locked) find(id manifest.Identity) (err error) {
	if err := (&manifest.Manifest{Identity: id}).Validate(); err != nil {
		return err
	}
	l.dir, err = l.open()
	if errors.Is(err, fs.ErrNotExist) {
		l.dir, err = l.make()
		err = unwritable(l.path, err)
	}
	if err != nil {
		return err
	}
	return l.admit(id)
}

// admit reports whether the directory may be used for a run, changing nothing.
func (l *Locked) admit(id manifest.Identity) error {
	state, err := look(l.dir)
	if err == nil {
		err = unwritable(l.path, vfs.Writable(l.path))
	}
	if err != nil || state != hasManifest {
		return err
	}
	m, err := l.Manifest()
	if err != nil {
		return err
	}
	if m.Identity != id {
		return &OtherRunError{Path: l.path, Has: m.Identity, Asked: id}
	}
	return nil
}

// acquire takes the lock of the directory, which is open.
func (l *Locked) acquire() (err error) {
	if l.lock, err = acquire(l.dir); err != nil {
		return err
	}
	l.dir = guarded{l.dir, l.dir, l.lock}
	l.layers = l.dir
	return nil
}

// prepare brings the directory into the state in which a solver expects it.
func (l *Locked) prepare(id manifest.Identity) error {
	if err := l.prepareWork(); err != nil {
		return err
	}
	if there, err := vfs.Exists(l.dir, ManifestName); there || err != nil {
		return err
	}
	return l.SaveManifest(&manifest.Manifest{Identity: id})
}

// prepareWork opens work/ and removes what a crash left of files that were being written.
func (l *Locked) prepareWork() error {
	if err := l.lockFirst(); err != nil {
		return err
	}
	work, err := vfs.MakeSub(l.dir, WorkName)
	if err != nil {
		return err
	}
	l.own = guarded{work, l.dir, l.lock}
	l.work = l.own
	if err := l.sameDisk(); err != nil {
		return err
	}
	return errors.Join(vfs.RemoveStale(l.dir, replaced), vfs.RemoveStale(l.work, working))
}

// lockFirst makes the lock durable before there is work/: if a power cut left work/ alone,
// the directory would not be known as a new run.
func (l *Locked) lockFirst() error {
	there, err := vfs.Exists(l.dir, WorkName)
	if there || err != nil {
		return err
	}
	return l.dir.Sync()
}

// sameDisk fails with ErrOtherDisk: room is looked for in one file system.
func (l *Locked) sameDisk() error {
	here, err := l.dir.Lstat(LockName)
	if err != nil {
		return err
	}
	work, err := l.dir.Lstat(WorkName)
	if err == nil && !vfs.SameDevice(here, work) {
		err = fmt.Errorf("%s: %w", l.dir.Path(WorkName), ErrOtherDisk)
	}
	return err
}

// unwritable adds ErrUnwritable to refusals of the operating system.
func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || vfs.ReadOnly(err) {
		if named, ok := errors.AsType[*fs.PathError](err); ok && named.Path == path {
			err = named.Err // the path is said once
		}
		return fmt.Errorf("%s: %w: %w", path, ErrUnwritable, err)
	}
	return err
}

// Names of files in work/. Systems use them as they like; ClearWork removes these, the
// numbered ones and no others.
const (
	BlocksName     = "blocks"      // pieces of a breadth-first search
	CheckpointName = "checkpoint"  // of BlocksName
	OffersName     = "offers"      // what captures are worth in a layer that is in memory
	FoundName      = "found"       // its scores, or those of a window, as far as they are found
	ScoresName     = "scores"      // unpacked, for an import
	ScrubName      = "scrub.json"  // how far a scrub is
	VerifyName     = "verify.json" // how far a verification is
	SampleName     = "sample.json" // of parts of one that compares a sample
	ProveName      = "prove.json"  // how far a proof is
	MarksName      = "marks"       // what a proof has found, if it has no room in memory
	PlanName       = "plan.json"   // of a layer that is solved in steps
	DistancesName  = "distances"   // those of a layer, as far as they are found
	StopName       = "stop.json"   // somebody asks the solver to stop
)

// CapturesName returns the name of the values of captures in a segment of a layer, a number
// below 10,000: of the rows that sweeps compute, or of the full ones.
func CapturesName(segment int, full bool) string {
	if full {
		return fmt.Sprintf("captures-%04d-full", segment)
	}
	return fmt.Sprintf("captures-%04d-open", segment)
}

// WindowName returns the name of what the window with a base below 100 has found in a part
// below 10 of a layer.
func WindowName(base, part int) string { return fmt.Sprintf("window-%02d-%d", base, part) }

// FoundInName returns the name of FoundName for the window with a base below 100, if windows are solved apart.
func FoundInName(base int) string { return fmt.Sprintf("found-%02d", base) }

// PieceName returns the name of the encoded blocks of a piece below 100 of a layer.
func PieceName(piece int) string { return fmt.Sprintf("piece-%02d", piece) }

// numbered matches the names of numbered files.
var numbered = regexp.MustCompile(`^(captures-[0-9]{4}-(open|full)|window-[0-9]{2}-[0-9]|(found|piece)-[0-9]{2})$`)

// ofLayer reports whether a file of that name in work/ is of a layer in progress: of this
// version of the program, or of one before.
func ofLayer(name string) bool {
	switch name {
	case OffersName, FoundName, "tiles", "tiles.checkpoint":
		return true
	}
	return numbered.MatchString(name)
}

// working reports whether a file of that name in work/ is one of ours.
func working(name string) bool {
	switch name {
	case BlocksName, CheckpointName, ScoresName, StatusName, ScrubName, StopName, VerifyName, ProveName, MarksName, DistancesName, PlanName:
		return true
	}
	return ofLayer(name) || parted.MatchString(name)
}

// WorkBytes returns the bytes of files in work/ of the run directory at path, 0 if there
// is none.
func WorkBytes(path string) (bytes uint64, err error) {
	d := Dir{path: path}
	work, err := d.openWork()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer work.Close()
	return bytesIn(work, func(string) bool { return true })
}

// bytesIn returns the bytes of files in a directory whose names ours accepts.
func bytesIn(d vfs.Dir, ours func(name string) bool) (bytes uint64, err error) {
	entries, err := d.Entries()
	for _, e := range entries {
		if e.Mode().IsRegular() && ours(e.Name()) {
			bytes += uint64(e.Size())
		}
	}
	return bytes, err
}

// openWork opens work/.
func (d *Dir) openWork() (vfs.Dir, error) {
	dir, err := d.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Sub(WorkName)
}

// Work returns the directory work/, or the one that PlaceWork was given. It is open as long
// as the lock is held.
func (l *Locked) Work() vfs.Dir { return l.work }

// CheckLayer reports whether the file of a layer may be written: it fails with an error
// that matches corrupt.ErrForeign if there is something of that name that does not begin
// like a layer file, or with an error of the operating system.
func (l *Locked) CheckLayer(seeds int) error { return l.checkName(LayerName(seeds)) }

// checkName is CheckLayer for the file of a name.
func (l *Locked) checkName(name string) error {
	path := l.layers.Path(name)
	f, err := l.layers.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return corrupt.Opened(path, err)
	}
	defer f.Close()
	if !layerfile.Begins(f) {
		return corrupt.New(path, "", "%w: it does not begin like a layer file; move it away", corrupt.ErrForeign)
	}
	return nil
}

// NewLayer begins the file of a layer. Its Publish replaces a layer file of that name,
// which no manifest lists or which is damaged. It fails as CheckLayer does.
func (l *Locked) NewLayer(seeds int) (*vfs.Pending, error) {
	if err := l.CheckLayer(seeds); err != nil {
		return nil, err
	}
	return vfs.NewPending(l.layers, LayerName(seeds))
}

// NewDistances is NewLayer for the file of the distances of a layer.
func (l *Locked) NewDistances(seeds int) (*vfs.Pending, error) {
	if err := l.checkName(DistanceName(seeds)); err != nil {
		return nil, err
	}
	return vfs.NewPending(l.layers, DistanceName(seeds))
}

// SaveManifest replaces the manifest. When it returns nil, the new one survives
// a power cut. It fails as manifest.Manifest.Save does, or with a *LostError.
func (l *Locked) SaveManifest(m *manifest.Manifest) error { return m.Save(l.dir, ManifestName) }

// ClearWork removes our files in work/ but the status and a plan of steps: the layer in progress was
// sealed, or its checkpoint is not needed. Other files stay. It removes as many
// as it can, and returns all errors of the operating system, or a *LostError.
func (l *Locked) ClearWork() error {
	err := clearWork(l.own)
	if l.work != l.own {
		err = errors.Join(err, clearWork(l.work))
	}
	return err
}

func clearWork(work vfs.Dir) error {
	unneeded := func(name string) bool {
		return working(name) && name != StatusName && name != StopName && name != PlanName
	}
	entries, err := work.Entries()
	for _, e := range entries {
		if name := e.Name(); unneeded(name) && e.Mode().IsRegular() {
			err = errors.Join(err, vfs.RemoveIfThere(work, name))
		}
	}
	return errors.Join(err, vfs.RemoveStale(work, unneeded))
}

// Unlock lets other processes write. l must not be used afterwards.
func (l *Locked) Unlock() (err error) {
	if l.lock != nil {
		err = l.lock.release()
	}
	for _, d := range append(l.claimed, l.own, l.dir) {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}
	return err
}
