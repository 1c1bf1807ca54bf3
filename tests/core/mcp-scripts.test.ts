import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { processesWith } from '../../bridge/capabilities/exec/tests/lent.ts';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { SCRIPTS } from '../support/hostile-mcp/scripts.ts';
import { byHand, resultsOf, serving, standing, start, stateOf } from '../support/mcp.ts';

type At = Awaited<ReturnType<typeof serving>>;
interface Expected {
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
  then?: (at: At, server: string) => Promise<void>;
}

const ready = (call: RegExp = /as usual/, more: Partial<Expected> = {}): Expected => ({ settled: 'ready', call, ...more });
const failed = (error: RegExp): Expected => ({ settled: 'failed', error });
const LATE = /^MCP server \S+ did not (?:respond|start) within 6 s\b/;
/** Neither turned text nor a terminal's escapes reach a person. */
const HIDING = /[\u202e\u2066]|\\u202e|\\u001b/i;

/** Each script, and how it ends. */
const TABLE: Readonly<Record<string, Expected>> = {
  'notifies-first': ready(),
  'version-is-a-number': failed(/protocolVersion/),
  'version-of-the-future': failed(/version/),
  'capabilities-are-a-word': failed(/capabilities/),
  'capabilities-are-lies': failed(/rejected the request: .*Method not found/),
  'no-capabilities': { settled: 'ready', tools: 0 },
  nameless: failed(/serverInfo/),
  'long-name': ready(/as usual/, {
    then: async ({ client }, name) => {
      const { server } = (await stateOf(client, name)) ?? {};
      expect([server?.version.length, JSON.stringify(server).match(HIDING)]).toEqual([200, null]);
    },
  }),
  'answers-twice': ready(/twice/),
  'answers-what-nobody-asked': ready(),
  'two-in-a-line': failed(LATE),
  'in-a-batch': failed(LATE),
  drips: failed(LATE),
  'invalid-utf8': ready(),
  'ends-mid-line': failed(/disconnected: exited with code 0/),
  'closes-its-output': failed(LATE),
  'closes-its-input': ready(/did not respond within 6 s./),
  'closes-all-and-stays': failed(LATE),
  'forks-in-depth': ready(),
  'names-that-hide': ready(/as usual/, { tools: 2, problems: /a\\u\{202e\}b.* is skipped because it has an invalid name/, not: HIDING }),
  'changes-each-time': {
    settled: 'ready',
    then: async ({ client }, name) => {
      await until(async () => ((await stateOf(client, name))?.changed.length ?? 0) > 0);
      const before = (await stateOf(client, name))?.changed[0]?.hash;
      await until(async () => (await stateOf(client, name))?.changed[0]?.hash !== before);
      // However often it changes, one question about it waits.
      expect((await client.call('approvals.list', {})).approvals).toHaveLength(1);
      expect(JSON.stringify(await stateOf(client, name))).not.toMatch(HIDING);
    },
  },
  'cursor-loops': ready(/as usual/, {
    tools: 1,
    problems: /^The tool list ends early because the server repeats a cursor\nsay is skipped because it is listed twice/,
  }),
  'cursor-grows': ready(/as usual/, { tools: 1, problems: /is listed twice/ }),
  'cursor-is-a-number': ready(/as usual/, { tools: 1, problems: /^The tool list ends early because its cursor is not text$/ }),
  'cursor-is-null': ready(/as usual/, { tools: 1, problems: /^$/ }),
  'cursor-is-empty': ready(/as usual/, { tools: 1, problems: /^The tool list ends with an empty cursor$/ }),
  'odd-tool-anyof': ready(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema\.type: / }),
  'odd-tool-without-schema': ready(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema: / }),
  'odd-tool-empty-schema': ready(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(inputSchema\.type: / }),
  'odd-tool-null-description': ready(/as usual/, { tools: 1, problems: /^bad is skipped because it is invalid \(description: / }),
  'odd-tool-no-object': ready(/as usual/, {
    tools: 1,
    problems: /^Tool 1 is skipped .*\nTool 2 .*\nTool 4 .*\n is skipped because it has an invalid name/,
  }),
  'schema-refers-to-itself': ready(),
  'schema-is-a-bomb': ready(/aaaa/),
  'schema-of-prototypes': ready(/as usual/, { then: async () => expect(({} as Record<string, unknown>)['polluted']).toBeUndefined() }),
  'schema-of-a-list': ready(/as usual/, { tools: 1, problems: /is skipped because it is invalid \(inputSchema\.type/ }),
  'schema-in-depth': failed(LATE),
  'tools-are-null': failed(/tools/),
  'gives-50-mb': ready(/disconnected: it sent a line longer than 4 MiB/),
  'gives-3-mb': ready(/characters omitted/),
  'gives-many-parts': ready(/leftOut|the message has too many parts|did not answer/),
  'gives-bad-base64': ready(/"type":"image","shown":false,"why":"unknown or invalid content".*"why":"invalid file"/),
  'gives-a-word': ready(/"text":"all of it"/),
  'gives-wrong-types': ready(/"parts":\[\{"type":"text","shown":false,"why":"unknown or invalid content"\}\]/),
  'gives-what-nobody-knows': ready(/"parts":\[\{"type":"hologram","shown":false/),
  'gives-an-unknown-part': ready(/"text":"its text\\nand a note".*"type":"hologram"/),
  'gives-no-content': ready(/"data":\{"found":"its text"\}/),
  'gives-nothing': ready(/did not respond within 6 s./),
  'gives-a-link-to-a-file': ready(/"uri":"file:\/\/\/etc\/passwd"/, { not: /root:/ }),
  'gives-orders': ready(/"note":".*outside/),
  'fails-at-length': ready(/rejected the request: .*characters omitted/),
  'fails-with-a-word': ready(/did not respond within 6 s./),
  'progresses-without-end': ready(/at last/, {
    then: async ({ events }) => expect(events.filter(({ event }) => event === 'mcp.progress').length).toBeLessThan(50),
  }),
  'asks-many-forms': ready(/asked/, {
    then: async ({ client }) => {
      const { asks } = await client.call('mcp.list', {});
      expect([asks.length, JSON.stringify(asks).match(HIDING)]).toEqual([5, null]);
    },
  }),
  'asks-many-models': ready(/asked/, {
    then: async ({ client }) => expect((await client.call('approvals.list', {})).approvals).toHaveLength(1),
  }),
  'answers-what-was-cancelled': ready(/as usual/, {
    then: async (at, name) => {
      const sent = at.client.call('chat.send', { sessionId: 'cancelled', message: `mcp__${name}__say {"text":"wait"}` });
      await until(async () => (await at.client.call('mcp.logs', { name })).text.includes('it waits'));
      await at.client.call('chat.abort', { sessionId: 'cancelled' });
      await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
      await until(async () => (await at.client.call('mcp.logs', { name })).text.includes('answered'));
      expect(JSON.stringify(await at.use(`mcp__${name}__say`))).toContain('as usual');
    },
  }),
  'has-hostile-prompts': ready(/as usual/, {
    then: async ({ client }, name) => {
      expect((await client.call('mcp.prompts', { name })).count).toBeLessThanOrEqual(4000);
      await expect(client.call('mcp.prompt', { name, prompt: 'x' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      await expect(client.call('mcp.resources', { name })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      await expect(client.call('mcp.read', { name, uri: 'x://y' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    },
  }),
};

describe('a scripted server among others', () => {
  let at: At;
  beforeAll(async () => {
    at = await serving();
    await start(at.client, 'good', byHand());
  });
  afterAll(async () => at[Symbol.asyncDispose]());

  verifies('mcp/hostile', 'each script is told of here', () => {
    expect(Object.keys(TABLE).sort()).toEqual(Object.keys(SCRIPTS).sort());
  });

  for (const [name, { settled, error, tools, problems, call, not, then }] of Object.entries(TABLE)) {
    verifies(
      'mcp/hostile',
      `(${name}) the bridge, the gateway and other servers go on, and nothing of it is left`,
      async () => {
        const { client, gw, use } = at;
        const mark = `scripted-${name}-${process.pid}`;
        const args = [join(import.meta.dirname, '../support/hostile-mcp/scripted.ts'), name, mark];
        await client.call('config.set', { key: `tools.mcpServers.${name}`, value: { command: process.execPath, args, timeoutMs: 6000 } });
        const { hash = '' } = await standing(client, name, 'waiting');
        await client.call('mcp.approve', { name, hash });
        const state = await standing(client, name, settled);
        if (error) expect(state.error).toMatch(error);
        if (tools !== undefined) expect(state.tools).toBe(tools);
        if (problems) expect(state.problems.join('\n')).toMatch(problems);
        const told = JSON.stringify([state, call ? await use(`mcp__${name}__say`, { text: 'hi' }) : null]);
        if (call) expect(told).toMatch(call);
        if (not) expect(told).not.toMatch(not);
        await then?.(at, name);
        // Meanwhile.
        expect(JSON.stringify(await use('mcp__good__say', { text: `still here: ${name}` }))).toContain(`still here: ${name}`);
        await client.call('config.patch', { patch: { tools: { mcpServers: { [name]: null } } } });
        await until(
          async () => (await stateOf(client, name)) === undefined && processesWith(mark).length === 0,
          'the end of all it started',
          15_000,
        );
        expect([gw.faults, at.lent.bridge.faults, resultsOf(at.events).length > 0]).toEqual([[], [], true]);
      },
      40_000,
    );
  }
});
