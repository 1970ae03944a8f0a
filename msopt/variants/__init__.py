"""Problems of one's own: tables of actions, utilities, limits, and the best choice with a proof (design section 7)."""
