/** Records that one `push` or `pull` carries at the most, and their payloads' length together (one record alone may be longer). */
export const BATCH = { records: 1000, chars: 4 * 1024 * 1024 } as const;
