import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { toRealServerCommand } from '../support/mcp-fixtures.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems, tabThroughPage } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

describe('tools in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('tools/page', 'they are listed by source, with a switch each, and tried from a form', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openSettings(page, 'Tools and MCP');
    const catalog = page.getByRole('region', { name: 'Available tools' });
    await catalog.getByRole('region', { name: /^Built in/ }).waitFor();
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    const { count } = await client.call('tools.catalog', {});
    await catalog.getByText(`${count} tools`, { exact: true }).waitFor();

    // One without effect, with its schema in words; a wrong argument is told beside the form.
    await page.getByLabel('Search tools').fill('docs_search');
    const docs = catalog.getByRole('listitem', { name: 'Search Perch docs' });
    await docs.getByRole('button', { expanded: false }).click();
    await docs.getByText('docs_search', { exact: true }).waitFor();
    await docs.getByText('Searches Perch’s documentation.').waitFor();
    expect(await docs.getByLabel('Arguments of Search Perch docs').innerText()).toMatch(/query\s+string/);
    await docs.getByRole('button', { name: 'Try it…' }).click();
    const form = docs.getByRole('form', { name: 'Try Search Perch docs' });
    await form.getByLabel('query').fill('offline');
    await form.getByRole('button', { name: 'Run' }).click();
    const result = docs.getByRole('group', { name: 'Output' });
    await result.waitFor();
    const toolResult = await client.call('tools.run', { tool: 'docs_search', args: { query: 'offline' } });
    expect(JSON.parse(await result.innerText())).toEqual(toolResult.result);
    await takeScreenshots(page, 'tried');
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    expect(await tabThroughPage(page)).toMatchObject({ unfocused: [], withoutFocusRing: [] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    // Its switch is the configuration's, both ways.
    const policy = docs.getByLabel('Permission for Search Perch docs');
    await policy.selectOption({ label: 'Never allow' });
    await expect
      .poll(async () => (await client.call('tools.catalog', {})).tools.find(({ name }) => name === 'docs_search')?.policy)
      .toBe('deny');
    await form.getByRole('button', { name: 'Run' }).click();
    await docs.getByRole('alert').getByText('AUTH_REQUIRED').waitFor({ state: 'attached' });
    await client.call('config.patch', { patch: { tools: { policies: { docs_search: 'ask' } } } });
    await expect.poll(() => policy.inputValue()).toBe('ask');

    // Asked first, as always: denied, then allowed.
    const card = docs.getByRole('list', { name: 'Approvals for Search Perch docs' });
    await form.getByRole('button', { name: 'Run' }).click();
    await card.getByRole('button', { name: 'Deny' }).click();
    await docs.getByRole('alert').getByText('AUTH_REQUIRED').waitFor({ state: 'attached' });
    await form.getByRole('button', { name: 'Run' }).click();
    await takeScreenshots(page, 'asked');
    await card.getByRole('button', { name: 'Allow once' }).click();
    await result.waitFor();
    await policy.selectOption({ label: 'Reset to default' });
    await expect.poll(() => policy.inputValue()).toBe('auto');

    // With the rights of another agent, where one is chosen.
    await client.call('agents.add', { agent_id: 'idle', config: { name: 'Idle', tools: { allow: [] } } });
    await form.getByLabel('Run as').selectOption('Idle');
    await form.getByRole('button', { name: 'Run' }).click();
    await docs.getByRole('alert').getByText('NOT_FOUND').waitFor({ state: 'attached' });
    await form
      .getByRole('status')
      .getByText(/^Failed after [\d.]+ seconds?$/)
      .waitFor();
    await form.getByLabel('Run as').selectOption({ index: 0 });
    await form.getByRole('button', { name: 'Run' }).click();
    await result.waitFor();
    // Cancelled, also while it waits for a person's word: nobody is asked any more.
    await client.call('config.patch', { patch: { tools: { policies: { docs_search: 'ask' } } } });
    await expect.poll(() => policy.inputValue()).toBe('ask');
    await form.getByRole('button', { name: 'Run' }).click();
    await card.getByRole('button', { name: 'Deny' }).waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.getByText(/^Cancelled after/).waitFor();
    await card.waitFor({ state: 'detached' });
    expect((await client.call('approvals.list', {})).approvals).toEqual([]);
    await client.call('config.patch', { patch: { tools: { policies: { docs_search: null } } } });

    await page.getByLabel('Search tools').fill('no such tool');
    await catalog.getByText('No matching tools').waitFor();
    await catalog.getByRole('button', { name: 'Show all tools' }).click();
    await catalog.getByText(`${count} tools`, { exact: true }).waitFor();
    await takeScreenshots(page, 'all');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('tools/page', 'tools of an MCP server appear and disappear with it; attachments of a result are shown', async () => {
    const page = await at.browser.page(`${at.perch.url}/tools`);
    await waitForConnection(page, LINKED_STATUS);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('config.set', { key: 'tools.mcpServers.all', value: toRealServerCommand('everything', 'stdio') });
    const row = page.getByRole('region', { name: 'MCP servers' }).getByRole('listitem').filter({ hasText: 'all' });
    await row.getByRole('button', { name: 'Approve command' }).click();
    await row.getByText('Connected').waitFor();
    const group = page.getByRole('region', { name: /^MCP server: all/ });
    const image = group.getByRole('listitem', { name: 'Get Tiny Image Tool' });
    await image.getByRole('button', { expanded: false }).click();
    await image.getByText('No arguments').waitFor();
    await image.getByRole('button', { name: 'Try it…' }).click();
    await image.getByRole('button', { name: 'Run' }).click();
    await image.getByRole('button', { name: 'Allow once' }).click();
    await image.getByRole('img').waitFor();
    const width = await image.getByRole('img').evaluate(async (each) => {
      if (!(each instanceof HTMLImageElement)) return 0;
      await each.decode();
      return each.naturalWidth;
    });
    expect(width).toBeGreaterThan(1);
    const sum = group.getByRole('listitem', { name: 'Get Sum Tool' });
    await sum.getByRole('button', { expanded: false }).click();
    await sum.getByRole('button', { name: 'Try it…' }).click();
    await sum.getByLabel('a', { exact: true }).fill('2');
    await sum.getByLabel('b', { exact: true }).fill('40');
    await sum.getByRole('button', { name: 'Run' }).click();
    await sum.getByRole('button', { name: 'Allow once' }).click();
    await sum.getByRole('group', { name: 'Output' }).getByText('42').waitFor();
    // A slow tool shows its progress, and Cancel ends it.
    const long = group.getByRole('listitem', { name: 'Trigger Long Running Operation Tool' });
    await long.getByRole('button', { expanded: false }).click();
    await long.getByRole('button', { name: 'Try it…' }).click();
    await long.getByLabel('duration').fill('600');
    await long.getByRole('button', { name: 'Run', exact: true }).click();
    await long.getByRole('button', { name: 'Allow once' }).click();
    await long.getByText(/^Running for [1-9]\d* seconds?$/).waitFor();
    await takeScreenshots(page, 'running');
    await long.getByRole('button', { name: 'Cancel' }).click();
    await long.getByText(/^Cancelled after/).waitFor();
    const runs = long.getByRole('button', { name: 'Run', exact: true });
    await expect.poll(() => runs.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await long.getByRole('alert').count()).toBe(0);
    await takeScreenshots(page, 'server');
    await client.call('config.set', { key: 'tools.mcpServers', value: null });
    await group.waitFor({ state: 'detached' });
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
