"""What layers mean."""
