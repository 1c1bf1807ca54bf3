import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Claim, ClaimStatus, Evidence, type EvidenceInput } from './claim.ts';
import { type ClaimChange, ClaimEvent, type LineProblem } from './claim-lines.ts';

/** A snapshot of all claims: their histories by id, and lines that could not be parsed. */
export interface ClaimHistories {
  histories: ReadonlyMap<string, readonly ClaimChange[]>;
  problems: readonly LineProblem[];
}

export const toEvidence = (evidence: readonly EvidenceInput[]): Evidence[] => evidence.map((each) => new Evidence(each));
export const createNotFoundError = (id: string): RpcError =>
  new RpcError('NOT_FOUND', `No claim with id ${JSON.stringify(String(id).slice(0, 100))}.`);

export function getLatest(history: readonly ClaimChange[]): ClaimChange {
  const last = history.at(-1);
  if (!last) throw new RpcError('INTERNAL_ERROR', 'The claim has no history.');
  return last;
}

export const getCurrentClaims = ({ histories }: ClaimHistories): Claim[] =>
  [...histories.values()]
    .map(getLatest)
    .flatMap(({ event, claim }) => (event === ClaimEvent.DELETED ? [] : claim))
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

export function requireActive(claim: Claim): Claim {
  if (claim.status === ClaimStatus.ACTIVE) return claim;
  const successor = claim.supersededBy === undefined ? '' : ` by ${claim.supersededBy}`;
  throw new RpcError('INVALID_PARAMS', `Claim ${claim.id} is already ${claim.status}${successor}.`);
}

export function requireSentence(text: string, name: string): string {
  if (text.trim() === '') throw new RpcError('INVALID_PARAMS', `${name} must not be empty.`);
  return text.trim();
}

export function toSuperseded(old: Claim, successorId: string, at: number, why: string | undefined): ClaimChange {
  const reason = why ?? `Replaced by ${successorId}`;
  const claim = new Claim({ ...old, status: ClaimStatus.SUPERSEDED, supersededBy: successorId, reason, updatedAt: at });
  return { event: ClaimEvent.SUPERSEDED, at, why: reason, claim };
}
