import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';

describe('a file sent by an agent', () => {
  const at = useGatewayAndBrowser();

  verifies('tools/send-file', 'stands below its reply and is saved from there, a small one and a large one', async () => {
    const large = Buffer.alloc(400_000, 255);
    {
      using outside = await connectOutside(at.perch);
      await outside.client.call('workspace.write', { path: 'report.csv', content: 'city,people\nBonn,330000\n' });
      await outside.client.call('workspace.write', { path: 'large.bin', content: large.toString('base64'), encoding: 'base64' });
      for (const path of ['report.csv', 'large.bin'])
        await outside.client.call('chat.send', { message: `/tool send_file {"path": "${path}", "note": "As you asked: ${path}"}` });
    }
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/chat/main/main`);
    const sizes: number[] = [];
    for (const name of ['report.csv', 'large.bin']) {
      const button = page.getByRole('article', { name: 'Reply' }).getByRole('button', { name, exact: true });
      await button.waitFor();
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
      expect(download.suggestedFilename()).toBe(name);
      sizes.push(readFileSync(await download.path()).length);
    }
    expect(sizes).toEqual([24, 400_000]);
    if (process.env.PERCH_SHOT) await page.screenshot({ path: process.env.PERCH_SHOT });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
