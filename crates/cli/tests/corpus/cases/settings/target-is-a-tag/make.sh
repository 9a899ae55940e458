git tag v1
