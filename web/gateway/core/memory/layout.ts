/** File layout of a workspace's memory. Dates are in UTC. */
export const LONG_TERM_FILE = 'MEMORY.md';
export const DIALOG = 'dialog';
export const DAYS = 'memory';
export const RESULTS = 'tool_result';

/** Formats an instant in milliseconds since the Unix epoch as `YYYY-MM-DD`. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether a text is a valid calendar date of the form `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && startOf(text) !== undefined;

/** Start of a day in milliseconds since the Unix epoch; undefined for an invalid date. */
export function startOf(date: string): number | undefined {
  const at = Date.parse(`${date}T00:00Z`);
  return Number.isNaN(at) || dateOf(at) !== date ? undefined : at;
}

export const dialogFile = (date: string): string => `${DIALOG}/${date}.jsonl`;
export const dayFile = (date: string): string => `${DAYS}/${date}.md`;
export const resultFile = (id: string): string => `${RESULTS}/${id}.txt`;

/** Date in the name of a file in `dialog/`; undefined for any other path. */
export const dialogDate = (path: string): string | undefined => dated(/^dialog\/(\d{4}-\d\d-\d\d)\.jsonl$/.exec(path)?.[1]);
/** Date in the name of a file in `memory/`; undefined for any other path. */
export const dayDate = (path: string): string | undefined => dated(/^memory\/(\d{4}-\d\d-\d\d)\.md$/.exec(path)?.[1]);
export const isResult = (path: string): boolean => /^tool_result\/[^/]+\.txt$/.test(path);

const dated = (date: string | undefined): string | undefined => (date !== undefined && isDate(date) ? date : undefined);
