//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// firstTwo takes from byte 0 eight times and from byte 1 eight times.
DATA ·firstTwo+0(SB)/8, $0x0000000000000000
DATA ·firstTwo+8(SB)/8, $0x0101010101010101
GLOBL ·firstTwo(SB), RODATA|NOPTR, $16

// threes has the codes of 3 bits by their parts, and partsOfThrees their parts as lines store them: as
// shared.Threes.
DATA ·threes+0(SB)/8, $0x0504030207060100
DATA ·threes+8(SB)/8, $0x0504030207060100
GLOBL ·threes(SB), RODATA|NOPTR, $16
DATA ·partsOfThrees+0(SB)/8, $0x0302838281800100
DATA ·partsOfThrees+8(SB)/8, $0x0302838281800100
GLOBL ·partsOfThrees(SB), RODATA|NOPTR, $16

// REPLACE updates lines by the given steps, row by row: R0 lines, R1 rows left, R2 block, R4
// changed, R5 result, R6 row, R7 its line, R8 the row of the block and then the changes. V24-V27
// are columns, V28 is the height of 0, V29 the bit of each byte of eight, V30 a mask of a code, or
// of the low bits of 6, V31 the mask of its high bits; V12-V15 and V16-V23 are tables. V0-V3
// are the codes of a line, in rows of 16, V4-V7 the least codes.
#define REPLACE(tables, mask, load, next, store, bytes) \
	MOVD  lines+0(FP), R0;                               \
	MOVD  rows+8(FP), R1;                                \
	MOVD  block+16(FP), R2;                              \
	MOVD  columns+24(FP), R3;                            \
	VLD1  (R3), [V24.B16, V25.B16, V26.B16, V27.B16];    \
	MOVD  h+32(FP), R3;                                  \
	tables;                                              \
	ADD   $heights_middle, R3, R4;                       \
	VLD1  (R4), [V28.B16];                               \
	VMOVQ $0x8040201008040201, $0x8040201008040201, V29; \
	VMOVI $mask, V30.B16;                                \
	VMOVI $0x30, V31.B16;                                \
	MOVD  changed+40(FP), R4;                            \
	MOVD  ZR, R5;                                        \
	MOVD  $1, R10;                                       \
	MOVD  $bytes, R11;                                   \
line: \
	RBIT  R1, R6;                                        \
	CLZ   R6, R6;                                        \
	MADD  R11, R0, R6, R7;                               \
	ADD   R6<<6, R2, R8;                                 \
	VLD1  (R8), [V4.B16, V5.B16, V6.B16, V7.B16];        \
	load;                                                \
	next(V0, V4, V24);                                   \
	next(V1, V5, V25);                                   \
	next(V2, V6, V26);                                   \
	next(V3, V7, V27);                                   \
	VADDP V5.B16, V4.B16, V4.B16;                        \
	VADDP V7.B16, V6.B16, V6.B16;                        \
	VADDP V6.B16, V4.B16, V4.B16;                        \
	VADDP V4.B16, V4.B16, V4.B16;                        \
	FMOVD F4, R8;                                        \
	CBZ   R8, same;                                      \
	store;                                               \
	MOVD  R8, (R4)(R6<<3);                               \
	LSL   R6, R10, R8;                                   \
	ORR   R8, R5, R5;                                    \
same: \
	SUB   $1, R1, R8;                                    \
	ANDS  R8, R1, R1;                                    \
	BNE   line;                                          \
	MOVD  R5, ret+48(FP);                                \
	RET

// TABLES and TABLES6 load the heights at R3, TABLES only of codes below 16: negated to V12 or
// V12-V15, floor to V16 or V16-V19, first to V20 or V20-V21.
#define TABLES \
	ADD  $heights_negated, R3, R4; \
	VLD1 (R4), [V12.B16];          \
	ADD  $heights_floor, R3, R4;   \
	VLD1 (R4), [V16.B16];          \
	ADD  $heights_first, R3, R4;   \
	VLD1 (R4), [V20.B16]
#define TABLES6 \
	ADD  $heights_negated, R3, R4;                   \
	VLD1 (R4), [V12.B16, V13.B16, V14.B16, V15.B16]; \
	ADD  $heights_floor, R3, R4;                     \
	VLD1 (R4), [V16.B16, V17.B16, V18.B16, V19.B16]; \
	ADD  $heights_first, R3, R4;                     \
	VLD1 (R4), [V20.B16, V21.B16]

// TABLES3 loads in addition the tables of THREES and STORE3: V13, V14, V17 and V18, V15 and V19.
#define TABLES3 \
	TABLES;                         \
	MOVD  $·firstTwo(SB), R4;       \
	VLD1  (R4), [V13.B16];          \
	MOVD  $·threes(SB), R4;         \
	VLD1  (R4), [V14.B16];          \
	MOVD  $·partsOfThrees(SB), R4;  \
	VLD1  (R4), [V15.B16];          \
	VMOVI $4, V17.B16;              \
	VMOVI $2, V18.B16;              \
	VMOVI $128, V19.B16

// LOAD2, LOAD3, LOAD4 and LOAD6 unpack the line at R7 to V0-V3.
#define LOAD2 \
	VLD1  (R7), [V0.B16];          \
	VUSHR $2, V0.B16, V1.B16;      \
	VUSHR $4, V0.B16, V2.B16;      \
	VUSHR $6, V0.B16, V3.B16;      \
	VAND  V30.B16, V0.B16, V0.B16; \
	VAND  V30.B16, V1.B16, V1.B16; \
	VAND  V30.B16, V2.B16, V2.B16

// THREES sets the codes v, of which it has the first part, by the second part in V8. V9 says which
// byte of it each takes, V17 is 4, V14 has the codes by both parts.
#define THREES(v) \
	VTBL   V9.B16, [V8.B16], V10.B16; \
	VCMTST V29.B16, V10.B16, V10.B16; \
	VAND   V17.B16, V10.B16, V10.B16; \
	VORR   V10.B16, v, v;             \
	VTBL   v, [V14.B16], v

#define LOAD3 \
	FMOVD 16(R7), F8;             \
	LOAD2;                        \
	VMOV  V13.B16, V9.B16;        \
	THREES(V0.B16);               \
	VADD  V18.B16, V9.B16, V9.B16; \
	THREES(V1.B16);               \
	VADD  V18.B16, V9.B16, V9.B16; \
	THREES(V2.B16);               \
	VADD  V18.B16, V9.B16, V9.B16; \
	THREES(V3.B16)

#define LOAD4 \
	VLD1  (R7), [V0.B16, V1.B16];  \
	VUSHR $4, V0.B16, V2.B16;      \
	VUSHR $4, V1.B16, V3.B16;      \
	VAND  V30.B16, V0.B16, V0.B16; \
	VAND  V30.B16, V1.B16, V1.B16

#define LOAD6 \
	LOAD4;                          \
	FMOVQ 32(R7), F8;               \
	VUSHR $2, V8.B16, V9.B16;       \
	VBIT  V31.B16, V8.B16, V2.B16;  \
	VBIT  V31.B16, V9.B16, V3.B16;  \
	VSHL  $4, V8.B16, V10.B16;      \
	VSHL  $2, V8.B16, V11.B16;      \
	VBIT  V31.B16, V10.B16, V0.B16; \
	VBIT  V31.B16, V11.B16, V1.B16

// STORE2, STORE3, STORE4 and STORE6 pack the codes in V0-V3 to the line at R7.
#define STORE2 \
	VSLI $2, V1.B16, V0.B16; \
	VSLI $4, V2.B16, V0.B16; \
	VSLI $6, V3.B16, V0.B16; \
	VST1 [V0.B16], (R7)

// PARTS looks up both parts of the codes v, the second as a sign, and makes bits of these in signs.
#define PARTS(v, signs) \
	VTBL   v, [V15.B16], v;      \
	VCMTST V19.B16, v, signs;    \
	VAND   V29.B16, signs, signs

// The first part is stored first: DMB $10 (ISHST) keeps stores in order.
#define STORE3 \
	PARTS(V0.B16, V4.B16);       \
	PARTS(V1.B16, V5.B16);       \
	PARTS(V2.B16, V6.B16);       \
	PARTS(V3.B16, V7.B16);       \
	VADDP V5.B16, V4.B16, V4.B16; \
	VADDP V7.B16, V6.B16, V6.B16; \
	VADDP V6.B16, V4.B16, V4.B16; \
	VADDP V4.B16, V4.B16, V4.B16; \
	STORE2;                      \
	DMB   $10;                   \
	FMOVD F4, 16(R7)

#define STORE4 \
	VSLI $4, V2.B16, V0.B16; \
	VSLI $4, V3.B16, V1.B16; \
	VST1 [V0.B16, V1.B16], (R7)

// The low bits are stored first likewise.
#define STORE6 \
	VUSHR $4, V0.B16, V8.B16;  \
	VUSHR $4, V1.B16, V9.B16;  \
	VUSHR $4, V2.B16, V10.B16; \
	VUSHR $4, V3.B16, V11.B16; \
	VSLI  $2, V9.B16, V8.B16;  \
	VSLI  $4, V10.B16, V8.B16; \
	VSLI  $6, V11.B16, V8.B16; \
	STORE4;                    \
	DMB   $10;                 \
	FMOVQ F8, 32(R7)

// NEXT updates 16 codes; least becomes the bits of the codes that change. V8 has the heights of their
// floors, V9 the heights of the scores, V10 the codes to be added to the codes in V11.
#define NEXT(codes, least, columns) \
	VTBL codes.B16, [V16.B16], V8.B16; \
	VTBL least.B16, [V12.B16], V9.B16; \
	VUMAX V8.B16, V9.B16, V9.B16;      \
	VTBL V9.B16, [V20.B16], V11.B16;   \
	REPLACED(codes, least, columns)
#define NEXT6(codes, least, columns) \
	VTBL codes.B16, [V16.B16, V17.B16, V18.B16, V19.B16], V8.B16; \
	VTBL least.B16, [V12.B16, V13.B16, V14.B16, V15.B16], V9.B16; \
	VUMAX V8.B16, V9.B16, V9.B16;                                 \
	VTBL V9.B16, [V20.B16, V21.B16], V11.B16;                     \
	REPLACED(codes, least, columns)
#define REPLACED(codes, least, columns) \
	VUMIN  V28.B16, V9.B16, V10.B16;      \
	VCMEQ  V9.B16, V10.B16, V10.B16;      \
	VAND   V8.B16, V10.B16, V10.B16;      \
	VADD   V10.B16, V11.B16, V11.B16;     \
	VEOR   codes.B16, V11.B16, V11.B16;   \
	VAND   columns.B16, V11.B16, V11.B16; \
	VEOR   V11.B16, codes.B16, codes.B16; \
	VCMTST V11.B16, V11.B16, least.B16;   \
	VAND   V29.B16, least.B16, least.B16

// LOOK_NEXT_UP takes row R8 of the column at R4 and the code R9: R10 has its bits that change.
#define LOOK_NEXT_UP \
	MOVBU (R4)(R8), R10;    \
	UBFIZ $6, R10, $6, R10; \
	ORR   R9, R10, R10;     \
	MOVBU (R6)(R10), R10;   \
	EOR   R9, R10, R10

// CHANGED sets the bit of row R8 in the result, R7.
#define CHANGED \
	MOVD $1, R12;      \
	LSL  R8, R12, R12; \
	ORR  R12, R7, R7

// UPDATE_PARTS updates codes of two parts in lines of the given bytes: R0 first part, R1 second, R2 and
// R3 their shifts, R4 column, R5 rows left, R6 next, R7 result, R8 row, R11 its byte of the first
// part and R15 of the second part. The first part has the given bits, of the given mask; the second
// has high bits. The first is stored first: STLRB waits for it.
#define UPDATE_PARTS(bytes, bits, mask, high) \
	MOVD first+0(FP), R0;        \
	MOVD second+8(FP), R1;       \
	MOVD firstShift+16(FP), R2;  \
	MOVD secondShift+24(FP), R3; \
	MOVD column+32(FP), R4;      \
	MOVD rows+40(FP), R5;        \
	MOVD next+48(FP), R6;        \
	MOVD ZR, R7;                 \
	MOVD $bytes, R19;            \
code: \
	RBIT  R5, R8;                \
	CLZ   R8, R8;                \
	MADD  R19, R0, R8, R11;      \
	MADD  R19, R1, R8, R15;      \
	MOVBU (R11), R13;            \
	MOVBU (R15), R14;            \
	LSR   R2, R13, R9;           \
	AND   $mask, R9, R9;         \
	LSR   R3, R14, R10;          \
	BFI   $bits, R10, $high, R9; \
	LOOK_NEXT_UP;                \
	CBNZ  R10, differs;          \
nextCode: \
	SUB  $1, R5, R12;            \
	ANDS R12, R5, R5;            \
	BNE  code;                   \
	MOVD R7, ret+56(FP);         \
	RET;                         \
differs: \
	AND   $mask, R10, R12;       \
	LSL   R2, R12, R12;          \
	EOR   R12, R13, R13;         \
	MOVB  R13, (R11);            \
	LSR   $bits, R10, R12;       \
	LSL   R3, R12, R12;          \
	EOR   R12, R14, R14;         \
	STLRB R14, (R15);            \
	CHANGED;                     \
	JMP   nextCode

// func replace2NEON(lines *int8, rows uint64, block *Block, columns *[64]int8, h *heights, changed *[64]uint64) uint64
TEXT ·replace2NEON(SB), NOSPLIT, $0-56
	REPLACE(TABLES, 3, LOAD2, NEXT, STORE2, 16)

// func replace3NEON(lines *int8, rows uint64, block *Block, columns *[64]int8, h *heights, changed *[64]uint64) uint64
TEXT ·replace3NEON(SB), NOSPLIT, $0-56
	REPLACE(TABLES3, 3, LOAD3, NEXT, STORE3, 24)

// func replace4NEON(lines *int8, rows uint64, block *Block, columns *[64]int8, h *heights, changed *[64]uint64) uint64
TEXT ·replace4NEON(SB), NOSPLIT, $0-56
	REPLACE(TABLES, 15, LOAD4, NEXT, STORE4, 32)

// func replace6NEON(lines *int8, rows uint64, block *Block, columns *[64]int8, h *heights, changed *[64]uint64) uint64
TEXT ·replace6NEON(SB), NOSPLIT, $0-56
	REPLACE(TABLES6, 15, LOAD6, NEXT6, STORE6, 48)

// func updateCodes(lines *int8, line, shift, bits int, column *int8, rows uint64, next *[4096]uint8) uint64
//
// R0 lines, R1 bytes of a line, R2 shift, R3 the bits of a code, R4 column, R5 rows left, R6
// next, R7 result, R8 row, R11 its byte.
TEXT ·updateCodes(SB), NOSPLIT, $0-64
	MOVD lines+0(FP), R0
	MOVD line+8(FP), R1
	MOVD shift+16(FP), R2
	MOVD bits+24(FP), R8
	MOVD $1, R3
	LSL  R8, R3, R3
	SUB  $1, R3
	MOVD column+32(FP), R4
	MOVD rows+40(FP), R5
	MOVD next+48(FP), R6
	MOVD ZR, R7

code:
	RBIT  R5, R8
	CLZ   R8, R8
	MADD  R1, R0, R8, R11
	MOVBU (R11), R13
	LSR   R2, R13, R9
	AND   R3, R9, R9
	LOOK_NEXT_UP
	CBNZ  R10, differs

nextCode:
	SUB  $1, R5, R12
	ANDS R12, R5, R5
	BNE  code
	MOVD R7, ret+56(FP)
	RET

differs:
	LSL  R2, R10, R10
	EOR  R10, R13, R13
	MOVB R13, (R11)
	CHANGED
	JMP  nextCode

// func updateCodes3(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64
TEXT ·updateCodes3(SB), NOSPLIT, $0-64
	UPDATE_PARTS(24, 2, 3, 1)

// func updateCodes6(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64
TEXT ·updateCodes6(SB), NOSPLIT, $0-64
	UPDATE_PARTS(48, 4, 15, 2)
