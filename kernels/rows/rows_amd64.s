//go:build !purego

#include "textflag.h"

// func countDiffWords(a, b []int8) int
TEXT ·countDiffWords(SB), NOSPLIT, $0-56
	MOVQ a_base+0(FP), DI
	MOVQ a_len+8(FP), CX
	MOVQ b_base+24(FP), SI
	XORQ R8, R8
	MOVQ CX, DX
	ANDQ $63, DX
	SHRQ $6, CX
	JZ   diffRest

diffWord:
	VMOVDQU64 (SI), Z0
	VPCMPB    $4, (DI), Z0, K1 // 4: not equal
	KMOVQ     K1, AX
	POPCNTQ   AX, AX
	ADDQ      AX, R8
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      CX
	JNZ       diffWord

diffRest:
	TESTQ      DX, DX
	JZ         diffDone
	MOVQ       $-1, AX
	BZHIQ      DX, AX, AX
	KMOVQ      AX, K1
	VMOVDQU8.Z (SI), K1, Z0
	VMOVDQU8.Z (DI), K1, Z1
	VPCMPB     $4, Z1, Z0, K1
	KMOVQ      K1, AX
	POPCNTQ    AX, AX
	ADDQ       AX, R8

diffDone:
	VZEROUPPER
	MOVQ R8, ret+48(FP)
	RET

// func minBlocks(dst, a *int8, blocks int)
TEXT ·minBlocks(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ blocks+16(FP), CX

minBlock:
	VMOVDQU (SI), Y0
	VPMINSB (DI), Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     minBlock
	VZEROUPPER
	RET

// func countDiffBlocks(a, b *int8, blocks int) int
TEXT ·countDiffBlocks(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ blocks+16(FP), CX

	// Count the equal ones, and subtract from all.
	MOVQ CX, R8
	SHLQ $5, R8

diffBlock:
	VMOVDQU   (SI), Y0
	VPCMPEQB  (DI), Y0, Y0
	VPMOVMSKB Y0, AX
	POPCNTL   AX, AX
	SUBQ      AX, R8
	ADDQ      $32, SI
	ADDQ      $32, DI
	DECQ      CX
	JNZ       diffBlock
	VZEROUPPER
	MOVQ      R8, ret+24(FP)
	RET
