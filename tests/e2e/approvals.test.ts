import type { Locator } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { describeFocus } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** Nothing covers its first line. */
const isOnTop = (element: Locator): Promise<boolean> =>
  element.evaluate((shown) => {
    const [{ left, top, width, height } = new DOMRect()] = shown.getClientRects();
    return shown.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });

describe('a tool that waits for approval', () => {
  const at = useGatewayAndBrowser();

  verifies('approvals/app', 'is approved or denied in the chat, and a command runs on the bridge’s machine once it is', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    const requestCommand = async (word: string, heard = word): Promise<void> => {
      const composer = page.getByRole('textbox', { name: 'Message' });
      await composer.fill(`/tool exec {"command": "echo", "args": ["${word}"], "purpose": "To hear ${heard}"}`);
      await composer.press('Enter');
    };
    const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
    await requestCommand('said-once');
    await waiting.waitFor();
    expect(await waiting.textContent()).toContain('echo said-once');
    expect(await waiting.textContent()).toContain('Agent’s reason: To hear said-once');
    await page.getByRole('article', { name: 'Reply' }).getByText('Waiting for approval').waitFor();
    await takeScreenshots(page, 'approval');
    // At twice the size of a small window, it can be answered without looking for the buttons.
    await page.setViewportSize({ width: 640, height: 400 });
    const bottom = (box: { y: number; height: number } | null): number => (box ? box.y + box.height : NaN);
    const once = waiting.getByRole('button', { name: 'Allow once' });
    const list = page.getByRole('list', { name: 'Approvals' });
    await waitFor(async () => bottom(await once.boundingBox()) <= bottom(await list.boundingBox()), 'the buttons to be in sight');
    await page.setViewportSize({ width: 1280, height: 800 });
    await waiting.getByRole('button', { name: 'Allow once' }).click();
    await waiting.waitFor({ state: 'detached' });
    await page.getByText('Waiting for approval').waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'Reply' }).getByText('completed').filter({ visible: true }).first().waitFor();

    // Of a command that is longer than its card the rest is in sight, too.
    await requestCommand('long '.repeat(400), 'it');
    await waiting.waitFor();
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const expectedText of [
        waiting.locator('p.text-soft-xs code'),
        waiting.getByText('To hear it', { exact: true }),
        waiting.getByRole('timer'),
        once,
      ])
        await waitFor(() => isOnTop(expectedText), `${String(expectedText)} to be in sight at ${width} px`);
    }
    // Its end has to be opened before it can be allowed.
    expect(await once.isDisabled()).toBe(true);
    await waiting.getByRole('button', { name: /more lines/ }).click();
    await waitFor(() => once.isEnabled(), 'the command to be seen');
    await once.click();
    await waiting.waitFor({ state: 'detached' });
    await page.getByText('Waiting for approval').waitFor({ state: 'detached' });

    await requestCommand('never-said');
    await waiting.getByRole('button', { name: 'Deny' }).press('Enter');
    await waiting.waitFor({ state: 'detached' });
    await expect.poll(() => describeFocus(page)).toBe('Message');
    const cards = page.getByRole('article', { name: 'Reply' }).locator('summary').filter({ hasText: 'Run command' });
    const denied = cards.filter({ hasText: 'Denied' });
    await denied.waitFor();
    await page.reload();
    await denied.waitFor();
    expect((await cards.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'Run command echo said-once Done',
      expect.stringMatching(/^Run command echo "long long .* Done$/),
      'Run command echo never-said Denied',
    ]);
    using outside = await connectOutside(at.perch);
    const { requests } = await outside.client.call('exec.list', {});
    expect(requests.map(({ args, status }) => [args[0], status])).toEqual([
      ['never-said', 'denied'],
      ['long '.repeat(400), 'completed'],
      ['said-once', 'completed'],
    ]);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/tool-card', 'what a command writes is in its card while it runs', async () => {
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const composer = page.getByRole('textbox', { name: 'Message' });
    const script = 'setInterval(() => console.log("line", process.uptime().toFixed(1)), 200)';
    await composer.fill(`/tool exec ${JSON.stringify({ command: process.execPath, args: ['-e', script] })}`);
    await composer.press('Enter');
    await page.getByRole('button', { name: 'Allow once' }).click();
    const output = page.getByRole('article', { name: 'Reply' }).getByRole('group', { name: 'Output so far' });
    const lines = async (): Promise<number> => ((await output.textContent()) ?? '').split('line').length - 1;
    await waitFor(async () => (await lines()) > 2, 'its first lines');
    const before = await lines();
    await waitFor(async () => (await lines()) > before + 1, 'the next lines');
    await takeScreenshots(page, 'output');
    // A page that is opened in the middle shows it too.
    await page.reload();
    await waitFor(async () => (await output.isVisible()) && (await lines()) > before + 1, 'its lines after a reload');
    await page.getByRole('button', { name: 'Stop' }).click();
    await output.waitFor({ state: 'detached' });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
