// The exported MPI_X and PMPI_X: one jump each through a slot. A slot first leads to a stub that asks stage 0
// where the call belongs, with all argument registers saved, and goes on there. The stack is as the caller
// left it at every jump, so the implementation sees the caller's own return address.
#include "interpose/stage0/stage0.h"

  .text
  .globl hocket_stage0_trampolines
  .hidden hocket_stage0_trampolines
  .p2align 4
hocket_stage0_trampolines:
  .cfi_startproc
  .set call, 0
#define TRAMPOLINE(name) \
  .globl name; .globl P##name; \
  .type name, @function; .type P##name, @function; \
  .p2align 4; \
name: P##name: \
  endbr64; \
  jmp *hocket_stage0_slots + 8 * call(%rip); \
  .size name, . - name; .size P##name, . - P##name; \
  .set call, call + 1;
#define CALL(name, kind) TRAMPOLINE(MPI_##name)
#define EXTENSION(name, kind) TRAMPOLINE(MPIX_##name)
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .cfi_endproc

  .p2align 4
stubs:
  .cfi_startproc
  .set call, 0
#define CALL(name, kind) \
  .p2align 4; \
  endbr64; \
  .byte 0x68; .long call; /* push $call, always in the form of five bytes */ \
  .cfi_adjust_cfa_offset 8; \
  jmp resolve; \
  .cfi_adjust_cfa_offset -8; \
  .set call, call + 1;
#define EXTENSION CALL
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .cfi_endproc

  .type resolve, @function
  .p2align 4
resolve:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $200, %rsp
  movq %rax, 0(%rsp)
  movq %rdi, 8(%rsp)
  movq %rsi, 16(%rsp)
  movq %rdx, 24(%rsp)
  movq %rcx, 32(%rsp)
  movq %r8, 40(%rsp)
  movq %r9, 48(%rsp)
  movq %r10, 56(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movl 8(%rbp), %edi
  call hocket_stage0_resolve
  movq %rax, %r11
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  movq 0(%rsp), %rax
  movq 8(%rsp), %rdi
  movq 16(%rsp), %rsi
  movq 24(%rsp), %rdx
  movq 32(%rsp), %rcx
  movq 40(%rsp), %r8
  movq 48(%rsp), %r9
  movq 56(%rsp), %r10
  leave
  .cfi_def_cfa %rsp, 16
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
  .cfi_endproc
  .size resolve, . - resolve

  .data
  .globl hocket_stage0_slots
  .hidden hocket_stage0_slots
  .type hocket_stage0_slots, @object
  .p2align 6
hocket_stage0_slots:
  .set call, 0
#define CALL(name, kind) .quad stubs + HOCKET_TRAMPOLINE_SIZE * call; .set call, call + 1;
#define EXTENSION CALL
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  .size hocket_stage0_slots, . - hocket_stage0_slots

// Says that indirect branches land on endbr64 only and the shadow stack is kept (CET), so that the process
// may keep both on.
  .section .note.gnu.property, "a"
  .p2align 3
  .long 4, 16, 5
  .asciz "GNU"
  .long 0xc0000002, 4, 3, 0
  .section .note.GNU-stack, "", @progbits
