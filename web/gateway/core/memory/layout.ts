/** Where what is kept in a workspace (interface document 2, section 2.5). Dates are those of UTC. */
export const LONG_TERM_FILE = 'MEMORY.md';
export const DIALOG = 'dialog';
export const DAYS = 'memory';
export const RESULTS = 'tool_result';

/** `YYYY-MM-DD` of an instant in milliseconds since 1970. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether it is a day of the calendar, as `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && startOf(text) !== undefined;

/** Milliseconds since 1970 at which a day begins; undefined where there is no such day. */
export function startOf(date: string): number | undefined {
  const at = Date.parse(`${date}T00:00Z`);
  return Number.isNaN(at) || dateOf(at) !== date ? undefined : at;
}

export const dialogFile = (date: string): string => `${DIALOG}/${date}.jsonl`;
export const dayFile = (date: string): string => `${DAYS}/${date}.md`;
export const resultFile = (id: string): string => `${RESULTS}/${id}.txt`;

/** The day that a file of `dialog/` is of. */
export const dialogDate = (path: string): string | undefined => dated(/^dialog\/(\d{4}-\d\d-\d\d)\.jsonl$/.exec(path)?.[1]);
/** The day that a file of `memory/` is of. */
export const dayDate = (path: string): string | undefined => dated(/^memory\/(\d{4}-\d\d-\d\d)\.md$/.exec(path)?.[1]);
export const isResult = (path: string): boolean => /^tool_result\/[^/]+\.txt$/.test(path);

const dated = (date: string | undefined): string | undefined => (date !== undefined && isDate(date) ? date : undefined);
