/** Service name of Perch's entries in the system's keyring; the account is the secret's name. */
export const KEYRING_SERVICE = 'perch';
/** Timeout for the keyring in milliseconds: a locked one may ask the user. */
export const KEYRING_MS = 2_000;
