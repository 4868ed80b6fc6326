package piles_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/pipeline/distance/internal/piles"
)

func take(s *piles.Set, pile int) (all []uint32, err error) {
	err = s.Take(pile, make([]byte, piles.SheetBytes), func(numbers []byte) error {
		for ; len(numbers) > 0; numbers = numbers[4:] {
			all = append(all, binary.LittleEndian.Uint32(numbers))
		}
		return nil
	})
	slices.Sort(all)
	return all, err
}

// TestRounds has workers add numbers while those of the round before are taken: in memory, on disk, and some here and some there.
func TestRounds(t *testing.T) {
	const count, workers = 7, 3
	for _, room := range []uint64{0, 100 << 10, 64 << 20} {
		dir := t.TempDir()
		d := must.Get(vfs.OpenDir(dir))(t)
		s := piles.New(d, "letters", count, workers, room)
		var before [count][]uint32
		for round, each := range []int{20_000, 0, 30, 50_000, 4094 * count, 0} {
			var added [workers][count][]uint32
			rng := tries.Rand(t)
			seeds := [workers]uint32{rng.Uint32(), rng.Uint32(), rng.Uint32()}
			must.OK(t, crew.Each(t.Context(), workers, count*workers, func(worker, i int) error {
				for n := range each / count / workers {
					number := seeds[worker] * uint32(n+i)
					pile := int(number>>8) % count
					s.Adder(worker).Add(pile, number)
					added[worker][pile] = append(added[worker][pile], number)
				}
				if i >= count {
					return nil
				}
				if got, err := take(s, i); err != nil || !slices.Equal(got, before[i]) {
					return fmt.Errorf("%d bytes, round %d, pile %d: %d numbers, not the %d added, %w", room, round, i, len(got), len(before[i]), err)
				}
				return nil
			}))
			must.OK(t, s.Turn())
			for pile := range before {
				before[pile] = slices.Concat(added[0][pile], added[1][pile], added[2][pile])
				slices.Sort(before[pile])
			}
		}
		files := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)
		should.Hold(t, (len(files) > 0) == (room < 64<<20), "%d bytes: files %q", room, files)
		must.OK(t, errors.Join(s.Close(), d.Close()))
		must.Empty(t, dir)
	}
}

// TestFails: a disk that is full, or has other bytes, is an error.
func TestFails(t *testing.T) {
	disk := crashfs.New()
	s := piles.New(disk.Dir("/"), "letters", 1, 1, 0)
	disk.Limit(piles.SheetBytes)
	for n := range uint32(3 * piles.SheetBytes / 4) {
		s.Adder(0).Add(0, n)
	}
	err := s.Adder(0).Err()
	should.Not(t, !errors.Is(err, syscall.ENOSPC) || s.Turn() == nil, "%v", err)
	must.OK(t, s.Close())

	dir := t.TempDir()
	d := must.Get(vfs.OpenDir(dir))(t)
	defer d.Close()
	for at := range 16 { // each byte of a sheet with one number
		for _, damage := range []func(data []byte) []byte{
			func(data []byte) []byte { return data[:at] },
			func(data []byte) []byte { data[at] ^= 1; return data },
		} {
			s := piles.New(d, "letters", 1, 1, 0)
			s.Adder(0).Add(0, 7)
			must.OK(t, s.Turn())
			files := must.Get(filepath.Glob(filepath.Join(dir, "*.tmp")))(t)
			must.Equal(t, len(files), 1, "files")
			must.List(t, must.Get(take(s, 0))(t), []uint32{7})
			must.OK(t, os.WriteFile(files[0], damage(must.Read(t, files[0])), 0))
			should.Be(t, must.Err(take(s, 0)), corrupt.ErrCorrupt, "byte %d", at)
			must.OK(t, s.Close())
		}
	}
}
