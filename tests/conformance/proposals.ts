import { createHash } from 'node:crypto';

/** Proposals of dreaming in stored form: a step writes them, since a new gateway has none. */
export const PROPOSAL_RECORDS = ['tea is preferred to coffee', 'the rent is due on fridays'] as const;
export const computeHash = (content: string): string => createHash('sha256').update(content).digest('hex');
const components = { frequency: 0.5, relevance: 0.8, diversity: 0.4, recency: 0.9, consolidation: 0.2, conceptual: 0 };

export const PROPOSALS = PROPOSAL_RECORDS.map((content) => {
  const what = { content_hash: computeHash(content), content, category: 'fact', source_ref: 'memory/2026-11-20.md#L1' };
  return `${JSON.stringify({ state: 'proposed', ...what, created_at: 1, score: 0.6, components, at: 1 })}\n`;
}).join('');

/** Proposed changes of memory in stored form. */
export const CHANGE_RECORDS = ['the ferry leaves at noon', 'the tram leaves at one'] as const;

export const CHANGES = CHANGE_RECORDS.map((text) => {
  const trial = { questions: 1, rightBefore: 0, rightAfter: 1, tokensBefore: 0, tokensAfter: 9 };
  const added = [{ text, category: 'fact', createdAt: 1 }];
  return `${JSON.stringify({ id: computeHash(text), kind: 'update', state: 'proposed', removed: [], added, sourceRef: '', trial, at: 1 })}\n`;
}).join('');
