"""The forger: a small independent writer of demur's export format, and the attacks made with it."""
