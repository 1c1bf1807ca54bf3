import type { GatewayClient } from '#shared/client/client.ts';
import { formatDate, LONG_TERM_FILE, toNotesPath } from '../knowledge/memory/layout.ts';
import { LongTermFile } from '../knowledge/memory/long-term-file.ts';
import type { Workspace } from '../knowledge/memory/workspace.ts';
import { SUGGESTIONS } from './demo-dreams.ts';
import { getDaysAgo } from './demo-time.ts';

const MEMORIES = [
  { text: 'The herons are counted every year in the last week of March.', category: 'fact', days: 41 },
  { text: 'answers: short, with a table for comparing numbers', category: 'preference', days: 38 },
  { text: 'Last year’s count was sent to the bird club.', category: 'fact', days: 33 },
  { text: 'Robin and Ines help with the count. Robin has the boat.', category: 'fact', days: 26 },
  { text: 'units: metric, and 24-hour times', category: 'preference', days: 20 },
  { text: 'We chose the north shore for counting, because the island is out of sight from the dam.', category: 'decision', days: 15 },
  { text: 'Return the borrowed spotting scope to the club.', category: 'task', days: 6 },
  { text: 'The club meets on the first Thursday of each month.', category: 'event', days: 3 },
] as const;

/** Notes of single days: dreaming suggests sentences of them as memories. */
const DAY_NOTES = [
  { days: 12, notes: ['Ines heard a bittern in the western reeds.', 'The landing stage was under water again.'] },
  { days: 5, notes: [SUGGESTIONS.boat.content, 'The second scope needs a new tripod plate.'] },
  { days: 2, notes: [SUGGESTIONS.fog.content, SUGGESTIONS.newsletter.content] },
  { days: 1, notes: ['All four species are up this year.', 'The club room has a screen for the counts.'] },
];

const PAGES = [
  {
    path: 'grey-heron.md',
    title: 'Grey heron',
    tags: ['birds'],
    content:
      '# Grey heron\n\nA large wading bird that lives at lakes and rivers. It breeds in colonies, early in the year; ours is on [[The island]]. See [[Nest count]] for the numbers.\n',
  },
  {
    path: 'nest-count.md',
    title: 'Nest count',
    tags: ['birds', 'counts'],
    content:
      '# Nest count\n\nTwo people count the nests from the north shore on two mornings; [[Helpers]] lists them. We count [[Grey heron]], [[Great egret]], [[Bittern]] and cormorants.\n\nThe numbers go to the [[Bird club]] by April 15.\n',
  },
  {
    path: 'great-egret.md',
    title: 'Great egret',
    tags: ['birds'],
    content: '# Great egret\n\nWhite, as tall as a [[Grey heron]], with a yellow bill. It has bred on [[The island]] for five years.\n',
  },
  {
    path: 'bittern.md',
    title: 'Bittern',
    tags: ['birds', 'rare'],
    content:
      '# Bittern\n\nHard to see and easy to hear: the male booms from the western reeds in the early morning. A pair counts as breeding after four mornings, see [[Nest count]].\n',
  },
  {
    path: 'the-island.md',
    title: 'The island',
    tags: ['places'],
    content:
      '# The island\n\nOld alders, two hectares, no landing from March to July without a permit. Most nests of [[Grey heron]] and [[Great egret]] are here.\n',
  },
  {
    path: 'helpers.md',
    title: 'Helpers',
    tags: ['people'],
    content:
      '# Helpers\n\n- Robin, who has the boat\n- Ines, who knows the reeds and every [[Bittern]] in them\n\nBoth are members of the [[Bird club]].\n',
  },
  {
    path: 'bird-club.md',
    title: 'Bird club',
    tags: ['people'],
    content:
      '# Bird club\n\nMeets on the first Thursday of each month. It collects each [[Nest count]] of the region and thanks its [[Helpers]] in the club news.\n',
  },
];
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

interface KnowledgeDeps {
  client: GatewayClient;
  /** The main agent's workspace. */
  workspace: Workspace;
  now: number;
}

/** Adds memories, notes, a wiki with two contradicting claims, prompts and skills. */
export async function seedKnowledge({ client, workspace, now }: KnowledgeDeps): Promise<void> {
  const memories = MEMORIES.map(({ text, category, days }) => ({ text, category, createdAt: getDaysAgo(now, days, '18:00') }));
  await new LongTermFile(workspace, LONG_TERM_FILE).add(memories);
  for (const { days, notes } of DAY_NOTES)
    await workspace.write(toNotesPath(formatDate(getDaysAgo(now, days))), notes.map((note) => `- ${note}\n`).join(''));
  for (const page of PAGES) await client.call('wiki.savePage', page);
  const { claims } = await client.call('wiki.claims', { path: 'grey-heron.md' });
  for (const { text, excerpt, source_id } of CLAIMS) {
    if (claims.some((claim) => claim.text === text)) continue;
    await client.call('wiki.addClaim', { path: 'grey-heron.md', text, evidence: [{ source_id, excerpt, weight: 1 }] });
  }
  for (const [name, content] of Object.entries(PROMPTS)) await workspace.write(`prompts/${name}.md`, content);
  for (const [name, content] of Object.entries(SKILLS)) await workspace.write(`skills/${name}/SKILL.md`, content);
}
