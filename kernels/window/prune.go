package window

import (
	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// Prune replaces the capture values of positions whose code is Zero by 0, which gives the
// same code in this window and in all after it: packed, that takes less. captures has Side
// values for each of lines.
func (c *Codes) Prune(captures, lines []int8) {
	bytes, zeros := c.Line(), uint64(c.Zero)*swar.Ones
	var codes shared.Line
	for ; len(lines) > 0; lines, captures = lines[bytes:], captures[Side:] {
		c.load(&codes, lines)
		for i := range codes {
			if known := swar.NonZero(codes[i] ^ zeros); known != swar.Highs {
				swar.Store(captures[i*tile:], swar.Load(captures[i*tile:])&(known>>7*0xff))
			}
		}
	}
}
