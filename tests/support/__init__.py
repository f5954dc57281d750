"""What several tests need: tables, findings, saved audits, an oracle of the signals."""
