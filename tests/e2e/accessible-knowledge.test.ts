import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { lowContrast, operable, overflowing, remaining, tabAround } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './browser.ts';
import { connected } from './connected.ts';
import { type Perch, startPerch } from './harness.ts';
import { connectOutside } from './outside.ts';
import { shoot } from './shoot.ts';

const LONG = 'unbreakable'.repeat(12);
const ARABIC = 'القطة ميسو تنام على الطابعة كل مساء';

/** Text that each page shows when it has loaded. */
const PAGES: readonly [path: string, sign: string][] = [
  ['/wiki', 'Select a page, or search'],
  ['/wiki?page=entities%2FMiso.md', 'Add claim'],
  ['/wiki?page=entities%2FMiso.md&edit', 'Discard'],
  ['/wiki?view=claims', 'is ten years old'],
  ['/wiki?view=contradictions', 'Keep both…'],
  ['/wiki?view=health', LONG],
  ['/wiki?view=graph', 'connections'],
  ['/dreaming', 'The schedule is off'],
  ['/memory', 'old boathouse'],
  ['/schedules', LONG],
  ['/approvals', 'Auto-denies in'],
  ['/usage', 'CSV'],
  ['/logs', 'Export'],
  ['/doctor', 'Rate limit'],
  ['/backups', 'No backups yet'],
  ['/plans', LONG],
  ['/agents', 'Start from an example'],
  ['/compare', 'Replies appear here'],
  ['/incognito', 'This chat isn’t saved'],
  ['/channels', 'Set up Telegram…'],
  ['/skills', LONG],
  ['/browser', 'Browser not running'],
  ['/prompts', LONG],
];

describe('accessible memory and wiki pages', () => {
  let perch: Perch;
  let browser: TestBrowser;

  beforeAll(async () => {
    // The tab stays a replica, so that nothing moves while it is looked at.
    perch = await startPerch({ host: 'headless' });
    browser = await launchBrowser();
    using outside = await connectOutside(perch);
    const { client } = outside;
    await client.call('wiki.savePage', {
      path: 'entities/Miso',
      tags: ['cat', LONG],
      content: `A cat of [[Ana]].\n\n## Whose\n\n${ARABIC}\n\n## ${LONG}\n`,
    });
    await client.call('wiki.savePage', { path: `concepts/${LONG}`, title: ARABIC, content: '[[Miso]]\n' });
    const claims = ['Miso is ten years old.', 'Miso is eleven years old.', `${LONG} ${ARABIC}`];
    for (const [at, text] of claims.entries())
      await client.call('wiki.addClaim', {
        path: 'entities/Miso',
        text,
        confidence: at === 2 ? 0.1 : 0.8,
        evidence: [{ source_id: LONG, weight: 1 }],
      });
    await client.call('memory.add', { text: `The key of the old boathouse, ${LONG}` });
    await client.call('memory.add', { text: ARABIC });
    for (const name of [LONG, ARABIC]) await client.call('cron.add', { cron: '0 8 * * MON-FRI', name, message: `${LONG} ${ARABIC}` });
    await client.call('chat.send', { message: `/tool plan_create ${JSON.stringify({ goal: LONG, steps: [LONG, ARABIC] })}` });
    const skill = `---\nname: cats\ndescription: ${LONG} ${ARABIC}\nlicense: ${LONG}\n---\n`;
    await client.call('workspace.write', { path: 'skills/cats/SKILL.md', content: skill });
    const prompt = `---\ntitle: ${LONG}\ndescription: ${LONG} ${ARABIC}\n---\n\n${ARABIC} ${LONG}\n`;
    await client.call('workspace.write', { path: `prompts/${LONG.slice(0, 64)}.md`, content: prompt });
    await client.call('config.patch', { patch: { tools: { policies: { [LONG.slice(0, 64)]: 'auto' } } } });
    for (const word of [ARABIC, LONG]) {
      const { request } = await client.call('exec.create', { command: 'echo', args: [word, 'denied'] });
      await client.call('exec.deny', { requestId: request.requestId, reason: LONG });
      await client.call('exec.create', { command: 'echo', args: [word] });
    }
    const page = await browser.page(perch.linkUrl);
    await connected(page, 'Connected');
    await page.close();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
  });

  const open = async (path: string, sign: string): Promise<Page> => {
    const page = await browser.page(perch.url + path);
    await page.setViewportSize({ width: 1280, height: 800 });
    await connected(page, 'Connected');
    await page.getByText(sign).filter({ visible: true }).first().waitFor();
    return page;
  };

  for (const [path, sign] of PAGES)
    verifies('app/accessible', `${path}: names, the way by Tab, contrast, 320 px, and twice the size`, async () => {
      const page = await open(path, sign);
      const unnamed = (await operable(page)).filter((each) => each.endsWith('""'));
      const { missed, unseen } = await tabAround(page);
      const wrong = [...unnamed, ...missed, ...unseen];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        wrong.push(...(await remaining(() => lowContrast(page), colorScheme)));
      }
      // 640 px are 1280 at 200 %.
      for (const width of [320, 640]) {
        await page.setViewportSize({ width, height: 400 });
        wrong.push(...(await remaining(() => overflowing(page), `${width} px`)));
      }
      await shoot(page, path.replace(/\W+/g, '-'));
      expect(wrong).toEqual([]);
      await page.close();
    });
});
