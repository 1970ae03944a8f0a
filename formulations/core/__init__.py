"""What every formulation shares: building, solving, checking and certifying a declared problem."""
