"""The methods: forests, Relief, Laplace."""
