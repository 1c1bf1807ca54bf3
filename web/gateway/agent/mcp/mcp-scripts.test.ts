import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { findProcesses } from '../../../../bridge/capabilities/exec/tests/exec-bridge.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { SCRIPTS } from '../../../../tests/support/hostile-mcp/mcp-scripts.ts';
import {
  toTestServerCommand,
  getToolResults,
  createMcpGateway,
  waitForServerState,
  startMcpServer,
  getServerState,
} from '../../../../tests/support/mcp-fixtures.ts';

type McpFixture = Awaited<ReturnType<typeof createMcpGateway>>;
interface ExpectedOutcome {
  settled: 'ready' | 'failed';
  /** Why it failed. */
  error?: RegExp;
  tools?: number;
  /** Problems reported about its list. */
  problems?: RegExp;
  /** The result, or failure, of a call, as JSON. */
  call?: RegExp;
  /** A part that it must not contain. */
  not?: RegExp;
  /** And then. */
  then?: (at: McpFixture, server: string) => Promise<void>;
}

const toReady = (call: RegExp = /as usual/, more: Partial<ExpectedOutcome> = {}): ExpectedOutcome => ({ settled: 'ready', call, ...more });
const toFailed = (error: RegExp): ExpectedOutcome => ({ settled: 'failed', error });
const TIMEOUT_MESSAGE = /^MCP server \S+ did not (?:respond|start) within 6 s\b/;
/** Neither turned text nor a terminal's escapes reach a person. */
const HIDDEN_CHARS = /[\u202e\u2066]|\\u202e|\\u001b/i;

/** Each script, and how it ends. */
const EXPECTED_OUTCOMES: Readonly<Record<string, ExpectedOutcome>> = {
  'notifies-first': toReady(),
  'version-is-a-number': toFailed(/protocolVersion/),
  'version-of-the-future': toFailed(/version/),
  'capabilities-are-a-word': toFailed(/capabilities/),
  'capabilities-are-lies': toFailed(/rejected the request: .*Method not found/),
  'no-capabilities': { settled: 'ready', tools: 0 },
  nameless: toFailed(/serverInfo/),
  'long-name': toReady(/as usual/, {
    then: async ({ client }, name) => {
      const { server } = (await getServerState(client, name)) ?? {};
      expect([server?.version.length, JSON.stringify(server).match(HIDDEN_CHARS)]).toEqual([200, null]);
    },
  }),
  'answers-twice': toReady(/twice/),
  'answers-what-nobody-asked': toReady(),
  'two-in-a-line': toFailed(TIMEOUT_MESSAGE),
  'in-a-batch': toFailed(TIMEOUT_MESSAGE),
  drips: toFailed(TIMEOUT_MESSAGE),
  'invalid-utf8': toReady(),
  'ends-mid-line': toFailed(/disconnected: exited with code 0/),
  'closes-its-output': toFailed(TIMEOUT_MESSAGE),
  'closes-its-input': toReady(/did not respond within 6 s./),
  'closes-all-and-stays': toFailed(TIMEOUT_MESSAGE),
  'forks-in-depth': toReady(),
  'names-that-hide': toReady(/as usual/, {
    tools: 2,
    problems: /a\\u\{202e\}b.* is skipped because it has an invalid name/,
    not: HIDDEN_CHARS,
  }),
  'changes-each-time': {
    settled: 'ready',
    then: async ({ client }, name) => {
      await waitFor(async () => ((await getServerState(client, name))?.changed.length ?? 0) > 0);
      const before = (await getServerState(client, name))?.changed[0]?.hash;
      await waitFor(async () => (await getServerState(client, name))?.changed[0]?.hash !== before);
      // However often it changes, one question about it waits.
      expect((await client.call('approvals.list', {})).approvals).toHaveLength(1);
      expect(JSON.stringify(await getServerState(client, name))).not.toMatch(HIDDEN_CHARS);
    },
  },
  'cursor-loops': toReady(/as usual/, {
    tools: 1,
    problems: /^The tool list ends early because the server repeats a cursor\nsay is skipped because it is listed twice/,
  }),
  'cursor-grows': toReady(/as usual/, { tools: 1, problems: /is listed twice/ }),
  'cursor-is-a-number': toReady(/as usual/, { tools: 1, problems: /^The tool list ends early because its cursor is not text$/ }),
  'cursor-is-null': toReady(/as usual/, { tools: 1, problems: /^$/ }),
  'cursor-is-empty': toReady(/as usual/, { tools: 1, problems: /^The tool list ends with an empty cursor$/ }),
  'odd-tool-anyof': toReady(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema\.type: / }),
  'odd-tool-without-schema': toReady(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema: / }),
  'odd-tool-empty-schema': toReady(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema\.type: / }),
  'odd-tool-null-description': toReady(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(description: / }),
  'odd-tool-no-object': toReady(/as usual/, {
    tools: 1,
    problems: /^Tool 1 is skipped .*\nTool 2 .*\nTool 4 .*\n is skipped because it has an invalid name/,
  }),
  'schema-refers-to-itself': toReady(),
  'schema-is-a-bomb': toReady(/aaaa/),
  'schema-of-prototypes': toReady(/as usual/, { then: async () => expect(({} as Record<string, unknown>)['polluted']).toBeUndefined() }),
  'schema-of-a-list': toReady(/as usual/, { tools: 1, problems: /is skipped because it is invalid \(inputSchema\.type/ }),
  'schema-in-depth': toFailed(TIMEOUT_MESSAGE),
  'tools-are-null': toFailed(/tools/),
  'gives-50-mb': toReady(/disconnected: it sent a line longer than 4 MiB/),
  'gives-3-mb': toReady(/characters omitted/),
  'gives-many-parts': toReady(/leftOut|the message has too many parts|did not answer/),
  'gives-bad-base64': toReady(/"type":"image","shown":false,"why":"unknown or invalid content".*"why":"invalid file"/),
  'gives-a-word': toReady(/"text":"all of it"/),
  'gives-wrong-types': toReady(/"parts":\[\{"type":"text","shown":false,"why":"unknown or invalid content"\}\]/),
  'gives-what-nobody-knows': toReady(/"parts":\[\{"type":"hologram","shown":false/),
  'gives-an-unknown-part': toReady(/"text":"its text\\nand a note".*"type":"hologram"/),
  'gives-no-content': toReady(/"data":\{"found":"its text"\}/),
  'gives-nothing': toReady(/did not respond within 6 s./),
  'gives-a-link-to-a-file': toReady(/"uri":"file:\/\/\/etc\/passwd"/, { not: /root:/ }),
  'gives-orders': toReady(/"note":".*outside/),
  'fails-at-length': toReady(/rejected the request: .*characters omitted/),
  'fails-with-a-word': toReady(/did not respond within 6 s./),
  'progresses-without-end': toReady(/at last/, {
    then: async ({ events }) => expect(events.filter(({ event }) => event === 'mcp.progress').length).toBeLessThan(50),
  }),
  'asks-many-forms': toReady(/asked/, {
    then: async ({ client }) => {
      const { asks } = await client.call('mcp.list', {});
      expect([asks.length, JSON.stringify(asks).match(HIDDEN_CHARS)]).toEqual([5, null]);
    },
  }),
  'asks-many-models': toReady(/asked/, {
    then: async ({ client }) => expect((await client.call('approvals.list', {})).approvals).toHaveLength(1),
  }),
  'answers-what-was-cancelled': toReady(/as usual/, {
    then: async (at, name) => {
      const pendingSend = at.client.call('chat.send', { sessionId: 'cancelled', message: `mcp__${name}__say {"text":"wait"}` });
      await waitFor(async () => (await at.client.call('mcp.logs', { name })).text.includes('it waits'));
      await at.client.call('chat.abort', { sessionId: 'cancelled' });
      await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
      await waitFor(async () => (await at.client.call('mcp.logs', { name })).text.includes('answered'));
      expect(JSON.stringify(await at.callTool(`mcp__${name}__say`))).toContain('as usual');
    },
  }),
  'has-hostile-prompts': toReady(/as usual/, {
    then: async ({ client }, name) => {
      expect((await client.call('mcp.prompts', { name })).count).toBeLessThanOrEqual(4000);
      await expect(client.call('mcp.prompt', { name, prompt: 'x' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      await expect(client.call('mcp.resources', { name })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      await expect(client.call('mcp.read', { name, uri: 'x://y' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    },
  }),
};

describe('a scripted server among others', () => {
  let at: McpFixture;
  beforeAll(async () => {
    at = await createMcpGateway();
    await startMcpServer(at.client, 'good', toTestServerCommand());
  });
  afterAll(async () => at[Symbol.asyncDispose]());

  verifies('mcp/hostile', 'each script is told of here', () => {
    expect(Object.keys(EXPECTED_OUTCOMES).sort()).toEqual(Object.keys(SCRIPTS).sort());
  });

  for (const [name, { settled, error, tools, problems, call, not, then }] of Object.entries(EXPECTED_OUTCOMES)) {
    verifies(
      'mcp/hostile',
      `(${name}) the bridge, the gateway and other servers go on, and nothing of it is left`,
      async () => {
        const { client, gw, callTool } = at;
        const mark = `scripted-${name}-${process.pid}`;
        const args = [join(import.meta.dirname, '../../../../tests/support/hostile-mcp/scripted-mcp-server.ts'), name, mark];
        await client.call('config.set', { key: `tools.mcpServers.${name}`, value: { command: process.execPath, args, timeoutMs: 6000 } });
        const { hash = '' } = await waitForServerState(client, name, 'waiting');
        await client.call('mcp.approve', { name, hash });
        const state = await waitForServerState(client, name, settled);
        if (error) expect(state.error).toMatch(error);
        if (tools !== undefined) expect(state.tools).toBe(tools);
        if (problems) expect(state.problems.join('\n')).toMatch(problems);
        const outcomeText = JSON.stringify([state, call ? await callTool(`mcp__${name}__say`, { text: 'hi' }) : null]);
        if (call) expect(outcomeText).toMatch(call);
        if (not) expect(outcomeText).not.toMatch(not);
        await then?.(at, name);
        // Meanwhile.
        expect(JSON.stringify(await callTool('mcp__good__say', { text: `still here: ${name}` }))).toContain(`still here: ${name}`);
        await client.call('config.patch', { patch: { tools: { mcpServers: { [name]: null } } } });
        await waitFor(
          async () => (await getServerState(client, name)) === undefined && findProcesses(mark).length === 0,
          'the end of all it started',
          15_000,
        );
        expect([gw.faults, at.lent.bridge.faults, getToolResults(at.events).length > 0]).toEqual([[], [], true]);
      },
      40_000,
    );
  }
});
