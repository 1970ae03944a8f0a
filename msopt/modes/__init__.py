"""[UD]'s problem: draft lengths, and the correction of what is rejected (design section 5)."""
