/** In the home directory: the journal, and the vault's key. */
export const JOURNAL_FILE = 'journal.sqlite';
export const KEY_FILE = 'vault.key';
