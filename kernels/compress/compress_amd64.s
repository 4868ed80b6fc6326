//go:build !purego

#include "textflag.h"

// VPCOMPRESSB goes from register to register and a plain store follows: the
// form with a destination in memory is microcode on Zen 4, and many times
// slower. The store writes a whole register where dst has the room, and the
// next one overwrites what was too much.

// func compressWords(dst, src []int8, reach, quiet []uint64) int
//
// DI dst, R11 the last n at which 64 bytes fit, SI src, R9 reach, R10 quiet,
// R8 words of reach that are full in src, R13 rest of the last word, BX word,
// R12 n.
TEXT ·compressWords(SB), NOSPLIT, $0-104
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), R11
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), R8
	MOVQ reach_base+48(FP), R9
	MOVQ reach_len+56(FP), CX
	MOVQ quiet_base+72(FP), R10
	SUBQ $64, R11
	XORQ BX, BX
	XORQ R12, R12

	MOVL         $127, AX
	VPBROADCASTB AX, Z0

	// A word of reach beyond the full words of src counts for the rest.
	MOVQ R8, R13
	ANDQ $63, R13
	SHRQ $6, R8
	CMPQ R8, CX
	JLT  start
	MOVQ CX, R8
	XORQ R13, R13

start:
	CMPQ BX, R8
	JGE  last

word:
	MOVQ        (R9)(BX*8), AX
	TESTQ       AX, AX
	JZ          next
	KMOVQ       AX, K1
	KMOVQ       (R10)(BX*8), K2
	VPBLENDMB   (SI), Z0, K2, Z1
	VPCOMPRESSB Z1, K1, Z1
	POPCNTQ     AX, AX
	CMPQ        R12, R11
	JGT         tight
	VMOVDQU8    Z1, (DI)(R12*1)
	ADDQ        AX, R12

next:
	ADDQ $64, SI
	INCQ BX
	CMPQ BX, R8
	JLT  word

last:
	MOVQ        $-1, DX
	BZHIQ       R13, DX, DX
	XORQ        R13, R13
	TESTQ       DX, DX
	JZ          done
	MOVQ        (R9)(BX*8), AX
	ANDQ        DX, AX
	KMOVQ       AX, K1
	MOVQ        (R10)(BX*8), CX
	ANDQ        AX, CX
	KMOVQ       CX, K2
	VMOVDQA64   Z0, Z1
	VMOVDQU8    (SI), K2, Z1
	VPCOMPRESSB Z1, K1, Z1
	POPCNTQ     AX, AX

tight:
	// Fewer than 64 bytes of room: write only what counts.
	LEAQ     64(R11), CX
	SUBQ     R12, CX
	CMPQ     AX, CX
	JGT      short
	MOVQ     $-1, DX
	BZHIQ    AX, DX, DX
	KMOVQ    DX, K2
	VMOVDQU8 Z1, K2, (DI)(R12*1)
	ADDQ     AX, R12
	JMP      next

done:
	VZEROUPPER
	MOVQ R12, ret+96(FP)
	RET

short:
	VZEROUPPER
	MOVQ $-1, ret+96(FP)
	RET

// GROUP compresses the eight positions from 8*(R8+i) on. With m for Blocked,
// (x^m)&quiet^m is x where quiet and m elsewhere.
#define GROUP(i) \
	MOVBLZX i(R9)(R8*1), AX;     \
	MOVBLZX i(R10)(R8*1), CX;    \
	MOVQ    8*i(SI)(R8*8), DX;   \
	XORQ    R13, DX;             \
	ANDQ    (R11)(CX*8), DX;     \
	XORQ    R13, DX;             \
	PEXTQ   (R11)(AX*8), DX, DX; \
	MOVQ    DX, (DI)(R12*1);     \
	POPCNTL AX, AX;              \
	ADDQ    AX, R12

// func compressBytes(dst, src []int8, reach, quiet []uint64, masks *[256]uint64) (p, n int)
//
// DI dst, SI src, R9 reach, R10 quiet, R11 masks, R13 eight times Blocked, R8 group of
// eight positions, R14 end of the groups, R12 n.
TEXT ·compressBytes(SB), NOSPLIT, $0-120
	MOVQ    dst_base+0(FP), DI
	MOVQ    src_base+24(FP), SI
	MOVQ    src_len+32(FP), R14
	MOVQ    reach_base+48(FP), R9
	MOVQ    reach_len+56(FP), AX
	MOVQ    quiet_base+72(FP), R10
	MOVQ    masks+96(FP), R11
	MOVQ    $0x7f7f7f7f7f7f7f7f, R13
	XORQ    R8, R8
	XORQ    R12, R12
	SHRQ    $3, R14
	SHLQ    $3, AX
	CMPQ    R14, AX
	CMOVQGT AX, R14

word:
	// Eight groups without further questions, if they fit.
	LEAQ 8(R8), AX
	CMPQ AX, R14
	JGT  careful
	CMPQ (R9)(R8*1), $0
	JEQ  skip
	LEAQ 64(R12), DX
	CMPQ DX, dst_len+8(FP)
	JGT  careful
	GROUP(0)
	GROUP(1)
	GROUP(2)
	GROUP(3)
	GROUP(4)
	GROUP(5)
	GROUP(6)
	GROUP(7)

skip:
	ADDQ $8, R8
	JMP  word

careful:
	CMPQ  R8, R14
	JGE   done
	LEAQ  8(R12), DX
	CMPQ  DX, dst_len+8(FP)
	JGT   done
	GROUP(0)
	INCQ  R8
	TESTQ $7, R8
	JNZ   careful
	JMP   word

done:
	SHLQ $3, R8
	MOVQ R8, p+104(FP)
	MOVQ R12, n+112(FP)
	RET
