import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

const LONG_TEXT = 'unbreakable'.repeat(12);
const ARABIC_TEXT = 'القطة ميسو تنام على الطابعة كل مساء';

/** Text that each page shows when it has loaded. */
const PAGES: readonly [path: string, sign: string][] = [
  ['/wiki', 'Select a page, or search'],
  ['/wiki?page=entities%2FMiso.md', 'Add claim'],
  ['/wiki?page=entities%2FMiso.md&edit', 'Discard'],
  ['/wiki?view=claims', 'is ten years old'],
  ['/wiki?view=contradictions', 'Keep both…'],
  ['/wiki?view=health', LONG_TEXT],
  ['/wiki?view=graph', 'connections'],
  ['/dreaming', 'The schedule is off'],
  ['/memory', 'old boathouse'],
  ['/schedules', LONG_TEXT],
  ['/approvals', 'Auto-denies in'],
  ['/usage', 'CSV'],
  ['/logs', 'Export'],
  ['/doctor', 'Rate limit'],
  ['/backups', 'No backups yet'],
  ['/plans', LONG_TEXT],
  ['/agents', 'Start from an example'],
  ['/compare', 'Replies appear here'],
  ['/incognito', 'This chat isn’t saved'],
  ['/channels', 'Set up Telegram…'],
  ['/skills', LONG_TEXT],
  ['/browser', 'Browser not running'],
  ['/prompts', LONG_TEXT],
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
      tags: ['cat', LONG_TEXT],
      content: `A cat of [[Ana]].\n\n## Whose\n\n${ARABIC_TEXT}\n\n## ${LONG_TEXT}\n`,
    });
    await client.call('wiki.savePage', { path: `concepts/${LONG_TEXT}`, title: ARABIC_TEXT, content: '[[Miso]]\n' });
    const claims = ['Miso is ten years old.', 'Miso is eleven years old.', `${LONG_TEXT} ${ARABIC_TEXT}`];
    for (const [at, text] of claims.entries())
      await client.call('wiki.addClaim', {
        path: 'entities/Miso',
        text,
        confidence: at === 2 ? 0.1 : 0.8,
        evidence: [{ source_id: LONG_TEXT, weight: 1 }],
      });
    await client.call('memory.add', { text: `The key of the old boathouse, ${LONG_TEXT}` });
    await client.call('memory.add', { text: ARABIC_TEXT });
    for (const name of [LONG_TEXT, ARABIC_TEXT])
      await client.call('cron.add', { cron: '0 8 * * MON-FRI', name, message: `${LONG_TEXT} ${ARABIC_TEXT}` });
    await client.call('chat.send', {
      message: `/tool plan_create ${JSON.stringify({ goal: LONG_TEXT, steps: [LONG_TEXT, ARABIC_TEXT] })}`,
    });
    const skill = `---\nname: cats\ndescription: ${LONG_TEXT} ${ARABIC_TEXT}\nlicense: ${LONG_TEXT}\n---\n`;
    await client.call('workspace.write', { path: 'skills/cats/SKILL.md', content: skill });
    const prompt = `---\ntitle: ${LONG_TEXT}\ndescription: ${LONG_TEXT} ${ARABIC_TEXT}\n---\n\n${ARABIC_TEXT} ${LONG_TEXT}\n`;
    await client.call('workspace.write', { path: `prompts/${LONG_TEXT.slice(0, 64)}.md`, content: prompt });
    await client.call('config.patch', { patch: { tools: { policies: { [LONG_TEXT.slice(0, 64)]: 'auto' } } } });
    for (const word of [ARABIC_TEXT, LONG_TEXT]) {
      const { request } = await client.call('exec.create', { command: 'echo', args: [word, 'denied'] });
      await client.call('exec.deny', { requestId: request.requestId, reason: LONG_TEXT });
      await client.call('exec.create', { command: 'echo', args: [word] });
    }
    const page = await browser.page(perch.linkUrl);
    await waitForConnection(page, 'Connected');
    await page.close();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
  });

  const open = async (path: string, sign: string): Promise<Page> => {
    const page = await browser.page(perch.url + path);
    await page.setViewportSize({ width: 1280, height: 800 });
    await waitForConnection(page, 'Connected');
    await page.getByText(sign).filter({ visible: true }).first().waitFor();
    return page;
  };

  for (const [path, sign] of PAGES)
    verifies('app/accessible', `${path}: names, the way by Tab, contrast, 320 px, and twice the size`, async () => {
      const page = await open(path, sign);
      const unnamed = (await listControls(page)).filter((each) => each.endsWith('""'));
      const { unfocused, withoutFocusRing } = await tabThroughPage(page);
      const wrong = [...unnamed, ...unfocused, ...withoutFocusRing];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        wrong.push(...(await waitForNoProblems(() => findLowContrast(page), colorScheme)));
      }
      // 640 px are 1280 at 200 %.
      for (const width of [320, 640]) {
        await page.setViewportSize({ width, height: 400 });
        wrong.push(...(await waitForNoProblems(() => findOverflow(page), `${width} px`)));
      }
      await takeScreenshots(page, path.replace(/\W+/g, '-'));
      expect(wrong).toEqual([]);
      await page.close();
    });
});
