/** What entries of Perch's belong to in the system's keyring; their account is the secret's name. */
export const SERVICE = 'perch';
/** A keyring that is locked asks a person, where there is one; it is waited for no longer, in milliseconds. */
export const KEYRING_MS = 2_000;
