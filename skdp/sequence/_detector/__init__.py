"""Parts of `StateDetector`."""
