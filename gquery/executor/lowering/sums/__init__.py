"""What programs say of sums that go in a way of their own, whatever runs them."""
