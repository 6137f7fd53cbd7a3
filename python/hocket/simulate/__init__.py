"""Scale by simulation: machines from a file, ranks anywhere on them, and what collectives would take."""
