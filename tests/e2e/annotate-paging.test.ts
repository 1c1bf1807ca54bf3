import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { useAnnotateFixture, openPage } from './annotate-page.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('many drawings', () => {
  const all = useAnnotateFixture();

  verifies('annotate/many', 'a thousand: some are made, more as the end comes near, and one is found by its title', async () => {
    const { client } = all.at.outside;
    // One connection may make a hundred calls at once.
    for (let from = 0; from < 1000; from += 80) {
      using outside = await connectOutside(all.at.perch);
      for (let at = from; at < Math.min(from + 80, 1000); at++)
        await outside.client.call('drawings.create', { title: `Drawing ${at}`, width: 400, height: 300 });
    }
    expect((await client.call('drawings.list', {})).count).toBe(1000);
    const page = await openPage(all.at, '/annotate');
    const cards = page.getByRole('list', { name: 'Drawings' }).getByRole('listitem');
    await waitFor(async () => (await cards.count()) > 1, 'the list');
    const first = await cards.count();
    expect(first).toBeLessThan(200);
    await cards.last().scrollIntoViewIfNeeded();
    await waitFor(async () => (await cards.count()) > first, 'more cards');
    await takeScreenshots(page, 'many');
    await page.getByRole('searchbox', { name: 'Search drawings' }).fill('drawing 777');
    await waitFor(async () => (await cards.count()) === 1, 'the one that is looked for');
    await page.getByRole('searchbox', { name: 'Search drawings' }).fill('none of these');
    await page.getByText('No matching drawings').waitFor();
    expect(all.at.browser.complaints).toEqual([]);
    await page.close();
  });
});
