"""What else is known of lines, as data: which spec they call for, clocks, settings, missing logs, fields of dumps."""
