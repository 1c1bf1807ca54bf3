import { COUNT_PROJECT_ID } from './demo-project.ts';
import {
  CONTRADICTION_REPLY,
  HASH_MAP_REPLY,
  PICTURE_MISTAKE_REPLY,
  PLAN_BEFORE,
  PLAN_REPLY,
  PLAN_STEPS,
  POLITE_NOTE_REPLY,
} from './demo-replies.ts';
import { getDaysAgo, getSeason } from './demo-time.ts';
import type { SeedChat } from './seed-chat.ts';

const CLUB = 'Bird club';
const HOME = 'Home';

/** A chat about a screenshot, a PNG in base64. */
export const createPictureChat = (now: number, picture: string): SeedChat => ({
  ...{ sessionId: 'screen', title: 'Wrong total on the lake page', at: getDaysAgo(now, 1, '18:40'), tags: ['website'] },
  turns: [
    {
      user: [
        { type: 'text', text: 'What’s wrong on this page?' },
        { type: 'image', mimeType: 'image/png', data: picture, filename: 'herons.png' },
      ],
    },
    { reasoning: 'Three rows list nests: 14, 3 and 1. The total at the bottom should be their sum.', reply: PICTURE_MISTAKE_REPLY },
  ],
});

/** Chats of the last six weeks. */
export function createPastChats(now: number): SeedChat[] {
  const season = getSeason(now);
  return [
    {
      ...{ sessionId: 'plan', title: 'Plan for next spring’s count', at: getDaysAgo(now, 1, '11:15'), folder: CLUB, tags: ['birds'] },
      turns: [
        { user: 'Make a plan for next spring’s heron count and start on it.' },
        { before: PLAN_BEFORE, call: { tool: 'plan_create', args: PLAN_STEPS }, result: { planId: 'demo-plan', currentStep: 's1' } },
        {
          call: { tool: 'plan_update', args: { status: 'completed', result: 'Nests: 19, 21, 18, 24 and 29.' } },
          result: { planId: 'demo-plan', currentStep: 's2' },
        },
        { reply: PLAN_REPLY },
      ],
    },
    {
      ...{
        sessionId: 'wiki',
        title: 'Contradictions about herons',
        at: getDaysAgo(now, 2, '16:05'),
        folder: CLUB,
        tags: ['birds'],
      },
      turns: [
        { user: 'Are there any contradictions in the wiki about herons?' },
        { before: 'I’ll check the wiki.', call: { tool: 'wiki_contradictions', args: {} }, result: { count: 1, pages: ['grey-heron.md'] } },
        { reply: CONTRADICTION_REPLY },
      ],
    },
    {
      ...{ sessionId: 'tests', title: 'Do the tests pass?', at: getDaysAgo(now, 3, '20:22'), tags: ['website'] },
      turns: [
        { user: 'Do the tests of the lake page still pass?' },
        {
          before: 'I’ll run them.',
          call: { tool: 'exec', args: { command: 'npm', args: ['test'], purpose: 'Check whether the tests pass' } },
          result: { exitCode: 0, stdout: ' ✓ herons.test.ts (4 tests)\n ✓ nests.test.ts (7 tests)\n\n Tests  11 passed (11)\n' },
        },
        { reply: 'Yes, all 11 tests pass.' },
      ],
    },
    {
      ...{ agentId: 'editor', sessionId: 'newsletter', title: 'Club news for this month', at: getDaysAgo(now, 4, '10:30'), folder: CLUB },
      turns: [
        { user: 'Three sentences for the club news about the second bittern nest, please. No exclamation marks.' },
        {
          reply:
            'A second bittern pair is breeding at the lake this year. Ines heard the male boom from the western reeds on four mornings in a row, and the nest was confirmed from the boat on the fifth. Please keep to the path along that shore until July.',
        },
      ],
    },
    {
      ...{ sessionId: 'hash-map', title: 'How hash maps work', at: getDaysAgo(now, 6, '21:10'), tags: ['learning'] },
      turns: [{ user: 'Explain how a hash map works, with a small example' }, { reply: HASH_MAP_REPLY }],
    },
    {
      ...{
        agentId: 'data',
        sessionId: 'clean-up',
        title: 'Clean up the old spreadsheet',
        at: getDaysAgo(now, 8, '14:50'),
        tags: ['counts'],
      },
      turns: [
        { user: 'The old sheet has “heron”, “Heron ” and “grey heron” for the same bird. How do I merge them?' },
        {
          reply: [
            'Trim and lower-case the names first, then map the leftovers by hand. There are rarely more than a dozen:',
            '',
            '```ts',
            "const NAMES = new Map([['heron', 'grey heron'], ['egret', 'great egret']]);",
            '',
            'function cleanName(raw: string): string {',
            '  const name = raw.trim().toLowerCase();',
            '  return NAMES.get(name) ?? name;',
            '}',
            '```',
            '',
            'Keep the raw column next to the clean one, so that you can check a doubtful row later.',
          ].join('\n'),
        },
      ],
    },
    {
      ...{ sessionId: 'meeting', title: 'Decline the Thursday meeting', at: getDaysAgo(now, 9, '08:45') },
      turns: [{ user: 'Draft a friendly note that declines a meeting' }, { reply: POLITE_NOTE_REPLY }],
    },
    {
      ...{
        sessionId: 'coast',
        title: 'Weekend at the coast',
        at: getDaysAgo(now, 13, '19:20'),
        folder: HOME,
        tags: ['travel'],
        pinned: true,
      },
      turns: [
        { user: 'We’re going to the coast with two kids for a weekend, by train. What should we pack?' },
        {
          reply: [
            'Pack for the train first and for the beach second:',
            '',
            '- [x] Tickets and the reservation for the pram space',
            '- [x] One picture book and one card game per child',
            '- [ ] Rain jackets, even if the forecast is good',
            '- [ ] Sun cream, hats, and a windbreak that fits into the big backpack',
            '- [ ] Binoculars: the spoonbills are back on the mudflats',
            '',
            'Leave the big beach toys at home. The rental place at the pier has better ones.',
          ].join('\n'),
        },
      ],
    },
    {
      ...{ sessionId: 'bread', title: 'Bread for Sunday morning', at: getDaysAgo(now, 17, '17:35'), folder: HOME, tags: ['kitchen'] },
      turns: [
        { user: 'I want fresh bread at 9 on Sunday. When do I start?' },
        {
          reply: [
            'Count back from nine o’clock:',
            '',
            '| When | What |',
            '| --- | --- |',
            '| Saturday, 16:00 | Feed the starter |',
            '| 20:00 | Mix flour, water and starter, wait half an hour, add the salt |',
            '| 20:30 to 22:00 | Fold three times |',
            '| 22:00 | Shape it and put it into the fridge |',
            '| Sunday, 7:30 | Heat the oven to 250 °C |',
            '| 8:00 | Bake for 40 minutes, the first 20 with the lid on |',
            '',
            'It then has 20 minutes to cool, which is too short and always happens anyway.',
          ].join('\n'),
        },
      ],
    },
    {
      ...{
        sessionId: 'diversity',
        title: 'How diverse is the lake?',
        at: getDaysAgo(now, 21, '15:00'),
        folder: CLUB,
        projectId: COUNT_PROJECT_ID,
        tags: ['birds', 'learning'],
      },
      turns: [
        { user: 'Is there a number for how diverse the birds at the lake are?' },
        {
          reply: [
            'The usual one is the Shannon index. It’s higher if there are more species, and if they are more evenly spread:',
            '',
            '$$H = -\\sum_{i=1}^{n} p_i \\ln p_i$$',
            '',
            'Here $p_i$ is the share of species $i$ among all nests. With last year’s four species you get $H \\approx 1.09$. The maximum for four species is $\\ln 4 \\approx 1.39$, so herons and cormorants clearly dominate.',
          ].join('\n'),
        },
      ],
    },
    {
      ...{
        sessionId: 'helpers',
        title: 'A count day for new helpers',
        at: getDaysAgo(now, 25, '09:40'),
        folder: CLUB,
        projectId: COUNT_PROJECT_ID,
        tags: ['counts'],
      },
      turns: [
        { user: 'Draw how a count day goes, for new helpers.' },
        {
          reply: [
            '```mermaid',
            'flowchart LR',
            '  A[Meet at 6:45] --> B{Calm and dry?}',
            '  B -- yes --> C[Count from the north shore]',
            '  B -- no --> D[Try the next morning]',
            '  C --> E[Second person counts again]',
            '  E --> F{Same number?}',
            '  F -- yes --> G[Write it down]',
            '  F -- no --> C',
            '```',
            '',
            'New helpers only need to remember one thing: count, don’t compare notes, count again.',
          ].join('\n'),
        },
      ],
    },
    {
      ...{
        agentId: 'translator',
        sessionId: 'letter',
        title: 'Letter to our partner club',
        at: getDaysAgo(now, 31, '13:10'),
        tags: ['letters'],
      },
      turns: [
        { user: 'Translate into French: We counted 24 nests this spring and would love to compare notes with you in June.' },
        { reply: '> Nous avons compté 24 nids ce printemps et serions ravis d’échanger nos observations avec vous en juin.' },
      ],
    },
    {
      ...{ sessionId: 'laptop', title: 'Keep the old laptop?', at: getDaysAgo(now, 40, '20:05'), folder: HOME, archived: true },
      turns: [
        { user: 'My laptop is nine years old. New battery and SSD, or a new one?' },
        {
          reply:
            'Keep it. A battery and an SSD cost about a tenth of a new one, and for mail, maps and spreadsheets you won’t notice the difference. Replace it when it no longer gets security updates.',
        },
      ],
    },
    {
      ...{ sessionId: 'boat', title: 'Boat permit for the island', at: getDaysAgo(now, 44, '11:25'), folder: CLUB, archived: true },
      turns: [
        { user: `Do we need a permit to land on the island in ${season + 1}?` },
        { reply: 'Yes, from March to July. The form asks for the names of everyone on board, so wait until both helpers have confirmed.' },
      ],
    },
  ];
}
