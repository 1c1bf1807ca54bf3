import { createHash } from 'node:crypto';

/** Proposals of dreaming in stored form: a step writes them, since a new gateway has none. */
export const PROPOSAL_RECORDS = ['tea is preferred to coffee', 'the rent is due on fridays'] as const;
export const computeHash = (content: string): string => createHash('sha256').update(content).digest('hex');
const components = { frequency: 0.5, relevance: 0.8, diversity: 0.4, recency: 0.9, consolidation: 0.2, conceptual: 0 };

export const PROPOSALS = PROPOSAL_RECORDS.map((content) => {
  const what = { content_hash: computeHash(content), content, category: 'fact', source_ref: 'memory/2026-11-20.md#L1' };
  return `${JSON.stringify({ state: 'proposed', ...what, created_at: 1, score: 0.6, components, at: 1 })}\n`;
}).join('');
