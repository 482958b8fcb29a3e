"""What Kubernetes defines: schemas, quantities, manifests, and the validation of Pods and claims."""
