import { type Claim, ClaimStatus } from './claim.ts';
import type { LineProblem } from './claim-lines.ts';
import type { WikiConfig } from './wiki-config.ts';
import { type ContradictingPair, findContradictingPairs } from './contradiction/contradiction.ts';

/** A claim that needs review, and why. */
export interface Finding {
  claim: Claim;
  reason: string;
}

/** Claims that need review. Superseded and refuted claims are excluded. */
export interface HealthReport {
  /** Not changed for a long time, or a source has changed since. */
  stale: Finding[];
  lowConfidence: Finding[];
  /** Its page is missing, or no other page links to that page. */
  orphaned: Finding[];
  /** At most a thousand pairs. */
  contradicted: ContradictingPair[];
  /** Lines of claims and front matter that cannot be parsed; they are kept. */
  unreadable: LineProblem[];
}

interface HealthInput {
  claims: readonly Claim[];
  /** Paths of existing pages, and of pages that another page links to. */
  pages: ReadonlySet<string>;
  linked: ReadonlySet<string>;
  /** Modification time of each file in the vault. */
  modified: ReadonlyMap<string, number>;
  readSource(path: string): Promise<string | undefined>;
  unreadable: LineProblem[];
  config: WikiConfig;
  now: number;
  signal: AbortSignal;
}

/** Maximum number of contradicting pairs reported at once. */
export const MAX_PAIRS = 1000;
const DAY_MS = 86_400_000;
const INDEX = 'index.md';
const normalizeSpacing = (text: string): string => text.replace(/\s+/g, ' ').trim();
const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

export async function computeHealth(input: HealthInput): Promise<HealthReport> {
  const { pages, linked, unreadable, config, signal } = input;
  const claims = input.claims.filter(({ status }) => status === ClaimStatus.ACTIVE);
  const stale: Finding[] = [];
  for (const claim of claims) {
    const reason = await findStaleness(claim, input);
    if (reason !== undefined) stale.push({ claim, reason });
  }
  return {
    stale,
    lowConfidence: claims.flatMap((claim) =>
      claim.confidence < config.lowConfidence ? { claim, reason: `Confidence ${claim.confidence} is below ${config.lowConfidence}` } : [],
    ),
    orphaned: claims.flatMap((claim) =>
      !pages.has(claim.pagePath)
        ? { claim, reason: `Page ${claim.pagePath} does not exist` }
        : claim.pagePath !== INDEX && !linked.has(claim.pagePath)
          ? { claim, reason: `No page links to ${claim.pagePath}` }
          : [],
    ),
    contradicted: await findContradictingPairs(claims, { most: MAX_PAIRS, signal }),
    unreadable,
  };
}

async function findStaleness(
  { evidence, updatedAt }: Claim,
  { modified, readSource, config, now }: HealthInput,
): Promise<string | undefined> {
  for (const { sourcePath, excerpt } of evidence) {
    const changedAt = sourcePath === undefined ? undefined : modified.get(sourcePath);
    if (sourcePath === undefined || changedAt === undefined || changedAt <= updatedAt) continue;
    if (excerpt === undefined) return `${sourcePath} changed on ${formatDay(changedAt)}, after the claim`;
    // If the source still contains the excerpt, the claim is not affected by its change.
    if (!normalizeSpacing((await readSource(sourcePath)) ?? '').includes(normalizeSpacing(excerpt)))
      return `${sourcePath} changed and no longer contains the quoted text`;
  }
  const age = (now - updatedAt) / DAY_MS;
  return age > config.staleAfterDays ? `Not reviewed for ${Math.floor(age)} days` : undefined;
}
