import { getSeason } from './demo-time.ts';
import { createLakeCountPage } from './lake-count-page.ts';

/** A page that counts birds, in two colours. */
export const createCounterPage = (ground: string, ink: string): string =>
  [
    '```html title="bird-counter.html"',
    '<!doctype html>',
    '<title>Birds today</title>',
    '<style>',
    `  body { display: grid; place-content: center; gap: 16px; min-height: 100vh; margin: 0; background: ${ground}; color: ${ink}; font: 20px system-ui; text-align: center; }`,
    '  output { font-size: 96px; font-variant-numeric: tabular-nums; }',
    '  button { padding: 12px 24px; border: 0; border-radius: 999px; background: #1f7a6d; color: #fff; font: inherit; cursor: pointer; }',
    '</style>',
    '<h1>Birds today</h1>',
    '<output id="count">0</output>',
    '<button onclick="count.value++">One more</button>',
    '```',
  ].join('\n');

/** The page of the chat that the demo opens on, in dark colours. */
export const createDarkLakeCountPage = (now: number): string =>
  ['```html title="nests-at-the-lake.html"', createLakeCountPage(getSeason(now), 'dark'), '```'].join('\n');

export const PLAN_STEPS = {
  goal: 'Prepare next spring’s heron count',
  steps: [
    'Collect the nest numbers of the last five years',
    'Pick two calm mornings in the last week of March',
    'Find two people who count from the north shore',
    'Add dates and names to the wiki',
  ],
};
/** Results of the steps. */
export const STEP_RESULTS: readonly string[] = [
  'Nests: 19, 21, 18, 24 and 29.',
  'March 25 and 28, starting at 7:00.',
  'Robin and Ines can make both mornings.',
  'Added to the page Nest count.',
];
export const PLAN_BEFORE = 'This takes several steps, so I’ll make a plan and start on it.';
export const PLAN_REPLY = 'The first step is done. Open the **Plans** page to see the progress and to let me do the rest.';

export const PICTURE_MISTAKE_REPLY =
  'The total is wrong. The rows add up to **18** nests, but the page says **81**: the digits are swapped.\n\nYou can also point at a problem: choose **Annotate** on the picture, place a numbered marker on it, and send it back with your note. (This reply is scripted. A real model would look at the picture.)';

export const CONTRADICTION_REPLY =
  'Two claims on the page **Grey heron** contradict each other. One says that the heron *builds its nests in trees*, the other that it *does not*. Open **Wiki** to choose the one to keep; the other stays in the history.';

export const HASH_MAP_REPLY = [
  'A hash map turns each key into a number and uses it to pick one of several buckets. To find a key, it computes the number again and looks only in that bucket:',
  '',
  '```ts',
  'const buckets = 8;',
  'const bucketFor = (key: string) => [...key].reduce((sum, char) => sum * 31 + char.codePointAt(0)!, 7) % buckets;',
  '',
  "bucketFor('heron'); // always the same number from 0 to 7",
  '```',
  '',
  'Two keys can land in the same bucket. The bucket then holds a short list, which is searched entry by entry. As long as the number of buckets grows with the number of keys, a lookup takes about as long with ten million keys as with ten.',
].join('\n');

export const POLITE_NOTE_REPLY = [
  '> Hi Robin,',
  '>',
  '> Thanks for the invitation! Unfortunately I can’t make it on Thursday, because I already have another appointment. Could you send me a short summary of what you decide? If you need my input, I’m happy to send it beforehand.',
  '>',
  '> Have a good meeting!',
  '',
  'It says thanks, declines once and offers an alternative.',
].join('\n');

export const SORTING_REPLY = [
  'Here’s a sample comparison of three sorting algorithms:',
  '',
  '| Algorithm | Best case | Worst case | Stable |',
  '| --- | --- | --- | --- |',
  '| Merge sort | n log n | n log n | yes |',
  '| Quicksort | n log n | n² | no |',
  '| Insertion sort | n | n² | yes |',
  '',
  'JavaScript’s built-in sort is stable, so it is usually all you need:',
  '',
  '```ts',
  'const sorted = birds.toSorted((a, b) => a.name.localeCompare(b.name));',
  '```',
].join('\n');

export const FALLBACK_REPLY = [
  'Hi! In this demo my replies are scripted, so you can look around without an API key. The app itself is the real one.',
  '',
  'Here are some things to ask me:',
  '',
  '- **Run the tests**: I’ll ask you to approve a command',
  '- **Take a screenshot**: you can draw on the picture',
  '- **Find contradictions in the wiki**: I’ll compare its claims',
  '- **Make a plan**: I’ll follow it step by step',
  '- **Compare sorting algorithms**: you’ll get a table',
  '- **Make a web page**: it runs in a preview next to the chat',
  '- **Tell me the time**: I’ll use a tool',
].join('\n');

export const PICTURE_REPLY =
  'I got your picture. A real model would see everything you drew, nothing that you redacted, and your notes as text. In this demo my replies are scripted, so I can’t look at it.';
