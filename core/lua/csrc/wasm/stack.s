# Reads and sets the stack pointer of the module's memory, which C cannot name.
	.globaltype	__stack_pointer, i32

	.globl	ec_stack_get
	.functype	ec_stack_get () -> (i32)
ec_stack_get:
	.functype	ec_stack_get () -> (i32)
	global.get	__stack_pointer
	end_function

	.globl	ec_stack_set
	.functype	ec_stack_set (i32) -> ()
ec_stack_set:
	.functype	ec_stack_set (i32) -> ()
	local.get	0
	global.set	__stack_pointer
	end_function
