"""Tests of the component under Pulumi's mocks: registered resources, their options, and rejected arguments."""
