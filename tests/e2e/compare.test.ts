import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { startUpstream } from '../upstream.ts';
import { linkedPage } from './connected.ts';
import { addProvider, connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const column = (page: Page, name: RegExp) => page.getByRole('region', { name });

describe('models side by side', () => {
  const at = served();

  verifies('app/compare', 'answer the same message, each in a chat of its own that one can go on with', async () => {
    await using upstream = await startUpstream({ models: ['normal', 'endless'] });
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    await client.call('config.set', { key: 'chat.model', value: 'local/normal' });
    const page = await linkedPage(at.browser, at.perch);
    await page.getByRole('button', { name: 'Model:' }).click();
    await page.getByRole('button', { name: 'Compare models' }).click();
    const [left, right] = [column(page, /^1\./), column(page, /^2\./)];
    await right.getByRole('button', { name: 'Model:' }).click();
    await page.getByRole('option', { name: 'endless' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Which of you is better?');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await left.getByRole('article', { name: 'Reply' }).getByText('Hello wörld').waitFor();
    await left.getByText(/first word .* whole .* tokens/).waitFor();
    // The other one goes on, and is stopped alone; what had come is kept.
    await right.getByText(/first word/).waitFor();
    await shoot(page, 'compare');
    await right.getByRole('button', { name: 'Stop this one' }).click();
    await right.getByText('Stopped. What had come is kept.').waitFor();
    const asked = upstream.requests.filter(({ path }) => path.endsWith('/chat/completions')).map(({ body }) => JSON.stringify(body));
    expect(asked.map((body) => body.includes('Which of you is better?'))).toEqual([true, true]);
    const ids = new URL(page.url()).searchParams.get('chats')?.split(',') ?? [];
    const tagged = async (): Promise<string[][]> => {
      const { sessions } = await client.call('sessions.list', {});
      return ids.map((id) => [...(sessions.find(({ sessionId }) => sessionId === id)?.tags ?? [])]);
    };
    await until(async () => (await tagged()).every((tags) => tags.length === 1), 'both to be marked');
    expect(new Set((await tagged()).flat()).size).toBe(1);
    await page.reload();
    await left.getByText('Which of you is better?').waitFor();
    await right.getByText('Stopped. What had come is kept.').waitFor();
    await left.getByRole('link', { name: 'Go on with this one' }).click();
    await page.waitForURL(`**/chat/main/${ids[0]}`);
    await page.getByRole('article', { name: 'Reply' }).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
