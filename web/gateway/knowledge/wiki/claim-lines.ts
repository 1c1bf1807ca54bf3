import { z } from '#shared/rpc/zod.ts';
import { toCamelCase } from '../memory/camel-case.ts';
import { isObject } from '#shared/merge-patch.ts';
import { Claim, Evidence, parseFields } from './claim.ts';

/** Events in the history of a claim. */
export const ClaimEvent = {
  ADDED: 'added',
  IMPORTED: 'imported',
  UPDATED: 'updated',
  SUPERSEDED: 'superseded',
  REFUTED: 'refuted',
  DELETED: 'deleted',
  RESTORED: 'restored',
  KEPT: 'kept',
} as const;
export type ClaimEvent = (typeof ClaimEvent)[keyof typeof ClaimEvent];

/** One line of a claim's history: the event, its time and reason, and the claim after it. */
export interface ClaimChange {
  event: ClaimEvent;
  /** Milliseconds since the Unix epoch. */
  at: number;
  why?: string;
  /** Evidence against a refuted claim. */
  against?: readonly Evidence[];
  claim: Claim;
}

/** A line that cannot be parsed. It stays in its file. */
export interface LineProblem {
  path: string;
  /** Counted from 1. */
  line: number;
  problem: string;
  /** The beginning of the line. */
  text: string;
}

const MAX_SHOWN_CHARS = 200;
const toIso = (at: number): string => new Date(at).toISOString();
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const changeSchema = z.looseObject({
  event: z.enum(ClaimEvent),
  at: instant,
  why: z.string().optional(),
  against: z.array(z.unknown()).optional(),
  claim: z.looseObject({ createdAt: instant, updatedAt: instant }),
});

const toFileEvidence = ({ sourceId, sourcePath, lines, weight, excerpt }: Evidence): Record<string, unknown> => ({
  source_id: sourceId,
  source_path: sourcePath,
  lines,
  weight,
  excerpt,
});

/** Converts a claim to snake_case for files and the wire. Undefined members are dropped by JSON. */
export const toFileClaim = (claim: Claim): Record<string, unknown> => ({
  id: claim.id,
  page_path: claim.pagePath,
  text: claim.text,
  status: claim.status,
  confidence: claim.confidence,
  evidence: claim.evidence.map(toFileEvidence),
  tags: claim.tags,
  created_at: toIso(claim.createdAt),
  updated_at: toIso(claim.updatedAt),
  supersedes: claim.supersedes,
  superseded_by: claim.supersededBy,
  reason: claim.reason,
  beside: claim.beside,
});

/** Converts a change to snake_case, as it is stored in a claim's file. */
export const toFileChange = ({ event, at, why, against, claim }: ClaimChange): Record<string, unknown> => ({
  event,
  at: toIso(at),
  why,
  against: against?.map(toFileEvidence),
  claim: toFileClaim(claim),
});

/** Formats a line, with its line break. */
export const formatChange = (change: ClaimChange): string => `${JSON.stringify(toFileChange(change))}\n`;

/** Parses a change. Throws an Error that names the invalid member. */
export function parseChange(value: unknown): ClaimChange {
  const { event, at, why, against, claim } = parseFields(changeSchema, value, 'A change');
  return {
    event,
    at,
    ...(why !== undefined && { why }),
    ...(against && { against: against.map((each) => new Evidence(isObject(each) ? each : {})) }),
    claim: new Claim(claim),
  };
}

/** Converts the object's own member names to camelCase; nested objects are parsed elsewhere. */
const toCamelCaseMembers = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [toCamelCase(name), value]));

/** Parses JSON Lines one by one. `read` throws an Error for an invalid object, which is reported and skipped. */
export function forEachJsonLine(path: string, text: string, read: (fields: Record<string, unknown>) => void): LineProblem[] {
  const problems: LineProblem[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const report = (problem: string): void => void problems.push({ path, line: index + 1, problem, text: line.slice(0, MAX_SHOWN_CHARS) });
    let value: unknown;
    try {
      value = JSON.parse(line.replace(/^\uFEFF/, ''));
    } catch {
      report('Invalid JSON');
      continue;
    }
    if (!isObject(value)) report('Not a JSON object');
    else
      try {
        read(toCamelCaseMembers(value));
      } catch (error) {
        report(error instanceof Error ? error.message : 'Invalid line');
      }
  }
  return problems;
}

/** A claim's file: its history as far as it can be parsed, and the invalid lines. */
export interface ClaimFile {
  text: string;
  changes: ClaimChange[];
  problems: LineProblem[];
}

/** Parses the file of claim `id`. Lines that belong to another claim are reported as problems. */
export function parseClaimFile(path: string, id: string, text: string): ClaimFile {
  const changes: ClaimChange[] = [];
  const problems = forEachJsonLine(path, text, (fields) => {
    const change = parseChange(fields);
    if (change.claim.id !== id) throw new Error(`This line belongs to claim ${change.claim.id}, not to ${id}`);
    changes.push(change);
  });
  return { text, changes, problems };
}
