/** Creates an ID that sorts by its time (milliseconds since 1970). */
export function createTimedId(prefix: string, now: number): string {
  const random = [...crypto.getRandomValues(new Uint8Array(18))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${prefix}${now.toString(16).padStart(12, '0')}${random}`;
}

/** Callers with an API key see only their own records; people and their devices see all. */
export const isVisibleTo = (principal: string, record: { principal: string }): boolean =>
  !principal.startsWith('key:') || record.principal === principal;
