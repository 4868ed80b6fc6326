//go:build !purego

#include "textflag.h"

// R8 is the number of bits of src that were used. Shifts take it modulo 64; where that is 0 the
// second word is shifted out by one more bit.

// func depositWords(dst, src, mask *uint64, count int)
TEXT ·depositWords(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask+16(FP), DX
	MOVQ count+24(FP), CX
	XORL R8, R8

word:
	MOVQ    R8, R9
	MOVQ    R8, R12
	SHRQ    $6, R9
	NOTQ    R12
	SHRXQ   R8, (SI)(R9*8), R10
	SHLXQ   R12, 8(SI)(R9*8), R11
	ADDQ    R11, R11
	MOVQ    (DX), R13
	ORQ     R11, R10
	PDEPQ   R13, R10, R10
	POPCNTQ R13, R13
	MOVQ    R10, (DI)
	ADDQ    R13, R8
	ADDQ    $8, DX
	ADDQ    $8, DI
	DECQ    CX
	JNZ     word
	RET

// R8 is how many bits of the word of dst in R10 there are, below 64. That word is stored each time; where it is
// full, the bits that are left over begin the next one.

// func extractWords(dst, src, mask *uint64, count int)
TEXT ·extractWords(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask+16(FP), DX
	MOVQ count+24(FP), CX
	XORL R8, R8
	XORL R10, R10

word:
	MOVQ    (DX), R13
	MOVQ    (SI), R9
	MOVQ    R8, R12
	PEXTQ   R13, R9, R9
	POPCNTQ R13, R13
	NOTQ    R12
	SHLXQ   R8, R9, R11
	SHRQ    $1, R9
	ORQ     R11, R10
	SHRXQ   R12, R9, R9
	ADDQ    R13, R8
	MOVQ    R10, (DI)
	MOVQ    R8, R12
	CMPQ    R8, $64
	CMOVQCC R9, R10
	SHRQ    $6, R12
	ANDQ    $63, R8
	LEAQ    (DI)(R12*8), DI
	ADDQ    $8, DX
	ADDQ    $8, SI
	DECQ    CX
	JNZ     word
	MOVQ    R10, (DI)
	RET
