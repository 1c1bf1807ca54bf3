import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { linkedPage } from './connected.ts';
import { connectOutside } from './outside.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

describe('a tool that waits for a person', () => {
  const at = served();

  verifies('approvals/app', 'is approved or denied in the chat, and a command runs on the bridge’s machine once it is', async () => {
    const page = await linkedPage(at.browser, at.perch);
    const ask = async (word: string): Promise<void> => {
      const composer = page.getByRole('textbox', { name: 'Message' });
      await composer.fill(`/tool exec {"command": "echo", "args": ["${word}"]}`);
      await composer.press('Enter');
    };
    const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
    await ask('said-once');
    await waiting.waitFor();
    expect(await waiting.textContent()).toContain('said-once');
    await page.getByRole('article', { name: 'Reply' }).getByText('awaiting approval').waitFor();
    await shoot(page, 'approval');
    await waiting.getByRole('button', { name: 'Allow once' }).click();
    await waiting.waitFor({ state: 'detached' });
    await page.getByText('awaiting approval').waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'Reply' }).getByText('completed').filter({ visible: true }).first().waitFor();

    await ask('never-said');
    await waiting.getByRole('button', { name: 'Deny' }).click();
    await waiting.waitFor({ state: 'detached' });
    const cards = page.getByRole('article', { name: 'Reply' }).locator('summary').filter({ hasText: 'exec' });
    const denied = cards.filter({ hasText: 'denied' });
    await denied.waitFor();
    await page.reload();
    await denied.waitFor();
    expect((await cards.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual(['exec done', 'exec denied']);
    using outside = await connectOutside(at.perch);
    const { requests } = await outside.client.call('exec.list', {});
    expect(requests.map(({ args, status }) => [args[0], status])).toEqual([
      ['never-said', 'denied'],
      ['said-once', 'completed'],
    ]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
