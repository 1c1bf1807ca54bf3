import { describe, expect } from 'vitest';
import { toFile } from '../../web/gateway/agent/collections/fixture.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

const FILLER = Array.from({ length: 120 }, (_, index) => `Paragraph ${index + 1} of the log is about the weather at sea.\n\n`).join('');
const WHALES = `# Whales\n\n${FILLER}## Food\n\nThe blue whale is the largest animal. It eats krill.\n\n## Migration\n\n${FILLER}`;
const CLAIM = 'Blue whales eat krill';

describe('citations in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('chat.citations/opens', 'a chip names its source and opens the document at the highlighted passage', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const { collection } = await client.call('collections.create', { name: 'Library' });
    await client.call('collections.addFiles', { collectionId: collection.id, files: [toFile('whales.md', WHALES)] });
    const isIndexed = async (): Promise<boolean> =>
      (await client.call('collections.get', { collectionId: collection.id })).collection.state !== 'indexing';
    await waitFor(isIndexed, 'the indexed collection');
    const { passages } = await client.call('collections.search', { query: 'krill' });
    const passage = passages.find(({ text }) => text.includes('krill'));
    if (!passage) throw new Error('the passage was not found');
    const start = passage.text.indexOf('The blue whale');
    const quote = { text: 'The blue whale is the largest animal. It eats krill.', start, end: start + 52 };
    const { collectionName: _, score: _score, matches: _matches, ...source } = passage;
    const web = {
      number: 4,
      id: 'w',
      kind: 'web',
      title: 'Whale facts',
      url: 'https://example.com/whales',
      text: 'Krill is food for whales.',
    };
    const content = `**${CLAIM}.** They live in all oceans.\n\n- Krill is food for whales`;
    const messages = [
      { id: 'q', role: 'user', content: 'What do whales eat?', timestamp: 1, parentId: null },
      {
        ...{ id: 'a', role: 'assistant', content, timestamp: 2, parentId: 'q' },
        citations: [
          { start: 2, end: content.indexOf('**', 2), number: 3, quote },
          { start: content.indexOf('Krill is'), end: content.length, number: 4, quote: { text: web.text, start: 0, end: web.text.length } },
        ],
        sources: [{ ...source, number: 3 }, web],
      },
    ];
    const { session } = await client.call('sessions.import', {
      content: messages.map((message) => JSON.stringify(message)).join('\n'),
      title: 'Whales',
    });
    await page.goto(`${at.perch.url}/chat/main/${session.sessionId}`);
    const chip = page.getByRole('button', { name: 'Source 3: Whales, Food' });
    await chip.waitFor();
    expect(await page.getByRole('list').getByText(CLAIM).count()).toBe(0);
    await page.getByRole('region', { name: 'Sources' }).getByRole('button', { name: 'Whale facts' }).waitFor();
    await takeScreenshots(page, 'citations');

    await chip.hover();
    await page.locator('.card').getByText('It eats krill.').waitFor();
    await takeScreenshots(page, 'citation-card');
    await chip.press('Enter');
    const viewer = page.getByRole('dialog', { name: 'Whales' });
    const mark = viewer.locator('mark');
    await mark.waitFor();
    expect(await mark.textContent()).toBe(quote.text);
    const isInView = await mark.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
    expect(isInView).toBe(true);
    await viewer.getByRole('button', { name: 'Save original' }).waitFor();
    await takeScreenshots(page, 'source-viewer');
    await viewer.getByRole('button', { name: 'Show earlier text' }).click();
    await viewer.getByText('Paragraph 1 of the log').waitFor();
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    expect(await chip.evaluate((element) => element === document.activeElement)).toBe(true);

    await page.getByRole('region', { name: 'Sources' }).getByRole('button', { name: 'Whale facts' }).click();
    const link = page.getByRole('dialog', { name: 'Whale facts' }).getByRole('link', { name: 'Open example.com' });
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await page.keyboard.press('Escape');
    expect(at.browser.complaints).toEqual([]);
  });
});
