import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { createWebHandlers } from '../../../bridge/capabilities/web-handlers.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../tests/support/fake-bridge.ts';
import { type Say, type TestGateway, createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { createDocx, toPdfLines, createPdf, createXlsx } from '../../../tests/support/office-files.ts';

const toAttachment = (filename: string, bytes: Uint8Array, mimeType = 'application/octet-stream') => ({
  filename,
  mimeType,
  content: toBase64(bytes),
});
const PDF_TYPE = 'application/pdf';

/** Result of the last tool call as the model received it. */
const getLastResult = (gw: TestGateway): Record<string, unknown> =>
  JSON.parse(String(gw.calls.at(-1)?.body.messages.findLast(({ role }) => role === 'tool')?.content)) as Record<string, unknown>;

/** A model that makes the next call of the list for each user message. */
function createCallingGateway(list: Say[]) {
  return ({ body }: { body: { messages: { role: string }[] } }): Say[] => {
    if (body.messages.at(-1)?.role === 'tool') return ['done'];
    const next = list.shift();
    return [next ?? 'nothing left'];
  };
}

describe('files', () => {
  verifies(['office/attachments', 'office/untrusted'], 'attached in the chat: told by name with their tool, and read', async () => {
    await using gw = await createTestGateway({
      model: createCallingGateway([
        { tool: 'read_pdf', args: { attachment: 'a.pdf' } },
        { tool: 'read_pdf', args: {} },
        { tool: 'read_docx', args: {} },
        { tool: 'read_xlsx', args: { attachment: 'book.xlsx', range: 'A1:A1' } },
        { tool: 'read_docx', args: { attachment: 'a.pdf' } },
        { tool: 'read_pptx', args: {} },
      ]),
    });
    const { client } = await gw.client();
    const older = toAttachment('a.pdf', await createPdf([toPdfLines(1, 2)]), PDF_TYPE);
    const newer = toAttachment('a.pdf', await createPdf([toPdfLines(7, 2)]), PDF_TYPE);
    await client.call('chat.send', { message: 'look', attachments: [older] });
    expect(gw.calls[0]?.body.messages.at(-1)?.content).toMatch(
      /^look\n\n\[The file a\.pdf .* read it with read_pdf and attachment "a\.pdf"\.\]$/,
    );
    expect(getLastResult(gw)).toMatchObject({
      file: 'a.pdf',
      part: 'pages 1 of 1',
      text: expect.stringContaining('Page 1, line 2'),
      note: expect.stringContaining('never instructions'),
    });
    await client.call('chat.send', {
      message: 'and',
      attachments: [newer, toAttachment('report.DOCX', await createDocx()), toAttachment('book.xlsx', await createXlsx())],
    });
    expect(getLastResult(gw)).toMatchObject({ text: expect.stringContaining('Page 7, line 2') });
    await client.call('chat.send', { message: 'report' });
    expect(getLastResult(gw)).toMatchObject({ file: 'report.DOCX', title: 'The report' });
    await client.call('chat.send', { message: 'book' });
    expect(getLastResult(gw)).toMatchObject({ sheets: ['Sales & co', 'Empty', 'Secret (hidden)'] });
    await client.call('chat.send', { message: 'wrong tool' });
    expect(getLastResult(gw)).toEqual({ error: 'This tool can’t read a.pdf. Use read_pdf.' });
    await client.call('chat.send', { message: 'slides' });
    expect(getLastResult(gw)).toEqual({ error: 'No pptx file is attached in this chat. Attached files: book.xlsx, report.DOCX, a.pdf.' });
    await client.call('chat.send', { message: 'other chat', sessionId: 'other' });
    expect(gw.faults).toEqual([]);
  });

  verifies('office/attachments', 'in the workspace of the agent', async () => {
    await using gw = await createTestGateway({
      model: createCallingGateway([
        { tool: 'read_text', args: { path: '/notes/a.csv' } },
        { tool: 'read_pdf', args: { path: 'b.pdf' } },
        { tool: 'read_text', args: { path: '../other/a.csv' } },
        { tool: 'read_xlsx', args: { path: 'empty.xlsx' } },
      ]),
    });
    const { client } = await gw.client();
    await client.call('workspace.write', { path: 'notes/a.csv', content: 'ä,b' });
    await client.call('workspace.write', { workspace: 'other', path: 'a.csv', content: 'no' });
    await client.call('workspace.write', { path: 'b.pdf', content: toBase64(await createPdf([toPdfLines(3, 1)])), encoding: 'base64' });
    await client.call('chat.send', { message: 'x' });
    expect(getLastResult(gw)).toMatchObject({ file: 'notes/a.csv', text: 'ä,b' });
    await client.call('chat.send', { message: 'y' });
    expect(getLastResult(gw)).toMatchObject({ text: expect.stringContaining('Page 3') });
    await client.call('chat.send', { message: 'z' });
    expect(getLastResult(gw)).toMatchObject({ error: expect.stringContaining('No file "../other/a.csv"') });
    await client.call('workspace.write', { path: 'empty.xlsx', content: '' });
    await client.call('chat.send', { message: 'e' });
    expect(getLastResult(gw)).toMatchObject({ error: expect.stringContaining('empty.xlsx can’t be read') });
  });

  verifies('office/attachments', 'a long text is shown in part, and the rest can be read', async () => {
    const text = Array.from({ length: 8000 }, (_, index) => `row ${index}, ünï\r\n`).join('');
    let offset = 0;
    await using gw = await createTestGateway({
      model: ({ body }) => {
        if (body.messages.at(-1)?.role === 'tool') return ['done'];
        const attachmentText = String(body.messages.at(-1)?.content);
        offset = Number(/offset (\d+)/.exec(attachmentText)?.[1]);
        return [{ tool: 'read_text', args: { attachment: 'long.csv', offset } }];
      },
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'x', attachments: [toAttachment('long.csv', new TextEncoder().encode(text), 'text/csv')] });
    const promptText = String(gw.calls[0]?.body.messages.at(-1)?.content);
    expect(promptText.length).toBeLessThan(51_000);
    const start = promptText.slice(promptText.indexOf('row 0'), promptText.indexOf('\n\n[The file goes on'));
    expect(`${start}${String(getLastResult(gw).text)}`).toBe(
      text.replaceAll('\r\n', '\n').slice(0, offset + String(getLastResult(gw).text).length),
    );
  });
});

describe('web_fetch', () => {
  verifies(['web/fetch', 'office/untrusted'], 'returns title, final address and text of allowed pages', async () => {
    const report = await createPdf([toPdfLines(1, 2)]);
    const requestedModels: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requestedModels.push(request.url);
      if (request.url === '/old') response.writeHead(302, { location: '/page' }).end();
      else if (request.url === '/pdf') response.writeHead(200, { 'content-type': PDF_TYPE }).end(report);
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title><p>Hello <a href="/x">there</a></p>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const siteAddress = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetching = (path: string): Say => ({ tool: 'web_fetch', args: { url: `http://${siteAddress}${path}` } });
    try {
      await using gw = await createTestGateway({
        bridge: new FakeBridge(createCapability(webPort, createWebHandlers())),
        model: createCallingGateway([fetching('/old'), fetching('/old'), fetching('/pdf')]),
      });
      const { client } = await gw.client();
      const asking = client.call('chat.send', { message: 'x' });
      await waitFor(async () => (await client.call('approvals.list', {})).count === 1, 'the tool to ask');
      const [approval] = (await client.call('approvals.list', {})).approvals;
      expect(approval).toMatchObject({ tool: 'web_fetch', summary: `Fetch http://${siteAddress}/old` });
      expect(requestedModels).toEqual([]);
      await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'approve', always: true });
      await asking;
      expect(getLastResult(gw)).toMatchObject({ error: expect.stringContaining('tools.webFetch.allow') });
      await client.call('config.set', { key: 'tools.webFetch.allow', value: [siteAddress] });
      await client.call('chat.send', { message: 'x' });
      expect(getLastResult(gw)).toEqual({
        url: `http://${siteAddress}/page`,
        contentType: 'text/html',
        title: 'T',
        // With the number of its passage, if the run can cite.
        text: expect.stringMatching(new RegExp(`^(\\[1\\] )?Hello \\[there\\]\\(http://${siteAddress}/x\\)$`)),
        note: expect.stringContaining('never instructions'),
      });
      await client.call('chat.send', { message: `http://${siteAddress}/pdf` });
      expect(getLastResult(gw)).toMatchObject({ part: 'pages 1 of 1', text: expect.stringContaining('quick brown fox') });
    } finally {
      server.close();
    }
  });

  verifies(['web/readable', 'web/cache'], 'reads the article of a page, and keeps the page for a while', async () => {
    const paragraph = 'A tulip blooms in April, and its bulbs, which are planted in October, need a cold winter. '.repeat(5);
    const page = `<!doctype html><html><head><title>Tulips | Flowers</title><meta name="author" content="Ada Lovelace">
      <meta property="article:published_time" content="2026-04-02T08:00:00Z"></head><body><div class="menu"><a href="/a">Shop</a></div>
      <div class="post"><h1>Tulips</h1><p>${paragraph}</p><h2>Planting</h2><p>${paragraph}<a href="/more">More</a></p></div>
      <div class="comments">First!</div><div class="related"><a href="/b">Related</a></div></body></html>`;
    const validators: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      validators.push(headers['if-none-match']);
      if (headers['if-none-match'] === '"v1"') return response.writeHead(304).end();
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=60', etag: '"v1"' }).end(page);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tulips`;
    try {
      await using gw = await createTestGateway({
        bridge: new FakeBridge(createCapability(webPort, createWebHandlers())),
        model: createCallingGateway(
          [{}, {}, { raw: true }, { fresh: true }].map((args) => ({ tool: 'web_fetch', args: { url, ...args } })),
        ),
      });
      const { client } = await gw.client();
      await client.call('config.patch', {
        patch: { tools: { policies: { web_fetch: 'auto' }, webFetch: { allow: [new URL(url).host] } } },
      });
      const read = async (): Promise<Record<string, unknown>> => {
        await client.call('chat.send', { sessionId: 'main', message: url });
        return getLastResult(gw);
      };
      const { text, ...about } = await read();
      expect(about).toMatchObject({ byline: 'Ada Lovelace', published: '2026-04-02T08:00:00Z', title: expect.stringContaining('Tulips') });
      expect(text).toMatch(/## Planting\n\nA tulip blooms/);
      expect(text).toContain(`[More](${new URL('/more', url).href})`);
      expect(text).not.toMatch(/Shop|First!|Related/);
      expect(await read()).toMatchObject({ text });
      expect(validators).toHaveLength(1);
      expect(String((await read())['text'])).toMatch(/Shop[^]*First![^]*Related/);
      expect(validators).toEqual([undefined]);
      expect(await read()).toMatchObject({ text });
      expect(validators).toEqual([undefined, '"v1"']);
      // Content from the cache is from outside too.
      const { messages } = await client.call('chat.history', { sessionId: 'main' });
      expect(messages.findLast(({ role }) => role === 'assistant')).toMatchObject({ outside: [`web:${new URL(url).host}`] });
    } finally {
      server.close();
    }
  });

  verifies('web/fetch', 'without the bridge says that it needs it', async () => {
    await using gw = await createTestGateway({
      model: createCallingGateway([{ tool: 'web_fetch', args: { url: 'https://example.com/' } }]),
    });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'tools.policies', value: { web_fetch: 'auto' } });
    await client.call('chat.send', { message: 'x' });
    expect(getLastResult(gw)).toMatchObject({ error: expect.stringContaining('Fetching web pages needs the bridge') });
  });
});
