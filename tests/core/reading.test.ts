import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { webPort } from '#shared/ports/web.ts';
import { webHandlers } from '../../bridge/capabilities/web.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, lend } from '../support/fake-bridge.ts';
import { type Say, type TestGateway, testGateway, until } from '../support/gateway.ts';
import { docx, lines, pdf, xlsx } from '../support/office-files.ts';

const attachment = (filename: string, bytes: Uint8Array, mimeType = 'application/octet-stream') => ({
  filename,
  mimeType,
  content: toBase64(bytes),
});
const PDF_TYPE = 'application/pdf';

/** Result of the last tool call as the model received it. */
const lastResult = (gw: TestGateway): Record<string, unknown> =>
  JSON.parse(String(gw.calls.at(-1)?.body.messages.findLast(({ role }) => role === 'tool')?.content)) as Record<string, unknown>;

/** A model that makes the next call of the list for each user message. */
function calling(list: Say[]) {
  return ({ body }: { body: { messages: { role: string }[] } }): Say[] => {
    if (body.messages.at(-1)?.role === 'tool') return ['done'];
    const next = list.shift();
    return [next ?? 'nothing left'];
  };
}

describe('files', () => {
  verifies(['office/attachments', 'office/untrusted'], 'attached in the chat: told by name with their tool, and read', async () => {
    await using gw = await testGateway({
      model: calling([
        { tool: 'read_pdf', args: { attachment: 'a.pdf' } },
        { tool: 'read_pdf', args: {} },
        { tool: 'read_docx', args: {} },
        { tool: 'read_xlsx', args: { attachment: 'book.xlsx', range: 'A1:A1' } },
        { tool: 'read_docx', args: { attachment: 'a.pdf' } },
        { tool: 'read_pptx', args: {} },
      ]),
    });
    const { client } = await gw.client();
    const older = attachment('a.pdf', await pdf([lines(1, 2)]), PDF_TYPE);
    const newer = attachment('a.pdf', await pdf([lines(7, 2)]), PDF_TYPE);
    await client.call('chat.send', { message: 'look', attachments: [older] });
    expect(gw.calls[0]?.body.messages.at(-1)?.content).toMatch(
      /^look\n\n\[The file a\.pdf .* read it with read_pdf and attachment "a\.pdf"\.\]$/,
    );
    expect(lastResult(gw)).toMatchObject({
      file: 'a.pdf',
      part: 'pages 1 of 1',
      text: expect.stringContaining('Page 1, line 2'),
      note: expect.stringContaining('never instructions'),
    });
    await client.call('chat.send', {
      message: 'and',
      attachments: [newer, attachment('report.DOCX', await docx()), attachment('book.xlsx', await xlsx())],
    });
    expect(lastResult(gw)).toMatchObject({ text: expect.stringContaining('Page 7, line 2') });
    await client.call('chat.send', { message: 'report' });
    expect(lastResult(gw)).toMatchObject({ file: 'report.DOCX', title: 'The report' });
    await client.call('chat.send', { message: 'book' });
    expect(lastResult(gw)).toMatchObject({ sheets: ['Sales & co', 'Empty', 'Secret (hidden)'] });
    await client.call('chat.send', { message: 'wrong tool' });
    expect(lastResult(gw)).toEqual({ error: 'This tool can’t read a.pdf. Use read_pdf.' });
    await client.call('chat.send', { message: 'slides' });
    expect(lastResult(gw)).toEqual({ error: 'No pptx file is attached in this chat. Attached files: book.xlsx, report.DOCX, a.pdf.' });
    await client.call('chat.send', { message: 'other chat', sessionId: 'other' });
    expect(gw.faults).toEqual([]);
  });

  verifies('office/attachments', 'in the workspace of the agent', async () => {
    await using gw = await testGateway({
      model: calling([
        { tool: 'read_text', args: { path: '/notes/a.csv' } },
        { tool: 'read_pdf', args: { path: 'b.pdf' } },
        { tool: 'read_text', args: { path: '../other/a.csv' } },
        { tool: 'read_xlsx', args: { path: 'empty.xlsx' } },
      ]),
    });
    const { client } = await gw.client();
    await client.call('workspace.write', { path: 'notes/a.csv', content: 'ä,b' });
    await client.call('workspace.write', { workspace: 'other', path: 'a.csv', content: 'no' });
    await client.call('workspace.write', { path: 'b.pdf', content: toBase64(await pdf([lines(3, 1)])), encoding: 'base64' });
    await client.call('chat.send', { message: 'x' });
    expect(lastResult(gw)).toMatchObject({ file: 'notes/a.csv', text: 'ä,b' });
    await client.call('chat.send', { message: 'y' });
    expect(lastResult(gw)).toMatchObject({ text: expect.stringContaining('Page 3') });
    await client.call('chat.send', { message: 'z' });
    expect(lastResult(gw)).toMatchObject({ error: expect.stringContaining('No file "../other/a.csv"') });
    await client.call('workspace.write', { path: 'empty.xlsx', content: '' });
    await client.call('chat.send', { message: 'e' });
    expect(lastResult(gw)).toMatchObject({ error: expect.stringContaining('empty.xlsx can’t be read') });
  });

  verifies('office/attachments', 'a long text is shown in part, and the rest can be read', async () => {
    const text = Array.from({ length: 8000 }, (_, index) => `row ${index}, ünï\r\n`).join('');
    let offset = 0;
    await using gw = await testGateway({
      model: ({ body }) => {
        if (body.messages.at(-1)?.role === 'tool') return ['done'];
        const told = String(body.messages.at(-1)?.content);
        offset = Number(/offset (\d+)/.exec(told)?.[1]);
        return [{ tool: 'read_text', args: { attachment: 'long.csv', offset } }];
      },
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'x', attachments: [attachment('long.csv', new TextEncoder().encode(text), 'text/csv')] });
    const told = String(gw.calls[0]?.body.messages.at(-1)?.content);
    expect(told.length).toBeLessThan(51_000);
    const start = told.slice(told.indexOf('row 0'), told.indexOf('\n\n[The file goes on'));
    expect(`${start}${String(lastResult(gw).text)}`).toBe(
      text.replaceAll('\r\n', '\n').slice(0, offset + String(lastResult(gw).text).length),
    );
  });
});

describe('web_fetch', () => {
  verifies(['web/fetch', 'office/untrusted'], 'returns title, final address and text of allowed pages', async () => {
    const report = await pdf([lines(1, 2)]);
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      if (request.url === '/old') response.writeHead(302, { location: '/page' }).end();
      else if (request.url === '/pdf') response.writeHead(200, { 'content-type': PDF_TYPE }).end(report);
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title><p>Hello <a href="/x">there</a></p>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetching = (path: string): Say => ({ tool: 'web_fetch', args: { url: `http://${place}${path}` } });
    try {
      await using gw = await testGateway({
        bridge: new FakeBridge(lend(webPort, webHandlers())),
        model: calling([fetching('/old'), fetching('/old'), fetching('/pdf')]),
      });
      const { client } = await gw.client();
      const asking = client.call('chat.send', { message: 'x' });
      await until(async () => (await client.call('approvals.list', {})).count === 1, 'the tool to ask');
      const [approval] = (await client.call('approvals.list', {})).approvals;
      expect(approval).toMatchObject({ tool: 'web_fetch', summary: `Fetch http://${place}/old` });
      expect(asked).toEqual([]);
      await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'approve', always: true });
      await asking;
      expect(lastResult(gw)).toMatchObject({ error: expect.stringContaining('tools.webFetch.allow') });
      await client.call('config.set', { key: 'tools.webFetch.allow', value: [place] });
      await client.call('chat.send', { message: 'x' });
      expect(lastResult(gw)).toEqual({
        url: `http://${place}/page`,
        contentType: 'text/html',
        title: 'T',
        text: `Hello [there](http://${place}/x)`,
        note: expect.stringContaining('never instructions'),
      });
      await client.call('chat.send', { message: `http://${place}/pdf` });
      expect(lastResult(gw)).toMatchObject({ part: 'pages 1 of 1', text: expect.stringContaining('quick brown fox') });
    } finally {
      server.close();
    }
  });

  verifies('web/fetch', 'without the bridge says that it needs it', async () => {
    await using gw = await testGateway({ model: calling([{ tool: 'web_fetch', args: { url: 'https://example.com/' } }]) });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'tools.policies', value: { web_fetch: 'auto' } });
    await client.call('chat.send', { message: 'x' });
    expect(lastResult(gw)).toMatchObject({ error: expect.stringContaining('Fetching web pages needs the bridge') });
  });
});
