"""The papers' closed forms, each a function on plain arrays: [MS]'s in `multispin`, [UD]'s in `uldl`, the splits."""
