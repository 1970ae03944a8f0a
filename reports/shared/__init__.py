"""What all parts of the reports use: words, records, inputs and outputs, workers."""
