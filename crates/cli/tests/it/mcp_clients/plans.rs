//! A plan from submission to attestation (CLR-30), through every client.
