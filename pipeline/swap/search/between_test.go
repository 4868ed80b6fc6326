package search

import "time"

func init() { between = 10 * time.Millisecond }
