package halfboard

import (
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// What rooms define and users of an engine need.
type (
	Lower    = board.Lower
	Below    = stream.Below
	Kept     = fixpoint.Kept
	Progress = fixpoint.Progress
	Stage    = fixpoint.Stage
	Stats    = fixpoint.Stats
	Traffic  = fixpoint.Traffic
)

// The stages, in order.
const (
	CaptureStage = fixpoint.CaptureStage
	DenseStage   = fixpoint.DenseStage
	SparseStage  = fixpoint.SparseStage
	FullStage    = fixpoint.FullStage
	Stages       = fixpoint.Stages
)
