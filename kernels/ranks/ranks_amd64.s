//go:build !purego

#include "textflag.h"

// LOOK_UP replaces the rank at the given address by its symbol. symbol is the
// one before, and then this one; all it has to wait for is one load.
#define LOOK_UP(at, back, symbol) \
	MOVBLZX back, R14;               \
	MOVBLZX at, R15;                 \
	IMULQ   R12, R14;                \
	MOVL    (R11)(R15*4), R15;       \
	ADDQ    R10, R14;                \
	ADDQ    R15, R14;                \
	MOVBLZX (R14)(symbol*8), symbol; \
	MOVB    symbol, at

// func lookUp(block *byte, m int, cells *byte, stride uint, offsets *[256]uint32)
//
// DI place in lane 0, R9 in lane 3, R8 m, R10 cells, R11 offsets, R12 stride, AX, BX, CX, DX,
// SI, R13 symbols of the lanes. The end of lane 0 takes the place of block, for
// there are no more registers.
TEXT ·lookUp(SB), NOSPLIT, $0-40
	MOVQ block+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ cells+16(FP), R10
	MOVQ stride+24(FP), R12
	MOVQ offsets+32(FP), R11
	LEAQ (DI)(R8*1), AX
	MOVQ AX, block+0(FP)
	ADDQ $3, DI
	LEAQ (R8)(R8*2), R9
	ADDQ DI, R9
	MOVBLZX -1(DI), AX
	MOVBLZX -1(DI)(R8*1), BX
	MOVBLZX -1(DI)(R8*2), CX
	MOVBLZX -1(R9), DX
	MOVBLZX -1(R9)(R8*1), SI
	MOVBLZX -1(R9)(R8*2), R13

step:
	LOOK_UP((DI), -3(DI), AX)
	LOOK_UP((DI)(R8*1), -3(DI)(R8*1), BX)
	LOOK_UP((DI)(R8*2), -3(DI)(R8*2), CX)
	LOOK_UP((R9), -3(R9), DX)
	LOOK_UP((R9)(R8*1), -3(R9)(R8*1), SI)
	LOOK_UP((R9)(R8*2), -3(R9)(R8*2), R13)
	INCQ DI
	INCQ R9
	CMPQ DI, block+0(FP)
	JNE  step
	RET

// RANK writes the rank of the score at SI+at to DI+at. AX is what the score before adds to the place of ranks, far what
// the one three back adds; they become what this one adds.
#define RANK(at, far) \
	MOVBQSX at(SI), R13;       \
	ADDQ    far, AX;           \
	ADDQ    R13, AX;           \
	MOVBLZX (R10)(AX*1), R14;  \
	MOVB    R14, at(DI);       \
	MOVQ    R13, far;          \
	IMULQ   R12, far;          \
	SHLXQ   R11, R13, AX

// func rankLane(dst, src *byte, n int, cells *byte, stride, shift uint, low int8)
//
// R8 scores left, R10 the place of the rank of score 0 after scores of 0, R11 shift, R12 stride. BX, CX and DX take turns
// as far.
TEXT ·rankLane(SB), NOSPLIT, $0-49
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    n+16(FP), R8
	MOVQ    cells+24(FP), R10
	MOVQ    stride+32(FP), R12
	MOVQ    shift+40(FP), R11
	MOVBQSX low+48(FP), R13
	MOVQ    R13, BX
	IMULQ   R12, BX
	SHLXQ   R11, R13, AX
	SUBQ    BX, R10
	SUBQ    AX, R10
	SUBQ    R13, R10
	MOVQ    BX, CX
	MOVQ    BX, DX
	SUBQ    $3, R8
	JLT     fewer

three:
	RANK(0, BX)
	RANK(1, CX)
	RANK(2, DX)
	ADDQ $3, SI
	ADDQ $3, DI
	SUBQ $3, R8
	JGE  three

fewer:
	ADDQ $3, R8
	JEQ  done
	RANK(0, BX)
	DECQ R8
	JEQ  done
	RANK(1, CX)

done:
	RET
