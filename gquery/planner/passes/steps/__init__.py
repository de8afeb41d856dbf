"""Passes over the steps of a chain, once each is planned."""
