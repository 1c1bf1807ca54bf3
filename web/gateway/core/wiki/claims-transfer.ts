import { RpcError } from '#shared/rpc/errors.ts';
import { isObject } from '../merge.ts';
import type { Claim } from './claim.ts';
import { type ClaimChange, ClaimEvent, eachJsonLine, fileChange, fileClaim, type LineProblem, readChange } from './claim-lines.ts';
import { folderPath } from './page-path.ts';

/** What came of reading claims in. */
export interface ImportReport {
  /** Ids of those that were not there, of those whose history went on, and how many were the same already. */
  added: string[];
  updated: string[];
  unchanged: number;
  /** Those of which another history is here: they stay as they are here. */
  conflicts: string[];
  /** Lines that cannot be read; the file stays as it is. */
  problems: LineProblem[];
}

/** The path of such a file. Throws INVALID_PARAMS for what is not names with `/` between them, and for another ending: no page is ever overwritten. */
export function jsonlPath(given: string): string {
  const path = folderPath(given);
  if (!path.endsWith('.jsonl')) throw new RpcError('INVALID_PARAMS', `${JSON.stringify(path.slice(0, 200))} must end with .jsonl.`);
  return path;
}

/** A claim as a line: its members in the documents' spelling, and `history`, in which nothing is left out. */
export function exportLine(history: readonly ClaimChange[]): string {
  const last = history.at(-1);
  if (!last) return '';
  const deleted = last.event === ClaimEvent.DELETED ? { deleted: true } : {};
  return `${JSON.stringify({ ...fileClaim(last.claim), ...deleted, history: history.map(fileChange) })}\n`;
}

/** Histories of a file by the ids of their claims. One without a history of its own, as another program writes it, begins now; one without an id gets one. */
export function readExport(
  path: string,
  text: string,
  now: number,
  newId: () => string,
): { histories: ClaimChange[][]; problems: LineProblem[] } {
  const histories: ClaimChange[][] = [];
  const problems = eachJsonLine(path, text, (given) => {
    const { history } = given;
    if (history === undefined) return void histories.push([begun(given, now, newId)]);
    if (!Array.isArray(history) || history.length === 0) throw new Error('`history` must be an array of changes');
    const changes = history.map((each: unknown) => readChange(isObject(each) ? each : {}));
    const ids = new Set(changes.map(({ claim }) => claim.id));
    if (ids.size > 1) throw new Error(`\`history\` belongs to several claims: ${[...ids].slice(0, 3).join(', ')}`);
    histories.push(changes);
  });
  return { histories, problems };
}

function begun(given: Record<string, unknown>, now: number, newId: () => string): ClaimChange {
  const { id = newId(), createdAt, updatedAt, ...rest } = given;
  const iso = new Date(now).toISOString();
  const claim = { id, ...rest, createdAt: createdAt ?? iso, updatedAt: updatedAt ?? createdAt ?? iso };
  return readChange({ event: ClaimEvent.IMPORTED, at: iso, claim });
}

/** How a history that comes in stands to the one that is here: `longer` goes on from it. */
export function comparedWith(
  ours: readonly ClaimChange[] | undefined,
  theirs: readonly ClaimChange[],
): 'new' | 'same' | 'longer' | 'conflict' {
  if (!ours || ours.length === 0) return 'new';
  const [here, there] = [ours.map(lineOf), theirs.map(lineOf)];
  const shared = Math.min(here.length, there.length);
  if (here.slice(0, shared).every((line, at) => line === there[at])) return there.length > here.length ? 'longer' : 'same';
  // A line without a history says only what is so now.
  const [alone, last] = [theirs[0], ours.at(-1)];
  const bare = theirs.length === 1 && alone?.event === ClaimEvent.IMPORTED;
  return bare && last && sameClaim(alone.claim, last.claim) ? 'same' : 'conflict';
}

const lineOf = (change: ClaimChange): string => JSON.stringify(fileChange(change));
const sameClaim = (a: Claim, b: Claim): boolean =>
  JSON.stringify({ ...fileClaim(a), updated_at: 0 }) === JSON.stringify({ ...fileClaim(b), updated_at: 0 });
