/** File names in the home directory: the journal, and the vault's key. */
export const JOURNAL_FILE = 'journal.sqlite';
/** Reserved space for the journal. */
export const RESERVE_FILE = 'journal.reserve';
export const KEY_FILE = 'vault.key';
