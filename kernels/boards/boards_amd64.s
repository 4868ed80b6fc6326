//go:build !purego

#include "textflag.h"

// NEXT replaces a bit vector in AX by the next one. With l the lowest one of x, x + l moves
// the end of the lowest run of ones up by one, and the rest of the run goes back to the
// right end: x ^ (x + l) is the run with one more one on its left.
#define NEXT \
	BLSIQ  AX, BX; \
	TZCNTQ AX, R10; \
	ADDQ   AX, BX; \
	XORQ   BX, AX; \
	SHRXQ  R10, AX, AX; \
	SHRQ   $2, AX; \
	ORQ    BX, AX

// func iterateGaps(boards *uint8, count, pits int, x, top uint64) uint64
TEXT ·iterateGaps(SB), NOSPLIT, $0-48
	MOVQ boards+0(FP), DI
	MOVQ count+8(FP), CX
	MOVQ pits+16(FP), DX
	MOVQ x+24(FP), AX
	MOVQ top+32(FP), R9
	ADDQ DX, DI
	NEGQ DX

board:
	MOVQ AX, SI
	ORQ  R9, SI
	MOVQ DX, R8
	NEXT

pit:
	TZCNTQ SI, BX
	SHRXQ  BX, SI, SI
	SHRQ   $1, SI
	MOVB   BX, (DI)(R8*1)
	INCQ   R8
	JNZ    pit
	SUBQ   DX, DI
	DECQ   CX
	JNZ    board
	MOVQ   AX, ret+40(FP)
	RET

// The numbers of the bits of a word.
DATA numbers<>+0x00(SB)/8, $0x0706050403020100
DATA numbers<>+0x08(SB)/8, $0x0f0e0d0c0b0a0908
DATA numbers<>+0x10(SB)/8, $0x1716151413121110
DATA numbers<>+0x18(SB)/8, $0x1f1e1d1c1b1a1918
DATA numbers<>+0x20(SB)/8, $0x2726252423222120
DATA numbers<>+0x28(SB)/8, $0x2f2e2d2c2b2a2928
DATA numbers<>+0x30(SB)/8, $0x3736353433323130
DATA numbers<>+0x38(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL numbers<>(SB), RODATA|NOPTR, $64

// func iterateOnes(boards *uint8, count, pits int, x, top uint64) uint64
TEXT ·iterateOnes(SB), NOSPLIT, $0-48
	MOVQ       boards+0(FP), DI
	MOVQ       count+8(FP), CX
	MOVQ       pits+16(FP), DX
	MOVQ       x+24(FP), AX
	MOVQ       top+32(FP), R9
	VMOVDQU64  numbers<>(SB), Z31
	VPTERNLOGD $0xff, X30, X30, X30 // -1 in every byte

board:
	MOVQ          AX, SI
	ORQ           R9, SI
	KMOVQ         SI, K1
	VPCOMPRESSB.Z Z31, K1, Z0
	VPALIGNR      $15, X30, X0, X1 // the one before each; -1 before the first
	VPSUBB        X1, X0, X0
	VPADDB        X30, X0, X0
	VMOVDQU       X0, (DI)
	NEXT
	ADDQ          DX, DI
	DECQ          CX
	JNZ           board
	MOVQ          AX, ret+40(FP)
	VZEROUPPER
	RET

// func rankSums(ranks *uint64, boards *uint8, count, pits int, binomials *[16][maxBits]uint64)
//
// R9 is the entry of the increasing vector, BX the rank so far.
TEXT ·rankSums(SB), NOSPLIT, $0-40
	MOVQ ranks+0(FP), DI
	MOVQ boards+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ pits+24(FP), DX
	LEAQ -1(SI)(DX*1), SI // the last pit
	MOVQ DX, R10
	NEGQ R10
	INCQ R10

board:
	MOVQ binomials+32(FP), R8
	MOVQ R10, R11
	MOVQ $-1, R9
	XORL BX, BX

pit:
	MOVBLZX (SI)(R11*1), AX
	LEAQ    1(R9)(AX*1), R9
	ADDQ    (R8)(R9*8), BX
	ADDQ    $512, R8
	INCQ    R11
	JNZ     pit
	MOVQ    BX, (DI)
	ADDQ    DX, SI
	ADDQ    $8, DI
	DECQ    CX
	JNZ     board
	RET

#define BROADCAST(value, to) \
	MOVQ         value, AX; \
	VPBROADCASTQ AX, to

#define BLOCK(b) \
	VPCMPUQ.BCST $5, (8*b)(R8), Z0, K1; \
	VPADDQ       Z30, Z4, K1, Z4

#define PLACE(j) \
	VPERMQ    (64*j)(R8), Z4, Z7; \
	VPCMPUQ   $5, Z7, Z0, K1; \
	VMOVDQA64 Z7, K1, Z6; \
	VPADDQ    Z30, Z5, K1, Z5

// func unrankEights(boards *uint8, ranks *uint64, groups, pits, above int, strided *[16][8][8]uint64)
//
// Z0 holds what is left of eight ranks, Z1 the last entries found of their increasing
// vectors, Z2 and Z3 pits 0-7 and 8-15. Of the binomials of a pit, Z4 is the block of the
// largest that is not above the rank, Z5 its number, Z6 itself.
TEXT ·unrankEights(SB), NOSPLIT, $0-48
	MOVQ boards+0(FP), DI
	MOVQ ranks+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ pits+24(FP), DX
	LEAQ (DX)(DX*2), R12 // three boards
	LEAQ (DX)(DX*4), R13 // five boards
	LEAQ (R12)(DX*4), R11 // seven boards
	BROADCAST($1, Z30)
	VPBROADCASTQ above+32(FP), Z29
	LEAQ         -2(DX), R10
	SHLQ         $9, R10
	ADDQ         strided+40(FP), R10

group:
	VMOVDQU64 (SI), Z0
	VMOVDQA64 Z29, Z1
	VPXORQ    Z2, Z2, Z2
	VPXORQ    Z3, Z3, Z3
	MOVQ      R10, R8
	LEAQ      -1(DX), R9

pit:
	VPXORQ    Z4, Z4, Z4
	BLOCK(1)
	BLOCK(2)
	BLOCK(3)
	BLOCK(4)
	BLOCK(5)
	BLOCK(6)
	BLOCK(7)
	VPSLLQ    $3, Z4, Z5
	VPERMQ    (R8), Z4, Z6
	PLACE(1)
	PLACE(2)
	PLACE(3)
	PLACE(4)
	PLACE(5)
	PLACE(6)
	PLACE(7)
	VPSUBQ    Z6, Z0, Z0
	VPSUBQ    Z5, Z1, Z1
	VPSUBQ    Z30, Z1, Z1 // the pit
	CMPQ      R9, $8
	JGE       high
	VPSLLQ    $8, Z2, Z2
	VPORQ     Z1, Z2, Z2
	JMP       found

high:
	VPSLLQ $8, Z3, Z3
	VPORQ  Z1, Z3, Z3

found:
	VMOVDQA64 Z5, Z1
	SUBQ      $512, R8
	DECQ      R9
	JNZ       pit

	VPSLLQ         $8, Z2, Z2
	VPORQ          Z1, Z2, Z2
	VPUNPCKLQDQ    Z3, Z2, Z4 // boards 0, 2, 4, 6
	VPUNPCKHQDQ    Z3, Z2, Z5 // boards 1, 3, 5, 7
	VMOVDQU        X4, (DI)
	VMOVDQU        X5, (DI)(DX*1)
	VEXTRACTI64X2  $1, Z4, (DI)(DX*2)
	VEXTRACTI64X2  $1, Z5, (DI)(R12*1)
	VEXTRACTI64X2  $2, Z4, (DI)(DX*4)
	VEXTRACTI64X2  $2, Z5, (DI)(R13*1)
	VEXTRACTI64X2  $3, Z4, (DI)(R12*2)
	VEXTRACTI64X2  $3, Z5, (DI)(R11*1)
	LEAQ           (DI)(DX*8), DI
	ADDQ           $64, SI
	DECQ           CX
	JNZ            group
	VZEROUPPER
	RET
