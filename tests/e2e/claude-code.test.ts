import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { ANTHROPIC_KEY, type AnthropicUpstream, startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { installNpmTool } from '../support/npm-tool.ts';
import { startScriptedChat, type ScriptedChat } from '../support/scripted-chat.ts';
import type { SearchServer } from '../support/search-gateway.ts';
import { startSearchServer } from '../support/search-server.ts';

// Claude Code, as it is installed from npm, with Perch as its API (ANTHROPIC_BASE_URL). It is no dependency: 240 MB, and not under a free license.

const RUN_MS = 120_000;
const run = promisify(execFile);

const program = await installNpmTool({ package: '@anthropic-ai/claude-code', version: '2.1.332', program: 'claude' });

describe.skipIf(program === undefined)('Claude Code', { timeout: RUN_MS + 10_000 }, () => {
  let claude: AnthropicUpstream;
  let other: ScriptedChat;
  let search: SearchServer;
  let bridge: TestBridge;
  let gw: BridgedGateway;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perch-claude-code-'));
    [claude, other, search, bridge] = await Promise.all([
      startAnthropicUpstream(),
      startScriptedChat(),
      startSearchServer(),
      startTestBridge({}),
    ]);
    gw = await createBridgedGateway({ egress: true });
    const { client } = await gw.client();
    const providers = {
      claude: { kind: 'anthropic' as const, baseUrl: claude.url, name: 'Claude', apiKey: ANTHROPIC_KEY },
      other: { baseUrl: other.url, name: 'Other' },
    };
    await client.call('config.patch', {
      patch: { workspaces: { mirror: false }, providers, tools: { webSearch: { provider: 'searxng', url: search.url } } },
    });
    client.close();
    await gw.attach(bridge);
  });
  afterAll(async () => {
    await bridge?.[Symbol.asyncDispose]();
    await gw?.[Symbol.asyncDispose]();
    await claude?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await search?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** One prompt, in a folder and a home of its own. */
  async function runClaude(model: string, prompt: string, name: string): Promise<{ text: string; cwd: string }> {
    const [cwd, home] = [join(folder, name), join(folder, `${name}-home`)];
    await mkdir(cwd, { recursive: true });
    await mkdir(home, { recursive: true });
    await writeFile(join(cwd, 'note.txt'), 'The word is heron.\n');
    const args = ['-p', prompt, '--model', model, '--allowedTools', 'Read', 'Write', 'WebSearch', '--permission-mode', 'acceptEdits'];
    const running = run(program ?? '', args, {
      ...{ cwd, timeout: RUN_MS },
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        ANTHROPIC_BASE_URL: bridge.url,
        ANTHROPIC_API_KEY: bridge.token,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    });
    running.child.stdin?.end();
    const { stdout } = await running;
    return { text: stdout.trim(), cwd };
  }

  /** Reads the note, writes a second file, and says what it did. */
  const nextStep = (results: string[], cwd: string) => {
    // Claude Code expects every call to have an ID of its own.
    const id = `toolu_${results.length}`;
    if (results.length === 0) return { id, tool: 'Read', input: { file_path: join(cwd, 'note.txt') } };
    const content = results[0]?.includes('heron') ? 'heron' : '?';
    if (results.length === 1) return { id, tool: 'Write', input: { file_path: join(cwd, 'copy.txt'), content } };
    return { text: 'The copy is written.' };
  };

  it('says hello', async () => {
    claude.script = () => [{ text: 'Hello from upstream.' }];
    expect((await runClaude('claude/claude-test', 'say hi', 'hello')).text).toBe('Hello from upstream.');
  });

  verifies('http.messages/claude-code', 'with an Anthropic model', async () => {
    const cwd = join(folder, 'task');
    claude.script = ({ body }) => {
      const blocks = body.messages.flatMap(({ content }) =>
        Array.isArray(content) ? (content as { type: string; content?: unknown }[]) : [],
      );
      const results = blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => JSON.stringify(content));
      return Array.isArray(body['tools']) && body['tools'].length > 0 ? [nextStep(results, cwd)] : [{ text: 'A title' }];
    };
    expect((await runClaude('claude/claude-test', 'Copy the word of note.txt into copy.txt.', 'task')).text).toBe('The copy is written.');
    expect(await readFile(join(cwd, 'copy.txt'), 'utf8')).toBe('heron');
  });

  verifies('http.messages/claude-code', 'with a model of another provider', async () => {
    const cwd = join(folder, 'other');
    other.script = ({ messages, tools }) => {
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
      return tools?.length ? nextStep(results, cwd) : { text: 'A title' };
    };
    expect((await runClaude('other/model', 'Copy the word of note.txt into copy.txt.', 'other')).text).toBe('The copy is written.');
    expect(await readFile(join(cwd, 'copy.txt'), 'utf8')).toBe('heron');
  });

  verifies('http.search/messages', 'for Claude Code with a model of another provider', async () => {
    other.script = ({ messages, tools }) => {
      const names = (tools as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name) ?? [];
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
      if (names.includes('ToolSearch')) {
        // The tool is loaded first. Claude Code then asks for the search in a request of its own.
        if (results.length === 0) return { id: 'toolu_0', tool: 'ToolSearch', input: { query: 'select:WebSearch', max_results: 1 } };
        if (results.length === 1) return { id: 'toolu_1', tool: 'WebSearch', input: { query: 'tulip season' } };
        return { text: results[1]?.includes('https://flowers.test/tulips') ? 'In April.' : `Unknown: ${results[1] ?? ''}` };
      }
      if (!names.includes('web_search')) return { text: 'A title' };
      return results.length === 0
        ? { id: 'toolu_2', tool: 'web_search', input: { query: 'tulip' } }
        : { text: 'A tulip blooms in April [1].' };
    };
    expect((await runClaude('other/model', 'When do tulips bloom?', 'search')).text).toBe('In April.');
    expect(search.requests.map(({ params }) => params.get('q'))).toEqual(['tulip']);
  });
});
