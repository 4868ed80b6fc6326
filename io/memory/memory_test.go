package memory

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/dustin/go-humanize"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestNeedIsTheInverseOfRoom: who is allowed what is needed has the room, and with less he has not.
func TestNeedIsTheInverseOfRoom(t *testing.T) {
	for range 10_000 {
		data := rand.Uint64() >> (3 + rand.IntN(60))
		need := Need(data)
		must.Not(t, Room(need) < data, "%d bytes of data need %d, which has room for %d", data, need, Room(need))
		less := need - need/1000 - 64
		must.Not(t, Room(less) > data, "%d bytes of data need %d, but %d has room for %d", data, need, less, Room(less))
	}
	should.Hold(t, Room(0) == 0 && Room(Base) == 0 && Need(math.MaxUint64) >= math.MaxInt64,
		"room %d, %d; need %d", Room(0), Room(Base), Need(math.MaxUint64))
}

// TestAtLeast: the program takes what it says is needed, and takes it for enough.
func TestAtLeast(t *testing.T) {
	for bytes, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1025: "1.1 KiB", 64 << 20: "64 MiB", 64<<20 + 1: "65 MiB", 8 << 30: "8.0 GiB", 8<<30 + 1: "8.1 GiB",
	} {
		should.Equal(t, AtLeast(bytes), want, "%d", bytes)
	}
	for range 10_000 {
		bytes := rand.Uint64() >> (2 + rand.IntN(60))
		read := must.Get(humanize.ParseBytes(AtLeast(bytes)))(t)
		must.Not(t, read < bytes, "%d is written %s, which is %d", bytes, AtLeast(bytes), read)
	}
}

func TestCheck(t *testing.T) {
	must.OK(t, errors.Join(Check("x", 1<<40, 0), Check("x", 0, Base), Check("x", Room(1<<30), 1<<30)))
	e := must.As[*Error](t, Check("the work", 100<<20, 64<<20))
	should.Hold(t, e.Need == Need(100<<20) && e.Error() == "the work needs 124 MiB of memory; the limit is 64 MiB", "%v", e)

	m := Machine{80 << 20, "the cgroup /a"}
	should.Hold(t, !m.Has(81<<20) && m.Has(80<<20) && m.Usual(1<<30) == 70<<20 && m.Usual(1<<20) == 1<<20, "%v: %d", m, m.Usual(1<<30))
	should.Equal(t, m.String(), "the cgroup /a has 80 MiB")
	m = Machine{}
	should.Hold(t, m.Has(math.MaxUint64) && m.Usual(1<<40) == 1<<40, "a machine that does not say allows less")
}

// TestBound: what is taken outside lowers the limit, if there is one, and comes back.
func TestBound(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	Outside(1 << 30)()
	should.Equal(t, limit(), math.MaxInt64, "without a limit")
	undo := Bound(1 << 30)
	bound := limit()
	should.Not(t, bound > 1<<30-10<<20 || bound < 900<<20, "the limit is %d", bound)
	undoInner := Bound(2 << 30) // no more than what is outside allows
	should.Not(t, limit() > 1<<30, "the limit has become %d", limit())
	undoInner()
	first, second := Outside(100<<20), Outside(200<<20)
	should.Equal(t, limit(), bound-300<<20, "after 300 MiB")
	all := Outside(1 << 40)
	should.Not(t, limit() <= 0 || limit() > Base, "limit %d when everything is taken", limit())
	first()
	all()
	second()
	should.Equal(t, limit(), bound, "limit")
	undo()
	should.Equal(t, limit(), math.MaxInt64, "the limit is left at")
}
