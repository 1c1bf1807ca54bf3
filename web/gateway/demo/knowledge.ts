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

/** Texts that are kept to be sent again: what they ask for is among what the script answers. */
const PROMPTS = {
  decline: `---
title: Decline kindly
description: A short note, with what is offered instead
---

Draft a friendly note that declines {{what you are asked for}} and offers {{what instead}}.
`,
  doubts: `---
title: What does not agree?
description: Looks through the wiki
---

Does anything in the wiki about {{subject}} contradict itself?
`,
  compare: `---
title: Compare in a table
---

Compare {{the first}} and {{the second}} in a table, best and worst case.
`,
};

const SKILLS = {
  'thank-you': `---
name: thank-you
description: How people who counted birds are thanked. Read it before you write to one.
---

Three lines at most. Name what they counted, and what it was good for.
`,
  'count-report': `---
name: count-report
description: How a count becomes a report for the bird club.
license: CC0-1.0
---

A table of species, nests and place; below it who counted, when, and from where. Totals are added up twice.
`,
};

/** Memories, a wiki of two pages with two claims that do not agree, prompts, skills, and a schedule. */
export async function knowledge(client: GatewayClient): Promise<void> {
  for (const memory of MEMORIES) await client.call('memory.add', memory);
  await client.call('wiki.savePage', { path: 'grey-heron.md', title: 'Grey heron', content: HERON, tags: ['birds'] });
  await client.call('wiki.savePage', { path: 'nest-count.md', title: 'Nest count', content: COUNT, tags: ['birds', 'counts'] });
  const { claims } = await client.call('wiki.claims', { path: 'grey-heron.md' });
  for (const { text, excerpt, source_id } of CLAIMS) {
    if (claims.some((claim) => claim.text === text)) continue;
    await client.call('wiki.addClaim', { path: 'grey-heron.md', text, evidence: [{ source_id, excerpt, weight: 1 }] });
  }
  for (const [name, content] of Object.entries(PROMPTS)) await client.call('workspace.write', { path: `prompts/${name}.md`, content });
  for (const [name, content] of Object.entries(SKILLS)) await client.call('workspace.write', { path: `skills/${name}/SKILL.md`, content });
  await client.call('cron.add', {
    name: 'Morning look at the lake',
    cron: '0 8 * * 1-5',
    message: 'Tell the time and what the wiki has on herons.',
    idempotencyKey: 'demo-schedule',
  });
}
