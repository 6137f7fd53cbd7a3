"""What Hocket needs of a machine, one probe each."""
