import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

interface ToolTask {
  message: string;
  query: string;
  tool: string;
  title: string;
  args: Record<string, unknown>;
  /** A person is asked in the app. */
  asks?: true;
  isDone(): Promise<boolean>;
}

describe('tools outside the default set', () => {
  const at = useReplyFixture();

  verifies('tools/tasks', 'ten tasks are done by tool_search and tool_call', async () => {
    const visited: string[] = [];
    const site = createServer(({ url = '' }, response) => {
      visited.push(url);
      response.setHeader('content-type', 'text/html').end('<title>Timetable</title>');
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    await using _ = { [Symbol.asyncDispose]: async () => void (await once(site.close(), 'close')) };
    const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    using outside = await connectOutside(at.perch);
    const { client } = outside;
    await client.call('config.set', { key: 'browser.allow', value: [siteAddress] });
    await client.call('wiki.savePage', { path: 'entities/Miso', content: 'A dog.' });
    await client.call('workspace.write', { path: 'old.md', content: 'Old.' });
    const { memory } = await client.call('memory.add', { text: 'The boat is red.' });
    const { job } = await client.call('cron.add', { cron: '0 9 * * *', message: 'Read the news' });
    const { id: drawingId } = await client.call('drawings.create', { title: 'Harbour', width: 400, height: 300 });
    const page = await at.browser.page(at.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    const last = replies(page).last();

    const plans = async () => (await client.call('plan.list', {})).plans;
    const miso = { path: 'entities/Miso' };
    const { version } = (await client.call('wiki.page', miso)).page;
    const tasks: ToolTask[] = [
      {
        message: 'Plan my move in two steps',
        query: 'make a plan with steps',
        tool: 'plan_create',
        title: 'Create plan',
        args: { goal: 'Move', steps: ['Pack', 'Drive'] },
        isDone: async () => (await plans()).some(({ goal }) => goal === 'Move'),
      },
      {
        message: 'I have packed already',
        query: 'skip a step of the plan',
        tool: 'plan_update',
        title: 'Update plan',
        args: { status: 'skipped', result: 'Twelve boxes' },
        isDone: async () => JSON.stringify(await plans()).includes('Twelve boxes'),
      },
      {
        message: 'Miso is a cat, correct the wiki',
        query: 'write a wiki page',
        tool: 'wiki_write',
        title: 'Write wiki page',
        args: { ...miso, content: 'A cat.', version },
        asks: true,
        isDone: async () => (await client.call('wiki.page', miso)).page.content.includes('A cat.'),
      },
      {
        message: 'Miso is 10 years old, my diary says',
        query: 'add a claim with evidence to the wiki',
        tool: 'wiki_claim',
        title: 'Add claim',
        args: { ...miso, text: 'Miso is 10 years old.', evidence: [{ source_id: 'diary' }] },
        isDone: async () => (await client.call('wiki.claims', {})).claims.some(({ text }) => text === 'Miso is 10 years old.'),
      },
      {
        message: 'Draw a box around the harbour',
        query: 'draw on a picture',
        tool: 'canvas_draw',
        title: 'Edit drawing',
        args: { drawingId, add: [{ kind: 'rect', x: 20, y: 20, width: 100, height: 80 }] },
        isDone: async () =>
          JSON.stringify((await client.call('drawings.open', { drawingId, follow: false })).changes).includes('"kind":"rect"'),
      },
      {
        message: 'Show me the drawing',
        query: 'show a drawing as an image',
        tool: 'canvas_capture',
        title: 'Capture drawing',
        args: { drawingId },
        isDone: () => page.locator('main img').last().isVisible(),
      },
      {
        message: 'Throw old.md away',
        query: 'delete a file',
        tool: 'file_remove',
        title: 'Delete file',
        args: { path: 'old.md' },
        asks: true,
        isDone: async () => (await client.call('workspace.list', {})).files.every(({ path }) => path !== 'old.md'),
      },
      {
        message: 'No news any more',
        query: 'cancel a reminder',
        tool: 'cron_remove',
        title: 'Delete schedule',
        args: { id: job.id },
        asks: true,
        isDone: async () => (await client.call('cron.list', {})).jobs.every(({ id }) => id !== job.id),
      },
      {
        message: 'Forget the boat',
        query: 'forget a memory',
        tool: 'memory_forget',
        title: 'Delete memory',
        args: { id: memory.id },
        isDone: async () => (await client.call('memory.list', {})).memories.every(({ id }) => id !== memory.id),
      },
      {
        message: 'Open the timetable in your browser',
        query: 'open a page in the browser',
        tool: 'browser_open',
        title: 'Open web page',
        args: { url: `http://${siteAddress}/timetable` },
        asks: true,
        isDone: () => Promise.resolve(visited.includes('/timetable')),
      },
    ];

    const { calls } = await client.call('usage.get', {});
    const waiting = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem');
    for (const [index, { message, query, tool, title, args, asks, isDone }] of tasks.entries()) {
      expect(await isDone(), tool).toBe(false);
      for (const [name, given] of [
        ['tool_search', { query }],
        ['tool_call', { name: tool, arguments: args }],
      ] as const) {
        const answer = at.model.beginReply();
        void answer.sendToolCall({ name, arguments: JSON.stringify(given) }).then(() => answer.end());
      }
      at.model.queueReply(`Task ${index + 1} is done.`);
      await sendMessage(page, message);
      if (asks) {
        await waiting.getByText(title).first().waitFor();
        expect(await isDone(), tool).toBe(false);
        if (tool === 'wiki_write') await takeScreenshots(page, 'asks');
        await waiting.getByRole('button', { name: 'Allow once' }).click();
      }
      await last.getByText(`Task ${index + 1} is done.`).waitFor();
      const cards = last.locator('.tool');
      expect(await cards.count(), tool).toBe(2);
      expect((await cards.last().innerText()).replace(/\s+/g, ' ')).toMatch(new RegExp(`^${title}.* Done`));
      await waitFor(isDone, `${tool} to have its effect`);
    }
    await takeScreenshots(page, 'done');

    const sessionId = (await client.call('sessions.list', {})).sessions[0]?.sessionId ?? '';
    const { messages } = await client.call('chat.history', { sessionId });
    expect(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ tool }) => tool))).toEqual(
      tasks.flatMap(({ tool }) => ['tool_search', tool]),
    );
    const results = messages.filter(({ role }) => role === 'tool');
    for (const [index, { tool }] of tasks.entries()) expect(results[index * 2]?.content, tool).toContain(`"name":"${tool}"`);
    const { approvals } = await client.call('approvals.list', { status: 'all' });
    expect(approvals.map(({ tool, status }) => [tool, status]).reverse()).toEqual(
      tasks.flatMap(({ tool, asks }) => (asks ? [[tool, 'approved']] : [])),
    );
    const usage = await client.call('usage.get', {});
    expect(usage.calls - calls).toBe(tasks.length);
    expect(await page.locator('body').innerText()).not.toContain('tool_call');
    expect(JSON.stringify([messages, approvals, usage])).not.toContain('tool_call');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
