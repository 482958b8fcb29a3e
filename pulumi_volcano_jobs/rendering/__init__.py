"""From a job to its manifests."""
