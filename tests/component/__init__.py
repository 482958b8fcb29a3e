"""The component under mocks: what is registered, with which options, and what is refused."""
