# SPDX-License-Identifier: BSD-3-Clause
# An interpreter of computed gotos. The first label was loaded at the entry, and the loop goes back through the register.
        .text
        .globl threaded
        .type threaded, @function
threaded:
        .cfi_startproc
        movzbl (%rdi), %eax
        lea labels(%rip), %rcx
        mov (%rcx,%rax,8), %rsi
        jmp *%rsi
end:    ret
again:  dec %r8
        jz leave
        xor %eax, %eax
        jmp *%rsi
leave:  movzbl 1(%rdi), %edx
        mov (%rcx,%rdx,8), %rdx
        jmp *%rdx
add:    inc %eax
        movzbl (%rdi,%rax), %edx
        mov (%rcx,%rdx,8), %rdx
        jmp *%rdx
        .cfi_endproc
        .size threaded, . - threaded
        .section .data.rel.ro, "aw"
        .p2align 3
labels: .quad end, again, add
        .section .note.GNU-stack, "", @progbits
