import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { listControls } from './accessibility.ts';
import { waitForConnection, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

const SKILL = (name: string, more = ''): string => `---\nname: ${name}\ndescription: How ${name} are made.\n${more}---\n\nSo.\n`;

describe('plans and skills in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('plans.app/list', 'begun from the page, seen step by step, gone on with where it was, and deleted', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await openDestination(page, 'Automations', 'Plans');
    await page.getByRole('button', { name: 'Write a page about this computer' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => (await client.call('plan.list', {})).count === 1, 'the plan');
    await openDestination(page, 'Automations', 'Plans');
    const plan = page.getByRole('list', { name: 'Plans' }).getByRole('listitem', { name: 'Write a page about this computer' });
    // The guide only does what it is told, and follows none.
    await plan.getByText('Paused', { exact: true }).waitFor();
    expect(await plan.getByRole('list', { name: 'Steps' }).getByRole('listitem').count()).toBe(3);
    await takeScreenshots(page, 'plans');

    const [{ agentId = '', sessionId = '' } = {}] = (await client.call('plan.list', {})).plans;
    const update = { status: 'skipped', result: 'It is known' };
    await client.call('chat.send', { agentId, sessionId, message: `/tool plan_update ${JSON.stringify(update)}` });
    await plan.getByText('It is known').waitFor();
    await plan.getByText('1 of 3', { exact: false }).waitFor();
    const before = (await client.call('chat.history', { agentId, sessionId })).messages.length;
    await plan.getByRole('button', { name: 'Resume' }).click();
    await waitFor(
      async () => (await client.call('chat.history', { agentId, sessionId })).messages.length > before,
      'the agent to be asked',
    );

    // Of many, those with the words looked for: in the goal, in a step or in what came of one.
    await client.call('chat.send', { sessionId: 'trip', message: '/tool plan_create {"goal":"A trip","steps":["Book the train"]}' });
    const all = page.getByRole('list', { name: 'Plans', exact: true });
    const trip = all.getByRole('listitem', { name: 'A trip' });
    await trip.getByText('Book the train').waitFor();
    // The steps of one that is done are folded, and in sight where words of theirs are looked for.
    await client.call('chat.send', { sessionId: 'trip', message: '/tool plan_update {"status":"skipped"}' });
    await trip.getByText('Completed', { exact: true }).waitFor();
    const train = trip.getByRole('listitem').filter({ hasText: 'Book the train' });
    await train.waitFor({ state: 'hidden' });
    await trip.locator('summary').press('Enter');
    await train.waitFor();
    await trip.locator('summary').press('Enter');
    await train.waitFor({ state: 'hidden' });
    await plan.getByText('It is known').waitFor();
    const search = page.getByRole('textbox', { name: 'Search plans' });
    await search.fill(' TRAIN');
    await page.getByText('1 result', { exact: true }).waitFor();
    expect(await all.locator('strong').allInnerTexts()).toEqual(['A trip']);
    await train.waitFor();
    await search.fill('it is known');
    await plan.waitFor();
    expect(await all.locator('strong').allInnerTexts()).toEqual(['Write a page about this computer']);
    await search.fill('nothing of the kind');
    await page.getByText('No matching plans').waitFor();
    await takeScreenshots(page, 'plans-search');
    await page.keyboard.press('Escape');
    await all.getByRole('listitem', { name: 'A trip' }).waitFor();
    await all.getByRole('listitem', { name: 'A trip' }).getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog', { name: 'Delete this plan?' }).getByRole('button', { name: 'Delete', exact: true }).click();
    await all.getByRole('listitem', { name: 'A trip' }).waitFor({ state: 'detached' });

    await plan.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog', { name: 'Delete this plan?' }).getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No plans yet').waitFor();
    expect((await client.call('plan.list', {})).count).toBe(0);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('skills.app/list', 'those of workspaces and of the bridge, each with what it lacks; looked at again', async () => {
    const page = await at.browser.page(`${at.perch.url}/skills`);
    await waitForConnection(page, 'This browser');
    await page.getByText('No skills yet').waitFor();
    const put = (name: string, text: string): void => {
      mkdirSync(join(at.perch.home, 'skills', name), { recursive: true });
      writeFileSync(join(at.perch.home, 'skills', name, 'SKILL.md'), text);
    };
    put('letters', SKILL('letters'));
    put('broken', 'no front matter');
    put('films', SKILL('films', 'metadata:\n  requires:\n    bins: [no-such-program-here]\n'));
    using outside = await connectOutside(at.perch);
    await outside.client.call('workspace.write', { path: 'skills/minutes/SKILL.md', content: SKILL('minutes') });
    await page.reload();
    const theirs = page.getByRole('list', { name: 'Shared skills' });
    await theirs.getByRole('listitem', { name: 'letters' }).getByText('Ready', { exact: true }).waitFor();
    await theirs.getByRole('listitem', { name: 'broken' }).getByText('Invalid').waitFor();
    await theirs.getByRole('listitem', { name: 'films' }).getByText('Requires no-such-program-here').waitFor();
    await page
      .getByRole('list', { name: 'Workspace skills' })
      .getByRole('listitem', { name: 'minutes' })
      .getByText('How minutes are made.')
      .waitFor();
    await takeScreenshots(page, 'skills');
    put('broken', SKILL('broken'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await theirs.getByRole('listitem', { name: 'broken' }).getByText('Ready', { exact: true }).waitFor();

    // Of many, by the order of their numbers; those with the words looked for.
    for (const number of [10, 9, 2]) put(`note-${number}`, SKILL(`note-${number}`));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await theirs.getByRole('listitem', { name: 'note-10' }).waitFor();
    const names = (): Promise<string[]> => theirs.getByRole('listitem').locator('strong').allInnerTexts();
    expect(await names()).toEqual(['broken', 'films', 'letters', 'note-2', 'note-9', 'note-10']);
    const search = page.getByRole('textbox', { name: 'Search skills' });
    await search.fill('  NOTE-');
    await page.getByText('3 results', { exact: true }).waitFor();
    expect(await names()).toEqual(['note-2', 'note-9', 'note-10']);
    expect(await page.getByRole('list', { name: 'Workspace skills' }).count()).toBe(0);
    await search.fill('how minutes');
    await page.getByText('1 result', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'Workspace skills' }).getByRole('listitem', { name: 'minutes' }).waitFor();
    await search.fill('nothing of the kind');
    await page.getByText('No matching skills').waitFor();
    await takeScreenshots(page, 'skills-search');
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await page.keyboard.press('Escape');
    await theirs.getByRole('listitem', { name: 'letters' }).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
