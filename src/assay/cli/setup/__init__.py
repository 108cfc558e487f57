"""Commands about the installation and its codes: demo, doctor, explain."""
