/** Maximum number of records in one `push` or `pull`, and maximum total length of their payloads (a single record may be longer). */
export const MAX_JOURNAL_BATCH = { records: 1000, chars: 4 * 1024 * 1024 } as const;
