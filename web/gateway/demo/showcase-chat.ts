import { getSeason, MINUTE_MS } from './demo-time.ts';
import { createLakeCountPage } from './lake-count-page.ts';
import { getCountYears, NEST_COUNTS, NEST_TOTALS } from './nest-counts.ts';
import type { SeedChat } from './seed-chat.ts';

/** Id of the chat that the demo opens on; the page knows it too (web/features/demo/open-showcase.ts). */
export const SHOWCASE_SESSION = 'spring-count';
/** The last question of that chat, whose reply waits for an approval while the visitor looks. */
export const EXPORT_QUESTION = 'Great. Please export the counts to a CSV file for the bird club.';
/** The command that the reply asks for. */
export const EXPORT_COMMAND = {
  command: 'npm',
  args: ['run', 'export', '--', '--format=csv', '--out=nest-counts.csv'],
  purpose: 'Write the counts of five years to a CSV file for the bird club',
};

const formatChange = (change: number): string => (change === 0 ? '0' : `+${change}`);

/** The chat that the demo opens on: an answer with a chart and a table, and a page that runs in the preview. */
export function createShowcaseChat(now: number): SeedChat {
  const season = getSeason(now);
  const years = getCountYears(season);
  const rows = NEST_COUNTS.map(({ species, nests }) => `| ${species} | ${nests[3]} | ${nests[4]} | ${formatChange(nests[4] - nests[3])} |`);
  const [before = 0, total = 0] = NEST_TOTALS.slice(-2);
  const counted = NEST_COUNTS.map(({ species, nests }) => `${nests[4]} ${species.toLowerCase()}`);
  return {
    sessionId: SHOWCASE_SESSION,
    title: 'Spring count at the lake',
    at: now - 14 * MINUTE_MS,
    pinned: true,
    folder: 'Bird club',
    tags: ['birds', 'counts'],
    turns: [
      { user: `The spring count is done: ${counted.join(', ')} nests. Can you make a page for the screen in the club room?` },
      {
        call: { tool: 'wiki_search', args: { query: 'nest count by year' } },
        result: {
          results: [
            {
              path: 'nest-count.md',
              title: 'Nest count',
              snippet: `${years[0]} to ${years[3]}: ${NEST_TOTALS.slice(0, -1).join(', ')} nests`,
            },
          ],
        },
      },
      {
        reply: [
          'Here it is, with the four years before from your wiki. Choose a species to see it on its own. It fits a phone, too.',
          '',
          '```html title="nests-at-the-lake.html"',
          createLakeCountPage(season),
          '```',
        ].join('\n'),
      },
      { user: 'Lovely. And how does this spring compare?' },
      {
        reply: [
          `It’s your best of the five on record: **${total} nests**, ${total - before} more than last year, and every species is up.`,
          '',
          `| Species | ${years[3]} | ${years[4]} | Change |`,
          '| --- | ---: | ---: | ---: |',
          ...rows,
          `| **All** | **${before}** | **${total}** | **${formatChange(total - before)}** |`,
          '',
          'The **herons** are levelling off: the old alders on the island are nearly full. The second **bittern** nest is the real news. There was none two years ago, so the club will ask where you heard it.',
          '',
          '```mermaid',
          '---',
          'config:',
          '  xyChart:',
          '    height: 300',
          '---',
          'xychart-beta',
          '    title "Nests at the lake"',
          `    x-axis [${years.join(', ')}]`,
          '    y-axis "Nests" 0 --> 32',
          `    bar [${NEST_TOTALS.join(', ')}]`,
          '```',
        ].join('\n'),
      },
    ],
  };
}
