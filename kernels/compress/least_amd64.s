//go:build !purego

#include "textflag.h"

// VPCOMPRESSB goes from register to register and a plain store follows: the
// form with a destination in memory is microcode on Zen 4, and many times
// slower. The store writes a whole register, and the next one overwrites what
// was too much.

// Offsets of the fields of Pick and Mask.
#define PICK_SRC   0
#define PICK_MASK  24
#define PICK_FIRST 32
#define PICK_SIZE  40
#define MASK_REACH 0
#define MASK_WORDS 8
#define MASK_QUIET 24
#define MASK_SKIP  48

// AHEAD is how many picks ahead rows are fetched: a pick takes some 15 ns,
// memory 100 ns.
#define AHEAD 8

// func pickRows(scratch *int8, stride int, picks *Pick, n, all int)
//
// R8 the next row of scratch, R9 stride, R10 pick, R11 picks left, R14 picks
// that can be fetched, DI output, SI source, R12 reach, R13 quiet, CX words left
// but the last.
TEXT ·pickRows(SB), NOSPLIT, $0-40
	MOVQ         scratch+0(FP), R8
	MOVQ         stride+8(FP), R9
	MOVQ         picks+16(FP), R10
	MOVQ         n+24(FP), R11
	MOVQ         all+32(FP), R14
	SUBQ         $AHEAD, R14
	MOVL         $127, AX
	VPBROADCASTB AX, Z0

pick:
	CMPQ R14, $0
	JLE  fetched
	DECQ R14
	MOVQ (PICK_MASK+AHEAD*PICK_SIZE)(R10), BX
	MOVQ (PICK_SRC+AHEAD*PICK_SIZE)(R10), SI
	MOVQ MASK_SKIP(BX), AX
	MOVQ MASK_WORDS(BX), CX
	SHLQ $6, AX
	ADDQ AX, SI
	TESTQ CX, CX
	JZ   fetched

fetch:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	DECQ CX
	JNZ  fetch

fetched:
	MOVQ   PICK_MASK(R10), BX
	MOVQ   PICK_SRC(R10), SI
	CMPB   PICK_FIRST(R10), $0
	JEQ    goOn
	MOVQ   R8, DI
	ADDQ   R9, R8

goOn:
	MOVQ MASK_SKIP(BX), AX
	MOVQ MASK_REACH(BX), R12
	MOVQ MASK_QUIET(BX), R13
	MOVQ MASK_WORDS(BX), CX
	SHLQ $6, AX
	ADDQ AX, SI
	SUBQ $1, CX
	JLT  next
	JEQ  last

word:
	MOVQ        (R12), AX
	KMOVQ       (R12), K1
	KMOVQ       (R13), K2
	VPBLENDMB   (SI), Z0, K2, Z1
	VPCOMPRESSB Z1, K1, Z1
	POPCNTQ     AX, AX
	VMOVDQU8    Z1, (DI)
	ADDQ        AX, DI
	ADDQ        $8, R12
	ADDQ        $8, R13
	ADDQ        $64, SI
	DECQ        CX
	JNZ         word

last:
	// The row may end inside the last word: only what counts is read.
	MOVQ        (R12), AX
	KMOVQ       (R12), K1
	KMOVQ       (R13), K2
	KANDQ       K1, K2, K2
	VMOVDQA64   Z0, Z1
	VMOVDQU8    (SI), K2, Z1
	VPCOMPRESSB Z1, K1, Z1
	POPCNTQ     AX, AX
	VMOVDQU8    Z1, (DI)
	ADDQ        AX, DI

next:
	ADDQ $PICK_SIZE, R10
	DECQ R11
	JNZ  pick
	VZEROUPPER
	RET

// func minRows(dst, offers *int8, n int, scratch *int8, stride, rows int, next *int8)
//
// DI dst, SI offers, CX scores left, R8 scratch, R9 stride, R10 rows, DX row,
// BX rows left, R11 next.
TEXT ·minRows(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ offers+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ scratch+24(FP), R8
	MOVQ stride+32(FP), R9
	MOVQ rows+40(FP), R10
	MOVQ next+48(FP), R11
	CMPQ CX, $64
	JLT  rest

chunk:
	PREFETCHT0 (R11)
	VMOVDQU64 (SI), Z1
	MOVQ      R8, DX
	MOVQ      R10, BX

row:
	VPMINSB (DX), Z1, Z1
	ADDQ    R9, DX
	DECQ    BX
	JNZ     row
	VMOVDQU64 Z1, (DI)
	ADDQ    $64, R11
	ADDQ    $64, R8
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $64, CX
	CMPQ    CX, $64
	JGE     chunk

rest:
	PREFETCHT0 (R11)
	TESTQ    CX, CX
	JZ       done
	MOVQ     $-1, AX
	BZHIQ    CX, AX, AX
	KMOVQ    AX, K1
	VMOVDQU8.Z (SI), K1, Z1

restRow:
	VPMINSB  (R8), Z1, Z1
	ADDQ     R9, R8
	DECQ     R10
	JNZ      restRow
	VMOVDQU8 Z1, K1, (DI)

done:
	VZEROUPPER
	RET
