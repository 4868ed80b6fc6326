//go:build !race

package fixpoint

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// litmus is a score that one worker changes and marks, while another one takes the mark and
// reads the score. The race detector would report it: it is a race, by design.
type litmus struct {
	mark  board.Mark
	_     [64]byte // lines of the cache of their own
	score int8
	_     [64]byte
	bench bench
	begun atomic.Int64 // rounds
	taken atomic.Int64 // rounds whose mark is taken, or no longer will be
	seen  int8         // by who took it
}

// TestLongFenceBeforeMark: whoever takes a mark reads the score that was changed before it was
// added, or the mark is there again for the next sweep. Without the fence a processor may find
// the mark set before others see the score, and so leave it to one who has read the old score.
func TestLongFenceBeforeMark(t *testing.T) {
	tries.SkipIf(t, runtime.NumCPU() < 2, "needs two processors")
	l := &litmus{}
	rounds, lost := l.run()
	should.Hold(t, lost == 0 && l.bench.fence.Load() != 0, "%d of %d changes are lost, or could be", lost, rounds) // an atomic store is the fence
}

// run returns the number of rounds of a thirtieth of a second, in long tests of a quarter, and those in which the change was lost.
func (l *litmus) run() (rounds int64, lost int) {
	length := tries.More(time.Second/30, time.Second/4)
	end := time.Now().Add(length)
	var taker sync.WaitGroup
	taker.Go(l.take)
	for ; time.Now().Before(end); rounds++ {
		l.score = 0
		l.mark.Rows.Store(^uint64(0))
		l.mark.Columns.Store(1)
		l.begun.Add(1)
		for range rounds % 40 { // the two do not always meet at once
		}
		l.score = 1
		l.bench.publish()
		l.mark.Add(1, 1)
		for l.taken.Load() <= rounds {
			runtime.Gosched()
		}
		if l.mark.Columns.Load() == 0 && l.seen == 0 {
			lost++
		}
	}
	l.begun.Store(-1)
	taker.Wait()
	return rounds, lost
}

// take takes the mark once a round.
func (l *litmus) take() {
	for round := int64(0); ; {
		switch begun := l.begun.Load(); {
		case begun < 0:
			return
		case begun == round:
			runtime.Gosched()
			continue
		}
		l.mark.Take()
		l.seen = l.score
		round++
		l.taken.Store(round)
	}
}
