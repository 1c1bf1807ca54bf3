import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../support/test-gateway.ts';
import { getArtifactFrame, pane } from './artifact-pane.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';
import { startStaticSite, type StaticSite } from './static-site.ts';
import { openVaultMenu } from './vault-menu.ts';

const root = join(import.meta.dirname, '../..');
const BASE = '/any/where/';
const parts = new AsyncDisposableStack();
let site: StaticSite;
let browser: TestBrowser;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-demo-'));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'], {
    cwd: root,
    env: { ...process.env, PERCH_DEMO: '1', PERCH_BUILD_DIR: folder },
    stdio: ['ignore', 2, 2],
  });
  expect(status).toBe(0);
  site = parts.use(await startStaticSite(folder, BASE));
  browser = parts.use(await launchBrowser({ args: site.browserArgs }));
}, 240_000);
afterAll(() => parts.disposeAsync());

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });

async function sendMessage(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

/** The copied link to the reply that is there. */
async function copyReplyLink(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'More actions for this reply' }).click();
  await page.getByRole('menuitem', { name: 'Copy link' }).click();
  await page.getByText('Link copied').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The reply with these words has the keyboard, as what a link leads to has. */
const isFocusedReply = (page: Page, words: string): Promise<unknown> =>
  page.waitForFunction(
    (expectedText) => document.activeElement?.textContent?.includes(expectedText) && document.activeElement !== document.body,
    words,
  );

/** Data that the demo has stored in this browser. */
const readStoredData = (page: Page): Promise<string[]> =>
  page.evaluate(async () =>
    [
      ...(await indexedDB.databases()).map(({ name = '' }) => name),
      ...(await caches.keys()),
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
    ].filter((name) => !name.startsWith('sveltekit:')),
  );

const isFullyInView = (place: Locator): Promise<boolean> =>
  place.evaluate(
    (element) =>
      new Promise((resolve) => {
        new IntersectionObserver(([seen], observer) => {
          observer.disconnect();
          resolve(seen?.intersectionRatio === 1);
        }).observe(element);
      }),
  );

describe('the demo, from a plain file server', () => {
  test('answers without a bridge or a key, with tools, an approval and pages full of data; offline too; and leaves nothing behind', async () => {
    const page = await browser.page(site.url);
    await page.getByText('This is a demo.').waitFor();

    // It opens on a chat with a chart, a page that runs, and a command that waits for an approval, and goes on after it.
    await page.waitForURL(`${site.url}#/chat/main/spring-count`);
    await getArtifactFrame(page).getByRole('button', { name: 'Bittern' }).click();
    await getArtifactFrame(page).getByText('Bittern: 2 nests, 1 more than last year.').waitFor();
    await replies(page)
      .getByRole('img', { name: /^Chart/ })
      .waitFor();
    await replies(page).getByRole('button', { name: 'Allow once' }).click();
    await replies(page).getByText('has 20 rows').waitFor();
    await page.getByRole('link', { name: 'New chat' }).first().click();
    await page.waitForURL(`${site.url}#/`);

    // A streamed answer that says what it is.
    await sendMessage(page, 'Who are you?');
    await replies(page).getByText('my replies are scripted').waitFor();
    expect(page.url()).toMatch(new RegExp(`^${site.url}#/chat/main/`));

    // The link to it that is copied leads to it, also from elsewhere.
    const link = await copyReplyLink(page);
    expect(link).toMatch(new RegExp(`^${page.url()}#message-`));
    const other = await browser.page(link);
    await isFocusedReply(other, 'my replies are scripted');
    await other.close();

    // So do the questions that the first page proposes.
    await sendMessage(page, 'Explain how a hash map works, with a small example');
    await replies(page).getByText('turns each key into a number').waitFor();
    await sendMessage(page, 'Draft a friendly note that declines a meeting');
    await replies(page).getByText('I can’t make it on Thursday').waitFor();

    // An artifact runs next to the chat, and has versions.
    await sendMessage(page, 'Make a web page, please.');
    await replies(page).getByRole('button', { name: 'Preview' }).click();
    await getArtifactFrame(page).getByRole('button', { name: 'One more' }).click();
    await getArtifactFrame(page).getByRole('status').getByText('1').waitFor();
    await sendMessage(page, 'Make it dark.');
    await pane(page).getByText('Version 2 of 2').waitFor();
    await getArtifactFrame(page).getByRole('status').getByText('0').waitFor();

    // Another chat has read a page from outside, which its card says; what it remembered waits for review.
    await page.goto(`${site.url}#/approvals`);
    const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
    const outside = waiting.filter({ hasText: 'After reading birdclub.example' });
    await outside.getByRole('button', { name: 'Always allow after reading from birdclub.example' }).waitFor();
    // The long label gives way, so that the buttons stay on one line.
    const viewport = page.viewportSize() ?? { width: 1280, height: 800 };
    await page.setViewportSize({ width: 768, height: 800 });
    const getMiddle = async (name: string): Promise<number> => {
      const { y = NaN, height = NaN } = (await outside.getByRole('button', { name }).boundingBox()) ?? {};
      return y + height / 2;
    };
    await expect.poll(async () => Math.round((await getMiddle('Deny')) - (await getMiddle('Allow once')))).toBe(0);
    await page.setViewportSize(viewport);
    await page.getByRole('region', { name: 'Waiting for review' }).getByText('The bird club wants the numbers by April 15.').waitFor();
    await outside.getByRole('button', { name: 'Allow once' }).click();
    await page
      .getByRole('link', { name: /^Read https:\/\/birdclub/ })
      .first()
      .click();
    // A link that it made up shows its address first.
    await replies(page).getByRole('link', { name: 'send the numbers here' }).click();
    await page.getByRole('dialog').getByText('https://birdclub.example/send?nests=14').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    // In a trusted chat the link opens without asking.
    const row = page.getByRole('navigation', { name: 'Chats' }).getByRole('listitem').filter({ hasText: 'birdclub' });
    await row.hover();
    await row.getByRole('button', { name: /^More actions/ }).click();
    await page.getByRole('menuitem', { name: 'Trust this chat…' }).click();
    await page.getByRole('button', { name: 'Trust chat' }).click();
    await replies(page).locator('a[href="https://birdclub.example/send?nests=14"]').waitFor();
    await page.goto(`${site.url}#/memory`);
    const memory = page.getByRole('listitem').filter({ hasText: 'The bird club wants the numbers' });
    await memory.getByText('From birdclub.example').waitFor();
    await memory.getByRole('button', { name: 'Approve' }).click();
    await memory.getByText('From birdclub.example').waitFor({ state: 'detached' });

    // Pages by their own addresses, which a file server knows nothing of.
    await page.goto(`${site.url}#/usage`);
    await page.getByRole('heading', { name: 'Usage' }).first().waitFor();
    await page.getByText('scripted-small').first().waitFor();
    // The banner takes room from the list that it is in.
    await waitFor(() => isFullyInView(page.getByRole('link', { name: 'Usage', exact: true })), 'the page that is shown, in the settings');
    await page.goto(`${site.url}#/memory#preferences`);
    await page.getByRole('row').filter({ hasText: 'answers' }).getByText('short, with a table').waitFor();
    await page.goto(`${site.url}#/schedules`);
    await page.getByText('Morning lake check').first().waitFor();

    await page.goto(`${site.url}#/prompts`);
    await page.getByText('Decline politely').waitFor();
    await page.goto(`${site.url}#/skills`);
    await page.getByText('thank-you', { exact: true }).waitFor();
    // Pages that are not available here say so.
    await page.goto(`${site.url}#/browser`);
    await page.getByText('isn’t available in the demo').waitFor();
    await page.getByText('Counting rules of the bird club').first().waitFor();
    await page.goto(`${site.url}#/backups`);
    await page.getByText('These backups are examples').waitFor();
    await page.goto(`${site.url}#/annotate`);
    await page.getByRole('button', { name: 'Capture desktop' }).waitFor();
    expect(await page.getByRole('button', { name: 'Capture agent’s browser' }).count()).toBe(0);

    // A plan that was left is gone on with.
    await page.goto(`${site.url}#/plans`);
    const plan = page.getByRole('listitem', { name: 'Prepare next spring’s heron count' });
    await plan.getByText('1 of 4', { exact: false }).waitFor();
    await plan.getByRole('button', { name: 'Resume' }).click();
    await plan.getByText('4 of 4', { exact: false }).waitFor();

    // An address that leads nowhere has a way back into the demo.
    await page.goto(`${site.url}#/no/such/page`);
    await page.getByRole('link', { name: 'Back to chats' }).click();
    await composer(page).waitFor();
    await page.goto(`${site.url}#/schedules`);
    await page.getByText('Morning lake check').first().waitFor();

    // Every name tells whose it is.
    const names = await readStoredData(page);
    expect(names).toEqual(expect.arrayContaining([`perch demo ${BASE}`, `perch-page demo ${BASE}`, site.url]));
    expect(names.filter((name) => !name.includes(BASE))).toEqual([]);

    // Without a network.
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    site.isOffline = true;
    await page.reload();
    await page.getByText('Morning lake check').first().waitFor();
    await page.getByRole('link', { name: 'New chat' }).first().click();
    await sendMessage(page, 'Compare ways to sort.');
    await replies(page).getByRole('table').waitFor();

    // A chat that is kept nowhere is asked about before it is left, also by an address behind the hash.
    await (await openVaultMenu(page)).getByRole('link', { name: 'Incognito chat' }).click();
    await page.getByText('This chat isn’t saved').waitFor();
    await sendMessage(page, 'Who are you?');
    await replies(page).getByText('my replies are scripted').waitFor();
    await page.getByRole('link', { name: 'Knowledge', exact: true }).click();
    await page.getByRole('button', { name: 'Delete and leave' }).click();
    await page.waitForURL(`${site.url}#/memory`);
    await page.goBack();
    await page.getByText('Chat without saving').waitFor();
    expect(await replies(page).count()).toBe(0);

    // Back to the beginning: what was done is gone, also for another tab.
    site.isOffline = false;
    const second = await browser.page(`${site.url}#/sessions`);
    await second.getByRole('link', { name: 'Who are you?' }).first().waitFor();
    await page.getByRole('button', { name: 'Reset demo' }).click();
    for (const tab of [page, second]) {
      await tab.waitForURL(`${site.url}#/chat/main/spring-count`);
      await replies(tab).getByRole('button', { name: 'Allow once' }).waitFor();
      expect(await tab.getByRole('link', { name: 'Who are you?' }).count()).toBe(0);
    }
    await second.close();

    // And away.
    await page.getByRole('button', { name: 'Exit demo' }).click();
    await page.waitForURL(`${site.url}left.html#en`);
    expect(await readStoredData(page)).toEqual([]);

    // Without a network too.
    await page.getByRole('link', { name: 'Back to the demo' }).click();
    await page.getByText('This is a demo.').waitFor();
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    site.isOffline = true;
    await page.getByRole('button', { name: 'Exit demo' }).click();
    await page.getByRole('heading', { name: 'Demo deleted from this browser' }).waitFor();
    expect(await page.getByRole('link', { name: 'Back to the demo' }).evaluate((link: HTMLAnchorElement) => link.href)).toBe(site.url);
    site.isOffline = false;
    await page.goto(`${site.url}left.html#de`);
    await page.getByRole('heading', { name: 'Die Demo ist aus diesem Browser verschwunden' }).waitFor();
    expect(await page.getByRole('heading').filter({ visible: true }).count()).toBe(1);
    expect(await readStoredData(page)).toEqual([]);
    expect(site.foreignRequests).toEqual([]);
    expect(browser.foreignRequests).toEqual([]);
    // Whether there is a network was asked for once, where there was none.
    expect(browser.complaints).toEqual(['Failed to load resource: net::ERR_EMPTY_RESPONSE']);
  }, 120_000);
});

test('?demo shows the same in the app itself, for one tab, and leaves what is the person’s own alone', async () => {
  await using perch = await startPerch();
  await using own = await launchBrowser();
  const app = await own.page(`${perch.url}/`);
  await sendMessage(app, 'What can you do?');
  await replies(app).first().waitFor();
  expect(await app.getByText('This is a demo.').count()).toBe(0);

  const page = await own.page(`${perch.url}/?demo`);
  await page.getByText('This is a demo.').waitFor();
  await page.waitForURL(`${perch.url}/chat/main/spring-count`);
  await page.getByRole('link', { name: 'New chat' }).first().click();
  await page.waitForURL(`${perch.url}/`);
  await sendMessage(page, 'Who are you?');
  await replies(page).getByText('my replies are scripted').waitFor();
  expect((await readStoredData(page)).filter((name) => name.includes(' demo /')).length).toBeGreaterThan(1);
  const other = await own.page(await copyReplyLink(page));
  await other.getByText('This is a demo.').waitFor();
  await isFocusedReply(other, 'my replies are scripted');
  await other.close();
  await page.getByRole('button', { name: 'Exit demo' }).click();
  await page.waitForURL(`${perch.url}/`);
  await page.getByRole('link', { name: 'What can you do?' }).first().waitFor();
  const names = await readStoredData(page);
  expect(names.filter((name) => name.includes('demo'))).toEqual([]);
  expect(names).toContain('perch');
}, 120_000);
