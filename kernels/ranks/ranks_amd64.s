//go:build !purego

#include "textflag.h"

// LOOK_UP replaces the rank at the given address by its symbol. symbol is the
// one before, shifted by R11, and then this one; what it has to wait for is one
// load and one shift.
#define LOOK_UP(at, back, symbol) \
	MOVBLZX back, SI;                \
	MOVBLZX at, R12;                 \
	SHLXQ   R13, SI, SI;             \
	ADDQ    R10, R12;                \
	ADDQ    SI, R12;                 \
	MOVBLZX (R12)(symbol*1), symbol; \
	MOVB    symbol, at;              \
	SHLXQ   R11, symbol, symbol

// FIRST sets symbol to the last one that is known, shifted.
#define FIRST(at, symbol) \
	MOVBLZX at, symbol; \
	SHLXQ   R11, symbol, symbol

// func lookUp(block *byte, m int, cells *byte, shift uint)
//
// DI place in lane 0, R8 m, R9 3m, R10 cells, R11 shift, R13 twice the shift,
// AX, BX, CX, DX symbols of the lanes, R14 steps left.
TEXT ·lookUp(SB), NOSPLIT, $0-32
	MOVQ block+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ cells+16(FP), R10
	MOVQ shift+24(FP), R11
	LEAQ (R8)(R8*2), R9
	LEAQ (R11)(R11*1), R13
	LEAQ -3(R8), R14
	ADDQ $3, DI
	FIRST(-1(DI), AX)
	FIRST(-1(DI)(R8*1), BX)
	FIRST(-1(DI)(R8*2), CX)
	FIRST(-1(DI)(R9*1), DX)

step:
	LOOK_UP((DI), -3(DI), AX)
	LOOK_UP((DI)(R8*1), -3(DI)(R8*1), BX)
	LOOK_UP((DI)(R8*2), -3(DI)(R8*2), CX)
	LOOK_UP((DI)(R9*1), -3(DI)(R9*1), DX)
	INCQ DI
	DECQ R14
	JNZ  step
	RET
