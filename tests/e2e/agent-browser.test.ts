import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { browserPort } from '#shared/ports/browser-port.ts';
import { createDriverProcess } from '../../bridge/capabilities/browser/driver-process.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';
import { type ModelCall, createTestGateway, waitFor } from '../support/test-gateway.ts';

const PAGE = `<!doctype html><title>Orders</title><label>Name <input></label>
<button onclick="document.querySelector('p').textContent = confirm('Order for ' + document.querySelector('input').value + '?') ? 'Ordered' : 'Left'">Order</button>
<a href="/bill.txt" download>The bill</a><p>Nothing yet</p>`;

/** Result of the last tool call as the model received it. */
const lastResult = ({ body }: ModelCall): string => String(body.messages.filter(({ role }) => role === 'tool').at(-1)?.content ?? '');
/** The ref of an element in the last snapshot, as a model reads it. */
const findRef = ({ body }: ModelCall, element: string): string => {
  const texts = body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  const [snapshot = ''] = texts.filter((text) => text.includes('[ref=')).slice(-1);
  const snapshotText = String((JSON.parse(snapshot) as { text: string }).text);
  return new RegExp(`${element}.*?\\[ref=(\\w+)\\]`).exec(snapshotText)?.[1] ?? 'none';
};

verifies(
  ['browser/agent-tools', 'browser/dialogs', 'browser/downloads'],
  'an agent orders something in a real browser: it reads, types, clicks, answers, downloads, and asks first as the policies say',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'perch-agent-'));
    const site = createServer(({ url }, response) => {
      const [type, body] = url === '/bill.txt' ? ['application/octet-stream', 'One cup: 3 EUR'] : ['text/html', PAGE];
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const browsers = createDriverProcess({ dir, log: () => {}, keeper: new ProcessKeeper(() => {}) });
    const bridge = new FakeBridge(createCapability(browserPort, browsers.handlers));
    const results: string[] = [];
    /** One step after the other, each by what the page showed. */
    const plan: ((call: ModelCall) => { tool: string; args: unknown })[] = [
      () => ({ tool: 'browser_open', args: { url: `http://${siteAddress}/` } }),
      () => ({ tool: 'browser_snapshot', args: {} }),
      (call) => ({ tool: 'browser_type', args: { ref: findRef(call, 'textbox "Name"'), text: 'Ann' } }),
      () => ({ tool: 'browser_dialogs', args: { answer: 'accept' } }),
      (call) => ({ tool: 'browser_click', args: { ref: findRef(call, 'button "Order"') } }),
      () => ({ tool: 'browser_evaluate', args: { fn: 'document.cookie' } }),
      (call) => ({ tool: 'browser_click', args: { ref: findRef(call, 'link "The bill"') } }),
      () => ({ tool: 'browser_snapshot', args: {} }),
    ];
    try {
      await using gw = await createTestGateway({
        bridge,
        model: (call, count) => {
          if (count > 1) results.push(lastResult(call));
          return [plan[count - 1]?.(call) ?? 'It is ordered.'];
        },
      });
      const { client } = await gw.client();
      await client.call('config.patch', {
        patch: {
          browser: { allow: [siteAddress] },
          tools: { policies: { browser_type: 'auto', browser_evaluate: 'deny' }, afterReading: { browser_type: ['web:*'] } },
        },
      });
      const requestedPaths: string[] = [];
      let over = false;
      const pendingSend = client.call('chat.send', { message: 'Order a cup for Ann' }).finally(() => (over = true));
      while (!over) {
        const { approvals } = await client.call('approvals.list', {});
        for (const { id, summary } of approvals) {
          requestedPaths.push(summary);
          await client.call('approvals.resolve', { id, decision: 'approve' });
        }
        if (approvals.length === 0)
          await waitFor(async () => over || (await client.call('approvals.list', {})).approvals.length > 0, 'the next step', 40_000);
      }
      expect((await pendingSend).completed).toBe(true);
      expect(requestedPaths).toEqual([
        `Open http://${siteAddress}/ in the browser`,
        `Accept dialogs in the browser, now on ${siteAddress}`,
        `Click button "Order" on ${siteAddress} in the browser`,
        `Click link "The bill" on ${siteAddress} in the browser`,
      ]);
      expect(results).toHaveLength(plan.length);
      const [opened, , typed, , ordered, refused, downloaded, picture] = results;
      expect(opened).toContain('Title: Orders');
      expect(typed).toContain('"typed":true');
      expect(ordered).toContain('The page showed a dialog (confirm), which was accepted: Order for Ann?');
      expect(refused).toContain('"denied":true');
      // A browser may tell of it a moment behind the click: it is in one of the results then.
      expect(`${downloaded}\n${picture}`).toContain('Downloaded to your workspace: downloads/bill.txt (14 bytes)');
      expect(picture).toContain('Ordered');
      expect(await client.call('workspace.read', { path: 'downloads/bill.txt' })).toMatchObject({
        content: expect.stringMatching(/One cup: 3 EUR|T25lIGN1cDogMyBFVVI=/),
      });
      expect(gw.faults).toEqual([]);
    } finally {
      await browsers.close();
      site.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
  },
);
