import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RESPONSES_KIND, RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { createBridgedGateway } from '../support/bridged-gateway.ts';
import { createSearchGateway } from '../support/search-gateway.ts';
import { startSearchServer } from '../support/search-server.ts';
import { type ModelCall, type Say, createScript, createTestGateway, type TestGateway } from '../support/test-gateway.ts';
import { installNpmTool } from '../support/npm-tool.ts';

const codexProgram = await installNpmTool({ package: '@openai/codex', version: '0.171.0', program: 'codex' });

/** `/v1` of the gateway on a port of this machine. */
async function listenHttp(gw: TestGateway): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { method = 'GET', url = '/', headers } = incoming;
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const type = { 'content-type': headers['content-type'] ?? 'application/json' };
      const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {};
      const request = new Request(`http://gateway.test${url}`, { method, headers: type, ...body });
      const response = await gw.gateway.fetch(request, { id: 'owner', scopes: ['read', 'write'] });
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing);
      else outgoing.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs `codex exec` in its own folder and returns its output. `settings`: more of its provider. */
async function runCodex(
  url: string,
  model: string,
  task: string,
  { key = 'key', settings = '', search = false }: { key?: string; settings?: string; search?: boolean } = {},
): Promise<{ code: number | null; out: string }> {
  const home = await mkdtemp(join(tmpdir(), 'perch-codex-'));
  try {
    const work = join(home, 'work');
    await mkdir(work);
    await writeFile(join(work, 'note.txt'), 'The word is heron.\n');
    const provider = `[model_providers.perch]\nname = "Perch"\nbase_url = "${url}"\nwire_api = "responses"\nenv_key = "PERCH_KEY"\n${settings}`;
    const CODEX_CONFIG = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
    await writeFile(
      join(home, 'config.toml'),
      `model = "${model}"\nmodel_provider = "perch"\nweb_search = "${search ? 'live' : 'cached'}"\n${CODEX_CONFIG}${provider}`,
    );
    const env = { ...process.env, CODEX_HOME: home, PERCH_KEY: key };
    const child = spawn(codexProgram ?? '', ['exec', '--skip-git-repo-check', task], { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (out += text.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, out };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** A call of the shell tool that Codex offers, which differs by model. */
function toShellCall(call: ModelCall): Say {
  const tools = (call.body.tools ?? []) as { function: { name: string; parameters: { properties?: Record<string, unknown> } } }[];
  const tool = tools.find(({ function: { name } }) => /^(shell|shell_command|exec_command|local_shell)$/.test(name))?.function;
  if (!tool) throw new Error(`no shell among ${tools.map(({ function: { name } }) => name).join(', ')}`);
  const args = 'cmd' in (tool.parameters.properties ?? {}) ? { cmd: 'cat note.txt' } : { command: 'cat note.txt' };
  return { tool: tool.name, args: tool.name === 'shell' ? { command: ['cat', 'note.txt'] } : args };
}

describe.skipIf(codexProgram === undefined)('Codex CLI', () => {
  it.each(['test/scripted', 'perch/main'])('says hi with %s', async (model) => {
    await using gw = await createTestGateway({ model: createScript(['Hello from the upstream']) });
    await using server = await listenHttp(gw);
    const { code, out } = await runCodex(server.url, model, 'say hi');
    expect([code, out]).toEqual([0, expect.stringContaining('Hello from the upstream')]);
  });

  it.each(['test/scripted', 'perch/main'])('does a task with its shell and %s', async (model) => {
    await using gw = await createTestGateway({
      model: (call, count) =>
        count === 1 ? [toShellCall(call)] : ['Found ', /The word is (\w+)/.exec(JSON.stringify(call.body.messages))?.[1] ?? 'nothing'],
    });
    await using server = await listenHttp(gw);
    const { code, out } = await runCodex(server.url, model, 'What is the word in note.txt?');
    expect([code, out]).toEqual([0, expect.stringContaining('Found heron')]);
    expect(gw.faults).toEqual([]);
  });

  it.each(['test/scripted', 'perch/main'])('does the task over one WebSocket with %s', async (model) => {
    await using bridge = await startTestBridge();
    await using gw = await createBridgedGateway({
      model: (call, count) =>
        count === 1 ? [toShellCall(call)] : ['Found ', /The word is (\w+)/.exec(JSON.stringify(call.body.messages))?.[1] ?? 'nothing'],
    });
    const host = await gw.attach(bridge);
    const { code, out } = await runCodex(`${bridge.url}/v1`, model, 'What is the word in note.txt?', {
      key: bridge.token,
      settings: 'supports_websockets = true\n',
    });
    expect([code, out]).toEqual([0, expect.stringContaining('Found heron')]);
    const responses = host.openings.filter(({ kind, headers }) => kind === RESPONSES_KIND || headers[':path'] === RESPONSES_PATH);
    expect(responses.map(({ kind }) => kind)).toEqual([RESPONSES_KIND]);
    expect(gw.calls).toHaveLength(2);
    expect(gw.faults).toEqual([]);
  });

  it('searches the web with a model, by the service that the owner has chosen', async () => {
    await using search = await startSearchServer();
    const answer = 'A tulip blooms in April [1].';
    const { gw: gateway, model } = await createSearchGateway(
      search,
      { provider: 'searxng', url: search.url },
      {
        model: ({ body }) => (body.messages.at(-1)?.role === 'tool' ? [answer] : [{ tool: 'web_search', args: { query: 'tulip' } }]),
      },
    );
    await using gw = gateway;
    await using server = await listenHttp(gw);
    const { code, out } = await runCodex(server.url, 'test/scripted', 'When do tulips bloom?', { search: true });
    expect([code, out]).toEqual([0, expect.stringContaining('A tulip blooms in April.')]);
    expect(search.requests.map(({ params }) => params.get('q'))).toEqual(['tulip']);
    expect(model.calls).toHaveLength(2);
    expect(gw.faults).toEqual([]);
  });
});
