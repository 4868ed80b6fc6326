//go:build !purego

#include "textflag.h"

// LOOK_UP replaces the rank at the given address by its symbol. symbol is the
// one before, shifted by R11, and then this one; what it has to wait for is one
// load and one shift.
#define LOOK_UP(at, back, symbol) \
	MOVBLZX back, R14;               \
	MOVBLZX at, R15;                 \
	IMULQ   stride+24(FP), R14;      \
	ADDQ    R10, R15;                \
	ADDQ    R15, R14;                \
	MOVBLZX (R14)(symbol*1), symbol; \
	MOVB    symbol, at;              \
	SHLXQ   R11, symbol, symbol

// FIRST sets symbol to the last one that is known, shifted.
#define FIRST(at, symbol) \
	MOVBLZX at, symbol; \
	SHLXQ   R11, symbol, symbol

// func lookUp(block *byte, m int, cells *byte, stride, shift uint)
//
// DI place in lane 0, R8 m, R9 3m, R12 5m, R10 cells, R11 shift, AX, BX, CX, DX,
// SI, R13 symbols of the lanes. The end of lane 0 takes the place of block, for
// there are no more registers.
TEXT ·lookUp(SB), NOSPLIT, $0-40
	MOVQ block+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ cells+16(FP), R10
	MOVQ shift+32(FP), R11
	LEAQ (DI)(R8*1), AX
	MOVQ AX, block+0(FP)
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R12
	ADDQ $3, DI
	FIRST(-1(DI), AX)
	FIRST(-1(DI)(R8*1), BX)
	FIRST(-1(DI)(R8*2), CX)
	FIRST(-1(DI)(R9*1), DX)
	FIRST(-1(DI)(R8*4), SI)
	FIRST(-1(DI)(R12*1), R13)

step:
	LOOK_UP((DI), -3(DI), AX)
	LOOK_UP((DI)(R8*1), -3(DI)(R8*1), BX)
	LOOK_UP((DI)(R8*2), -3(DI)(R8*2), CX)
	LOOK_UP((DI)(R9*1), -3(DI)(R9*1), DX)
	LOOK_UP((DI)(R8*4), -3(DI)(R8*4), SI)
	LOOK_UP((DI)(R12*1), -3(DI)(R12*1), R13)
	INCQ DI
	CMPQ DI, block+0(FP)
	JNE  step
	RET
