package crew

import (
	"context"

	"resenje.org/singleflight"
)

// Shared is work that is done once for all who want it at the same time, named by keys. The zero
// value is ready.
type Shared[K comparable, V any] struct {
	group singleflight.Group[K, V]
}

// Do calls work in a goroutine of its own, unless it is at work for another caller with the same
// key, and returns what it returns; a panic is a *PanicError. Each caller waits no longer than its
// own ctx, and fails with the error of that. The context of work has the values of the first
// caller's, and ends when nobody waits any more.
func (s *Shared[K, V]) Do(ctx context.Context, key K, work func(ctx context.Context) (V, error)) (V, error) {
	value, _, err := s.group.Do(ctx, key, func(ctx context.Context) (value V, err error) {
		err = Run(func() (err error) {
			value, err = work(ctx)
			return err
		})
		return value, err
	})
	return value, err
}
