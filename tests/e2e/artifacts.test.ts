import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { describeFocus, findLowContrast, listControls, findOverflow, waitForNoProblems, tabTo } from './accessibility.ts';
import { useReplyFixture, sendMessage, toCodeBlock, replies } from './reply-fixture.ts';
import { getArtifactFrame, pane, preview } from './artifact-pane.ts';
import { runAxe } from './axe.ts';
import { waitForConnection } from './connection-status.ts';
import { ELSEWHERE_ARGS, startRecordingServer } from './recording-server.ts';
import { takeScreenshots } from './take-screenshots.ts';

const clock = (words: string): string => toCodeBlock('html title="clock.html"', `<title>x</title><body><h1>${words}</h1></body>`);

describe('artifacts', () => {
  const place = useReplyFixture(ELSEWHERE_ARGS);

  verifies(
    'artifacts/versions',
    'a repeated artifact is a new version; the pager goes back and forward, and follows the newest',
    async () => {
      const page = await place.page(clock('one'));
      await preview(page).click();
      await getArtifactFrame(page).getByRole('heading', { name: 'one' }).waitFor();
      await pane(page).getByRole('heading', { name: 'clock.html' }).waitFor();
      expect(await pane(page).getByText('Version').count()).toBe(0);

      place.model.queueReply(clock('two'));
      await sendMessage(page);
      await pane(page).getByText('Version 2 of 2').waitFor();
      await getArtifactFrame(page).getByRole('heading', { name: 'two' }).waitFor();
      await pane(page).getByRole('button', { name: 'Previous version' }).click();
      await getArtifactFrame(page).getByRole('heading', { name: 'one' }).waitFor();

      place.model.queueReply(`Other things.\n\n${toCodeBlock('html', '<p>another</p>')}\n\n${clock('three')}`);
      await sendMessage(page);
      // A reader of an older version stays there.
      await pane(page).getByText('Version 1 of 3').waitFor();
      await getArtifactFrame(page).getByRole('heading', { name: 'one' }).waitFor();
      await pane(page).getByRole('button', { name: 'Next version' }).click();
      await pane(page).getByRole('button', { name: 'Next version' }).click();
      await getArtifactFrame(page).getByRole('heading', { name: 'three' }).waitFor();
      expect(await pane(page).getByRole('button', { name: 'Next version' }).isDisabled()).toBe(true);

      // After a reload they are found again.
      await page.reload();
      await preview(page).first().click();
      await pane(page).getByText('Version 1 of 3').waitFor();
      await takeScreenshots(page, 'artifact');
      await page.close();
    },
  );

  verifies('artifacts/use', 'its code is read, copied and saved; scripts, forms and storage of its own work; it starts anew', async () => {
    const source = [
      '<form id="f"><input aria-label="Name"><button>Add</button></form><p id="out"></p><a href="#far">Far</a><p id="far" style="margin-top:300vh">far</p>',
      '<script>localStorage.setItem("n", 1); f.onsubmit = (e) => { e.preventDefault(); out.textContent = "added " + localStorage.getItem("n"); };',
      'console.log("hello", { a: 1 }); console.error("gone wrong"); setTimeout(() => { throw new Error("late"); });</script>',
    ].join('\n');
    const page = await place.page(toCodeBlock('html', source));
    await preview(page).click();
    const within = getArtifactFrame(page);
    await within.getByRole('button', { name: 'Add' }).click();
    await within.getByText('added 1').waitFor();
    await within.getByRole('link', { name: 'Far' }).click();
    await waitFor(() => within.locator('html').evaluate(() => scrollY > 0), 'it to come to the place');
    // Said calmly, and folded.
    const consoleSummary = pane(page).getByText('Console: 3 lines, 2 errors');
    await consoleSummary.click();
    await pane(page).getByText('hello {"a":1}').waitFor();
    await pane(page).getByText('Uncaught Error: late').waitFor();
    // New messages in the chat leave it running.
    place.model.queueReply('Anything else?');
    await sendMessage(page);
    await replies(page).getByText('Anything else?').waitFor();
    expect(await within.getByText('added 1').count()).toBe(1);

    await pane(page).getByRole('button', { name: 'Reload preview' }).click();
    await within.getByText('added 1').waitFor({ state: 'detached' });
    await within.getByRole('button', { name: 'Add' }).waitFor();

    await pane(page).getByRole('tab', { name: 'Code' }).click();
    expect(await pane(page).locator('pre').textContent()).toBe(source);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await pane(page).getByRole('button', { name: 'Copy preview code' }).click();
    await waitFor(async () => (await page.evaluate(() => navigator.clipboard.readText())) === source, 'its code on the clipboard');
    const saving = page.waitForEvent('download');
    await pane(page).getByRole('button', { name: 'Download' }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe('HTML.html');
    expect(await readFile(await file.path(), 'utf8')).toBe(source);
    await page.close();
  });

  verifies('artifacts/use', 'a broken or truncated drawing is reported, and a complete one is not', async () => {
    const loadScript = "<script>addEventListener('load', () => console.log('all is here'))</script>";
    for (const [source, drawn] of [
      [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4" cx="5" cy="5"/></svg>${loadScript}`, true],
      [`<svg viewBox="0 0 9 9">${loadScript}<line x1="1" y1="5" x2="8" y2="5" stroke="red"/>`, true],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="5" hei', false],
      ['<svg viewBox="0 0 9 9"><path d="Mx,y"/></svg>', false],
      ['<svg viewBox="0 0', false],
    ] as const) {
      const page = await place.page(toCodeBlock('svg', source));
      await preview(page).click();
      const emptyNotice = pane(page).getByText('Nothing to show');
      if (drawn) await pane(page).getByText('all is here').waitFor({ state: 'attached' });
      else await emptyNotice.waitFor();
      expect(await emptyNotice.count()).toBe(drawn ? 0 : 1);
      await page.close();
    }
  });

  for (const [size, viewport] of [
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 360, height: 740 }],
  ] as const) {
    verifies('artifacts/keys', `opened, looked through and closed by keyboard, with names for all: ${size}`, async () => {
      const page = await place.page(
        toCodeBlock('svg', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4" cx="5" cy="5"/></svg>'),
        viewport,
      );
      await tabTo(page, 'Preview', 'Shift+Tab');
      await page.keyboard.press('Enter');
      await getArtifactFrame(page).locator('circle').waitFor();
      expect((await listControls(page)).filter((each) => each.endsWith('""'))).toEqual([]);
      expect(await runAxe(page)).toEqual([]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
      }
      expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
      if (size === 'phone') {
        const box = await pane(page).boundingBox();
        expect([box?.width, box?.height]).toEqual([viewport.width, viewport.height]);
      }
      await tabTo(page, 'Preview');
      await page.keyboard.press('ArrowRight');
      expect(await describeFocus(page)).toBe('Code');
      await pane(page).locator('pre').waitFor();
      expect(await runAxe(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await pane(page).waitFor({ state: 'detached' });
      await waitFor(async () => (await describeFocus(page)) === 'Preview', 'the keyboard to be back');

      // From within it, too.
      await page.keyboard.press('Enter');
      await getArtifactFrame(page).locator('circle').click();
      // The frame that gets the key goes away at once, and Chromium does not always say that it had it.
      page.keyboard.press('Escape').catch(() => {});
      await pane(page).waitFor({ state: 'detached' });
      await waitFor(async () => (await describeFocus(page)) === 'Preview', 'the keyboard to be back');
      await page.close();
    });
  }

  verifies('artifacts/offline', 'shown without a network as well, as strictly', async () => {
    await using elsewhere = await startRecordingServer();
    await using control = await startRecordingServer();
    const html = (url: string): string => `<h1>here</h1><script>location.href='${url}/self'</script>`;
    const page = await place.page(`${toCodeBlock('html', '<h1>here</h1>')}\n\n${toCodeBlock('html', html(elsewhere.url))}`);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await waitFor(() => page.evaluate(() => navigator.serviceWorker.controller !== null), 'the service worker to answer');
    await place.perch.kill('SIGTERM');
    await page.reload();
    await waitForConnection(page, /./);
    await preview(page).first().click();
    await getArtifactFrame(page).getByRole('heading', { name: 'here' }).waitFor();
    await preview(page).last().click();
    await pane(page).getByText('tried to open another page').waitFor();
    // Requests that have not arrived before this one were never sent.
    control.page = html(control.url);
    const free = await place.browser.page(`${control.url}/page`);
    await expect.poll(() => control.requests).toContain('GET /self');
    expect(elsewhere.requests).toEqual([]);
    await Promise.all([free.close(), page.close()]);
    await place.perch.restart();
  });
});
