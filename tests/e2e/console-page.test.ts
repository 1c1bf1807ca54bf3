import { describe, expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { verifies } from '../requirements.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

describe('the protocol console', () => {
  const at = useGatewayAndBrowser();

  verifies('app/console', 'any method by hand, its answer without secrets, and the frames as they go', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openSettings(page, 'Advanced', 'Console');
    await page.getByText(`${Object.keys(contracts).length - 1} methods`, { exact: true }).waitFor();
    const methods = page.getByLabel('Methods', { exact: true });
    const params = page.getByLabel('Params (JSON)');
    const send = page.getByRole('button', { name: 'Send' });
    const answer = page.getByRole('group', { name: 'Response' });
    await send.click();
    expect(JSON.parse(await answer.innerText())).toMatchObject({ status: 'ok' });

    // An error is a response too; invalid JSON is not sent.
    await page.getByLabel('Search methods').fill('sessions.rename');
    await page.getByText(/^1 of \d+ methods$/).waitFor();
    await methods.selectOption('sessions.rename');
    // From its contract: a field for each param, or JSON.
    await page.getByLabel('path').fill('main/none.jsonl');
    await page.getByLabel('title').fill('x');
    await takeScreenshots(page, 'form');
    await send.click();
    await answer.getByText('"code": "NOT_FOUND"').waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(JSON.parse(await params.inputValue())).toEqual({ path: 'main/none.jsonl', title: 'x' });
    await params.fill('{"path": "main/other.jsonl", "title": "y", "more": 1}');
    await page.getByRole('tab', { name: 'Form' }).click();
    await page.getByRole('alert').getByText('the form doesn’t support some of these params').waitFor();
    await page.getByRole('button', { name: 'Reset to example' }).click();
    await page.getByRole('tab', { name: 'Form' }).click();
    expect(await page.getByLabel('title').inputValue()).toBe('text');
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(Object.keys(JSON.parse(await params.inputValue()) as object)).toEqual(['path', 'title']);
    await params.fill('{"path": "main/none.jsonl", "title": "x"}');
    await send.click();
    await answer.getByText('"code": "NOT_FOUND"').waitFor();
    await page.getByText(/^Failed in \d+ ms/).waitFor();
    await params.fill('{');
    await send.click();
    await page.getByRole('alert').getByText('Couldn’t call sessions.rename').waitFor();
    await page.getByLabel('Search methods').fill('');
    await methods.selectOption('keys.revoke');
    await page.getByText('Can’t be undone').waitFor();

    // A secret that is made is not shown, neither in the answer nor in the frame.
    await methods.selectOption('keys.create');
    await params.fill('{"name": "by hand"}');
    await send.click();
    await answer.getByText('"secret": "***"').waitFor();
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    expect((await client.call('keys.list', {})).keys.map(({ name }) => name)).toContain('by hand');
    const frames = page.getByRole('list', { name: 'Frames' });
    const filter = page.getByLabel('Filter by method or event');
    await filter.fill('keys.create');
    await frames.getByRole('button').click();
    const frame = frames.getByRole('group', { name: 'Frame' });
    expect(JSON.parse(await frame.innerText())).toMatchObject({ type: 'req', method: 'keys.create', params: { name: 'by hand' } });
    const { id } = JSON.parse(await frame.innerText()) as { id: string };
    await filter.fill(`response to ${id}`);
    await frames.getByRole('button').last().click();
    await frame.getByText('"secret": "***"').waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/(?<![\w-])[\w-]{43}(?![\w-])/);
    await takeScreenshots(page, 'secret');

    // Events come by themselves, and not while it is paused.
    await filter.fill('config.changed');
    await frames.getByText('No matching frames').waitFor();
    await client.call('config.set', { key: 'chat.systemPrompt', value: 'Be brief.' });
    await frames.getByRole('button').first().waitFor();
    await page.getByLabel('Direction').selectOption('sent');
    await frames.getByText('No matching frames').waitFor();
    await page.getByLabel('Direction').selectOption('');
    await filter.fill('health');
    await methods.selectOption('health');
    await send.click();
    await answer.getByText('"status": "ok"').waitFor();
    const before = await frames.getByRole('button').count();
    expect(before).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Pause' }).click();
    await methods.selectOption('keys.list');
    await send.click();
    await answer.getByText('by hand').waitFor();
    await filter.fill('keys.list');
    await frames.getByText('No matching frames').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await send.click();
    await frames.getByRole('button').first().waitFor();
    await filter.fill('');
    await takeScreenshots(page, 'frames');

    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await filter.fill('keys.list');
    expect(await tabThroughPage(page)).toMatchObject({ unfocused: [], withoutFocusRing: [] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await frames.getByText(/No matching frames|No frames yet/).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
