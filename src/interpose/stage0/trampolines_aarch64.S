// The exported MPI_X and PMPI_X for aarch64; see trampolines_x86_64.S for the idea. A slot is read with
// acquire, so that whoever follows it also sees what the plugin had set up before the slot was written. x16
// and x17 are the registers that linker veneers may use, hence free here, and branches through them may land
// on `bti c`.
#include "interpose/stage0/stage0.h"

  .text
  .globl hocket_stage0_trampolines
  .hidden hocket_stage0_trampolines
  .p2align 5
hocket_stage0_trampolines:
  .cfi_startproc
  .set call, 0
#define TRAMPOLINE(name) \
  .globl name; .globl P##name; \
  .type name, %function; .type P##name, %function; \
  .p2align 5; \
name: P##name: \
  hint #34; /* bti c */ \
  adrp x16, hocket_stage0_slots + 8 * call; \
  add x16, x16, :lo12:hocket_stage0_slots + 8 * call; \
  ldar x16, [x16]; \
  br x16; \
  .size name, . - name; .size P##name, . - P##name; \
  .set call, call + 1;
#define CALL(name, kind) TRAMPOLINE(MPI_##name)
#define EXTENSION(name, kind) TRAMPOLINE(MPIX_##name)
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .cfi_endproc

  .p2align 5
stubs:
  .cfi_startproc
  .set call, 0
#define CALL(name, kind) \
  .p2align 5; \
  hint #34; \
  mov w17, #call; \
  b resolve; \
  .set call, call + 1;
#define EXTENSION CALL
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .cfi_endproc

  .type resolve, %function
  .p2align 4
resolve:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl hocket_stage0_resolve
  mov x16, x0
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp x29, x30, [sp], #224
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size resolve, . - resolve

  .data
  .globl hocket_stage0_slots
  .hidden hocket_stage0_slots
  .type hocket_stage0_slots, %object
  .p2align 6
hocket_stage0_slots:
  .set call, 0
#define CALL(name, kind) .xword stubs + HOCKET_TRAMPOLINE_SIZE * call; .set call, call + 1;
#define EXTENSION CALL
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .size hocket_stage0_slots, . - hocket_stage0_slots

// Says that indirect branches land on bti only (BTI).
  .section .note.gnu.property, "a"
  .p2align 3
  .word 4, 16, 5
  .asciz "GNU"
  .word 0xc0000000, 4, 1, 0
  .section .note.GNU-stack, "", %progbits
