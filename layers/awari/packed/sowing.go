package packed

import (
	"math/bits"

	"grenier/layers/awari"
)

// sowing has the seeds that playing a pit with a certain number of seeds adds to the pits. The pit itself gets nothing.
type sowing struct {
	own   Half // to the mover's pits
	given Half // to the opponent's pits
	reach Half // all bits of the opponent's pits up to the last one sown; 0 if that is the mover's
}

// ask asks the rules about one sowing. The one with a seed less is known.
func (r *Rules) ask(pit, seeds int) sowing {
	own, given := r.sow(pit, seeds)
	last := given - r.sowings[pit][seeds-1].given // one seed, where the last one falls
	return sowing{own, given, max(1, last<<8) - 1}
}

// plenty is the seeds of a pit that no sowing makes capturable, nor 128.
const plenty = 64

// sow has the rules sow seeds where nothing can be captured.
func (r *Rules) sow(pit, seeds int) (own, given Half) {
	var b awari.Board
	b[pit] = uint8(seeds)
	for i := r.half; i < 2*r.half; i++ {
		b[i] = plenty
	}
	after := r.Pack(r.game.Sow(b, pit).Board)
	return after.Own, after.Other - r.Pack(b).Other
}

// taken returns all bits of the pits that are captured: from the last one sown on backwards, while
// they hold 2 or 3.
func (r *Rules) taken(s *sowing, other Half) Half {
	kept := filled((other^2*everyOne)&^everyOne) & s.reach
	take := s.reach &^ (1<<(bits.Len64(uint64(kept))&63) - 1)
	if other&^take == 0 {
		take &= r.slam
	}
	return take
}
