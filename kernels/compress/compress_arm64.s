//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A row of 16 scores takes them from a line of 64, in four registers, by one VTBX: it leaves a
// row as it is that has no place. The controls, which say which score a row takes, are made once
// for all columns: the positions of the scores that are picked make a list, one byte each, and the row
// of the k-th place takes the k-th of them.

// SMIN sets each byte of Vd to the lesser of the bytes of Vn and Vm, with sign: smin
// vd.16b, vn.16b, vm.16b, which the assembler does not know.
#define SMIN(m, n, d) WORD $(0x4e206c00 | m<<16 | n<<5 | d)

// func fetch(lines []int8)
TEXT ·fetch(SB), NOSPLIT, $0-24
	MOVD lines_base+0(FP), R0
	MOVD lines_len+8(FP), R1
	ADD  R0, R1, R1
	AND  $~63, R0, R0

fetchLine:
	CMP  R1, R0
	BHS  fetched
	PRFM (R0), PLDL2KEEP
	ADD  $64, R0
	JMP  fetchLine

fetched:
	RET

// firstTwo takes from byte 0 eight times and from byte 1 eight times.
DATA ·firstTwo+0(SB)/8, $0x0000000000000000
DATA ·firstTwo+8(SB)/8, $0x0101010101010101
GLOBL ·firstTwo(SB), RODATA|NOPTR, $16

// eachBit has the bit of each byte of eight, and lowerBits those below it.
DATA ·eachBit+0(SB)/8, $0x8040201008040201
DATA ·eachBit+8(SB)/8, $0x8040201008040201
GLOBL ·eachBit(SB), RODATA|NOPTR, $16
DATA ·lowerBits+0(SB)/8, $0x7f3f1f0f07030100
DATA ·lowerBits+8(SB)/8, $0x7f3f1f0f07030100
GLOBL ·lowerBits(SB), RODATA|NOPTR, $16

// threes has the codes of 3 bits by their parts, as shared.Threes.
DATA ·threes+0(SB)/8, $0x0504030207060100
DATA ·threes+8(SB)/8, $0x0504030207060100
GLOBL ·threes(SB), RODATA|NOPTR, $16

// COUNT makes each byte of sums the number of the bits of F0 up to the end of the byte. V1 is
// scratch, R7 eight ones.
#define COUNT(sums) \
	VCNT  V0.B8, V1.B8; \
	FMOVD F1, sums;     \
	MUL   R7, sums, sums

// PICK puts the positions of the set bits of byte k of R10, plus 8k in each byte of R14, into
// the list at R9, where byte k-1 of R12 says. R8 is positions.
#define PICK(k) \
	UBFX $(8*k), R10, $8, R13;   \
	MOVD (R8)(R13<<3), R15;      \
	UBFX $(8*k-8), R12, $8, R13; \
	ADD  R14, R15, R15;          \
	MOVD R15, (R9)(R13);         \
	ADD  R11, R14, R14

// CONTROL makes the control of 16 rows, whose bits are the two bytes of V0 that V2 selects: the
// byte of V12-V15 that the bits of V0 before the row number, or 255 for a row without a place. V1
// has the bits in the bytes before.
#define CONTROL(control) \
	VTBL  V2.B16, [V0.B16], V3.B16;                                       \
	VTBL  V2.B16, [V1.B16], V4.B16;                                       \
	VAND  V31.B16, V3.B16, control.B16;                                   \
	VCNT  control.B16, control.B16;                                       \
	VADD  V4.B16, control.B16, control.B16;                               \
	VTBL  control.B16, [V12.B16, V13.B16, V14.B16, V15.B16], control.B16; \
	VCMTST V30.B16, V3.B16, V3.B16;                                       \
	VBIF  V3.B16, V5.B16, control.B16

// WORD_CONTROLS sets lines to the lines of the panel of the word at R5+at, and four registers to
// its controls.
#define WORD_CONTROLS(at, lines, c0, c1, c2, c3) \
	MOVWU (at+Word_Panel)(R5), lines;                 \
	MADD  R2, R1, lines, lines;                       \
	MOVD  (at+Word_Pick)(R5), R10;                    \
	FMOVD R10, F0;                                    \
	COUNT(R12);                                       \
	MOVD  $0x0808080808080808, R11;                   \
	MOVD  R11, R14;                                   \
	AND   $255, R10, R13;                             \
	MOVD  (R8)(R13<<3), R15;                          \
	MOVD  R15, (R9);                                  \
	PICK(1);                                          \
	PICK(2);                                          \
	PICK(3);                                          \
	PICK(4);                                          \
	PICK(5);                                          \
	PICK(6);                                          \
	PICK(7);                                          \
	MOVD  (at+Word_Place)(R5), R10;                   \
	FMOVD R10, F0;                                    \
	COUNT(R12);                                       \
	LSL   $8, R12, R12;                               \
	FMOVD R12, F1;                                    \
	VLD1  (R9), [V12.B16, V13.B16, V14.B16, V15.B16]; \
	VMOVI $255, V5.B16;                               \
	VMOVI $2, V6.B16;                                 \
	VMOV  V29.B16, V2.B16;                            \
	CONTROL(c0);                                      \
	VADD  V6.B16, V2.B16, V2.B16;                     \
	CONTROL(c1);                                      \
	VADD  V6.B16, V2.B16, V2.B16;                     \
	CONTROL(c2);                                      \
	VADD  V6.B16, V2.B16, V2.B16;                     \
	CONTROL(c3)

#define FIRST_WORD  WORD_CONTROLS(0, R3, V16, V17, V18, V19)
#define SECOND_WORD WORD_CONTROLS(Word__size, R4, V20, V21, V22, V23)
#define THIRD_WORD  WORD_CONTROLS(2*Word__size, R6, V24, V25, V26, V27)

// Each takes the line at R13 to V0-V3. V28 is the mask of a code.
#define TAKE_BYTES VLD1 (R13), [V0.B16, V1.B16, V2.B16, V3.B16]
#define TAKE_FOURS \
	VLD1  (R13), [V0.B16, V1.B16]; \
	VUSHR $4, V0.B16, V2.B16;      \
	VUSHR $4, V1.B16, V3.B16;      \
	VAND  V28.B16, V0.B16, V0.B16; \
	VAND  V28.B16, V1.B16, V1.B16
#define TAKE_TWOS \
	VLD1  (R13), [V0.B16];         \
	VUSHR $2, V0.B16, V1.B16;      \
	VUSHR $4, V0.B16, V2.B16;      \
	VUSHR $6, V0.B16, V3.B16;      \
	VAND  V28.B16, V0.B16, V0.B16; \
	VAND  V28.B16, V1.B16, V1.B16; \
	VAND  V28.B16, V2.B16, V2.B16

// The high bits come first, as in shared.Line.Unpack. A processor may load the low bits earlier
// all the same, but not if their address depends on the loaded high bits: R14 is 0, made of all
// high bits. V14 is the mask of the high bits of a code.
#define TAKE_SIXES \
	FMOVQ 32(R13), F12;             \
	VADDP V12.D2, V12.D2, V13.D2;   \
	FMOVD F13, R14;                 \
	EOR   R14, R14, R14;            \
	ADD   R14, R13, R13;            \
	VLD1  (R13), [V0.B16, V1.B16];  \
	VUSHR $2, V12.B16, V13.B16;     \
	VUSHR $4, V0.B16, V2.B16;       \
	VUSHR $4, V1.B16, V3.B16;       \
	VBIT  V14.B16, V12.B16, V2.B16; \
	VBIT  V14.B16, V13.B16, V3.B16; \
	VSLI  $4, V12.B16, V0.B16;      \
	VSLI  $4, V13.B16, V1.B16;      \
	VAND  V28.B16, V0.B16, V0.B16;  \
	VAND  V28.B16, V1.B16, V1.B16

// THREES sets the codes v, of which it has the first part, by the second part in V12. V13 says which
// byte of it each takes, V14 is 4, V15 has the codes by both parts.
#define THREES(v) \
	VTBL   V13.B16, [V12.B16], V8.B16; \
	VCMTST V30.B16, V8.B16, V8.B16;    \
	VAND   V14.B16, V8.B16, V8.B16;    \
	VORR   V8.B16, v, v;               \
	VTBL   v, [V15.B16], v

// The second part comes first, as above.
#define TAKE_THREES \
	FMOVD 16(R13), F12;            \
	FMOVD F12, R14;                \
	EOR   R14, R14, R14;           \
	ADD   R14, R13, R13;           \
	TAKE_TWOS;                     \
	VMOVI $2, V9.B16;              \
	VMOV  V29.B16, V13.B16;        \
	THREES(V0.B16);                \
	VADD  V9.B16, V13.B16, V13.B16; \
	THREES(V1.B16);                \
	VADD  V9.B16, V13.B16, V13.B16; \
	THREES(V2.B16);                \
	VADD  V9.B16, V13.B16, V13.B16; \
	THREES(V3.B16)

// APPLY applies a word to the column in V4-V7.
#define APPLY(TAKE, lines, c0, c1, c2, c3) \
	ADD  R19, lines, R13;                               \
	TAKE;                                               \
	ADD  R21, R13, R14;                                 \
	PRFM (R14), PLDL2KEEP;                              \
	VMOV V4.B16, V8.B16;                                \
	VMOV V5.B16, V9.B16;                                \
	VMOV V6.B16, V10.B16;                               \
	VMOV V7.B16, V11.B16;                               \
	VTBX c0, [V0.B16, V1.B16, V2.B16, V3.B16], V8.B16;  \
	VTBX c1, [V0.B16, V1.B16, V2.B16, V3.B16], V9.B16;  \
	VTBX c2, [V0.B16, V1.B16, V2.B16, V3.B16], V10.B16; \
	VTBX c3, [V0.B16, V1.B16, V2.B16, V3.B16], V11.B16; \
	SMIN(8, 4, 4);                                      \
	SMIN(9, 5, 5);                                      \
	SMIN(10, 6, 6);                                     \
	SMIN(11, 7, 7)

// Each applies one, two or three words to the column in V4-V7.
#define ONE(TAKE)   APPLY(TAKE, R3, V16.B16, V17.B16, V18.B16, V19.B16)
#define TWO(TAKE)   ONE(TAKE); APPLY(TAKE, R4, V20.B16, V21.B16, V22.B16, V23.B16)
#define THREE(TAKE) TWO(TAKE); APPLY(TAKE, R6, V24.B16, V25.B16, V26.B16, V27.B16)

// FETCH_NEXT fetches two lines of the next offers, and goes on to those behind them.
#define FETCH_NEXT \
	PRFM (R23), PLDL2KEEP;   \
	PRFM 64(R23), PLDL2KEEP; \
	ADD  $128, R23

// Each fetches the part of the next offers that goes with one, two or three words.
#define FETCH_ONE   FETCH_NEXT
#define FETCH_TWO   FETCH_ONE; FETCH_ONE
#define FETCH_THREE FETCH_TWO; FETCH_ONE

// COLUMNS applies WORDS to the R11 columns of the list from R10 on. TAKE takes a line.
#define COLUMNS(column, WORDS, TAKE) \
column: \
	LDP.P 16(R10), (R12, R19);                     \
	ADD   R0, R12, R12;                            \
	VLD1  (R12), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	WORDS(TAKE);                                   \
	VST1  [V4.B16, V5.B16, V6.B16, V7.B16], (R12); \
	SUBS  $1, R11, R11;                            \
	BNE   column

// EACH_WIDTH applies WORDS to all columns of the list, by the width of the scores, and goes on
// at done. The other parameters are labels, but for FETCH: the code to run if there are offers.
#define EACH_WIDTH(WORDS, FETCH, bytes, fours, few, threes, twos, sixes, done) \
	MOVD  list+8(FP), R10;             \
	MOVD  n+16(FP), R11;               \
	VMOVI $0x30, V14.B16;              \
	CMP   $48, R22;                    \
	BEQ   sixes;                       \
	BHI   bytes;                       \
	CMP   $32, R22;                    \
	BNE   few;                         \
	COLUMNS(fours, WORDS, TAKE_FOURS); \
	JMP   done;                        \
few: \
	CMP   $16, R22;                    \
	BEQ   twos;                        \
	MOVD  $·threes(SB), R14;           \
	VLD1  (R14), [V15.B16];            \
	VMOVI $4, V14.B16;                 \
	COLUMNS(threes, WORDS, TAKE_THREES); \
	JMP   done;                        \
	COLUMNS(bytes, WORDS, TAKE_BYTES); \
	FETCH;                             \
	JMP   done;                        \
	COLUMNS(twos, WORDS, TAKE_TWOS);   \
	JMP   done;                        \
	COLUMNS(sixes, WORDS, TAKE_SIXES); \
	JMP   done

// func leastWords(dst *Block, list *places, n int, scores *int8, stride int, words []Word, size, ahead int, next uintptr, positions *[256]uint64)
//
// R0 dst, R1 scores, R2 stride, R5 word, R20 words left, R21 ahead, R22 size, R23 next. Up to
// three words are applied at once: the lines of their panels are at R3, R4 and R6, and V16-V27
// their controls, made with R7-R15 and V0-V15, of which R7-R9 and V29-V31 are constant. In the
// loop over columns, R10 is the list, R11 how many are left, R12 a column, R19 the distance to
// its line.
TEXT ·leastWords(SB), NOSPLIT, $64-96
	MOVD dst+0(FP), R0
	MOVD scores+24(FP), R1
	MOVD stride+32(FP), R2
	MOVD words_base+40(FP), R5
	MOVD words_len+48(FP), R20
	MOVD size+64(FP), R22
	MOVD ahead+72(FP), R21
	MOVD next+80(FP), R23
	MOVD $0x0101010101010101, R7
	MOVD positions+88(FP), R8
	MOVD $positions-64(SP), R9
	MOVD $·firstTwo(SB), R10
	VLD1 (R10), [V29.B16]
	MOVD $·eachBit(SB), R10
	VLD1 (R10), [V30.B16]
	MOVD $·lowerBits(SB), R10
	VLD1 (R10), [V31.B16]
	CMP  $32, R22
	BEQ  maskFours
	BLO  maskTwos
	VMOVI $0x3f, V28.B16

threeWords:
	SUBS $3, R20, R20
	BLT  fewWords
	FIRST_WORD
	SECOND_WORD
	THIRD_WORD
	EACH_WIDTH(THREE, FETCH_THREE, threeBytes, threeFours, threeFew, threeThrees, threeTwos, threeSixes, nextWords)

nextWords:
	ADD $(3*Word__size), R5
	JMP threeWords

fewWords:
	ADDS $2, R20, R20
	BLT  done
	BEQ  oneWord
	FIRST_WORD
	SECOND_WORD
	EACH_WIDTH(TWO, FETCH_TWO, twoBytes, twoFours, twoFew, twoThrees, twoTwos, twoSixes, done)

oneWord:
	FIRST_WORD
	EACH_WIDTH(ONE, FETCH_ONE, oneBytes, oneFours, oneFew, oneThrees, oneTwos, oneSixes, done)

done:
	RET

maskFours:
	VMOVI $0x0f, V28.B16
	JMP   threeWords

maskTwos:
	VMOVI $0x03, V28.B16
	JMP   threeWords
