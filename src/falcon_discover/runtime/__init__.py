"""What any program needs: threads, progress, interrupts, notices, files."""
