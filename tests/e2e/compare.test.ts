import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream } from '../test-upstream.ts';
import { findOverflow, waitForNoProblems } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const column = (page: Page, name: RegExp) => page.getByRole('region', { name });

describe('models side by side', () => {
  const at = useGatewayAndBrowser();

  verifies('app/compare', 'answer the same message, each in a chat of its own that one can go on with', async () => {
    await using upstream = await startUpstream({ models: ['normal', 'endless'] });
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    const page = await openLinkedPage(at.browser, at.perch);
    await page.getByRole('button', { name: 'Model:' }).click();
    await page.getByRole('button', { name: 'Compare models' }).click();
    const [left, right] = [column(page, /^1\./), column(page, /^2\./)];
    await right.getByRole('button', { name: 'Model:' }).click();
    await page.getByRole('option', { name: 'endless' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Which of you is better?');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await left.getByRole('article', { name: 'Reply' }).getByText('Hello wörld').waitFor();
    await left.getByText(/first token .* total .* tokens/).waitFor();
    // The other one goes on, and is stopped alone; what had come is kept.
    await right.getByText(/first token/).waitFor();
    await takeScreenshots(page, 'compare');
    await right.getByRole('button', { name: 'Stop this reply' }).click();
    await right.getByText('Stopped').waitFor();
    const completionBodies = upstream.requests
      .filter(({ path }) => path.endsWith('/chat/completions'))
      .map(({ body }) => JSON.stringify(body));
    expect(completionBodies.map((body) => body.includes('Which of you is better?'))).toEqual([true, true]);
    const ids = new URL(page.url()).searchParams.get('chats')?.split(',') ?? [];
    const tagged = async (): Promise<string[][]> => {
      const { sessions } = await client.call('sessions.list', {});
      return ids.map((id) => [...(sessions.find(({ sessionId }) => sessionId === id)?.tags ?? [])]);
    };
    await waitFor(async () => (await tagged()).every((tags) => tags.length === 1), 'both to be marked');
    expect(new Set((await tagged()).flat()).size).toBe(1);
    await page.reload();
    await left.getByText('Which of you is better?').waitFor();
    await right.getByText('Stopped').waitFor();
    // Both were read here: the list does not call them new.
    const listed = page.getByRole('navigation', { name: 'Chats' }).getByRole('listitem').filter({ hasText: 'Which of you is better?' });
    await waitFor(async () => (await listed.count()) === 2, 'both to be listed');
    await waitFor(async () => (await listed.getByText('unread').count()) === 0, 'none to be unread');
    await left.getByRole('link', { name: 'Continue with this one' }).click();
    await page.waitForURL(`**/chat/main/${ids[0]}`);
    await waitFor(async () => (await listed.getByText('unread').count()) === 0, 'none to be unread');
    await page.getByRole('article', { name: 'Reply' }).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies(
    'app/compare',
    'three of them get the same file; one is changed on the way, each has a tab where they have no room',
    async () => {
      await using upstream = await startUpstream({ models: ['normal', 'slow-400', 'endless'] });
      using outside = await connectOutside(at.perch);
      const { client } = outside;
      await addProvider(client, upstream.url);
      await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
      const page = await at.browser.page(`${at.perch.url}/compare`);
      await page.setViewportSize({ width: 1440, height: 900 });
      await waitForConnection(page, LINKED_STATUS);
      const [first, second, third] = [column(page, /^1\./), column(page, /^2\./), column(page, /^3\./)];
      await page.getByRole('button', { name: 'Add a model' }).click();
      const take = async (region: typeof first, model: string): Promise<void> => {
        await region.getByRole('button', { name: 'Model:' }).click();
        await page.getByRole('option', { name: model }).click();
      };
      await take(second, 'slow-400');
      await take(third, 'endless');
      // A file that is dropped anywhere on them goes to all.
      await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(['Herons fish alone.'], 'birds.txt', { type: 'text/plain' }));
        document.querySelector('#columns')?.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      });
      await page.getByRole('button', { name: 'Remove birds.txt' }).waitFor();
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('What do they do?');
      await field.press('Enter');
      for (const region of [third, first, second]) await region.getByText('birds.txt').waitFor();
      await third.getByText(/first token/).waitFor();
      // A reply that has ended does not wait for the others.
      await second.getByText(/first token .* total .* tokens/).waitFor();
      const bodies = (): string[] =>
        upstream.requests.filter(({ path }) => path.endsWith('/chat/completions')).map(({ body }) => JSON.stringify(body));
      expect(bodies().map((body) => body.includes('Herons fish alone.'))).toEqual([true, true, true]);
      await takeScreenshots(page, 'compare-three');

      // On a narrow screen one is visible, and the tabs show the state of the others.
      await page.setViewportSize({ width: 390, height: 800 });
      const tab = (name: RegExp) => page.getByRole('tab', { name });
      await second.waitFor({ state: 'hidden' });
      await tab(/^normal/).click();
      await third.waitFor({ state: 'hidden' });
      await tab(/^endless.*Replying/).click();
      await third.getByRole('button', { name: 'Stop this reply' }).click();
      await third.getByText('Stopped').waitFor();
      await first.waitFor({ state: 'hidden' });
      await tab(/^endless$/).press('ArrowRight');
      await first.getByRole('article', { name: 'Reply' }).waitFor();
      expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
      await page.setViewportSize({ width: 1440, height: 900 });

      // Another model from the next message on, in its column alone.
      const before = bodies().length;
      await take(third, 'normal');
      await field.fill('And then?');
      await field.press('Enter');
      await third.getByRole('article', { name: 'Reply' }).getByText('Hello wörld').waitFor();
      await waitFor(() => bodies().length === before + 3, 'all three to be asked again');
      const models = upstream.requests.slice(-3).map(({ body }) => body?.['model']);
      expect(models.sort()).toEqual(['normal', 'normal', 'slow-400']);

      // From one of its chats back to where it came of, and from there to another comparison.
      const address = page.url();
      await third.getByRole('link', { name: 'Continue with this one' }).click();
      await page.getByRole('link', { name: 'Back to comparison' }).click();
      await page.waitForURL(address);
      await third.getByText('And then?').waitFor();
      expect(await third.getByRole('button', { name: 'Model:' }).innerText()).toContain('normal');
      await first.getByRole('button', { name: 'Model:' }).click();
      await page.getByRole('button', { name: 'Compare models' }).click();
      await page.getByText('Replies appear here.').first().waitFor();
      expect(await page.getByText('And then?').count()).toBe(0);
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('app/compare', 'what a message was being changed to is led to where another deletes its chat', async () => {
    await using upstream = await startUpstream({ models: ['normal', 'endless'] });
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    const page = await at.browser.page(`${at.perch.url}/compare`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByRole('textbox', { name: 'Message' }).fill('What do herons eat?');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    const left = column(page, /^1\./);
    await left.getByText(/first token .* total .* tokens/).waitFor();
    await left.getByRole('button', { name: 'Edit message' }).click();
    await left.getByRole('textbox', { name: 'Edit your message' }).fill('What do storks eat?');
    const [id = ''] = new URL(page.url()).searchParams.get('chats')?.split(',') ?? [];
    await client.call('sessions.delete', { path: `main/${id}.jsonl` });
    await left.getByText('This chat was deleted').waitFor();
    await left.getByRole('link', { name: 'Continue with this one' }).click();
    await page
      .getByRole('list', { name: /^Unsent messages/ })
      .getByText('What do storks eat?')
      .waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
