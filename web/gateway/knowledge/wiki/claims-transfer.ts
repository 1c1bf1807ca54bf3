import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isObject } from '#shared/merge-patch.ts';
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
export function toJsonlPath(exportPath: string): string {
  const path = toFolderPath(exportPath);
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
  const problems = forEachJsonLine(path, text, (fields) => {
    const { history } = fields;
    if (history === undefined) return void histories.push([toImportedChange(fields, now, newId)]);
    if (!Array.isArray(history) || history.length === 0) throw new Error('`history` must be an array of changes');
    const changes = history.map((each: unknown) => parseChange(isObject(each) ? each : {}));
    const ids = new Set(changes.map(({ claim }) => claim.id));
    if (ids.size > 1) throw new Error(`\`history\` belongs to several claims: ${[...ids].slice(0, 3).join(', ')}`);
    histories.push(changes);
  });
  return { histories, problems };
}

function toImportedChange(fields: Record<string, unknown>, now: number, newId: () => string): ClaimChange {
  const { id = newId(), createdAt, updatedAt, ...otherFields } = fields;
  const iso = new Date(now).toISOString();
  const claim = { id, ...otherFields, createdAt: createdAt ?? iso, updatedAt: updatedAt ?? createdAt ?? iso };
  return parseChange({ event: ClaimEvent.IMPORTED, at: iso, claim });
}

/** Compares an imported history with the existing one: `longer` continues it. */
export function compareHistories(
  localHistory: readonly ClaimChange[] | undefined,
  importedHistory: readonly ClaimChange[],
): 'new' | 'same' | 'longer' | 'conflict' {
  if (!localHistory || localHistory.length === 0) return 'new';
  const [localLines, importedLines] = [localHistory.map(toLine), importedHistory.map(toLine)];
  const sharedCount = Math.min(localLines.length, importedLines.length);
  if (localLines.slice(0, sharedCount).every((line, index) => line === importedLines[index]))
    return importedLines.length > localLines.length ? 'longer' : 'same';
  // A line without a history only contains the current state.
  const [firstImported, lastLocal] = [importedHistory[0], localHistory.at(-1)];
  const isStateOnly = importedHistory.length === 1 && firstImported?.event === ClaimEvent.IMPORTED;
  return isStateOnly && lastLocal && isSameClaim(firstImported.claim, lastLocal.claim) ? 'same' : 'conflict';
}

const toLine = (change: ClaimChange): string => JSON.stringify(toFileChange(change));
const isSameClaim = (a: Claim, b: Claim): boolean =>
  JSON.stringify({ ...toFileClaim(a), updated_at: 0 }) === JSON.stringify({ ...toFileClaim(b), updated_at: 0 });
