"""The files: scenarios, controls and profiles as text and back, written whole or not at all; what is bundled."""
