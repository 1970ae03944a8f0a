"""Methods beyond msopt's own: the conic program, users' functions; what each method is and whose."""
