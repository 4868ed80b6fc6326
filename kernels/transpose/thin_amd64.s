//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// LOOK_UP_256 looks codes x up in a table of four parts: y. Codes of K, those with a sign, are in
// the last two. z is scratch.
#define LOOK_UP_256(x, K, a, b, c, d, y, z) \
	VPMOVB2M  x, K;    \
	VMOVDQA64 x, y;    \
	VMOVDQA64 x, z;    \
	VPERMI2B  b, a, y; \
	VPERMI2B  d, c, z; \
	VMOVDQU8  z, K, y

// func replaceThinAVX512(lines *int8, rows uint64, block *Block, columns uint64, h *thinHeights, changed *[64]uint64) uint64
//
// DI lines, CX rows left, BX row, R9 its mask, R10 its codes, SI block, R12 columns, DX changed, AX
// result; Z16-Z25 heights.
TEXT ·replaceThinAVX512(SB), NOSPLIT, $0-56
	MOVQ            lines+0(FP), DI
	MOVQ            rows+8(FP), CX
	MOVQ            block+16(FP), SI
	MOVQ            columns+24(FP), R12
	MOVQ            h+32(FP), R11
	MOVQ            changed+40(FP), DX
	XORQ            AX, AX
	MOVQ            $-1, R14
	VMOVDQU64       thinHeights_negated(R11), Z16
	VMOVDQU64       (thinHeights_negated+64)(R11), Z17
	VMOVDQU64       (thinHeights_negated+128)(R11), Z18
	VMOVDQU64       (thinHeights_negated+192)(R11), Z19
	VMOVDQU64       thinHeights_floor(R11), Z20
	VMOVDQU64       (thinHeights_floor+64)(R11), Z21
	VMOVDQU64       (thinHeights_floor+128)(R11), Z22
	VMOVDQU64       (thinHeights_floor+192)(R11), Z23
	VMOVDQU64       thinHeights_first(R11), Z24
	VBROADCASTI32X4 thinHeights_middle(R11), Z25

line:
	TZCNTQ  CX, BX
	LEAQ    (BX)(BX*4), R10
	MOVQ    (DI)(R10*2), R9
	MOVQ    R9, R13
	ANDQ    R12, R13
	JZ      same
	MOVWLZX 8(DI)(R10*2), R10
	ADDQ    DI, R10
	KMOVQ   R13, K1
	KMOVQ   R9, K4
	POPCNTQ R9, R13
	BZHIQ   R13, R14, R13
	KMOVQ   R13, K5
	MOVQ    BX, R8
	SHLQ    $6, R8

	// Z0 has the codes in their places, Z2 the heights of the scores, Z4 of the floors, Z3
	// the new codes.
	VMOVDQU8.Z  (R10), K5, Z0
	VPEXPANDB.Z Z0, K4, Z0
	VMOVDQU64   (SI)(R8*1), Z1
	LOOK_UP_256(Z1, K2, Z16, Z17, Z18, Z19, Z2, Z3)
	LOOK_UP_256(Z0, K3, Z20, Z21, Z22, Z23, Z4, Z5)
	VPMAXUB     Z4, Z2, Z2
	VPCMPUB     $2, Z25, Z2, K2
	VPERMB      Z24, Z2, Z3
	VPADDB      Z4, Z3, K2, Z3
	VPCMPUB     $4, Z0, Z3, K1, K3
	KMOVQ       K3, R8
	TESTQ       R8, R8
	JZ          same
	VMOVDQU8      Z3, K3, Z0
	VPCOMPRESSB.Z Z0, K4, Z0
	VMOVDQU8      Z0, K5, (R10)
	MOVQ          R8, (DX)(BX*8)
	BTSQ          BX, AX

same:
	BLSRQ CX, CX
	JNZ   line
	VZEROUPPER
	MOVQ  AX, ret+48(FP)
	RET
