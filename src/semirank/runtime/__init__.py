"""Compiling, threads, memory, progress and files: what every room stands on."""
