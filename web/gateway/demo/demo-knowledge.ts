import type { GatewayClient } from '#shared/client/client.ts';

const MEMORIES = [
  { text: 'The herons are counted every year in the last week of March.', category: 'fact' },
  { text: 'answers: short, with a table for comparing numbers', category: 'preference' },
  { text: 'Last year’s count was sent to the bird club.', category: 'fact' },
] as const;

const HERON_PAGE = `# Grey heron

A large wading bird that lives at lakes and rivers. It breeds in colonies, early in the year. See [[Nest count]].
`;
const COUNT_PAGE = `# Nest count

Two people count the nests from the north shore on two mornings. The [[Grey heron]] colony is on the island.
`;
const CLAIMS = [
  { text: 'The grey heron builds its nests in trees.', excerpt: 'All 14 nests were in the old alders.', source_id: 'Field notes, March' },
  {
    text: 'The grey heron does not build its nests in trees.',
    excerpt: 'I only saw nests in the reeds.',
    source_id: 'Letter from a visitor',
  },
];

/** Saved prompts for which the script has replies. */
const PROMPTS = {
  decline: `---
title: Decline politely
description: A short note that offers an alternative
---

Draft a friendly note that declines {{the request}} and offers {{an alternative}}.
`,
  contradictions: `---
title: Find contradictions
description: Checks the claims in the wiki
---

Are there any contradictions in the wiki about {{subject}}?
`,
  compare: `---
title: Compare in a table
---

Compare {{first}} and {{second}} in a table, with best and worst cases.
`,
};

const SKILLS = {
  'thank-you': `---
name: thank-you
description: How to thank people who counted birds. Read it before writing to one of them.
---

Write three lines at most. Say what they counted and how it helped.
`,
  'count-report': `---
name: count-report
description: How to turn a count into a report for the bird club.
license: CC0-1.0
---

Start with a table of species, nests and location. Below it, say who counted, when and from where. Check every total twice.
`,
};

/** Adds memories, a wiki of two pages with two contradicting claims, prompts, skills and a schedule. */
export async function seedKnowledge(client: GatewayClient): Promise<void> {
  for (const memory of MEMORIES) await client.call('memory.add', memory);
  await client.call('wiki.savePage', { path: 'grey-heron.md', title: 'Grey heron', content: HERON_PAGE, tags: ['birds'] });
  await client.call('wiki.savePage', { path: 'nest-count.md', title: 'Nest count', content: COUNT_PAGE, tags: ['birds', 'counts'] });
  const { claims } = await client.call('wiki.claims', { path: 'grey-heron.md' });
  for (const { text, excerpt, source_id } of CLAIMS) {
    if (claims.some((claim) => claim.text === text)) continue;
    await client.call('wiki.addClaim', { path: 'grey-heron.md', text, evidence: [{ source_id, excerpt, weight: 1 }] });
  }
  for (const [name, content] of Object.entries(PROMPTS)) await client.call('workspace.write', { path: `prompts/${name}.md`, content });
  for (const [name, content] of Object.entries(SKILLS)) await client.call('workspace.write', { path: `skills/${name}/SKILL.md`, content });
  await client.call('cron.add', {
    name: 'Morning lake check',
    cron: '0 8 * * 1-5',
    message: 'Summarise what the wiki says about herons.',
    idempotencyKey: 'demo-schedule',
  });
}
