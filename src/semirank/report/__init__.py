"""What people look at: the HTML report and the figures."""
