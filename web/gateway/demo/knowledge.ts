import type { GatewayClient } from '#shared/client/client.ts';

const MEMORIES = [
  { text: 'The herons are counted each year in the last week of March.', category: 'fact' },
  { text: 'answers: short, with a table where numbers are compared', category: 'preference' },
  { text: 'The count of this year was sent to the bird club.', category: 'fact' },
] as const;

const HERON = `# Grey heron

A large wading bird of lakes and rivers. It breeds in colonies, early in the year. See [[Nest count]].
`;
const COUNT = `# Nest count

Counted from the north shore, twice, by two people. The colony of the [[Grey heron]] lies on the island.
`;
const CLAIMS = [
  { text: 'The grey heron builds its nests in trees.', excerpt: 'All 14 nests were in the old alders.', source_id: 'Field notes, March' },
  {
    text: 'The grey heron does not build its nests in trees.',
    excerpt: 'Only nests in the reeds were seen.',
    source_id: 'Letter of a visitor',
  },
];

/** Memories, a wiki of two pages with two claims that do not agree, and a schedule. */
export async function knowledge(client: GatewayClient): Promise<void> {
  for (const memory of MEMORIES) await client.call('memory.add', memory);
  await client.call('wiki.savePage', { path: 'grey-heron.md', title: 'Grey heron', content: HERON, tags: ['birds'] });
  await client.call('wiki.savePage', { path: 'nest-count.md', title: 'Nest count', content: COUNT, tags: ['birds', 'counts'] });
  const { claims } = await client.call('wiki.claims', { path: 'grey-heron.md' });
  for (const { text, excerpt, source_id } of CLAIMS) {
    if (claims.some((claim) => claim.text === text)) continue;
    await client.call('wiki.addClaim', { path: 'grey-heron.md', text, evidence: [{ source_id, excerpt, weight: 1 }] });
  }
  await client.call('cron.add', {
    name: 'Morning look at the lake',
    cron: '0 8 * * 1-5',
    message: 'Tell the time and what the wiki has on herons.',
    idempotencyKey: 'demo-schedule',
  });
}
