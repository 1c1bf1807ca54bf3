import type { Step, createStep as stepType } from './step.ts';

/** The wiki, from its first page on; `createStep` is handed in, for these are part of its own module's list. */
export function createWikiSteps(step: typeof stepType): Step[] {
  const none = { id: 'none' };
  const nobody = { agentId: 'none' };
  const path = 'entities/Miso';
  const evidence = [{ source_id: 'diary', source_path: 'sources/diary.md', lines: '3-4', excerpt: 'Miso is ten.' }];
  return [
    step('wiki.pages', {}),
    step('wiki.savePage', { path, content: 'A cat. See [[Ana]].\n', title: 'Miso', tags: ['cat'], version: null }),
    step('wiki.savePage', { path, content: 'A dog.', version: null }, 'ALREADY_EXISTS'),
    step('wiki.savePage', { path, content: 'A dog.', version: 'older' }, 'ABORTED'),
    step('wiki.savePage', { path: '../out', content: 'A dog.' }, 'INVALID_PARAMS'),
    step('wiki.page', { path }),
    step('wiki.page', { path: 'none' }, 'NOT_FOUND'),
    step('wiki.addClaim', { path, text: 'Miso is 10 years old.', evidence, tags: ['age'], confidence: 0.9 }),
    step('wiki.addClaim', { path, text: 'Miso is 11 years old.', evidence }),
    step('wiki.search', { query: 'how old is Miso' }),
    step('wiki.claims', { path, status: 'ACTIVE', below: 0.85 }),
    step('wiki.contradictions', {}),
    step('wiki.contradictions', none, 'NOT_FOUND'),
    step('wiki.health', {}),
    step('wiki.stats', {}),
    step('wiki.graph', {}),
    step('wiki.keepClaims', (results) => {
      const [claim, other] = results['wiki.contradictions']?.pairs[0]?.claims ?? [];
      return { ids: [claim?.id ?? 'none', other?.id ?? 'none'], why: 'Two cats of one name.' };
    }),
    step('wiki.keepClaims', { ids: ['none', 'neither'], why: 'Two cats.' }, 'NOT_FOUND'),
    step('wiki.updateClaim', (results) => ({ id: results['wiki.addClaim']?.claim.id ?? 'none', confidence: 0.5, why: 'Not sure.' })),
    step('wiki.updateClaim', none, 'NOT_FOUND'),
    step('wiki.supersedeClaim', (results) => {
      return { id: results['wiki.addClaim']?.claim.id ?? 'none', text: 'Miso is 12 years old.', rationale: 'A birthday.', evidence };
    }),
    step('wiki.supersedeClaim', { ...none, text: 'Miso is 12 years old.', rationale: 'A birthday.' }, 'NOT_FOUND'),
    step('wiki.refuteClaim', (results) => ({ id: results['wiki.supersedeClaim']?.claim.id ?? 'none', reason: 'Miso is a dog.' })),
    step('wiki.refuteClaim', { ...none, reason: 'Miso is a dog.' }, 'NOT_FOUND'),
    step('wiki.deleteClaim', (results) => ({ id: results['wiki.refuteClaim']?.claim.id ?? 'none' })),
    step('wiki.deleteClaim', none, 'NOT_FOUND'),
    step('wiki.restoreClaim', (results) => ({ id: results['wiki.refuteClaim']?.claim.id ?? 'none' })),
    step('wiki.restoreClaim', none, 'NOT_FOUND'),
    step('wiki.claim', (results) => ({ id: results['wiki.refuteClaim']?.claim.id ?? 'none' })),
    step('wiki.claim', none, 'NOT_FOUND'),
    step('wiki.export', {}),
    step('wiki.import', (results) => ({ content: `${results['wiki.export']?.content ?? ''}{"broken` })),
    step('wiki.removePage', { path, version: 'older' }, 'ABORTED'),
    step('wiki.removePage', { path }),
    step('wiki.removePage', { path }, 'NOT_FOUND'),
    step('wiki.pages', nobody, 'NOT_FOUND'),
    step('wiki.savePage', { ...nobody, path, content: '' }, 'NOT_FOUND'),
    step('wiki.search', { ...nobody, query: 'Miso' }, 'NOT_FOUND'),
    step('wiki.claims', nobody, 'NOT_FOUND'),
    step('wiki.addClaim', { ...nobody, path, text: 'Miso is a cat.' }, 'NOT_FOUND'),
    step('wiki.health', nobody, 'NOT_FOUND'),
    step('wiki.stats', nobody, 'NOT_FOUND'),
    step('wiki.graph', nobody, 'NOT_FOUND'),
    step('wiki.export', nobody, 'NOT_FOUND'),
    step('wiki.import', { ...nobody, content: '' }, 'NOT_FOUND'),
  ];
}
