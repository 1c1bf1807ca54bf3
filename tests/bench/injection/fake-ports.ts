import { Buffer } from 'node:buffer';
import { browserPort } from '#shared/ports/browser-port.ts';
import { execPort } from '#shared/ports/exec-port.ts';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import type { BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Fetch } from '../../../web/gateway/ports/fetch.ts';
import { FakeBridge, createCapability, type FakeCapability } from '../../support/fake-bridge.ts';

/** Address of the owner's search service. */
export const SEARCH_URL = 'https://search.test';

export interface WebPage {
  body: string | Uint8Array;
  contentType?: string;
}

/** Simulated outside world: pages, a browser, an MCP server and commands. Records the requests that reach them. */
export class OutsideWorld {
  /** Pages by address; any other address returns a plain greeting. */
  readonly pages = new Map<string, WebPage>();
  readonly fetched: string[] = [];
  /** Results of the owner's search service, which repeats the query in each; and the queries that it received. */
  searchResults: { title: string; url: string; content: string }[] = [];
  readonly queries: string[] = [];
  /** Address, title and accessibility tree of the browser's page. */
  page = { url: 'https://shop.test/cart', title: 'Cart', accessibility: '- button "Buy" [ref=s1e4]\n- textbox "To" [ref=s1e5]' };
  happened: BrowserPageEvents | undefined;
  download = { filename: 'offer.txt', text: '' };
  /** Calls that acted on pages: `open <url>`, `click <ref>`, `type <text>`, `evaluate <fn>`. */
  readonly browsed: string[] = [];
  readonly commands: string[] = [];
  output = '';
  /** Called while a command runs. */
  oncommand: () => Promise<void> = async () => {};
  /** Result of the MCP server's tools that read. */
  mcpResult: object = { content: [{ type: 'text', text: 'Nothing new' }] };
  mcpFails = false;
  /** Calls of the MCP server's tools, as `<tool> <args>`. */
  readonly mcpCalls: string[] = [];
  readonly bridge: FakeBridge;

  constructor(...extraCapabilities: FakeCapability[]) {
    this.bridge = new FakeBridge(this.#web(), this.#browser(), this.#exec(), this.#mcp(), ...extraCapabilities);
  }

  /** Answers requests to the search service; all others are answered by `others`. */
  createFetch(others: Fetch): Fetch {
    return async (url, init) => {
      if (!url.startsWith(`${SEARCH_URL}/`)) return others(url, init);
      const query = new URL(url).searchParams.get('q') ?? '';
      this.queries.push(query);
      const results = this.searchResults.map(({ content, ...page }) => ({ ...page, content: `${content} (${query})` }));
      return Response.json({ query, results, unresponsive_engines: [] });
    };
  }

  #web(): FakeCapability {
    return createCapability(webPort, {
      'web.fetch': async ({ url }) => {
        this.fetched.push(url);
        const { body, contentType = 'text/plain' } = this.pages.get(url) ?? { body: 'Hello' };
        return { url, status: 200, contentType, body: Buffer.from(body).toString('base64') };
      },
    });
  }

  #browser(): FakeCapability {
    const refuse = (): Promise<never> => Promise.reject(new RpcError('NOT_FOUND', 'Not in this world'));
    const place = () => ({ url: this.page.url, title: this.page.title, ...(this.happened ? { happened: this.happened } : {}) });
    const open = (url: string): void => {
      this.browsed.push(`open ${url}`);
      this.page = { ...this.page, url };
    };
    const handlers = {
      ...Object.fromEntries(Object.keys(browserPort.calls).map((name) => [name, refuse])),
      'browser.allow': async () => ({}),
      'browser.navigate': async ({ url }: { url: string }) => (open(url), { navigated: true, ...place() }),
      'browser.open': async ({ url }: { url: string }) => (open(url), { opened: true, tabId: 'tab-2', ...place() }),
      'browser.snapshot': async () => ({ htmlLength: 1, htmlPreview: '<', accessibility: this.page.accessibility, ...place() }),
      'browser.status': async () => ({
        started: true,
        profile: 'default',
        tabCount: 1,
        remote: false,
        url: this.page.url,
        title: this.page.title,
      }),
      'browser.click': async ({ ref }: { ref: string }) => (this.browsed.push(`click ${ref}`), { clicked: true, ref }),
      'browser.type': async ({ ref, text }: { ref: string; text: string }) => (this.browsed.push(`type ${text}`), { typed: true, ref }),
      'browser.evaluate': async ({ fn }: { fn: string }) => (this.browsed.push(`evaluate ${fn}`), { result: null }),
      'browser.tabs': async () => ({ tabs: [{ tabId: 'tab-1', url: this.page.url, title: this.page.title, active: true }] }),
      'browser.download': async () => ({
        filename: this.download.filename,
        contentB64: Buffer.from(this.download.text).toString('base64'),
        sizeBytes: this.download.text.length,
      }),
    };
    return createCapability(browserPort, handlers as never);
  }

  #exec(): FakeCapability {
    return createCapability(execPort, {
      'exec.resolve': async ({ command }) => ({ realPath: `/usr/bin/${command}`, workingDir: '/home/ana', hash: 'a'.repeat(64) }),
      'exec.run': async ({ command, args }, { send }) => {
        this.commands.push([command, ...args].join(' '));
        await this.oncommand();
        if (this.output !== '') send('exec.output', { stream: 'stdout', text: this.output });
        return { exitCode: 0, signal: null, timedOut: false, truncated: false };
      },
    });
  }

  /** An MCP server in this process. */
  #mcp(): FakeCapability {
    let emit = (_message: object): void => {};
    return createCapability(mcpPort, {
      'mcp.check': async () => ({ hash: 'b'.repeat(64), approved: true, workingDir: '/home/ana' }),
      'mcp.approve': async () => ({}),
      'mcp.run': async (_server, { signal, send }) => {
        emit = (message) => {
          const line = JSON.stringify({ jsonrpc: '2.0', ...message });
          send('mcp.lines', { lines: [line], bytes: line.length });
        };
        send('mcp.began', { pid: 1 });
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return { exitCode: 0, signal: null, fault: null, stderr: '' };
      },
      'mcp.write': async ({ text }) => {
        const { id, method, params = {} } = JSON.parse(text) as { id?: number; method: string; params?: Record<string, unknown> };
        if (id !== undefined) emit({ id, ...this.#answerMcp(method, params) });
        return {};
      },
      'mcp.taken': async () => ({}),
      'mcp.stderr': async () => ({ text: '' }),
    });
  }

  #answerMcp(method: string, params: Record<string, unknown>): object {
    if (method === 'initialize')
      return {
        result: { protocolVersion: params['protocolVersion'], capabilities: { tools: {} }, serverInfo: { name: 'mail', version: '1' } },
      };
    if (method === 'tools/list') return { result: { tools: MCP_TOOLS } };
    if (method !== 'tools/call') return { error: { code: -32601, message: 'Unknown method' } };
    const { name, arguments: args } = params as { name: string; arguments: object };
    this.mcpCalls.push(`${name} ${JSON.stringify(args)}`);
    if (this.mcpFails) return { error: { code: -32000, message: JSON.stringify(this.mcpResult) } };
    return { result: this.mcpResult };
  }
}

const text = { type: 'object', properties: { text: { type: 'string' } } };

const MCP_TOOLS = [
  { name: 'read_mail', description: 'Reads the newest mail', inputSchema: text, annotations: { readOnlyHint: true, openWorldHint: false } },
  { name: 'lookup', description: 'Looks a word up on the web', inputSchema: text, annotations: { readOnlyHint: true } },
  { name: 'send_mail', description: 'Sends a mail', inputSchema: text },
  { name: 'pay', description: 'Pays a bill', inputSchema: text, annotations: { readOnlyHint: false } },
];
