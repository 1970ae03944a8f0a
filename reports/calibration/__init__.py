"""The inverse study: which values of what a paper does not state would give the numbers that it quotes."""
