//go:build !purego

#include "textflag.h"

// A square of 16 x 16 bytes is transposed by four equal stages of zipping. Call the bits of a
// byte's address, row above column, r3 r2 r1 r0 c3 c2 c1 c0: four bits for the register and four
// for the byte in it. Zipping registers k and k+8 to registers 2k (low half) and 2k+1
// (high half) for all k < 8 rotates these eight bits left by one. After four stages row and
// column are exchanged.

// STAGE_UP and STAGE_DOWN are one stage for V0-V15, to V16-V31 and back.
#define STAGE_UP \
	VZIP1 V8.B16, V0.B16, V16.B16;  \
	VZIP2 V8.B16, V0.B16, V17.B16;  \
	VZIP1 V9.B16, V1.B16, V18.B16;  \
	VZIP2 V9.B16, V1.B16, V19.B16;  \
	VZIP1 V10.B16, V2.B16, V20.B16; \
	VZIP2 V10.B16, V2.B16, V21.B16; \
	VZIP1 V11.B16, V3.B16, V22.B16; \
	VZIP2 V11.B16, V3.B16, V23.B16; \
	VZIP1 V12.B16, V4.B16, V24.B16; \
	VZIP2 V12.B16, V4.B16, V25.B16; \
	VZIP1 V13.B16, V5.B16, V26.B16; \
	VZIP2 V13.B16, V5.B16, V27.B16; \
	VZIP1 V14.B16, V6.B16, V28.B16; \
	VZIP2 V14.B16, V6.B16, V29.B16; \
	VZIP1 V15.B16, V7.B16, V30.B16; \
	VZIP2 V15.B16, V7.B16, V31.B16

#define STAGE_DOWN \
	VZIP1 V24.B16, V16.B16, V0.B16;  \
	VZIP2 V24.B16, V16.B16, V1.B16;  \
	VZIP1 V25.B16, V17.B16, V2.B16;  \
	VZIP2 V25.B16, V17.B16, V3.B16;  \
	VZIP1 V26.B16, V18.B16, V4.B16;  \
	VZIP2 V26.B16, V18.B16, V5.B16;  \
	VZIP1 V27.B16, V19.B16, V6.B16;  \
	VZIP2 V27.B16, V19.B16, V7.B16;  \
	VZIP1 V28.B16, V20.B16, V8.B16;  \
	VZIP2 V28.B16, V20.B16, V9.B16;  \
	VZIP1 V29.B16, V21.B16, V10.B16; \
	VZIP2 V29.B16, V21.B16, V11.B16; \
	VZIP1 V30.B16, V22.B16, V12.B16; \
	VZIP2 V30.B16, V22.B16, V13.B16; \
	VZIP1 V31.B16, V23.B16, V14.B16; \
	VZIP2 V31.B16, V23.B16, V15.B16

// LOAD and STORE move 16 bytes each of four rows, R2 bytes apart.
#define LOAD(a, b, c, d) \
	VLD1.P (R4)(R2), [a.B16]; \
	VLD1.P (R4)(R2), [b.B16]; \
	VLD1.P (R4)(R2), [c.B16]; \
	VLD1.P (R4)(R2), [d.B16]
#define STORE(a, b, c, d) \
	VST1.P [a.B16], (R5)(R2); \
	VST1.P [b.B16], (R5)(R2); \
	VST1.P [c.B16], (R5)(R2); \
	VST1.P [d.B16], (R5)(R2)

// func turnNEON(dst, src *Block, rows uint64)
//
// R0 dst and R1 src, of 16 rows, R3 rows, all from the next 16 rows on; R2 the distance of rows
// and columns, R4 columns, R5 rows of a square, R6 the next square, R7 squares of 16 left in
// the rows, R8 rows of squares left.
TEXT ·turnNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rows+16(FP), R3
	MOVD $64, R2
	MOVD $4, R8

squares:
	TST  $0xffff, R3
	BEQ  next
	MOVD R1, R4
	MOVD R0, R6
	MOVD $4, R7

square:
	MOVD R6, R5
	LOAD(V0, V1, V2, V3)
	LOAD(V4, V5, V6, V7)
	LOAD(V8, V9, V10, V11)
	LOAD(V12, V13, V14, V15)
	STAGE_UP
	STAGE_DOWN
	STAGE_UP
	STAGE_DOWN
	STORE(V0, V1, V2, V3)
	STORE(V4, V5, V6, V7)
	STORE(V8, V9, V10, V11)
	STORE(V12, V13, V14, V15)
	ADD  $16, R6
	SUBS $1, R7, R7
	BNE  square

next:
	LSR  $16, R3, R3
	ADD  $16, R1
	ADD  $1024, R0
	SUBS $1, R8, R8
	BNE  squares
	RET

// func updateColumn(lines, column *int8, rows uint64) uint64
//
// R0 lines, R1 column, R2 rows left, R3 result, R4 row, R5 where its score is.
TEXT ·updateColumn(SB), NOSPLIT, $0-32
	MOVD lines+0(FP), R0
	MOVD column+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD ZR, R3
	MOVD $1, R9

score:
	RBIT  R2, R4
	CLZ   R4, R4
	ADD   R4<<6, R0, R5
	MOVBU (R1)(R4), R6
	MOVBU (R5), R7
	ADD   R6, R7, R7
	TST   $255, R7
	BNE   differs

nextScore:
	SUB  $1, R2, R8
	ANDS R8, R2, R2
	BNE  score
	MOVD R3, ret+24(FP)
	RET

differs:
	NEG  R6, R6
	MOVB R6, (R5)
	LSL  R4, R9, R8
	ORR  R8, R3, R3
	JMP  nextScore

// func replaceNEON(lines *int8, rows uint64, block *Block, columns *[64]int8, changed *[64]uint64) uint64
//
// R0 lines, R1 rows left, R2 block, V24-V27 columns, R4 changed, R5 result, R6 row, R7 its
// line, R8 its changes, V28 zero, V29 the bit of each byte of eight.
TEXT ·replaceNEON(SB), NOSPLIT, $0-48
	MOVD  lines+0(FP), R0
	MOVD  rows+8(FP), R1
	MOVD  block+16(FP), R2
	MOVD  columns+24(FP), R3
	VLD1  (R3), [V24.B16, V25.B16, V26.B16, V27.B16]
	MOVD  changed+32(FP), R4
	MOVD  ZR, R5
	VMOVI $0, V28.B16
	VMOVQ $0x8040201008040201, $0x8040201008040201, V29
	MOVD  $1, R10

line:
	RBIT R1, R6
	CLZ  R6, R6
	ADD  R6<<6, R0, R7
	ADD  R6<<6, R2, R8
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	VLD1 (R7), [V0.B16, V1.B16, V2.B16, V3.B16]
	VSUB V4.B16, V28.B16, V4.B16
	VSUB V5.B16, V28.B16, V5.B16
	VSUB V6.B16, V28.B16, V6.B16
	VSUB V7.B16, V28.B16, V7.B16
	VEOR V0.B16, V4.B16, V4.B16
	VEOR V1.B16, V5.B16, V5.B16
	VEOR V2.B16, V6.B16, V6.B16
	VEOR V3.B16, V7.B16, V7.B16
	VAND V24.B16, V4.B16, V4.B16
	VAND V25.B16, V5.B16, V5.B16
	VAND V26.B16, V6.B16, V6.B16
	VAND V27.B16, V7.B16, V7.B16
	VCMTST V4.B16, V4.B16, V8.B16
	VCMTST V5.B16, V5.B16, V9.B16
	VCMTST V6.B16, V6.B16, V10.B16
	VCMTST V7.B16, V7.B16, V11.B16
	VAND V29.B16, V8.B16, V8.B16
	VAND V29.B16, V9.B16, V9.B16
	VAND V29.B16, V10.B16, V10.B16
	VAND V29.B16, V11.B16, V11.B16
	VADDP V9.B16, V8.B16, V8.B16
	VADDP V11.B16, V10.B16, V10.B16
	VADDP V10.B16, V8.B16, V8.B16
	VADDP V8.B16, V8.B16, V8.B16
	FMOVD F8, R8
	CBZ  R8, same
	VEOR V4.B16, V0.B16, V0.B16
	VEOR V5.B16, V1.B16, V1.B16
	VEOR V6.B16, V2.B16, V2.B16
	VEOR V7.B16, V3.B16, V3.B16
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R7)
	MOVD R8, (R4)(R6<<3)
	LSL  R6, R10, R8
	ORR  R8, R5, R5

same:
	SUB  $1, R1, R8
	ANDS R8, R1, R1
	BNE  line
	MOVD R5, ret+40(FP)
	RET
