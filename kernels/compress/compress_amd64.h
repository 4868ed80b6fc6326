// What the loops over groups and words share.

// Offsets of fields.
#define GROUP_COLUMNS  0
#define GROUP_ROUTE    8
#define GROUP_FIRST    12
#define GROUP_SIZE     16
#define ROUTE_SCORES   0
#define ROUTE_STRIDE   24
#define ROUTE_WORDS    32
#define ROUTE_FIRST    56
#define ROUTE_SIZE     80
#define WORD_PICK      0
#define WORD_PLACE     8
#define WORD_PANEL     16
#define WORD_SIZE      24
#define PROGRAM_GROUPS 0
#define PROGRAM_COUNT  8
#define PROGRAM_ROWS   24

// FIND_WORDS sets up the group at R9: AX its route, SI the first word of the chunk, R13
// their number, BX the columns of the group that are asked for, picked their indices
// among those of the group, R12 the rows of the group. It jumps to none if there are
// no columns or no words.
#define FIND_WORDS(columns, p, routes, chunk, picked, none) \
	MOVQ  GROUP_COLUMNS(R9), CX; \
	MOVQ  columns, BX;           \
	ANDQ  CX, BX;                \
	JZ    none;                  \
	MOVL  GROUP_ROUTE(R9), AX;   \
	IMULQ $ROUTE_SIZE, AX;       \
	ADDQ  routes, AX;            \
	MOVQ  ROUTE_FIRST(AX), R10;  \
	MOVQ  chunk, R11;            \
	MOVL  (R10)(R11*4), R12;     \
	MOVL  4(R10)(R11*4), R13;    \
	SUBQ  R12, R13;              \
	JZ    none;                  \
	LEAQ  (R12)(R12*2), R12;     \
	MOVQ  ROUTE_WORDS(AX), SI;   \
	LEAQ  (SI)(R12*8), SI;       \
	PEXTQ CX, BX, picked;        \
	MOVQ  p, R10;                \
	MOVQ  PROGRAM_ROWS(R10), R12; \
	MOVL  GROUP_FIRST(R9), R10;  \
	LEAQ  (R12)(R10*4), R12
