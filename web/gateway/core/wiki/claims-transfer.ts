import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isObject } from '../merge-patch.ts';
import type { Claim } from './claim.ts';
import { type ClaimChange, ClaimEvent, forEachJsonLine, toFileChange, toFileClaim, type LineProblem, parseChange } from './claim-lines.ts';
import { toFolderPath } from './page-path.ts';

/** Result of an import. */
export interface ImportReport {
  /** Ids of new claims and of those with a longer history, and the number of identical ones. */
  added: string[];
  updated: string[];
  unchanged: number;
  /** Ids of claims whose history has diverged; they stay unchanged here. */
  conflicts: string[];
  /** Lines that cannot be parsed; the file stays as it is. */
  problems: LineProblem[];
}

/** Validates the path of an export. Throws INVALID_PARAMS for an invalid path or another extension, so that no page is ever overwritten. */
export function toJsonlPath(given: string): string {
  const path = toFolderPath(given);
  if (!path.endsWith('.jsonl')) throw new RpcError('INVALID_PARAMS', `${JSON.stringify(path.slice(0, 200))} must end with .jsonl.`);
  return path;
}

/** Formats a claim as a line in snake_case, with its complete `history`. */
export function formatExportLine(history: readonly ClaimChange[]): string {
  const last = history.at(-1);
  if (!last) return '';
  const deleted = last.event === ClaimEvent.DELETED ? { deleted: true } : {};
  return `${JSON.stringify({ ...toFileClaim(last.claim), ...deleted, history: history.map(toFileChange) })}\n`;
}

/**
 * Histories in a file, by claim id. A claim without a history, as another program may write it, begins now; one without an id gets a new
 * one.
 */
export function parseExport(
  path: string,
  text: string,
  now: number,
  newId: () => string,
): { histories: ClaimChange[][]; problems: LineProblem[] } {
  const histories: ClaimChange[][] = [];
  const problems = forEachJsonLine(path, text, (given) => {
    const { history } = given;
    if (history === undefined) return void histories.push([toImportedChange(given, now, newId)]);
    if (!Array.isArray(history) || history.length === 0) throw new Error('`history` must be an array of changes');
    const changes = history.map((each: unknown) => parseChange(isObject(each) ? each : {}));
    const ids = new Set(changes.map(({ claim }) => claim.id));
    if (ids.size > 1) throw new Error(`\`history\` belongs to several claims: ${[...ids].slice(0, 3).join(', ')}`);
    histories.push(changes);
  });
  return { histories, problems };
}

function toImportedChange(given: Record<string, unknown>, now: number, newId: () => string): ClaimChange {
  const { id = newId(), createdAt, updatedAt, ...rest } = given;
  const iso = new Date(now).toISOString();
  const claim = { id, ...rest, createdAt: createdAt ?? iso, updatedAt: updatedAt ?? createdAt ?? iso };
  return parseChange({ event: ClaimEvent.IMPORTED, at: iso, claim });
}

/** Compares an imported history with the existing one: `longer` continues it. */
export function compareHistories(
  ours: readonly ClaimChange[] | undefined,
  theirs: readonly ClaimChange[],
): 'new' | 'same' | 'longer' | 'conflict' {
  if (!ours || ours.length === 0) return 'new';
  const [here, there] = [ours.map(toLine), theirs.map(toLine)];
  const shared = Math.min(here.length, there.length);
  if (here.slice(0, shared).every((line, at) => line === there[at])) return there.length > here.length ? 'longer' : 'same';
  // A line without a history only contains the current state.
  const [alone, last] = [theirs[0], ours.at(-1)];
  const bare = theirs.length === 1 && alone?.event === ClaimEvent.IMPORTED;
  return bare && last && isSameClaim(alone.claim, last.claim) ? 'same' : 'conflict';
}

const toLine = (change: ClaimChange): string => JSON.stringify(toFileChange(change));
const isSameClaim = (a: Claim, b: Claim): boolean =>
  JSON.stringify({ ...toFileClaim(a), updated_at: 0 }) === JSON.stringify({ ...toFileClaim(b), updated_at: 0 });
