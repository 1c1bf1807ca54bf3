import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream } from '../test-upstream.ts';
import { openLinkedPage } from './connection-status.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openSettings } from './navigate.ts';

describe('agents in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('agents.app/edit', 'made from a starter, given a model, talked with, changed and removed', async () => {
    await using upstream = await startUpstream({ models: ['normal', 'slow', 'spare'] });
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await addProvider(client, upstream.url);
    const getAgentConfig = async (id: string) => (await client.call('agents.list', {})).agents.find((agent) => agent.id === id)?.config;
    await openSettings(page, 'Agents');
    const form = page.getByRole('dialog', { name: 'New agent' });
    // An unfinished form is not discarded without confirmation: by Escape, a click outside, or its button.
    await page.getByRole('button', { name: 'New agent' }).click();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New agent' }).click();
    await form.getByLabel('Name').fill('Half');
    const unsavedAlert = form.getByRole('alert').filter({ hasText: 'unsaved changes' });
    await page.keyboard.press('Escape');
    await unsavedAlert.waitFor();
    await takeScreenshots(page, 'asked');
    await page.keyboard.press('Escape');
    await unsavedAlert.waitFor({ state: 'detached' });
    await page.mouse.click(5, 5);
    await unsavedAlert.getByRole('button', { name: 'Keep editing' }).click();
    expect(await form.getByLabel('Name').inputValue()).toBe('Half');
    await form.getByRole('button', { name: 'Close' }).click();
    await unsavedAlert.getByRole('button', { name: 'Discard' }).click();
    await form.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: '✍️ Editor' }).click();
    expect(await form.getByLabel('Instructions').inputValue()).toContain('You edit texts');
    await form.getByLabel('Model', { exact: true }).selectOption('local/normal');
    await takeScreenshots(page, 'form');
    // Nothing of a text that is too long is lost, and what is said of it is in sight.
    const short = await form.getByLabel('Instructions').inputValue();
    await form.getByLabel('Instructions').fill('x'.repeat(100_001));
    await form.getByRole('button', { name: 'Create' }).click();
    const refused = form.getByRole('alert').filter({ hasText: 'at most 100000 characters' });
    await refused.waitFor();
    await takeScreenshots(page, 'refused');
    const sides = await Promise.all([refused, form].map((each) => each.boundingBox()));
    const [bottom, end] = sides.map((box) => (box ? box.y + box.height : NaN));
    expect(bottom).toBeLessThanOrEqual(end ?? NaN);
    expect(await form.getByLabel('Instructions').inputValue()).toHaveLength(100_001);
    await form.getByLabel('Instructions').fill(short);
    await form.getByRole('button', { name: 'Create' }).click();
    await form.waitFor({ state: 'detached' });
    expect(await getAgentConfig('editor')).toMatchObject({ name: 'Editor', avatar: '✍️', model: 'local/normal', tools: { allow: [] } });

    const editor = page.getByRole('list', { name: 'Agents', exact: true }).getByRole('listitem', { name: 'Editor' });
    await editor.getByText(/no tools/).waitFor();
    await takeScreenshots(page, 'list');
    // Its chat has its model and its instructions.
    await editor.getByRole('link', { name: 'Chat' }).click();
    await page.getByText('Agent: Editor').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Mend this');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/chat\/editor\//);
    await page
      .getByRole('navigation', { name: 'Chats' })
      .getByRole('listitem')
      .filter({ hasText: 'Mend this' })
      .getByText('Editor')
      .waitFor();
    const requests = () => upstream.requests.filter(({ method }) => method === 'POST');
    await waitFor(() => requests().length > 0, 'the upstream to be asked');
    await takeScreenshots(page, 'chat');
    expect(JSON.stringify(requests()[0]?.body)).toContain('You edit texts');

    await openSettings(page, 'Agents');
    await editor.getByText('1 chat', { exact: false }).waitFor();
    await editor.getByRole('button', { name: 'Edit…' }).click();
    const change = page.getByRole('dialog', { name: 'Edit agent' });
    // A form that was changed back has nothing to lose.
    await change.getByLabel('Name').fill('Another');
    await change.getByLabel('Name').fill('Editor');
    await page.keyboard.press('Escape');
    await change.waitFor({ state: 'detached' });
    await editor.getByRole('button', { name: 'Edit…' }).click();
    await change.getByLabel('Tools', { exact: true }).selectOption('Selected tools');
    await change.getByRole('textbox', { name: /^Allowed tools/ }).fill('file_*');
    await change.getByLabel('Blocked tools').fill('file_remove');
    // Models that take over: added, ordered by keys, taken out.
    await change.getByRole('combobox', { name: 'Fallbacks', exact: true }).selectOption('Custom fallbacks, in this order');
    await change.getByText('No fallbacks: if the model fails, no other model is tried.').waitFor();
    const adds = change.getByLabel('Add a fallback');
    for (const key of ['local/slow', 'local/spare']) await adds.selectOption(key);
    expect(await adds.locator('option[value="local/normal"]').count()).toBe(0);
    const order = change.getByRole('list', { name: 'Fallbacks' });
    await order.getByRole('listitem').nth(1).getByRole('button').first().press('Enter');
    await expect.poll(() => order.getByRole('listitem').first().innerText()).toContain('spare');
    await takeScreenshots(page, 'fallbacks');
    await change.getByText('More', { exact: true }).click();
    await change.getByLabel('Temperature').fill('0.3');
    await change.getByLabel('Tools in every message').selectOption('Selected groups');
    const groups = change.getByRole('list', { name: 'Selected groups' });
    await groups.getByRole('checkbox', { name: 'Browser' }).check();
    await groups.getByRole('checkbox', { name: 'Memory' }).uncheck();
    await takeScreenshots(page, 'groups');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    expect(await getAgentConfig('editor')).toMatchObject({ tools: { allow: ['file_*'], deny: ['file_remove'] }, temperature: 0.3 });
    expect((await getAgentConfig('editor'))?.fallbacks).toEqual(['local/spare', 'local/slow']);
    expect((await getAgentConfig('editor'))?.toolGroups).toEqual(['general', 'files', 'web', 'browser']);
    // A removed override falls back to the setting for all agents.
    await editor.getByRole('button', { name: 'Edit…' }).click();
    await change.getByLabel('Tools', { exact: true }).selectOption('All tools');
    await change.getByLabel('Blocked tools').fill('');
    await change.getByText('More', { exact: true }).click();
    await change.getByLabel('Tools in every message').selectOption('Default tools');
    await change.getByLabel('Model', { exact: true }).selectOption('');
    await order.getByRole('listitem').first().getByRole('button').last().press('Enter');
    await expect.poll(() => order.getByRole('listitem').count()).toBe(1);
    await change.getByRole('combobox', { name: 'Fallbacks', exact: true }).selectOption('shared');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    expect(Object.keys((await getAgentConfig('editor')) ?? {}).sort()).toEqual(['avatar', 'name', 'systemPrompt', 'temperature']);
    await editor.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    expect(await form.getByLabel('Name').inputValue()).toBe('Editor (copy)');
    await form.getByLabel('Name').fill('Proofreader');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.waitFor({ state: 'detached' });
    expect(await getAgentConfig('proofreader')).toEqual({ ...(await getAgentConfig('editor')), name: 'Proofreader' });
    await client.call('agents.remove', { agent_id: 'proofreader' });
    // The form shows the gateway's error.
    await client.call('agents.remove', { agent_id: 'editor' });
    await page.getByText('Start from an example').waitFor();
    await client.call('agents.add', { agent_id: 'editor', config: { name: 'Editor' } });
    await editor.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await page.getByRole('dialog', { name: 'Remove Editor?' }).getByRole('button', { name: 'Remove', exact: true }).click();
    await editor.waitFor({ state: 'detached' });
    expect((await client.call('agents.list', {})).agents.map(({ id }) => id)).toEqual(['main']);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
