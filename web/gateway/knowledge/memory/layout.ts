/** File layout of a workspace's memory. Dates are in UTC. */
export const LONG_TERM_FILE = 'MEMORY.md';
export const DIALOG_FOLDER = 'dialog';
export const NOTES_FOLDER = 'memory';
export const RESULTS_FOLDER = 'tool_result';

/** Formats an instant in milliseconds since the Unix epoch as `YYYY-MM-DD`. */
export const formatDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether a text is a valid calendar date of the form `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && getDayStart(text) !== undefined;

/** Start of a day in milliseconds since the Unix epoch; undefined for an invalid date. */
export function getDayStart(date: string): number | undefined {
  const time = Date.parse(`${date}T00:00Z`);
  return Number.isNaN(time) || formatDate(time) !== date ? undefined : time;
}

export const toDialogPath = (date: string): string => `${DIALOG_FOLDER}/${date}.jsonl`;
export const toNotesPath = (date: string): string => `${NOTES_FOLDER}/${date}.md`;
export const toResultPath = (id: string): string => `${RESULTS_FOLDER}/${id}.txt`;

/** Date in the name of a file in `dialog/`; undefined for any other path. */
export const parseDialogDate = (path: string): string | undefined => toValidDate(/^dialog\/(\d{4}-\d\d-\d\d)\.jsonl$/.exec(path)?.[1]);
/** Date in the name of a file in `memory/`; undefined for any other path. */
export const parseNotesDate = (path: string): string | undefined => toValidDate(/^memory\/(\d{4}-\d\d-\d\d)\.md$/.exec(path)?.[1]);
export const isResultPath = (path: string): boolean => /^tool_result\/[^/]+\.txt$/.test(path);

const toValidDate = (date: string | undefined): string | undefined => (date !== undefined && isDate(date) ? date : undefined);
