"""Motifs matched along a tree of their classes."""
