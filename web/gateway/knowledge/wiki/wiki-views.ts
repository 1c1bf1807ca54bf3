import type {
  WikiClaim,
  WikiClaimChange,
  WikiEvidence,
  WikiPage as ShownPage,
  WikiContradiction,
} from '#shared/rpc/methods/wiki-records.ts';
import type { Claim, Evidence } from './claim.ts';
import type { ClaimChange } from './claim-lines.ts';
import type { ContradictingPair } from './contradiction/contradiction.ts';
import { computeVersion, type WikiPage } from './wiki-page.ts';

// Conversion of pages and claims to the wire format: snake_case, without undefined members.

const toEvidenceView = ({ sourceId, sourcePath, lines, weight, excerpt }: Evidence): WikiEvidence => ({
  source_id: sourceId,
  ...(sourcePath !== undefined && { source_path: sourcePath }),
  ...(lines !== undefined && { lines }),
  weight,
  ...(excerpt !== undefined && { excerpt }),
});

export const toClaimView = ({ id, pagePath, text, status, confidence, evidence, tags, ...claim }: Claim): WikiClaim => ({
  ...{ id, page_path: pagePath, text, status, confidence },
  evidence: evidence.map(toEvidenceView),
  tags: [...tags],
  created_at: claim.createdAt,
  updated_at: claim.updatedAt,
  ...(claim.supersedes !== undefined && { supersedes: claim.supersedes }),
  ...(claim.supersededBy !== undefined && { superseded_by: claim.supersededBy }),
  ...(claim.reason !== undefined && { reason: claim.reason }),
  ...(claim.beside && { beside: [...claim.beside] }),
});

export const toChangeView = ({ event, at, why, against, claim }: ClaimChange): WikiClaimChange => ({
  event,
  at,
  ...(why !== undefined && { why }),
  ...(against && { against: against.map(toEvidenceView) }),
  claim: toClaimView(claim),
});

export const toPairView = ({ claims: [claim, other], kind, reason }: ContradictingPair): WikiContradiction => ({
  claims: [toClaimView(claim), toClaimView(other)],
  kind,
  reason,
});

/** Metadata of a page for lists. */
export const toHeadView = ({ path, title, kind, tags = [], aliases = [], created, updated, problem }: WikiPage) => ({
  ...{ path, title, tags: [...tags], aliases: [...aliases] },
  ...(kind !== undefined && { kind }),
  ...(created !== undefined && { created }),
  ...(updated !== undefined && { updated }),
  ...(problem !== undefined && { problem }),
});

export const toPageView = (page: WikiPage): ShownPage => ({
  ...toHeadView(page),
  content: page.content,
  ...(page.frontMatter !== undefined && { frontMatter: page.frontMatter }),
  version: computeVersion(page),
});
