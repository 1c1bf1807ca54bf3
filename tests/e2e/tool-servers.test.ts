import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { toTestServerCommand, toRealServerCommand } from '../support/mcp-fixtures.ts';
import { listControls } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const FORM = {
  type: 'object',
  required: ['name', 'pet'],
  properties: {
    name: { type: 'string', title: 'Your name' },
    age: { type: 'integer', minimum: 1, maximum: 150 },
    pet: { type: 'string', title: 'Pet', enum: ['cat', 'dog'], enumNames: ['A cat', 'A dog'] },
    news: { type: 'boolean', title: 'Send me news', default: true },
  },
};

describe('tool servers in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('mcp/app', 'one is added, approved as exactly what is shown, used, asked by, and removed', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/tools#tool-servers`);
    // While another host takes over, what a click asks for may be cut off, and the page says so.
    await waitForConnection(page, 'This browser');
    const section = page.getByRole('region', { name: 'MCP servers' });
    await section.getByText('No MCP servers yet').waitFor();
    await section.getByRole('button', { name: 'Add MCP server' }).click();
    const form = page.getByRole('dialog', { name: 'Add MCP server' });
    for (const name of ['my server', 'my__server']) {
      await form.getByLabel('Name').fill(name);
      await form.getByText('Use only A–Z, a–z, 0–9, - and _, with no two _ in a row.').waitFor();
    }
    // Typed in, not set: a field that takes no more would cut it.
    await form.getByLabel('Name').fill('');
    await form.getByLabel('Name').pressSequentially('n'.repeat(41));
    await form.getByText('Use at most 40 characters.').waitFor();
    await form.getByLabel('Name').fill('hand');
    // An invalid address is reported with the name of the field.
    for (const address of ['http://', 'ftp://127.0.0.1/mcp', 'http://exa mple/mcp']) {
      await form.getByLabel('Command or URL').fill(address);
      await form.getByRole('button', { name: 'Add', exact: true }).click();
      await form.getByRole('alert').getByText('“Command or URL” must be an http or https URL').waitFor();
      await form.getByLabel('Command or URL').fill('"');
      await form.getByText('The command has an unclosed quote.').waitFor();
    }
    const { command, args } = toTestServerCommand();
    await form.getByLabel('Command or URL').fill(`"${command}" ${args.map((arg) => `"${arg}"`).join(' ')}`);
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'add');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    const row = section.getByRole('listitem').filter({ hasText: 'hand' });
    await row.getByText('Waiting for approval').waitFor();
    // The exact command, before anything of it runs.
    expect(await row.locator('pre').textContent()).toBe([command, ...args].join(' '));
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'waits');
    await row.getByRole('button', { name: 'Approve command' }).click();
    await row.getByText('Connected').waitFor();
    await row.getByText('9 tools').waitFor();
    // Beside the sidebar of a tablet, too, its words are read in lines, not in letters.
    const height = async (): Promise<number> => (await row.getByText('Connected').boundingBox())?.height ?? 0;
    await page.setViewportSize({ width: 1280, height: 800 });
    const line = await height();
    expect(line).toBeGreaterThan(0);
    for (const width of [360, 768, 900, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      // The sidebar collapses shortly after the resize.
      await waitFor(async () => (await height()) === line, `one line at ${width} px`);
    }
    await row.getByRole('button', { name: 'Log' }).click();
    await page.getByRole('dialog', { name: 'hand log' }).getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('link', { name: 'New chat' }).first().click();
    await waitForConnection(page, 'This browser');
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.fill(`/tool mcp__hand__ask ${JSON.stringify({ message: 'Who are you?', requestedSchema: FORM })}`);
    await composer.press('Enter');
    await page.getByRole('list', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }).click();
    const serverRequests = page.getByRole('list', { name: 'Questions from MCP servers' }).getByRole('listitem');
    await serverRequests.getByText('Who are you?').waitFor();
    // The state survives a reload.
    await page.reload();
    await waitForConnection(page, 'This browser');
    await serverRequests.getByText('Who are you?').waitFor();
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'asks');
    await serverRequests.getByLabel('Your name').fill('Ana');
    await serverRequests.getByLabel('age').fill('41');
    await serverRequests.getByLabel('Pet').selectOption({ label: 'A dog' });
    await serverRequests.getByRole('button', { name: 'Send' }).click();
    await serverRequests.waitFor({ state: 'detached' });
    const reply = page.getByRole('article', { name: 'Reply' });
    await reply
      .getByText(/"?name"?.*Ana/)
      .filter({ visible: true })
      .first()
      .waitFor();
    expect(await reply.innerText()).toMatch(/"age\W+41[\s\S]*"pet\W+dog[\s\S]*"news\W+true/);

    await page.goto(`${at.perch.url}/tools#tool-servers`);
    await waitForConnection(page, 'This browser');
    await row.getByRole('button', { name: 'Turn off' }).click();
    await row.getByText('Off', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog', { name: 'Remove the MCP server “hand”?' }).getByRole('button', { name: 'Remove', exact: true }).click();
    await section.getByText('No MCP servers yet').waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/tool-card', 'how far a tool of a tool server has come is in its card', async () => {
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.set', { key: 'tools.mcpServers.all', value: toRealServerCommand('everything', 'stdio') });
    const page = await at.browser.page(`${at.perch.url}/tools#tool-servers`);
    await waitForConnection(page, LINKED_STATUS);
    const row = page.getByRole('region', { name: 'MCP servers' }).getByRole('listitem').filter({ hasText: 'all' });
    await row.getByRole('button', { name: 'Approve command' }).click();
    await row.getByText('Connected').waitFor();
    await page.getByRole('link', { name: 'New chat' }).first().click();
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.fill(`/tool mcp__all__trigger-long-running-operation ${JSON.stringify({ duration: 120, steps: 240 })}`);
    await composer.press('Enter');
    await page.getByRole('list', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }).click();
    const progress = page.getByRole('article', { name: 'Reply' }).getByRole('progressbar');
    const value = (): Promise<number> => progress.evaluate((bar: HTMLProgressElement) => bar.value);
    const before = await value();
    await waitFor(async () => (await value()) > before, 'its next step');
    expect(await progress.evaluate((bar: HTMLProgressElement) => bar.max)).toBe(240);
    await takeScreenshots(page, 'progress');
    await page.getByRole('button', { name: 'Stop' }).click();
    await progress.waitFor({ state: 'detached' });
    await page.close();
  });
});
